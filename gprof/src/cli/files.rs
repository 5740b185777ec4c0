//! The files of a command line: images with their profiles, the base of a difference, and the outputs.
//!
//! The profiles that follow an image on the command line belong to that image.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use clap::ArgMatches;

use super::arguments::{Arguments, is_given};
use crate::error::Error;
use crate::program::image::files::COMPANIONS;
use crate::question::files::{Comparison, Output, ProfilePath, ProfiledImage};
use crate::question::format::Format;
use crate::question::gate::Gate;
use crate::question::reports::FILE_ORDER;
use crate::reports::list::REPORTS;

/// The default name of a profile.
const PROFILE: &str = "gmon.out";

/// A file name on the command line.
enum Word {
    /// The value of `--image`.
    Image(PathBuf),
    /// An operand.
    Operand(OsString),
}

/// Removes the files beside profiles from a list that has these profiles as well. A shell replaces `gmon.*` by the
/// names of the profiles and of the files beside them, and gprof reads the files beside a profile with the profile.
fn without_companions(profiles: Vec<ProfilePath>) -> Vec<ProfilePath> {
    let of = |path: &ProfilePath| match path {
        ProfilePath::File(path) => COMPANIONS.iter().find_map(|suffix| {
            let name = path.as_os_str().as_encoded_bytes().strip_suffix(suffix.as_bytes())?.strip_suffix(b".")?;
            Some(ProfilePath::File(OsStr::from_bytes(name).into()))
        }),
        ProfilePath::Stdin | ProfilePath::Memory(_) => None,
    };
    let files: HashSet<&ProfilePath> = profiles.iter().collect();
    let is_extra: Vec<bool> = profiles.iter().map(|path| of(path).is_some_and(|path| files.contains(&path))).collect();
    profiles.into_iter().zip(is_extra).filter(|(_, is_extra)| !is_extra).map(|(path, _)| path).collect()
}

/// The images and their profiles, those of one image together. The words before the first `--image` are an image and
/// its profiles as well, if there are any.
pub(super) fn images(arguments: &Arguments, matches: &ArgMatches) -> Result<Vec<ProfiledImage>, Error> {
    if arguments.images.is_empty() {
        let profiles = arguments.profiles.iter().cloned().map(ProfilePath::from).collect();
        return Ok(vec![ProfiledImage { image: arguments.image.clone(), profiles: without_companions(profiles) }]);
    }
    contradictions(arguments, matches)?;
    let words = words(arguments, matches);
    let is_plain = matches!(words.first(), Some(Word::Operand(_)));
    let mut images: Vec<ProfiledImage> = Vec::new();
    let mut current = None;
    for word in words {
        match (word, current.and_then(|at: usize| images.get_mut(at))) {
            (Word::Operand(profile), Some(profiled)) => profiled.profiles.push(profile.into()),
            (Word::Operand(image), None) => current = Some(place(&mut images, image.into())),
            (Word::Image(image), _) => current = Some(place(&mut images, image)),
        }
    }
    let is_alone = images.len() == 1;
    for (at, profiled) in images.iter_mut().enumerate().filter(|(_, profiled)| profiled.profiles.is_empty()) {
        let has_default = is_alone || (is_plain && at == 0);
        if !has_default {
            let image = profiled.image.display();
            return Err(Error::Usage(format!("'--image {image}' has no profiles: name them after it")));
        }
        profiled.profiles.push(ProfilePath::File(PROFILE.into()));
    }
    for profiled in &mut images {
        profiled.profiles = without_companions(std::mem::take(&mut profiled.profiles));
    }
    Ok(images)
}

/// Images and operands, in the order of the command line.
fn words(arguments: &Arguments, matches: &ArgMatches) -> Vec<Word> {
    let places = |id: &str| {
        let is_given = is_given(matches, id);
        matches.indices_of(id).into_iter().flatten().filter(move |_| is_given)
    };
    let images = places("images").zip(arguments.images.iter().cloned().map(Word::Image));
    let first = places("image").map(|at| (at, Word::Operand(arguments.image.clone().into())));
    let others = places("profiles").zip(arguments.profiles.iter().cloned().map(Word::Operand));
    let mut words: Vec<(usize, Word)> = images.chain(first).chain(others).collect();
    words.sort_by_key(|(at, _)| *at);
    words.into_iter().map(|(_, word)| word).collect()
}

