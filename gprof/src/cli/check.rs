//! Checks the command line and makes [`Options`] of it. Everything is checked here and nowhere else.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use clap::ArgMatches;
use clap::parser::ValueSource;
use gmon_demangle::Style;

use super::arguments::Arguments;
use super::{base, images, outputs, profile_form, watch};
use crate::cli::format::Format;
use crate::cli::options::{Annotation, Asked, Choice, Compat, Extract, Limit, Options, Output, Reports, Subject};
use crate::cli::rules::Rules;
use crate::cli::symspec::{Malformed, Pattern};
use crate::error::Error;
use crate::terminal::pager::PagerCommand;

/// The meaning of an option that chooses functions, or that requests or suppresses a report.
struct Meaning {
    /// The option as it is written on the command line.
    option: &'static str,
    /// The name of the option in the parser.
    id: &'static str,
    /// The reports or the time for which the option chooses functions; two of these with `-E` and `-F`.
    subjects: &'static [Subject],
    /// Whether the option includes the functions, or excludes them.
    only: bool,
    /// Whether the option also requests the report, or suppresses the report when it has no value.
    asks: bool,
}

const fn meaning(
    option: &'static str,
    id: &'static str,
    subjects: &'static [Subject],
    only: bool,
    asks: bool,
) -> Meaning {
    Meaning { option, id, subjects, only, asks }
}

/// All options that choose.
const MEANINGS: [Meaning; 16] = [
    meaning("-p", "flat_profile", &[Subject::Flat], true, true),
    meaning("-P", "no_flat_profile", &[Subject::Flat], false, true),
    meaning("-q", "graph", &[Subject::Graph], true, true),
    meaning("-Q", "no_graph", &[Subject::Graph], false, true),
    meaning("-C", "exec_counts", &[Subject::Counts], true, true),
    meaning("-Z", "no_exec_counts", &[Subject::Counts], false, true),
    meaning("-A", "annotated_source", &[Subject::Source], true, true),
    meaning("-J", "no_annotated_source", &[Subject::Source], false, true),
    meaning("-k", "delete_arcs", &[Subject::Arcs], false, false),
    meaning("-n", "time", &[Subject::Time], true, false),
    meaning("-N", "no_time", &[Subject::Time], false, false),
    meaning("-e", "hide", &[Subject::Graph], false, false),
    meaning("-E", "drop", &[Subject::Time, Subject::Graph], false, false),
    meaning("-f", "only", &[Subject::Graph], true, false),
    meaning("-F", "only_time", &[Subject::Time, Subject::Graph], true, false),
    meaning("--callers", "callers", &[Subject::Callers], true, false),
];

/// Checks everything.
pub(super) fn check(arguments: Arguments, matches: &ArgMatches) -> Result<Options, Error> {
    let compat = arguments.compat.map(Compat::from).unwrap_or_default();
    let rules = Rules::new(compat, arguments.traditional);
    let outputs = outputs::outputs(&arguments)?;
    contradictions(&arguments, &outputs, &rules)?;
    let comparison = base::comparison(&arguments, &outputs)?;
    let (mut reports, choices) = reports(&arguments, matches, &rules)?;
    if arguments.watch.is_some() {
        // The table on the screen has what the flat profile has.
        reports.flat = Asked::For;
    }
    let style = style(&arguments)?;
    let images = images::images(&arguments, matches)?;
    let watch = watch::watch(&arguments, matches)?;
    Ok(Options {
        objects: rules.reads_shared_objects && !(arguments.no_objects || is_of_program_alone(&arguments)),
        demangle: style.is_some() && !arguments.traditional,
        style: style.unwrap_or_default(),
        known_form: profile_form::known(arguments.file_format.as_deref(), arguments.profile_form.as_deref(), compat)?,
        annotation: annotation(&arguments, &rules)?,
        width: width(&arguments, &rules)?,
        limit: limit(&arguments)?,
        pager: if arguments.no_pager { None } else { PagerCommand::of_environment(|name| std::env::var_os(name)) },
        symbols: arguments.external_symbol_table,
        file_map: arguments.file_ordering,
        debug_directories: arguments.debug_dir,
        compat,
        rules,
        reports,
        choices,
        thread: arguments.thread,
        no_static: arguments.no_static,
        functions_only: arguments.ignore_non_functions,
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
        watch,
    })
}

