//! All options of the command line with their help: those that belong to no report, and those of the reports.
//!
//! Options that choose functions keep all their values and their positions on the command line, because `cli::check`
//! lets the last of two conflicting options win.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Parser, ValueEnum, value_parser};

use crate::question::format::Format;
use crate::question::rules::Compat;
use crate::reports::list::REPORTS;
use crate::reports::report::{Report, Value};

/// Reads the value of `--format`.
fn formats() -> impl TypedValueParser<Value = Format> {
    let values = Format::all().map(|format| PossibleValue::new(format.name()).help(format.help()));
    PossibleValuesParser::new(values).map(|name| Format::named(&name).unwrap_or_default())
}

/// Shows where a program built with `cc -pg` spent its time.
///
/// Reads the program and the profiles that the program left behind, and prints how long each function ran and who
/// called it. Adds up several profiles. When no report is chosen, prints every report that the profiles have data for.
///
/// SPEC chooses functions: [FILE:](FUNCTION|LINE), or FILE alone. FUNCTION is a name from the symbol table or from
/// the source, with or without parameters; * matches any text and ? any character. Where a SPEC is optional, write it
/// without a space: -pmain, --flat-profile=main.
#[derive(Debug, Parser)]
#[command(
    name = "gprof",
    disable_help_flag = true,
    disable_version_flag = true,
    infer_long_args = true,
    args_override_self = true,
    version
)]
#[rustfmt::skip]
pub(super) struct Arguments {
    /// The program that was profiled
    #[arg(default_value = "a.out", hide_default_value = false)]
    pub(super) image: PathBuf,

    /// Its profiles; `-` is the standard input
    #[arg(default_value = "gmon.out")]
    pub(super) profiles: Vec<OsString>,

    /// Print the call graph and its index; same as -q
    #[arg(short = 'B', action = ArgAction::Count, help_heading = "Reports")]
    pub(super) call_graph: u8,

    /// Write the sum of the profiles to ./gmon.sum and the sum of their side files beside it, and print only the
    /// reports that are chosen
    #[arg(short = 's', long, help_heading = "Reports")]
    pub(super) sum: bool,

    /// Write the profile of this shared object to a file that every gprof reads with the object as program, and print
    /// only the reports that are chosen. OBJECT is a path, its last part, or a number that --file-info prints
    #[arg(long, value_name = "OBJECT", help_heading = "Reports")]
    pub(super) extract: Option<String>,

