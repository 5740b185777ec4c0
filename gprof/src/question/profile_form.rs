//! What the command line says about the form of profiles: `-O` and `--profile-form`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use gmon::{DataModel, Encoding, Form, Hints, Order};

use crate::error::Error;
use crate::question::files::KnownForm;
use crate::question::rules::Compat;

/// What the two options say together.
///
/// # Errors
///
/// When a value is not known, or both options give a form.
pub(crate) fn known(gnu: Option<&OsStr>, ours: Option<&OsStr>, compat: Compat) -> Result<KnownForm, Error> {
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
            let known = "auto, magic, bsd, 4.4bsd, prof; '--profile-form' has more";
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
pub(crate) fn spelled(encoding: Encoding) -> String {
    format!("{},{},{}", encoding.form.name(), encoding.model.name(), encoding.order.name())
}

#[cfg(test)]
mod tests {
    use gmon::{Counter, OldHeader};

    use super::*;

    fn ours(text: &str) -> Result<Hints, String> {
        known(None, Some(OsStr::new(text)), Compat::default())
            .map(|known| known.hints)
            .map_err(|error| error.to_string())
    }

    fn gnu(text: &str) -> Option<(Option<Form>, bool)> {
        let known = known(Some(OsStr::new(text)), None, Compat::default()).ok()?;
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
            assert_eq!(ours(&spelled(encoding)), Ok(hints), "{}", spelled(encoding));
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
        assert!(known(Some(OsStr::new("prof")), None, Compat::Gnu).is_err());
        assert!(known(Some(OsStr::new("bsd")), Some(OsStr::new("gnu")), Compat::default()).is_err());
        assert!(known(Some(OsStr::new("auto")), Some(OsStr::new("gnu")), Compat::default()).is_ok());
    }
}