/// Whether the options cover the program without its shared objects: sums, orders for linkers, and files of symbols.
fn is_of_program_alone(arguments: &Arguments) -> bool {
    arguments.sum
        || arguments.function_ordering
        || arguments.order.is_some()
        || arguments.file_ordering.is_some()
        || arguments.external_symbol_table.is_some()
}

/// Checks for options that cannot be used together: new columns in layouts that must match another gprof byte by
/// byte, and formats for programs with reports that exist only as text.
fn contradictions(arguments: &Arguments, outputs: &[Output], rules: &Rules) -> Result<(), Error> {
    let not_plain = outputs.iter().find(|output| output.format != Format::Text);
    let data = outputs.first().filter(|_| !outputs.iter().any(|output| output.format.is_text()));
    let [not_plain, data] = [not_plain, data].map(|output| output.map(|output| outputs::spelled(output, arguments)));
    let functions = outputs.iter().find(|output| output.format.needs_functions());
    let functions = functions.map(|output| outputs::spelled(output, arguments));
    let functions = [(functions.as_deref().unwrap_or_default(), functions.is_some())];
    let data = [(data.as_deref().unwrap_or_default(), data.is_some())];
    let order = ("--order", arguments.order.is_some());
    let new = [
        (not_plain.as_deref().unwrap_or_default(), not_plain.is_some()),
        ("--table", arguments.table),
        ("--errors", arguments.errors),
        ("--bounds", arguments.bounds),
        ("--contexts", arguments.contexts.is_some()),
        ("--callers", !arguments.callers.is_empty()),
        ("--source-times", arguments.source_times),
        ("--top", arguments.top.is_some()),
        ("--min-percent", arguments.min_percent.is_some()),
        ("--threads", arguments.threads),
        ("--thread", arguments.thread.is_some()),
        ("--extract", arguments.extract.is_some()),
        order,
    ];
    let compat = ("--compat=gnu", arguments.compat.is_some());
    let fixed = [compat, ("-T", arguments.traditional)];
    let text = [
        ("--table", arguments.table),
        ("--exec-counts", !arguments.exec_counts.is_empty()),
        ("--annotated-source", !arguments.annotated_source.is_empty()),
        ("--source-times", arguments.source_times),
        ("--function-ordering", arguments.function_ordering),
        order,
        ("--file-ordering", arguments.file_ordering.is_some()),
        ("--file-info", arguments.file_info),
    ];
    let file_order = [("--file-ordering", arguments.file_ordering.is_some())];
    // Bounds need functions whose calls are counted one by one.
    let other_functions = [
        ("--line", arguments.line),
        file_order[0],
        ("--no-static", arguments.no_static),
        ("--ignore-non-functions", arguments.ignore_non_functions),
    ];
    // Stacks lead from function to function.
    let stacks = [("--contexts", arguments.contexts.is_some()), ("--callers", !arguments.callers.is_empty())];
    let found = given(&new)
        .zip(given(&fixed))
        .or_else(|| given(&data).zip(given(&text)))
        .or_else(|| given(&[("--thread", arguments.thread.is_some())]).zip(given(&[("--sum", arguments.sum)])))
        .or_else(|| given(&[("--inlines", arguments.inlines)]).zip(given(&[compat])))
        .or_else(|| given(&[("--bounds", arguments.bounds)]).zip(given(&other_functions)))
        .or_else(|| given(&stacks).zip(given(&other_functions[..2])))
        .or_else(|| given(&functions).zip(given(&other_functions[..2])))
        .or_else(|| given(&[("--function-ordering", arguments.function_ordering), order]).zip(given(&file_order)))
        .or_else(|| given(&[order]).zip(given(&other_functions)))
        .or_else(|| given(&[("--line", arguments.line && !rules.orders_files_by_line)]).zip(given(&file_order)));
    match found {
        Some((one, other)) => Err(Error::Usage(format!("'{one}' and '{other}' cannot be used together"))),
        None => Ok(()),
    }
}

