//! The base of a difference, and the options that a difference leaves no room for.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use clap::ArgMatches;

use super::arguments::Arguments;
use super::command::is_given;
use super::{images, outputs};
use crate::error::Error;
use crate::question::files::{Comparison, Output, ProfilePath};
use crate::question::format::Format;
use crate::reports::list::REPORTS;

/// The comparison that the command line asks for.
pub(super) fn comparison(
    arguments: &Arguments,
    matches: &ArgMatches,
    outputs: &[Output],
) -> Result<Option<Comparison>, Error> {
    if arguments.base.is_empty() {
        return match arguments.normalize {
            true => Err(Error::Usage("'--normalize' scales a base: name the base with '--base=FILES'".to_owned())),
            false => Ok(None),
        };
    }
    contradictions(arguments, matches, outputs)?;
    let mut base = Vec::new();
    for value in &arguments.base {
        base.extend(files(value)?);
    }
    let is_stdin = |profile: &&ProfilePath| **profile == ProfilePath::Stdin;
    let of_report = arguments.profiles.iter().filter(|profile| *profile == "-").count();
    if base.iter().filter(is_stdin).count() + of_report > 1 {
        return Err(Error::Usage("'--base': the standard input can be one profile only".to_owned()));
    }
    Ok(Some(Comparison { base: images::without_companions(base), normalizes: arguments.normalize }))
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
    Ok(names.into_iter().map(|name| std::ffi::OsString::from_vec(name.to_vec()).into()).collect())
}

/// Checks for reports, layouts, and formats that a difference does not have.
fn contradictions(arguments: &Arguments, matches: &ArgMatches, outputs: &[Output]) -> Result<(), Error> {
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
    if let Some((option, _, why)) = all.find(|(_, is_given, _)| *is_given) {
        return Err(Error::Usage(format!("'--base' and '{option}' cannot be used together: {why}")));
    }
    match outputs.iter().find(|output| !output.format.shows_differences()) {
        Some(output) => {
            let known: Vec<&str> =
                Format::all().filter(|format| format.shows_differences()).map(Format::name).collect();
            let (output, known) = (outputs::spelled(output, arguments), known.join(", "));
            Err(Error::Usage(format!(
                "'--base' and '{output}' cannot be used together: the format has no differences; these have: {known}"
            )))
        }
        None => Ok(()),
    }
}
