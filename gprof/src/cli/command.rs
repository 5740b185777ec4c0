//! All options of the command line with their help: those of [`Arguments`], and those of the reports.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, value_parser};

use super::arguments::Arguments;
use crate::reports::list::REPORTS;
use crate::reports::report::{Report, Value};

/// The values of `--generate`.
pub(super) const KINDS: [&str; 4] = ["man", "bash", "zsh", "fish"];

/// The options that are parsed.
#[must_use]
pub(super) fn arguments() -> Command {
    Arguments::augment_args(Command::new("gprof").args(REPORTS.iter().flat_map(options)))
}

/// The option that asks for a report, and the option that suppresses the report.
fn options(report: &Report) -> Vec<Arg> {
    let asks = option(report.short, report.name, report.help, report.value);
    let suppresses = report.opposite.map(|(short, name, help)| option(Some(short), name, help, report.value));
    std::iter::once(asks).chain(suppresses).collect()
}

fn option(short: Option<char>, name: &'static str, help: &'static str, value: Value) -> Arg {
    let option = Arg::new(name).long(name).help(help).help_heading("Reports");
    let option = match short {
        Some(short) => option.short(short),
        None => option,
    };
    let optional = |option: Arg, name: &'static str| {
        option.value_name(name).num_args(0..=1).require_equals(true).default_missing_value("")
    };
    match value {
        Value::None => option.action(ArgAction::SetTrue),
        Value::OptionalSpec => optional(option, "SPEC").action(ArgAction::Append).value_parser(value_parser!(OsString)),
        Value::Spec => option
            .value_name("SPEC")
            .action(ArgAction::Append)
            .allow_hyphen_values(true)
            .value_parser(value_parser!(OsString)),
        Value::OptionalNumber(name) => optional(option, name),
        Value::OneOf(name, words) => {
            let words = words.iter().map(|(word, help)| PossibleValue::new(word).help(help));
            option.value_name(name).value_parser(PossibleValuesParser::new(words))
        }
        Value::File(name) => option.value_name(name).value_parser(value_parser!(PathBuf)),
    }
}

/// Whether the command line has an option.
pub(super) fn is_given(matches: &ArgMatches, id: &str) -> bool {
    matches.value_source(id) == Some(ValueSource::CommandLine)
}

/// All options with their help, for manuals and completions. `--bsd`, `--gnu`, and `--generate` are parsed before the other
/// options and are here for their help only: they must not make `--b` and `--g` ambiguous.
#[must_use]
pub(super) fn command() -> Command {
    let bsd = Arg::new("bsd").long("bsd").value_name("WHOSE").num_args(0..=1).require_equals(true);
    let bsd = bsd.help(
        "Reproduce the gprof of freebsd (the default) or openbsd, with its options and layout; cannot be abbreviated",
    );
    let gnu = Arg::new("gnu").long("gnu").action(ArgAction::SetTrue);
    let gnu =
        gnu.help("Use this gprof where the BSDs' gprof is the default: on these systems, or with the name bsdgprof");
    let generate = Arg::new("generate").long("generate").value_name("KIND").value_parser(KINDS).require_equals(true);
    let generate = generate.help("Print the manual page (man) or the completions of a shell (bash, zsh, or fish)");
    let generate = generate.long_help(
        "Print the manual page (man) or the completions of a shell (bash, zsh, or fish), and exit; must be the only option and cannot be \
         abbreviated",
    );
    let generate = generate.hide_possible_values(true);
    arguments().args([bsd, gnu].map(|whose| whose.help_heading("Files"))).arg(generate.help_heading("Help"))
}