/// The first of these options that the command line has.
fn given<'a>(options: &[(&'a str, bool)]) -> Option<&'a str> {
    options.iter().find(|(_, given)| *given).map(|(option, _)| *option)
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

/// The number of frames of a context that are shown.
fn depth(text: &str) -> Result<usize, Error> {
    if text.is_empty() {
        return Ok(usize::MAX);
    }
    let depth = number("--contexts", text, &Rules::OURS)?;
    if depth == 0 {
        return Err(Error::Usage("'--contexts' needs a depth of at least 1, not '0'".to_owned()));
    }
    Ok(usize::try_from(depth).unwrap_or(usize::MAX))
}

pub(super) fn width(arguments: &Arguments, rules: &Rules) -> Result<Option<usize>, Error> {
    let Some(text) = &arguments.width else {
        return Ok(None);
    };
    // The maximum width, which limits the padding.
    const WIDEST: usize = 1 << 20;
    Ok(Some(usize::try_from(number("--width", text, rules)?).unwrap_or(WIDEST).clamp(1, WIDEST)))
}

/// The requested reports, and the functions chosen for them. The last of two conflicting options counts.
fn reports(arguments: &Arguments, matches: &ArgMatches, rules: &Rules) -> Result<(Reports, Vec<Choice>), Error> {
    let mut reports = Reports {
        info: arguments.file_info,
        names_profiles: matches.value_source("profiles") == Some(ValueSource::CommandLine),
        stats: arguments.stats,
        bounds: arguments.bounds,
        threads: arguments.threads,
        extract: arguments.extract.clone().map(|object| Extract { object, output: arguments.output.first().cloned() }),
        contexts: arguments.contexts.as_deref().map(depth).transpose()?,
        callers: !arguments.callers.is_empty(),
        function_order: arguments.function_ordering,
        linker_order: arguments.order,
        sum: arguments.sum,
        ..Reports::default()
    };
    let mut choices = Vec::new();
    for (meaning, value) in in_order(matches) {
        let Some(meaning) = meaning else {
            reports.graph = Asked::For;
            continue;
        };
        if !value.is_empty() || !meaning.asks {
            choose(meaning, &value, rules, &mut choices)?;
        }
        let asked = match meaning.subjects {
            [Subject::Flat] if meaning.asks => &mut reports.flat,
            [Subject::Graph] if meaning.asks => &mut reports.graph,
            [Subject::Counts] => &mut reports.counts,
            [Subject::Source] => &mut reports.source,
            _ => continue,
        };
        *asked = if meaning.only || !value.is_empty() { Asked::For } else { Asked::Against };
    }
    if arguments.source_times && reports.source == Asked::Nothing {
        reports.source = Asked::For;
    }
    Ok((reports, choices))
}

/// The options that choose, with their values, in the order of the command line. `None` stands for `-B`.
fn in_order(matches: &ArgMatches) -> Vec<(Option<&'static Meaning>, OsString)> {
    let mut given = Vec::new();
    for meaning in &MEANINGS {
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
            (Subject::Graph, true) if meaning.asks => Subject::Arcs,
            (Subject::Arcs, false) if is_checked => return Err(wrong(Malformed::NoArc)),
            (Subject::Arcs, _) | (_, false) => *subject,
            (_, true) if is_checked => return Err(wrong(Malformed::Arc)),
            (_, true) => *subject,
        };
        choices.push(Choice { subject, only: meaning.only, pattern: pattern.clone(), given: given.clone() });
    }
    Ok(())
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

/// Parses a number. Without a check, the digits at the start of the text count, or else 0.
fn number(option: &str, text: &str, rules: &Rules) -> Result<u64, Error> {
    if !rules.checks_arguments {
        let digits = text.trim_start().bytes().take_while(u8::is_ascii_digit).count();
        return Ok(text.trim_start()[..digits].parse().unwrap_or(0));
    }
    text.parse().map_err(|_| Error::Usage(format!("'{option}' needs a number, not '{text}'")))
}
