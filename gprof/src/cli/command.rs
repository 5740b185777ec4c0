//! All options of the command line with their help, for the help text, the manual page, and the completions.

use clap::{Arg, ArgAction, Command, CommandFactory};

use crate::cli::arguments::Arguments;

/// The values of `--generate`.
pub(super) const KINDS: [&str; 4] = ["man", "bash", "zsh", "fish"];

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
    Arguments::command().args([bsd, gnu].map(|whose| whose.help_heading("Files"))).arg(generate.help_heading("Help"))
}
