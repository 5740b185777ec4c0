//! The reports that the command line asks for, and the functions that the command line chooses.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use clap::ArgMatches;

use super::arguments::{Arguments, is_given};
use crate::error::Error;
use crate::question::files::Extract;
use crate::question::options::{Choice, Subject};
use crate::question::pattern::{Malformed, Pattern};
use crate::question::reports::{Argument, Asked, GRAPH, Reports, SOURCE};
use crate::question::rules::Rules;
use crate::reports::list::REPORTS;
use crate::reports::report::{Report, Value};

/// The meaning of an option that chooses functions, or that requests or suppresses a report.
struct Meaning {
    /// The option as it is written on the command line.
    option: String,
    /// The name of the option in the parser.
    id: &'static str,
    /// The reports or the time for which the option chooses functions; two of these with `-E` and `-F`.
    subjects: &'static [Subject],
    /// Whether the option includes the functions, or excludes them.
    only: bool,
    /// The report that the option requests, or suppresses when it has no value.
    report: Option<&'static str>,
}

/// The options that choose functions for more than one report: the option, its name in the parser, what it chooses, and
/// whether it includes the functions.
const CHOICES: [(&str, &str, &[Subject], bool); 11] = [
    ("-k", "delete_arcs", &[Subject::Arcs], false),
    ("-n", "time", &[Subject::Time], true),
    ("-N", "no_time", &[Subject::Time], false),
    ("-e", "hide", &[Subject::Graph], false),
    ("-E", "drop", &[Subject::Time, Subject::Graph], false),
    ("-f", "only", &[Subject::Graph], true),
    ("-F", "only_time", &[Subject::Time, Subject::Graph], true),
    ("--focus", "focus", &[Subject::Focus], true),
    (IGNORE, "ignore", &[Subject::Ignored], false),
    ("--hide", "hide_frames", &[Subject::Hidden], false),
    ("--show-from", "show_from", &[Subject::Start], true),
];

/// The option that has a meaning of its own without a value: GNU's abbreviation of `--ignore-non-functions`.
const IGNORE: &str = "--ignore";

/// All options that choose functions.
fn meanings() -> Vec<Meaning> {
    let spelled = |short: Option<char>, long: &str| short.map_or(format!("--{long}"), |short| format!("-{short}"));
    let of_report = |report: &'static Report| {
        // An option that must have functions asks for nothing without functions.
        let asks = (report.value == Value::OptionalSpec).then_some(report.name);
        let meaning = |short, id, only| {
            let subjects = report.subject.as_slice();
            Meaning { option: spelled(short, id), id, subjects, only, report: asks }
        };
        let opposite = report.opposite.map(|(short, id, _)| meaning(Some(short), id, false));
        std::iter::once(meaning(report.short, report.name, true)).chain(opposite)
    };
    let of_reports = REPORTS.iter().filter(|report| report.subject.is_some()).flat_map(of_report);
    let others = CHOICES.iter().map(|(option, id, subjects, only)| Meaning {
        option: (*option).to_owned(),
        id,
        subjects,
        only: *only,
        report: None,
    });
    of_reports.chain(others).collect()
}

/// The requested reports, and the functions chosen for them. The last of two conflicting options counts.
pub(super) fn reports(
    arguments: &Arguments,
    matches: &ArgMatches,
    rules: &Rules,
) -> Result<(Reports, Vec<Choice>), Error> {
    let mut reports = Reports::new(is_given(matches, "profiles"));
    reports.sum = arguments.sum;
    let extract = |object| Extract { object, output: arguments.output.first().cloned() };
    reports.extract = arguments.extract.clone().map(extract);
    for report in REPORTS.iter().filter(|report| is_given(matches, report.name)) {
        if let Some(argument) = argument(report, matches)? {
            reports.ask(report.name, argument);
        }
    }
    let mut choices = Vec::new();
    let meanings = meanings();
    for (meaning, value) in in_order(&meanings, matches) {
        let Some(meaning) = meaning else {
            reports.ask(GRAPH, Argument::None);
            continue;
        };
        let is_other = meaning.option == IGNORE && value.is_empty();
        if !is_other && (!value.is_empty() || meaning.report.is_none()) {
            choose(meaning, &value, rules, &mut choices)?;
        }
        match meaning.report {
            Some(report) if meaning.only || !value.is_empty() => reports.ask(report, Argument::None),
            Some(report) => reports.suppress(report),
            None => {}
        }
    }
    if arguments.source_times && reports.asked(SOURCE) == Asked::Nothing {
        reports.ask(SOURCE, Argument::None);
    }
    Ok((reports, choices))
}

