//! The files of a run: what to read, and what to write; and the form of profiles that the command line names (`-O` and
//! `--profile-form`).

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;

use gmon::{DataModel, Encoding, Form, Hints, Order};

use super::format::Format;
use super::gate::Gate;
use super::rules::Compat;
use crate::error::Error;

/// Where to read a profile.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ProfilePath {
    /// The standard input.
    Stdin,
    /// A file.
    File(PathBuf),
    /// The memory of this process.
    Memory(Arc<InMemory>),
}

/// A profile and its side file in memory.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct InMemory {
    /// What messages and reports call the profile, in the place of a path.
    pub name: String,
    /// The bytes of the profile.
    pub profile: Vec<u8>,
    /// The bytes of the side file.
    pub side: Vec<u8>,
}

impl ProfilePath {
    /// Whether the profile can be read only once, as from a pipe. A path that names nothing counts as a file: its
    /// reader reports it.
    pub(crate) fn is_read_once(&self) -> bool {
        match self {
            ProfilePath::Stdin => true,
            ProfilePath::Memory(_) => false,
            ProfilePath::File(path) => path.metadata().is_ok_and(|kind| !kind.is_file() && !kind.is_dir()),
        }
    }
}

impl From<OsString> for ProfilePath {
    fn from(operand: OsString) -> ProfilePath {
        if operand == "-" { ProfilePath::Stdin } else { ProfilePath::File(operand.into()) }
    }
}

impl std::fmt::Display for ProfilePath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ProfilePath::Stdin => f.write_str("standard input"),
            ProfilePath::File(path) => path.display().fmt(f),
            ProfilePath::Memory(profile) => f.write_str(&profile.name),
        }
    }
}

/// An image and the profiles of its runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfiledImage {
    /// The program or shared object.
    pub image: PathBuf,
    /// The profiles to add up; never empty.
    pub profiles: Vec<ProfilePath>,
}

/// Which files the command line names; the others have their default names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// Whether the user named the image.
    pub(crate) image: bool,
    /// Whether the user named profiles.
    pub(crate) profiles: bool,
}

/// The base that a report compares with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// The files of the base: profiles, and images in front of the profiles of their runs.
    pub base: Vec<ProfilePath>,
    /// Whether to scale the times and calls of the base, so that the base has the same total time.
    pub normalizes: bool,
    /// The limits of changes (`--fail-if`).
    pub gates: Vec<Gate>,
    /// Whether to fail if the runs could not have shown a change beyond the limits (`--fail-if-unsure`).
    pub fails_if_unsure: bool,
}

/// What is known about the form of profiles before they are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KnownForm {
    /// The form, the data model, and the byte order, as far as they are known.
    pub(crate) hints: Hints,
    /// Whether a profile with neither GNU's magic nor 4.4BSD's version has the packed header of 4.2BSD (`-O bsd`, and
    /// GNU gprof's own rule).
    pub(crate) or_old: bool,
}

impl KnownForm {
    /// What is known about the profiles of an image: what the command line says, and otherwise what the image says.
    pub(crate) fn hints(&self, image: Hints) -> Hints {
        self.hints.or(image)
    }
}

/// One output of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The file to write; `None` for the standard output.
    pub file: Option<PathBuf>,
    /// The format.
    pub format: Format,
}

/// The shared object whose profile to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extract {
    /// The path, the last component of the path, or the number of the object in the side file.
    pub object: String,
    /// The file to write; if `None`, the name of the profile, a dot, and the last component of the object's path.
    pub output: Option<PathBuf>,
}

/// What the two options say together.
///
/// # Errors
///
/// When a value is not known, or both options give a form.
pub(crate) fn known_form(gnu: Option<&OsStr>, ours: Option<&OsStr>, compat: Compat) -> Result<KnownForm, Error> {
    let known = of_gnu(gnu, compat)?;
    let Some(text) = ours else { return Ok(known) };
    if known.hints.form().is_some() {
        return Err(Error::Usage("'--file-format' and '--profile-form' cannot be used together".to_owned()));
    }
    Ok(KnownForm { hints: of_ours(&text.to_string_lossy())?, or_old: false })
}

/// The form by the first letter of its name, as in GNU gprof.
fn of_gnu(name: Option<&OsStr>, compat: Compat) -> Result<KnownForm, Error> {
    let is_gnu = compat == Compat::Gnu;
    let Some(name) = name else { return Ok(KnownForm { or_old: is_gnu, ..KnownForm::default() }) };
    let (form, or_old) = match name.as_bytes().first() {
        Some(b'a') => (None, is_gnu),
        Some(b'm') => (Some(Form::Gnu), false),
        Some(b'b') => (Some(Form::Bsd), true),
        Some(b'4') => (Some(Form::Bsd), false),
        Some(b'p') if !is_gnu => (Some(Form::MonOut), false),
        Some(b'p') => return Err(Error::Usage("the form 'prof' of '--file-format' is not supported".to_owned())),
        _ => {
            let name = name.display();
            let known = "auto, magic, bsd, 4.4bsd, prof; LIST prints all forms, which '--profile-form' takes";
            return Err(Error::Usage(format!("unknown form '{name}' for '--file-format' ({known})")));
        }
    };
    Ok(KnownForm { hints: of_form(form), or_old })
}