/// The index of an image in the list. Adds the image if the list does not have it.
fn place(images: &mut Vec<ProfiledImage>, image: PathBuf) -> usize {
    images.iter().position(|profiled| profiled.image == image).unwrap_or_else(|| {
        images.push(ProfiledImage { image, profiles: Vec::new() });
        images.len() - 1
    })
}

/// Checks for options that work with a single image only.
fn contradictions(arguments: &Arguments, matches: &ArgMatches) -> Result<(), Error> {
    for (is_given, option, why) in [
        (arguments.compat.is_some(), "--compat=gnu", "GNU's gprof reads one image"),
        (arguments.sum, "--sum", "a sum covers one image"),
        (arguments.external_symbol_table.is_some(), "--external-symbol-table", "its symbols belong to one image"),
        (is_given(matches, FILE_ORDER), "--file-ordering", "its object files belong to one image"),
    ] {
        if is_given {
            return Err(Error::Usage(format!("'--image' and '{option}' cannot be used together: {why}")));
        }
    }
    Ok(())
}

/// The outputs, at least one. `--format` counts for all outputs; without `--format`, the name of a file tells the
/// format. With `--extract`, the only file is the profile that `--extract` stores.
pub(super) fn outputs(arguments: &Arguments) -> Result<Vec<Output>, Error> {
    let is_table = |format: Format| if arguments.table && format == Format::Text { Format::Table } else { format };
    let output = |file: Option<&PathBuf>| {
        let format = match (arguments.format, file) {
            (Some(format), _) => format,
            (None, None) => Format::Text,
            (None, Some(file)) => Format::of_file(file).ok_or_else(|| unknown(file))?,
        };
        Ok(Output { file: file.cloned(), format: is_table(format) })
    };
    let files = &arguments.output;
    if arguments.open {
        let others = [
            ("--format", arguments.format.is_some()),
            ("--table", arguments.table),
            ("--extract", arguments.extract.is_some()),
            ("--output", !files.is_empty()),
        ];
        return match others.iter().find(|(_, is_given)| *is_given) {
            Some((other, _)) => Err(Error::Usage(format!("'--open' and '{other}' cannot be used together"))),
            None => Ok(vec![Output { file: None, format: Format::Html }]),
        };
    }
    if arguments.repeat.is_some() {
        // The option names a directory.
        return Ok(vec![output(None)?]);
    }
    if arguments.extract.is_some() || files.is_empty() {
        return match files.get(1) {
            Some(_) => Err(Error::Usage("'--extract' writes one file, so one '--output' can name the file".to_owned())),
            None => Ok(vec![output(None)?]),
        };
    }
    for (at, file) in files.iter().enumerate() {
        if files[..at].contains(file) {
            return Err(Error::Usage(format!("'--output {}' stands twice", file.display())));
        }
    }
    files.iter().map(|file| output(Some(file).filter(|file| file.as_os_str() != "-"))).collect()
}

fn unknown(file: &Path) -> Error {
    let known = Format::endings();
    Error::Usage(format!("'--output {}': no format has this ending ({known}): add '--format=FORMAT'", file.display()))
}

/// Returns how the command line asks for an output that is not plain text, for an error.
pub(super) fn spelled_output(output: &Output, arguments: &Arguments) -> String {
    match (arguments.format, &output.file) {
        _ if arguments.open => "--open".to_owned(),
        (None, _) if output.format == Format::Table => "--table".to_owned(),
        (None, Some(file)) => format!("--output {}", file.display()),
        _ => format!("--format={}", output.format.name()),
    }
}

