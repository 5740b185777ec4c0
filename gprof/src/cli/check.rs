//! Checks the command line and makes [`Options`] of it. Everything is checked here and nowhere else.
//!
//! [`CONTRADICTIONS`] has the rules of options and outputs that cannot be used together; this file says what each
//! option is.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use clap::ArgMatches;
use gmon::layout::request::LONGEST_LIST;
use gmon_demangle::Style;

use super::arguments::{Arguments, is_given, spelled};
use super::files;
use super::repeat;
use super::requests::{self, number};
use crate::error::Error;
use crate::question::files::{Named, Output, known_form};
use crate::question::format::Format;
use crate::question::options::{Annotation, Attach, DebugServers, Limit, Options, Watch};
use crate::question::reports::{Argument, Asked, FILE_ORDER, FLAT, FUNCTION_ORDER, LINKER_ORDER, Reports};
use crate::question::rules::{Compat, Rules};
use crate::reports::list::REPORTS;
use crate::reports::report::{CONTRADICTIONS, Trait};
use crate::terminal::pager::PagerCommand;

/// Checks everything.
pub(super) fn check(arguments: Arguments, matches: &ArgMatches) -> Result<Options, Error> {
    let compat = arguments.compat.map(Compat::from).unwrap_or_default();
    let rules = Rules::new(compat, arguments.traditional);
    let outputs = files::outputs(&arguments)?;
    check_contradictions(&arguments, matches, &outputs, &rules)?;
    let comparison = files::comparison(&arguments, matches, &outputs)?;
    let (mut reports, choices) = requests::reports(&arguments, matches, &rules)?;
    if arguments.watch.is_some() {
        // The table on the screen has what the flat profile has.
        reports.ask(FLAT, Argument::None);
    }
    let style = style(&arguments)?;
    let attach = attach(&arguments, matches)?;
    let repeat = repeat::repeat(&arguments, matches)?;
    let mut images = files::images(&arguments, matches)?;
    if attach.is_some() || repeat.is_some() {
        images.iter_mut().for_each(|profiled| profiled.profiles.clear());
    }
    let named = Named { image: is_given(matches, "image"), profiles: is_given(matches, "profiles") };
    let watch = watch(&arguments, matches)?;
    let has_export = outputs.iter().any(|output| output.format.is_export());
    let needs_names = watch.is_none() && (has_export || !reports.are_files_alone());
    let debug_servers = debug_servers(arguments.no_debuginfod, needs_names, &rules);
    Ok(Options {
        objects: rules.reads_shared_objects && !(arguments.no_objects || is_of_program_alone(&arguments, &reports)),
        demangle: style.is_some() && !arguments.traditional,
        style: style.unwrap_or_default(),
        known_form: known_form(arguments.file_format.as_deref(), arguments.profile_form.as_deref(), compat)?,
        annotation: annotation(&arguments, &rules)?,
        width: width(&arguments, &rules)?,
        limit: limit(&arguments)?,
        pager: if arguments.no_pager { None } else { PagerCommand::of_environment(|name| std::env::var_os(name)) },
        symbols: arguments.external_symbol_table,
        file_map: reports.file(FILE_ORDER).map(PathBuf::from),
        debug_directories: arguments.debug_dir,
        sysroot: arguments.sysroot,
        debug_servers,
        compat,
        rules,
        reports,
        choices,
        thread: arguments.thread,
        no_static: arguments.no_static,
        functions_only: arguments.ignore_non_functions || arguments.ignore.iter().any(|value| value.is_empty()),
        merge_clones: arguments.merge_clones || comparison.is_some(),
        comparison,
        static_calls: arguments.static_call_graph,
        propagates: arguments.propagate,
        brief: arguments.brief,
        strict: arguments.strict,
        unused: arguments.display_unused_functions,
        traditional: arguments.traditional,
        by_line: arguments.line || (rules.sums_lines && arguments.sum),
        inlines: arguments.inlines,
        errors: arguments.errors,
        outputs,
        file_names: arguments.inline_file_names,
        paths: arguments.print_path,
        images,
        named,
        watch,
        attach,
        opens: arguments.open,
        repeat,
    })
}