    /// Show the functions of a running program on the whole screen, read again each SECONDS (default 1): a live profile
    /// (GMON_LIVE=1), or the process whose number is the only operand. Without a terminal, print one table after the
    /// other
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "1", help_heading = "Reports")]
    pub(super) watch: Option<String>,

    /// With --watch: find the program and the live profile of this process
    #[arg(long, value_name = "PID", allow_hyphen_values = true, help_heading = "Reports")]
    pub(super) pid: Option<String>,

    /// Make the profile of this running process for --seconds, and report on it. The program must have this toolchain's
    /// runtime, and goes on as before. IMAGE is the executable of the process without a name
    #[arg(long, value_name = "PID", allow_hyphen_values = true, help_heading = "Reports")]
    pub(super) attach: Option<String>,

    /// With --attach: how long to profile the process (default 10)
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true, help_heading = "Reports")]
    pub(super) seconds: Option<String>,

    /// With --attach: count the calls of these functions meanwhile, or of all functions. LIST has patterns with commas
    /// between them, as GMON_CALLS; the program must be compiled for calls on demand
    #[arg(long, value_name = "LIST", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    #[arg(help_heading = "Reports")]
    pub(super) calls: Option<OsString>,

    /// Run the program this many times (default 10), keep the profiles in the directory of --output, and report on
    /// them. The words behind -- are the program and its arguments; without -pg, gmon-run profiles the program
    #[arg(long, value_name = "RUNS", num_args = 0..=1, require_equals = true, default_missing_value = "10")]
    #[arg(help_heading = "Reports")]
    pub(super) repeat: Option<String>,

    /// With --repeat: run this program too, in turns and with the same arguments, and print what changed since
    #[arg(long, value_name = "PROGRAM", help_heading = "Reports")]
    pub(super) against: Option<PathBuf>,

    /// With --repeat: go on after RUNS until a growth of the total time by this percentage would be visible
    #[arg(long, value_name = "PERCENT", help_heading = "Reports")]
    pub(super) until: Option<String>,

    /// With --repeat: begin no runs after this time
    #[arg(long, value_name = "SECONDS", help_heading = "Reports")]
    pub(super) max_time: Option<String>,

    /// Count only the threads with this name, or the thread with this number (of runs with GMON_THREADS=1)
    #[arg(long, value_name = "NAME", help_heading = "What counts")]
    pub(super) thread: Option<String>,

    /// Leave out static functions; their samples and calls count for the function at the next lower address
    #[arg(short = 'a', long, help_heading = "What counts")]
    pub(super) no_static: bool,

    /// Leave out local symbols whose type is not function
    #[arg(short = 'D', long, help_heading = "What counts")]
    // These abbreviations of GNU's option name also fit --ignore.
    #[arg(aliases = ["ig", "ign", "igno", "ignor"])]
    pub(super) ignore_non_functions: bool,

    /// Count compilers' copies of a function (f.part.0, f.cold) for the function
    #[arg(long, help_heading = "What counts")]
    pub(super) merge_clones: bool,

    /// Add calls that the machine code contains but the profile does not count
    #[arg(short = 'c', long, help_heading = "What counts")]
    pub(super) static_call_graph: bool,

    /// Estimate the times of called functions by the number of calls, also where stacks tell these times
    #[arg(long, help_heading = "What counts")]
    pub(super) propagate: bool,

    /// Leave out these arcs
    #[arg(short = 'k', value_name = "FROM/TO", action = ArgAction::Append, allow_hyphen_values = true)]
    #[arg(help_heading = "What counts")]
    pub(super) delete_arcs: Vec<OsString>,

    /// In the call graph, count only the time of these functions and of what they call
    #[arg(short = 'n', long, value_name = "SPEC", action = ArgAction::Append, allow_hyphen_values = true)]
    #[arg(help_heading = "What counts")]
    pub(super) time: Vec<OsString>,

    /// In the call graph, do not count the time of these functions
    #[arg(short = 'N', long, value_name = "SPEC", action = ArgAction::Append, allow_hyphen_values = true)]
    #[arg(help_heading = "What counts")]
    pub(super) no_time: Vec<OsString>,

    /// Print no call graph entries for these functions
    #[arg(short = 'e', value_name = "SPEC", action = ArgAction::Append, allow_hyphen_values = true)]
    #[arg(help_heading = "What counts")]
    pub(super) hide: Vec<OsString>,

    /// Like -e, and do not count the time of these functions
    #[arg(short = 'E', value_name = "SPEC", action = ArgAction::Append, allow_hyphen_values = true)]
    #[arg(help_heading = "What counts")]
    pub(super) drop: Vec<OsString>,

    /// Print call graph entries only for these functions and what they call
    #[arg(short = 'f', value_name = "SPEC", action = ArgAction::Append, allow_hyphen_values = true)]
    #[arg(help_heading = "What counts")]
    pub(super) only: Vec<OsString>,

    /// Like -f, and count only the time of these functions
    #[arg(short = 'F', value_name = "SPEC", action = ArgAction::Append, allow_hyphen_values = true)]
    #[arg(help_heading = "What counts")]
    pub(super) only_time: Vec<OsString>,

    /// Count only the samples whose stacks have one of these functions
    #[arg(long, value_name = "SPEC", action = ArgAction::Append, allow_hyphen_values = true)]
    #[arg(help_heading = "What counts")]
    pub(super) focus: Vec<OsString>,

    /// Leave out the samples whose stacks have one of these functions; without =SPEC, same as -D
    // GNU's abbreviation of --ignore-non-functions keeps its meaning, so a SPEC stands behind `=`.
    #[arg(long, value_name = "SPEC", action = ArgAction::Append, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "", help_heading = "What counts")]
    pub(super) ignore: Vec<OsString>,

    /// Leave out the frames of these functions; what they ran counts for their callers
    #[arg(id = "hide_frames", long = "hide", value_name = "SPEC", action = ArgAction::Append)]
    #[arg(allow_hyphen_values = true, help_heading = "What counts")]
    pub(super) hide_frames: Vec<OsString>,

    /// Cut off stacks above the outermost of these functions, and leave out the samples whose stacks have none
    #[arg(long, value_name = "SPEC", action = ArgAction::Append, allow_hyphen_values = true)]
    #[arg(help_heading = "What counts")]
    pub(super) show_from: Vec<OsString>,

    /// Print neither explanations of the columns nor the footer
    #[arg(short = 'b', long, help_heading = "Layout")]
    // This abbreviation of GNU's option name keeps its meaning.
    #[arg(alias = "b")]
    pub(super) brief: bool,

    /// Show functions that were never called and took no time
    #[arg(short = 'z', long, help_heading = "Layout")]
    pub(super) display_unused_functions: bool,

    /// Show at most this many rows of a report and entries of the call graph, or `all`. Tables show 200 without
    /// --top and --min-percent
    #[arg(long, value_name = "ROWS", allow_hyphen_values = true, help_heading = "Layout")]
    pub(super) top: Option<String>,

    /// Show only rows and entries with at least this percentage of the total time
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true, help_heading = "Layout")]
    pub(super) min_percent: Option<String>,

    /// Do not start a pager when the standard output is a terminal
    #[arg(long, help_heading = "Layout")]
    pub(super) no_pager: bool,

    /// Use the BSDs' layout: the call graph first, and names from the symbol table
    #[arg(short = 'T', long, help_heading = "Layout")]
    pub(super) traditional: bool,

    /// Print reports as tables
    #[arg(long, help_heading = "Layout")]
    pub(super) table: bool,

    /// Write in this format
    #[arg(long, value_name = "FORMAT", value_parser = formats(), help_heading = "Output")]
    pub(super) format: Option<Format>,

    /// Print only the warning, and exit with status 1, if a profile may not belong to its program (another build or
    /// another program may have written the profile)
    #[arg(long, help_heading = "Output")]
    pub(super) strict: bool,

    /// Write to this file instead of the standard output, in the format of --format or in the format that the ending
    /// of the name tells. May be repeated: each file gets the whole output. `-` is the standard output. With --extract,
    /// FILE takes the place of PROFILE.OBJECT beside the first profile
    #[arg(short = 'o', long, value_name = "FILE", action = ArgAction::Append, help_heading = "Output")]
    pub(super) output: Vec<PathBuf>,

    /// Write the page (html) to a private temporary directory, and show the page in the browser ($BROWSER, or
    /// xdg-open). Without a browser or display, print the path of the page
    #[arg(long, help_heading = "Output")]
    pub(super) open: bool,

    /// Show the standard error (±) of self times and of measured times, the uncertainty of sampling
    #[arg(long, help_heading = "Layout")]
    pub(super) errors: bool,

    /// Set the width of the index (default: 80, or less on a narrower terminal) and of tables (default: the terminal's
    /// width)
    // GNU's abbreviation also fits --watch.
    #[arg(short = 'w', long, alias = "w", value_name = "CHARACTERS", allow_hyphen_values = true)]
    #[arg(help_heading = "Layout")]
    pub(super) width: Option<String>,

    /// Report source lines instead of functions; needs debug information (cc -g)
    #[arg(short = 'l', long, help_heading = "What counts")]
    pub(super) line: bool,

    /// Add rows for inlined functions to the flat profile; with -l, show the function into which each line was
    /// inlined
    #[arg(long, help_heading = "What counts")]
    pub(super) inlines: bool,

    /// Add file and line to the name of each function
    #[arg(long, help_heading = "Layout")]
    pub(super) inline_file_names: bool,

    /// Show whole paths of source files
    #[arg(short = 'L', long, help_heading = "Layout")]
    // These abbreviations of GNU's option name keep their meaning.
    #[arg(aliases = ["p", "pr"])]
    pub(super) print_path: bool,

    /// Show C++ and Rust names as in the source (the default)
    #[arg(long, value_name = "STYLE", num_args = 0..=1, require_equals = true, default_missing_value = "auto")]
    #[arg(overrides_with = "no_demangle", help_heading = "Layout")]
    pub(super) demangle: Option<OsString>,

    /// Show names as in the symbol table
    #[arg(long, overrides_with = "demangle", help_heading = "Layout")]
    pub(super) no_demangle: bool,

    /// Mark functions with fewer calls than this in source files
    #[arg(short = 'm', long, value_name = "CALLS", default_value = "1", allow_hyphen_values = true)]
    // These abbreviations of GNU's option name keep their meaning.
    #[arg(aliases = ["mi", "min", "min-"], help_heading = "Source files")]
    pub(super) min_count: String,

    /// List this many of the lines with the most calls; 0 for none
    #[arg(short = 't', long, value_name = "LINES", default_value = "10", allow_hyphen_values = true)]
    #[arg(help_heading = "Source files")]
    pub(super) table_length: String,

    /// Annotate all lines of a source file
    #[arg(short = 'x', long, help_heading = "Source files")]
    pub(super) all_lines: bool,

    /// Print source files (-A) with the self time of each line
    #[arg(long, help_heading = "Source files")]
    pub(super) source_times: bool,

    /// Write each source file to NAME-ann in the current directory
    // GNU's abbreviation also fits --seconds.
    #[arg(short = 'y', long, alias = "se", help_heading = "Source files")]
    pub(super) separate_files: bool,

    /// Search for source files in these directories, separated by `:`, and then in those of GPROF_PATH
    #[arg(short = 'I', long, value_name = "DIRECTORIES", action = ArgAction::Append, allow_hyphen_values = true)]
    #[arg(help_heading = "Source files")]
    pub(super) directory_path: Vec<OsString>,

    /// Report on this program or shared object; its profiles follow, up to the next --image. Reports cover all images
    #[arg(long = "image", value_name = "FILE", action = ArgAction::Append, help_heading = "Files")]
    pub(super) images: Vec<PathBuf>,

    /// Print what changed since a base: earlier runs, or runs of another build. FILES are profiles with commas between
    /// them, each of a run; an executable or shared object before profiles is their program. Without one, the program
    /// is the same. Changes that chance explains are marked as noise. May be repeated
    #[arg(long, value_name = "FILES", action = ArgAction::Append, help_heading = "Files")]
    pub(super) base: Vec<OsString>,

    /// Scale the times and calls of the base, so that the base has the same total time
    #[arg(long, help_heading = "Files")]
    pub(super) normalize: bool,

    /// With --base: exit with status 3 if the self time of a function grew for certain and by more than LIMIT:
    /// slower:PERCENT%, or slower:PERCENT%:PATTERN for the functions whose names fit, with * and ?. calls in place of
    /// slower limits the calls of functions, total the time of everything. May be repeated
    #[arg(long, value_name = "LIMIT", action = ArgAction::Append, help_heading = "Files")]
    pub(super) fail_if: Vec<String>,

    /// With --fail-if: exit with status 4 if the runs could not have shown such a growth
    #[arg(long, help_heading = "Files")]
    pub(super) fail_if_unsure: bool,

    /// Read profiles in this form: auto, magic (GNU), bsd, 4.4bsd or prof. LIST prints all forms and who writes them
    #[arg(short = 'O', long, value_name = "FORM", allow_hyphen_values = true, help_heading = "Files")]
    pub(super) file_format: Option<OsString>,

    /// Read profiles in this form: FORM[,ilp32|lp64|llp64][,little|big]. gprof detects what is left out
    #[arg(long, value_name = "FORM", help_heading = "Files")]
    pub(super) profile_form: Option<OsString>,

    /// Read the symbols from this file: lines of address, type and name, as written by `nm`
    // GNU's abbreviation also fits --extract.
    #[arg(short = 'S', long, alias = "ext", value_name = "FILE", help_heading = "Files")]
    pub(super) external_symbol_table: Option<PathBuf>,

    /// Search this directory for separate debug files, before /usr/lib/debug
    #[arg(long, value_name = "DIRECTORY", action = ArgAction::Append, help_heading = "Files")]
    pub(super) debug_dir: Vec<PathBuf>,

    /// Look below this directory for the programs and shared objects that profiles name, and for their debug files:
    /// the files of the machine or container on which the program ran
    #[arg(long, value_name = "DIRECTORY", help_heading = "Files")]
    pub(super) sysroot: Option<PathBuf>,

    /// Fetch no debug files from the servers in DEBUGINFOD_URLS
    #[arg(long, help_heading = "Files")]
    pub(super) no_debuginfod: bool,

    /// Leave out shared objects, whose counts lie beside the program's profiles
    #[arg(long, help_heading = "Files")]
    pub(super) no_objects: bool,

    /// Print what GNU gprof prints, including its errors
    #[arg(long, value_name = "WHOSE", help_heading = "Files")]
    pub(super) compat: Option<Compatible>,

    /// Accepted and ignored: GNU gprof's debugging output
    #[arg(short = 'd', long, value_name = "BITS", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "", help_heading = "Help")]
    debug: Option<OsString>,

    /// Print the options that most users need; --help=all prints all options
    // GNU's abbreviation also fits --hide.
    #[arg(short = 'h', long, alias = "h", action = ArgAction::Help, help_heading = "Help")]
    pub(super) help: Option<bool>,

    /// Print the version, the target, the forms of profiles that gprof reads, and the formats that gprof writes
    #[arg(short = 'v', long, help_heading = "Help")]
    pub(super) version: bool,
}

