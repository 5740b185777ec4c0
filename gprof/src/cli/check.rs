//! Checks the command line and makes [`Options`] of it. Everything is checked here and nowhere else.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::ArgMatches;
use gmon_demangle::Style;

use super::arguments::Arguments;
use super::requests::number;
use super::{base, contradictions, images, outputs, requests, watch};
use crate::error::Error;
use crate::question::options::{Annotation, Limit, Options};
use crate::question::profile_form;
use crate::question::reports::{Argument, Asked, FILE_ORDER, FLAT, FUNCTION_ORDER, LINKER_ORDER, Reports};
use crate::question::rules::{Compat, Rules};
use crate::terminal::pager::PagerCommand;

/// Checks everything.
pub(super) fn check(arguments: Arguments, matches: &ArgMatches) -> Result<Options, Error> {
    let compat = arguments.compat.map(Compat::from).unwrap_or_default();
    let rules = Rules::new(compat, arguments.traditional);
    let outputs = outputs::outputs(&arguments)?;
    contradictions::check(&arguments, matches, &outputs, &rules)?;
    let comparison = base::comparison(&arguments, matches, &outputs)?;
    let (mut reports, choices) = requests::reports(&arguments, matches, &rules)?;
    if arguments.watch.is_some() {
        // The table on the screen has what the flat profile has.
        reports.ask(FLAT, Argument::None);
    }
    let style = style(&arguments)?;
    let images = images::images(&arguments, matches)?;
    let watch = watch::watch(&arguments, matches)?;
    Ok(Options {
        objects: rules.reads_shared_objects && !(arguments.no_objects || is_of_program_alone(&arguments, &reports)),
        demangle: style.is_some() && !arguments.traditional,
        style: style.unwrap_or_default(),
        known_form: profile_form::known(arguments.file_format.as_deref(), arguments.profile_form.as_deref(), compat)?,
        annotation: annotation(&arguments, &rules)?,
        width: width(&arguments, &rules)?,
        limit: limit(&arguments)?,
        pager: if arguments.no_pager { None } else { PagerCommand::of_environment(|name| std::env::var_os(name)) },
        symbols: arguments.external_symbol_table,
        file_map: reports.file(FILE_ORDER).map(PathBuf::from),
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
fn is_of_program_alone(arguments: &Arguments, reports: &Reports) -> bool {
    let has_order = [FUNCTION_ORDER, LINKER_ORDER, FILE_ORDER].iter().any(|order| reports.asked(order) == Asked::For);
    arguments.sum || has_order || arguments.external_symbol_table.is_some()
}

fn limit(arguments: &Arguments) -> Result<Limit, Error> {
    let top = arguments.top.as_deref().map(|text| number("--top", text, &Rules::OURS)).transpose()?;
    let percent = |text: &String| {
        let percent = text.parse().ok().filter(|percent| (0.0..=100.0).contains(percent));
        percent.ok_or_else(|| Error::Usage(format!("'--min-percent' needs a percentage from 0 to 100, not '{text}'")))
    };
    let min_percent = arguments.min_percent.as_ref().map(percent).transpose()?;
    Ok(Limit { top: top.map(|top| usize::try_from(top).unwrap_or(usize::MAX)), min_percent })
}

fn width(arguments: &Arguments, rules: &Rules) -> Result<Option<usize>, Error> {
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