/// The comparison that the command line asks for.
pub(super) fn comparison(
    arguments: &Arguments,
    matches: &ArgMatches,
    outputs: &[Output],
) -> Result<Option<Comparison>, Error> {
    if arguments.base.is_empty() && arguments.against.is_none() {
        let alone = [
            ("'--normalize' scales a base", arguments.normalize),
            ("'--fail-if' compares with a base", !arguments.fail_if.is_empty()),
        ];
        return match alone.into_iter().find(|(_, is_given)| *is_given) {
            Some((why, _)) => Err(Error::Usage(format!("{why}: name the base with '--base=FILES'"))),
            None if arguments.fail_if_unsure => Err(no_limit()),
            None => Ok(None),
        };
    }
    let gates = arguments.fail_if.iter().map(|text| Gate::new(text)).collect::<Result<Vec<_>, _>>()?;
    if arguments.fail_if_unsure && gates.is_empty() {
        return Err(no_limit());
    }
    base_contradictions(arguments, matches, outputs)?;
    let mut base = Vec::new();
    for value in &arguments.base {
        base.extend(files(value)?);
    }
    let is_stdin = |profile: &&ProfilePath| **profile == ProfilePath::Stdin;
    let of_report = if arguments.repeat.is_some() { &[][..] } else { &arguments.profiles };
    let of_report = of_report.iter().filter(|profile| *profile == "-").count();
    if base.iter().filter(is_stdin).count() + of_report > 1 {
        return Err(Error::Usage("'--base': the standard input can be one profile only".to_owned()));
    }
    let base = without_companions(base);
    let (normalizes, fails_if_unsure) = (arguments.normalize, arguments.fail_if_unsure);
    Ok(Some(Comparison { base, normalizes, gates, fails_if_unsure }))
}

fn no_limit() -> Error {
    Error::Usage("'--fail-if-unsure' needs a limit: add '--fail-if=slower:3%'".to_owned())
}

/// The files in one value. A value that is the name of a file is one file, also with commas.
fn files(value: &OsStr) -> Result<Vec<ProfilePath>, Error> {
    if Path::new(value).exists() {
        return Ok(vec![value.to_owned().into()]);
    }
    let names: Vec<&[u8]> = value.as_bytes().split(|byte| *byte == b',').collect();
    if names.iter().any(|name| name.is_empty()) {
        let value = value.display();
        return Err(Error::Usage(format!("'--base={value}': the name of a file is empty: write FILE,FILE")));
    }
    Ok(names.into_iter().map(|name| OsString::from_vec(name.to_vec()).into()).collect())
}

/// Checks for reports, layouts, and formats that a difference does not have.
fn base_contradictions(arguments: &Arguments, matches: &ArgMatches, outputs: &[Output]) -> Result<(), Error> {
    let more = [
        ("--graph", arguments.call_graph > 0),
        ("--source-times", arguments.source_times),
        ("--sum", arguments.sum),
        ("--extract", arguments.extract.is_some()),
        ("--inlines", arguments.inlines),
    ];
    let names = REPORTS.iter().flat_map(|report| [Some(report.name), report.opposite.map(|(_, name, _)| name)]);
    let reports = names.flatten().map(|name| (format!("--{name}"), is_given(matches, name)));
    let reports = reports.chain(more.map(|(option, is_given)| (option.to_owned(), is_given)));
    let choices = [
        ("-k", !arguments.delete_arcs.is_empty()),
        ("-n", !arguments.time.is_empty()),
        ("-N", !arguments.no_time.is_empty()),
        ("-e", !arguments.hide.is_empty()),
        ("-E", !arguments.drop.is_empty()),
        ("-f", !arguments.only.is_empty()),
        ("-F", !arguments.only_time.is_empty()),
    ];
    let others = [
        ("--line", arguments.line, "lines of two builds have no common names"),
        ("--external-symbol-table", arguments.external_symbol_table.is_some(), "its symbols belong to one image"),
        ("--compat=gnu", arguments.compat.is_some(), "GNU's gprof compares nothing"),
        ("-T", arguments.traditional, "the BSDs' layout has no differences"),
    ];
    let reports = reports.map(|(option, is_given)| (option, is_given, "the difference is the only report"));
    let choices =
        choices.map(|(option, is_given)| (option.to_owned(), is_given, "a difference is about all functions"));
    let others = others.map(|(option, is_given, why)| (option.to_owned(), is_given, why));
    let mut all = reports.chain(choices).chain(others);
    let base = if arguments.against.is_some() { "--against" } else { "--base" };
    if let Some((option, _, why)) = all.find(|(_, is_given, _)| *is_given) {
        return Err(Error::Usage(format!("'{base}' and '{option}' cannot be used together: {why}")));
    }
    match outputs.iter().find(|output| !output.format.shows_differences()) {
        Some(output) => {
            let known: Vec<&str> =
                Format::all().filter(|format| format.shows_differences()).map(Format::name).collect();
            let (output, known) = (spelled_output(output, arguments), known.join(", "));
            Err(Error::Usage(format!(
                "'{base}' and '{output}' cannot be used together: the format has no differences; these have: {known}"
            )))
        }
        None => Ok(()),
    }
}