/// The values of `--compat`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Compatible {
    /// GNU gprof 2.40
    Gnu,
}

impl Arguments {
    /// Whether the command line asks for the list of the forms of profiles. GNU gprof has no such value.
    pub(super) fn asks_for_forms(&self) -> bool {
        let is_list = self.file_format.as_ref().is_some_and(|form| form.eq_ignore_ascii_case("list"));
        is_list && !matches!(self.compat, Some(Compatible::Gnu))
    }
}

impl From<Compatible> for Compat {
    fn from(whose: Compatible) -> Compat {
        match whose {
            Compatible::Gnu => Compat::Gnu,
        }
    }
}

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

/// An option as a user writes it.
pub(super) fn spelled(id: &str) -> String {
    let command = arguments();
    let option = command.get_arguments().find(|argument| argument.get_id() == id);
    match option.map(|option| (option.get_long(), option.get_short())) {
        Some((Some(long), _)) => format!("--{long}"),
        Some((None, Some(short))) => format!("-{short}"),
        _ => id.to_owned(),
    }
}

/// Whether the command line has an option.
pub(super) fn is_given(matches: &ArgMatches, id: &str) -> bool {
    matches.value_source(id) == Some(ValueSource::CommandLine)
}

/// All options with their help, for manuals and completions. `--bsd`, `--gnu`, and `--generate` are parsed before the
/// other options and are here for their help only: they must not make `--b` and `--g` ambiguous.
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
