//! The list of all reports.

use std::io::Write;

use super::report::{Data, Need, Report};
use super::table::Frame;
use super::writer::Writer;
use super::{bounds, contexts, counts, flat, graph, info, linker_order, order, source, stats, threads, warnings};
use crate::error::Error;
use crate::model::Analysis;
use crate::question::options::Options;
use crate::question::reports::{Asked, GRAPH, Wanted};
use crate::sources::Loaded;
use crate::terminal::Terminal;

/// All reports, in the order of the help. Reports are written in this order, too, but reports of what the files contain
/// come first.
pub static REPORTS: &[Report] = &[
    flat::REPORT,
    graph::REPORT,
    bounds::REPORT,
    contexts::CONTEXTS_REPORT,
    contexts::CALLERS_REPORT,
    counts::REPORT,
    source::REPORT,
    order::FUNCTIONS,
    linker_order::REPORT,
    order::FILES,
    info::REPORT,
    threads::REPORT,
    stats::REPORT,
];

/// Returns the reports to write: the requested ones; if there are none, all reports that the profiles have data for,
/// except the suppressed ones.
///
/// # Errors
///
/// When a requested report has no data in the profiles.
pub fn wanted(options: &Options, loaded: &Loaded) -> Result<Wanted, Error> {
    let (asked, contents) = (&options.reports, loaded.contents());
    let graph = contents.calls || contents.estimates || (contents.callers && options.measures_times());
    let data = Data { samples: contents.samples, calls: contents.calls, graph };
    let exports = options.comparison.is_some() || options.outputs.iter().any(|output| output.format.is_export());
    let mut wanted = Wanted::new(graph, exports);
    for report in REPORTS {
        let is_asked = asked.asked(report.name) == Asked::For;
        let is_drawn = report.name == GRAPH && options.draws_call_graph();
        if is_asked || is_drawn {
            report.needs.iter().try_for_each(|need| check(*need, &data, loaded, options))?;
        }
        if is_asked {
            wanted.add(report.name, report.shows);
        }
    }
    if wanted.is_empty() && !asked.sum && asked.extract.is_none() {
        let is_allowed = |report: &&Report| asked.asked(report.name) != Asked::Against;
        for report in REPORTS.iter().filter(|report| (report.is_default)(&data)).filter(is_allowed) {
            wanted.add(report.name, report.shows);
        }
    }
    Ok(wanted)
}

fn check(need: Need, data: &Data, loaded: &Loaded, options: &Options) -> Result<(), Error> {
    match need {
        Need::Samples if !data.samples => Err(Error::NoSamples),
        Need::Graph if !data.graph && options.thread.is_some() => Err(Error::NoCallsOfThread),
        Need::Graph if !data.graph => Err(Error::NoCalls),
        Need::SamplesAndCalls if !(data.samples && data.calls) => Err(Error::NoBounds),
        Need::Threads if loaded.side_files().iter().all(|side| side.threads.is_empty()) => Err(Error::NoThreads),
        Need::Stacks if loaded.stacks().is_none() => Err(Error::NoStacks),
        _ => Ok(()),
    }
}

/// Writes all reports that the options ask for as text, or for a terminal as tables.
///
/// # Errors
///
/// The errors of the output.
pub fn render(
    analysis: &Analysis<'_>,
    tables_for: Option<&Terminal>,
    out: &mut dyn Write,
    warnings: &mut dyn Write,
) -> Result<(), Error> {
    let (options, wanted) = (analysis.options, &analysis.wanted);
    // Linkers read orders, and GNU's text has no such lines.
    if wanted.shows().text && options.rules.tells_mismatches {
        warnings::write(&warnings::of(analysis), out).map_err(Error::Output)?;
    }
    let mut writer = Writer::new(out, warnings, tables_for.map(|terminal| Frame::new(terminal, options)));
    let is_between = options.traditional && wanted.has(flat::REPORT.name) && wanted.has(graph::REPORT.name);
    let wanted_reports = || REPORTS.iter().filter(|report| wanted.has(report.name));
    for report in wanted_reports().filter(|report| report.is_first) {
        (report.write)(analysis, &mut writer)?;
    }
    if is_between {
        // In the BSDs' layout, the flat profile stands between the call graph and the index.
        graph::write_entries(analysis, &mut writer)?;
        (flat::REPORT.write)(analysis, &mut writer)?;
        graph::write_index(analysis, &mut writer)?;
    }
    let is_written = |report: &Report| is_between && [flat::REPORT.name, graph::REPORT.name].contains(&report.name);
    for report in wanted_reports().filter(|report| !report.is_first && !is_written(report)) {
        (report.write)(analysis, &mut writer)?;
    }
    if options.has_footer(wanted) {
        stats::write_footer(analysis, &mut writer)?;
    }
    Ok(())
}