/// `FORM[,MODEL][,ORDER]`.
fn of_ours(text: &str) -> Result<Hints, Error> {
    let mut words = text.split(',');
    let mut hints = of_form(form(words.next().unwrap_or_default())?);
    for word in words {
        let (model, order) = (word.parse::<DataModel>().ok(), word.parse::<Order>().ok());
        hints = match (model, order) {
            (Some(model), _) if hints.model().is_none() => hints.with_model(model),
            (_, Some(order)) if hints.order().is_none() => hints.with_order(order),
            _ => {
                let known = "one of ilp32, lp64, llp64, and one of little, big";
                return Err(Error::Usage(format!("'--profile-form={text}': '{word}' is not {known}")));
            }
        };
    }
    Ok(hints)
}

fn of_form(form: Option<Form>) -> Hints {
    form.map_or_else(Hints::new, |form| Hints::new().with_form(form))
}

fn form(name: &str) -> Result<Option<Form>, Error> {
    if name == "auto" {
        return Ok(None);
    }
    let form = name.parse::<Form>();
    form.map(Some)
        .map_err(|error| Error::Usage(format!("'--profile-form={name}': {error}; or auto to detect the form")))
}

/// The value of `--profile-form` for an encoding.
pub(crate) fn spelled_encoding(encoding: Encoding) -> String {
    format!("{},{},{}", encoding.form.name(), encoding.model.name(), encoding.order.name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gmon::{Counter, OldHeader};

    fn ours(text: &str) -> Result<Hints, String> {
        known_form(None, Some(OsStr::new(text)), Compat::default())
            .map(|known| known.hints)
            .map_err(|error| error.to_string())
    }

    fn gnu(text: &str) -> Option<(Option<Form>, bool)> {
        let known = known_form(Some(OsStr::new(text)), None, Compat::default()).ok()?;
        Some((known.hints.form(), known.or_old))
    }

    #[test]
    fn forms_models_and_orders() {
        assert_eq!(ours("auto"), Ok(Hints::default()));
        let padded = Form::OldBsd(OldHeader::Padded);
        let all = Hints::new().with_form(padded).with_model(DataModel::Lp64).with_order(Order::Big);
        assert_eq!(ours("old-bsd-padded,lp64,big"), Ok(all));
        assert_eq!(ours("old-bsd-padded,big,lp64"), Ok(all));
        assert_eq!(
            ours("freebsd-i64").map(|hints| hints.form()),
            Ok(Counter::from_histcounter_type(-64).map(Form::FreeBsd))
        );
        assert_eq!(
            ours("freebsd-u8").map(|hints| hints.form()),
            Ok(Counter::from_histcounter_type(8).map(Form::FreeBsd))
        );
        for wrong in
            ["", "bsd,", "bsd,lp64,ilp32", "gnu,big,big", "freebsd", "freebsd-", "freebsd-x8", "freebsd-u7", "GNU"]
        {
            let said = ours(wrong).unwrap_err();
            assert!(said.contains("--profile-form"), "{wrong}: {said}");
        }
    }

    #[test]
    fn a_spelled_encoding_is_read_again() {
        let counter = Counter::from_histcounter_type(-32).unwrap();
        for form in Form::ALL.iter().copied().chain([Form::FreeBsd(counter), Form::OldBsd(OldHeader::Wide)]) {
            let encoding = Encoding::new(form, DataModel::Llp64, Order::Little);
            let hints = Hints::new().with_form(form).with_model(DataModel::Llp64).with_order(Order::Little);
            assert_eq!(ours(&spelled_encoding(encoding)), Ok(hints), "{}", spelled_encoding(encoding));
        }
    }

    #[test]
    fn names_of_gnu() {
        assert_eq!(gnu("auto"), Some((None, false)));
        assert_eq!(gnu("magic"), Some((Some(Form::Gnu), false)));
        assert_eq!(gnu("bsd"), Some((Some(Form::Bsd), true)));
        assert_eq!(gnu("4.4bsd"), Some((Some(Form::Bsd), false)));
        assert_eq!(gnu("prof"), Some((Some(Form::MonOut), false)));
        assert_eq!(gnu("x"), None);
        assert!(known_form(Some(OsStr::new("prof")), None, Compat::Gnu).is_err());
        assert!(known_form(Some(OsStr::new("bsd")), Some(OsStr::new("gnu")), Compat::default()).is_err());
        assert!(known_form(Some(OsStr::new("auto")), Some(OsStr::new("gnu")), Compat::default()).is_ok());
    }
}