/// The argument of the option of a report; `None` if the option is one of those whose order counts.
fn argument(report: &Report, matches: &ArgMatches) -> Result<Option<Argument>, Error> {
    let text = || matches.get_one::<String>(report.name).map_or("", String::as_str);
    Ok(match report.value {
        Value::OptionalSpec => None,
        Value::None | Value::Spec => Some(Argument::None),
        Value::OptionalNumber(name) => Some(Argument::Number(count(report.name, name, text())?)),
        Value::OneOf(_, words) => words.iter().find(|(word, _)| *word == text()).map(|(word, _)| Argument::Word(word)),
        Value::File(_) => matches.get_one::<PathBuf>(report.name).cloned().map(Argument::File),
    })
}

/// A number of at least 1, or the greatest number without a text.
fn count(option: &str, name: &str, text: &str) -> Result<usize, Error> {
    if text.is_empty() {
        return Ok(usize::MAX);
    }
    match number(&format!("--{option}"), text, &Rules::OURS)? {
        0 => {
            let name = name.to_lowercase();
            Err(Error::Usage(format!("'--{option}' needs a {name} of at least 1, not '0'")))
        }
        number => Ok(usize::try_from(number).unwrap_or(usize::MAX)),
    }
}

/// The options that choose, with their values, in the order of the command line. `None` stands for `-B`.
fn in_order<'a>(meanings: &'a [Meaning], matches: &ArgMatches) -> Vec<(Option<&'a Meaning>, OsString)> {
    let mut given = Vec::new();
    for meaning in meanings {
        let places = matches.indices_of(meaning.id).into_iter().flatten();
        let values = matches.get_many::<OsString>(meaning.id).into_iter().flatten();
        given.extend(places.zip(values).map(|(place, value)| (place, Some(meaning), value.clone())));
    }
    if matches.get_count("call_graph") > 0 {
        given.extend(matches.index_of("call_graph").map(|place| (place, None, OsString::new())));
    }
    given.sort_by_key(|(place, ..)| *place);
    given.into_iter().map(|(_, meaning, value)| (meaning, value)).collect()
}

/// Adds the choice of one option.
fn choose(meaning: &Meaning, value: &OsStr, rules: &Rules, choices: &mut Vec<Choice>) -> Result<(), Error> {
    let given = format!("{} {}", meaning.option, value.display());
    let wrong = |why: Malformed| Error::Usage(format!("'{given}': {why}"));
    let is_checked = rules.checks_arguments;
    let pattern =
        if is_checked { Pattern::new(value.as_bytes()).map_err(wrong)? } else { Pattern::gnu(value.as_bytes()) };
    let is_arc = matches!(pattern, Pattern::Arcs(..));
    for subject in meaning.subjects {
        let subject = match (subject, is_arc) {
            (Subject::Graph, true) if meaning.report.is_some() => Subject::Arcs,
            (Subject::Arcs, false) if is_checked => return Err(wrong(Malformed::NoArc)),
            (Subject::Arcs, _) | (_, false) => *subject,
            (_, true) if is_checked => return Err(wrong(Malformed::Arc)),
            (_, true) => *subject,
        };
        choices.push(Choice { subject, only: meaning.only, pattern: pattern.clone(), given: given.clone() });
    }
    Ok(())
}

/// Parses a number. Without a check, the digits at the start of the text count, or else 0.
pub(super) fn number(option: &str, text: &str, rules: &Rules) -> Result<u64, Error> {
    if !rules.checks_arguments {
        let digits = text.trim_start().bytes().take_while(u8::is_ascii_digit).count();
        return Ok(text.trim_start()[..digits].parse().unwrap_or(0));
    }
    text.parse().map_err(|_| Error::Usage(format!("'{option}' needs a number, not '{text}'")))
}