/// Whether the options cover the program without its shared objects: sums, orders for linkers, and files of symbols.
fn is_of_program_alone(arguments: &Arguments, reports: &Reports) -> bool {
    let has_order = [FUNCTION_ORDER, LINKER_ORDER, FILE_ORDER].iter().any(|order| reports.asked(order) == Asked::For);
    arguments.sum || has_order || arguments.external_symbol_table.is_some()
}

/// Whether debug files may be fetched. GNU gprof fetches none, `--watch` would stand still meanwhile, and files of
/// profiles have no names.
fn debug_servers(is_unwanted: bool, needs_names: bool, rules: &Rules) -> DebugServers {
    let has_servers = std::env::var_os("DEBUGINFOD_URLS").is_some_and(|servers| !servers.is_empty());
    match (rules.fetches_debug_files && needs_names, has_servers, is_unwanted) {
        (false, ..) => DebugServers::Unused,
        (true, false, _) => DebugServers::None,
        (true, true, true) => DebugServers::Forbidden,
        (true, true, false) => DebugServers::Asked,
    }
}

fn limit(arguments: &Arguments) -> Result<Limit, Error> {
    let top = arguments.top.as_deref().map(top).transpose()?;
    let percent = |text: &String| {
        let percent = text.parse().ok().filter(|percent| (0.0..=100.0).contains(percent));
        percent.ok_or_else(|| Error::Usage(format!("'--min-percent' needs a percentage from 0 to 100, not '{text}'")))
    };
    let min_percent = arguments.min_percent.as_ref().map(percent).transpose()?;
    Ok(Limit { top, min_percent })
}

/// The number of rows and entries that are shown.
fn top(text: &str) -> Result<usize, Error> {
    if text == "all" {
        return Ok(usize::MAX);
    }
    let top: Result<u64, _> = text.parse();
    top.map(|top| usize::try_from(top).unwrap_or(usize::MAX))
        .map_err(|_| Error::Usage(format!("'--top' needs a number or 'all', not '{text}'")))
}

pub(super) fn width(arguments: &Arguments, rules: &Rules) -> Result<Option<usize>, Error> {
    let Some(text) = &arguments.width else {
        return Ok(None);
    };
    // The maximum width, which limits the padding.
    const WIDEST: usize = 1 << 20;
    Ok(Some(usize::try_from(number("--width", text, rules)?).unwrap_or(WIDEST).clamp(1, WIDEST)))
}

/// The mangling style; `None` to show names as in the symbol table.
fn style(arguments: &Arguments) -> Result<Option<Style>, Error> {
    const STYLES: [(&str, Option<Style>); 7] = [
        ("none", None),
        ("auto", Some(Style::Auto)),
        ("gnu-v3", Some(Style::Cpp)),
        ("java", Some(Style::Java)),
        ("gnat", Some(Style::Gnat)),
        ("dlang", Some(Style::Dlang)),
        ("rust", Some(Style::Rust)),
    ];
    let Some(name) = arguments.demangle.as_deref().map(OsStr::to_string_lossy) else {
        return Ok((!arguments.no_demangle).then(Style::default));
    };
    let known = STYLES.iter().find(|(known, _)| *known == name).map(|(_, style)| *style);
    known.ok_or_else(|| {
        let names: Vec<&str> = STYLES.iter().skip(1).map(|(known, _)| *known).collect();
        Error::Usage(format!("unknown style '{name}' for '--demangle' ({})", names.join(", ")))
    })
}

