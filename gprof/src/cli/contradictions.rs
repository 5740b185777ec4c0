//! Options and outputs that cannot be used together. [`CONTRADICTIONS`] has the rules; this file says what each option is.

use clap::ArgMatches;

use super::arguments::Arguments;
use super::command::is_given;
use super::outputs;
use crate::error::Error;
use crate::question::files::Output;
use crate::question::format::Format;
use crate::question::rules::Rules;
use crate::reports::list::REPORTS;
use crate::reports::report::{CONTRADICTIONS, Trait};

/// Checks for options that cannot be used together.
pub(super) fn check(
    arguments: &Arguments,
    matches: &ArgMatches,
    outputs: &[Output],
    rules: &Rules,
) -> Result<(), Error> {
    let given = given(arguments, matches, outputs, rules);
    let first = |of: Trait| given.iter().find(|(_, traits)| traits.contains(&of)).map(|(option, _)| option);
    match CONTRADICTIONS.iter().find_map(|(one, other)| first(*one).zip(first(*other))) {
        Some((one, other)) => Err(Error::Usage(format!("'{one}' and '{other}' cannot be used together"))),
        None => Ok(()),
    }
}

/// The options and outputs of the command line, with their traits.
fn given(arguments: &Arguments, matches: &ArgMatches, outputs: &[Output], rules: &Rules) -> Vec<(String, Vec<Trait>)> {
    let not_plain = outputs.iter().find(|output| output.format != Format::Text);
    let data = outputs.first().filter(|_| !outputs.iter().any(|output| output.format.is_text()));
    let functions = outputs.iter().find(|output| output.format.needs_functions());
    let outputs = [(not_plain, Trait::Ours), (data, Trait::Data), (functions, Trait::Functions)];
    let outputs = outputs
        .into_iter()
        .filter_map(|(output, of)| output.map(|output| (outputs::spelled(output, arguments), vec![of])));
    let reports = REPORTS.iter().filter(|report| is_given(matches, report.name));
    let reports = reports.map(|report| (format!("--{}", report.name), report.traits.to_vec()));
    let by_line: &[Trait] = match rules.orders_files_by_line {
        true => &[Trait::CallsTogether, Trait::NoFunctions],
        false => &[Trait::CallsTogether, Trait::NoFunctions, Trait::LinesAlone],
    };
    let others: [(&str, bool, &[Trait]); 14] = [
        ("--table", arguments.table, &[Trait::Ours, Trait::TextOnly]),
        ("--errors", arguments.errors, &[Trait::Ours]),
        ("--source-times", arguments.source_times, &[Trait::Ours, Trait::TextOnly]),
        ("--top", arguments.top.is_some(), &[Trait::Ours]),
        ("--min-percent", arguments.min_percent.is_some(), &[Trait::Ours]),
        ("--thread", arguments.thread.is_some(), &[Trait::Ours, Trait::OneThread]),
        ("--extract", arguments.extract.is_some(), &[Trait::Ours]),
        ("--compat=gnu", arguments.compat.is_some(), &[Trait::OtherLayout, Trait::NotInlined]),
        ("-T", arguments.traditional, &[Trait::OtherLayout]),
        ("--sum", arguments.sum, &[Trait::AllThreads]),
        ("--inlines", arguments.inlines, &[Trait::Inlined]),
        ("--line", arguments.line, by_line),
        ("--no-static", arguments.no_static, &[Trait::CallsTogether]),
        ("--ignore-non-functions", arguments.ignore_non_functions, &[Trait::CallsTogether]),
    ];
    let others = others.into_iter().filter(|(_, is_given, _)| *is_given);
    let others = others.map(|(option, _, traits)| (option.to_owned(), traits.to_vec()));
    outputs.chain(reports).chain(others).collect()
}