fn annotation(arguments: &Arguments, rules: &Rules) -> Result<Annotation, Error> {
    let from_environment = std::env::var_os("GPROF_PATH");
    let directories = arguments.directory_path.iter().chain(from_environment.as_ref());
    let directories = directories.flat_map(|paths| std::env::split_paths(paths).collect::<Vec<PathBuf>>());
    Ok(Annotation {
        directories: directories.collect(),
        min_count: number("--min-count", &arguments.min_count, rules)?,
        table_length: usize::try_from(number("--table-length", &arguments.table_length, rules)?).unwrap_or(usize::MAX),
        all_lines: arguments.all_lines,
        times: arguments.source_times,
        separate: arguments.separate_files,
    })
}

/// Checks for options that cannot be used together.
fn check_contradictions(
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
        .filter_map(|(output, of)| output.map(|output| (files::spelled_output(output, arguments), vec![of])));
    let reports = REPORTS.iter().filter(|report| is_given(matches, report.name));
    let reports = reports.map(|report| (format!("--{}", report.name), report.traits.to_vec()));
    let by_line: &[Trait] = match rules.orders_files_by_line {
        true => &[Trait::CallsTogether, Trait::NoFunctions],
        false => &[Trait::CallsTogether, Trait::NoFunctions, Trait::LinesAlone],
    };
    let has_filter = |values: &[OsString]| values.iter().any(|value| !value.is_empty());
    let others: [(&str, bool, &[Trait]); 19] = [
        ("--table", arguments.table, &[Trait::Ours, Trait::TextOnly]),
        ("--errors", arguments.errors, &[Trait::Ours]),
        ("--source-times", arguments.source_times, &[Trait::Ours, Trait::TextOnly]),
        ("--top", arguments.top.is_some(), &[Trait::Ours]),
        ("--min-percent", arguments.min_percent.is_some(), &[Trait::Ours]),
        ("--thread", arguments.thread.is_some(), &[Trait::Ours, Trait::OneThread]),
        ("--extract", arguments.extract.is_some(), &[Trait::Ours, Trait::WholeRuns]),
        ("--compat=gnu", arguments.compat.is_some(), &[Trait::OtherLayout, Trait::NotInlined]),
        ("-T", arguments.traditional, &[Trait::OtherLayout]),
        ("--sum", arguments.sum, &[Trait::AllThreads, Trait::WholeRuns]),
        ("--base", !arguments.base.is_empty(), &[Trait::WholeRuns]),
        ("--inlines", arguments.inlines, &[Trait::Inlined]),
        ("--line", arguments.line, by_line),
        ("--focus", has_filter(&arguments.focus), &[Trait::Ours, Trait::OfStacks]),
        ("--ignore", has_filter(&arguments.ignore), &[Trait::Ours, Trait::OfStacks]),
        ("--hide", has_filter(&arguments.hide_frames), &[Trait::Ours, Trait::OfStacks]),
        ("--show-from", has_filter(&arguments.show_from), &[Trait::Ours, Trait::OfStacks]),
        ("--no-static", arguments.no_static, &[Trait::CallsTogether]),
        ("--ignore-non-functions", arguments.ignore_non_functions, &[Trait::CallsTogether]),
    ];
    let others = others.into_iter().filter(|(_, is_given, _)| *is_given);
    let others = others.map(|(option, _, traits)| (option.to_owned(), traits.to_vec()));
    outputs.chain(reports).chain(others).collect()
}

/// The periods that a user may want, in seconds.
const SHORTEST: f64 = 0.1;
const LONGEST: f64 = 86_400.0;

/// The options and operands that can stand beside `--watch`. All others choose reports, formats, or files that are not
/// read again.
const ALLOWED: [&str; 18] = [
    "watch",
    "pid",
    "image",
    "images",
    "profiles",
    "top",
    "thread",
    "no_static",
    "ignore_non_functions",
    "merge_clones",
    "file_format",
    "profile_form",
    "debug_dir",
    "sysroot",
    "no_debuginfod",
    "no_objects",
    "demangle",
    "no_demangle",
];

/// Checks `--watch` and `--pid`.
fn watch(arguments: &Arguments, matches: &ArgMatches) -> Result<Option<Watch>, Error> {
    let Some(text) = &arguments.watch else {
        return match arguments.pid {
            Some(_) => Err(Error::Usage("'--pid' needs '--watch'".to_owned())),
            None => Ok(None),
        };
    };
    let is_given = |id: &str| is_given(matches, id);
    let mut others = matches.ids().map(clap::Id::as_str).filter(|id| is_given(id) && !ALLOWED.contains(id));
    if let Some(other) = others.find(|id| !id.starts_with(char::is_uppercase)) {
        return Err(Error::Usage(format!("'--watch' and '{}' cannot be used together", spelled(other))));
    }
    if arguments.images.len() > 1 || arguments.profiles.len() > 1 {
        return Err(Error::Usage("'--watch' shows one profile of one program".to_owned()));
    }
    let seconds = text.parse().ok().filter(|seconds| (SHORTEST..=LONGEST).contains(seconds)).ok_or_else(|| {
        Error::Usage(format!("'--watch' needs a number of seconds from {SHORTEST} to {LONGEST}, not '{text}'"))
    })?;
    let has_profile = is_given("profiles") || !arguments.images.is_empty();
    let operand = arguments.image.to_str().filter(|_| is_given("image"));
    let number = operand.filter(|word| !has_profile && word.bytes().all(|byte| byte.is_ascii_digit()));
    let pid = match (&arguments.pid, operand) {
        (Some(_), Some(_)) => {
            return Err(Error::Usage("'--pid' finds the files of the process: leave out the operands".to_owned()));
        }
        (Some(pid), None) => Some(pid.as_str()),
        (None, _) => number,
    };
    let process = pid.map(|pid| process("--pid", pid)).transpose()?;
    Ok(Some(Watch { period: Duration::from_secs_f64(seconds), process }))
}

/// The number of a process.
fn process(option: &str, text: &str) -> Result<u32, Error> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| Error::Usage(format!("'{option}' needs the number of a process, not '{text}'")))
}

/// The options that name other profiles, or tell something of their files.
const OTHER_PROFILES: [&str; 6] = ["pid", "base", "extract", "images", "file_format", "profile_form"];

/// The time of a profile in seconds, if the user gives none.
const USUAL_TIME: &str = "10";

/// Checks `--attach`, `--seconds`, and `--calls`.
fn attach(arguments: &Arguments, matches: &ArgMatches) -> Result<Option<Attach>, Error> {
    let Some(pid) = &arguments.attach else {
        let alone = [("--seconds", arguments.seconds.is_some()), ("--calls", arguments.calls.is_some())];
        return match alone.into_iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => Err(Error::Usage(format!("'{option}' needs '--attach'"))),
            None => Ok(None),
        };
    };
    if let Some(other) = OTHER_PROFILES.into_iter().find(|id| is_given(matches, id)) {
        return Err(Error::Usage(format!("'--attach' and '{}' cannot be used together", spelled(other))));
    }
    if is_given(matches, "profiles") {
        return Err(Error::Usage("'--attach' makes the profile of the process: leave out other profiles".to_owned()));
    }
    let text = arguments.seconds.as_deref().unwrap_or(USUAL_TIME);
    let time = text.parse().ok().filter(|seconds| *seconds > 0.0 && *seconds <= LONGEST);
    let time = time.map(Duration::from_secs_f64).filter(|time| !time.is_zero()).ok_or_else(|| {
        Error::Usage(format!("'--seconds' needs a number of seconds above 0 and up to {LONGEST}, not '{text}'"))
    })?;
    let calls = arguments.calls.as_ref().map(|list| list.as_bytes().to_vec());
    if calls.as_ref().is_some_and(|list| list.len() > LONGEST_LIST) {
        return Err(Error::Usage(format!("'--calls' takes a list of up to {LONGEST_LIST} bytes")));
    }
    Ok(Some(Attach { process: process("--attach", pid)?, time, calls }))
}
