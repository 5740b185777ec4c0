//! Reads profiles of programs that were built with `cc -pg`, and reports where these programs spent their time.
//!
//! A report takes three steps: [`load()`] reads the files that [`Options`] name, [`analyze`] computes an [`Analysis`],
//! and [`render`] writes the analysis in a [`Format`]. The program `gprof` is [`run`], which makes options of a command
//! line and takes these steps. Only [`run`] writes gmon.sum (`-s`) and profiles of shared objects (`--extract`), starts
//! a pager, and imitates the gprof of the BSDs (`--bsd`).
//!
//! No step takes more time than a sort, except bounds of inclusive times, whose work is limited. Every input file may
//! be hostile.
//!
//! # The ten hottest functions of a program
//!
//! ```no_run
//! fn main() -> Result<(), gprof::Error> {
//!     let options = gprof::Options::new("./prog", ["gmon.out"]);
//!     let loaded = gprof::load(&options, &mut std::io::stderr())?;
//!     let analysis = gprof::analyze(&loaded, &options, &mut std::io::stderr())?;
//!     for row in analysis.flat_rows().take(10) {
//!         let name = String::from_utf8_lossy(&analysis.row_name(&row)).into_owned();
//!         println!("{:8.2} s {:10} calls  {}", row.self_time, row.calls, gprof::visible(&name));
//!     }
//!     Ok(())
//! }
//! ```
//!
//! # A format of your own
//!
//! A renderer needs nothing but the methods of [`Analysis`]. This one writes the arcs of the call graph in the language
//! of Graphviz:
//!
//! ```no_run
//! use gprof::{Analysis, Endpoint, LineKind, Node};
//!
//! fn print_graph(analysis: &Analysis<'_>) {
//!     println!("digraph {{");
//!     for node in analysis.entries() {
//!         let Node::Function(caller) = node else { continue };
//!         for line in analysis.entry(node) {
//!             if let (LineKind::Callee, Endpoint::Function(callee)) = (line.kind, line.endpoint) {
//!                 println!("  {:?} -> {:?}", name(analysis, caller), name(analysis, callee));
//!             }
//!         }
//!     }
//!     println!("}}");
//! }
//!
//! fn name(analysis: &Analysis<'_>, id: gprof::FunctionId) -> String {
//!     String::from_utf8_lossy(&analysis.name(id)).into_owned()
//! }
//! ```

// Items are `pub` in private modules, and public where this file exports the items.
#![allow(unreachable_pub, reason = "the modules are private")]

mod attach;
mod cli;
mod compare;
mod error;
mod exports;
mod model;
mod output;
mod personalities;
mod program;
mod question;
mod repeat;
mod reports;
mod sink;
mod sources;
mod terminal;
mod watch;

/// What the tests of this project use besides the library. Nothing here is stable.
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod internals {
    pub use crate::model::Errors;
    pub use crate::model::bounds::Bounds;
    pub use crate::model::contexts::build::contexts;
    pub use crate::model::contexts::call_sites::{CallSites, TailCalls};
    pub use crate::model::contexts::measured::{Measured, StackSelection, Ticks};
    pub use crate::model::contexts::ranges::Range;
    pub use crate::model::contexts::tree::{Contexts, Frame};
    pub use crate::model::division::Innermost;
    pub use crate::model::flat::Flat;
    pub use crate::model::graph::Graph;
    pub use crate::model::graph::arcs::Arcs;
    pub use crate::model::graph::propagate::{GraphSelection, Share};
    pub use crate::model::selection::{ArcSelection, Selection, Selections};
    pub use crate::model::statistics::power_of_welch;
    pub use crate::program::image::{Code, Headers, Image, ImageStorage, Machine, Policy, Symbol, read};
    pub use crate::program::symbols::functions::Functions;

    /// Leaves the stacks that the options keep, as [`load`](crate::load()) does, in stacks of memory.
    ///
    /// # Errors
    ///
    /// As [`load`](crate::load()).
    pub fn keep_stacks(mut loaded: crate::Loaded, options: &crate::Options) -> Result<crate::Loaded, crate::Error> {
        let (mut nowhere, clock) = (std::io::sink(), || std::time::Duration::ZERO);
        let mut progress = crate::Progress::new(&mut nowhere, &crate::Terminal::default(), &clock);
        crate::model::keep_stacks(&mut loaded, options, &mut progress)?;
        Ok(loaded)
    }
}

use std::ffi::OsString;
use std::io::{BufWriter, Write};
use std::time::{Duration, Instant};

use crate::question::options::BsdOptions;
use cli::Request;
use personalities::gnu_sum;
use question::files::Output;
use reports::list;
use sources::{DebugFiles, write};
use terminal::EscapingWriter;
use terminal::browser;
use terminal::interrupts::Interrupts;
use terminal::pager::Pager;
use terminal::progress::Progress;

pub use error::Error;
pub use exports::{render, render_difference};
pub use model::entries::{Calls, Endpoint, EntryLine, LineKind};
pub use model::graph::Node;
pub use model::{
    Analysis, ArcChange, ArcTimes, BoundsDoubt, BoundsRow, BoundsTable, CallEstimate, CallTimeUnit, CallsCounted,
    CallsJudged, Cause, Certainty, Change, ChangedFrame, Clock, ComparedCalls, ContextRow, ContextTable, CutStacks,
    Difference, DifferenceFlame, DifferenceRow, DrawnCall, DrawnFunction, DrawnGraph, Evidence, Finding, Flame,
    FlameFrame, FlameOrigin, FlameSubject, FlatRow, Frame, FunctionInfo, FunctionTimes, Judgement, Presence, RowRuns,
    Run, Runs, SampleNode, SamplePlace, SampleTree, SampleTrees, SourceLocation, StackSums, Stats, ThreadTimes,
    difference, difference_of_runs,
};
pub use program::image::ImageError;
pub use program::image::address_space::Mapping;
pub use program::symbols::file_map::{MapError, MapFault};
pub use program::symbols::functions::FunctionId;
pub use question::format::Format;
pub use question::options::Options;
pub use sources::OutsideImages;
pub use sources::estimates::CallWindows;
pub use sources::on_demand::CallsOnDemand;
pub use sources::profile_file::FileInfo;
pub use sources::side_info::{CountedInterval, SideEstimates, SideInfo, SideObject, SideOnDemand, SideThread};
pub use sources::side_sum::Conservation;
pub use sources::stacks::{Place, Profiles, StackNode, Stacks, Thread};
pub use sources::{Loaded, from_memory};
pub use terminal::{Terminal, visible};

/// Runs a command line. The first word is the name of this program.
///
/// Reports go to `out`, and warnings go to `warnings`, each warning on a line of its own. `terminal` describes the
/// terminals behind `out` and `warnings`. If `warnings` is a terminal, a long run shows its progress there.
///
/// # Errors
///
/// Whatever keeps the reports from being written.
pub fn run(
    words: impl IntoIterator<Item = OsString>,
    out: &mut dyn Write,
    warnings: &mut dyn Write,
    terminal: &Terminal,
) -> Result<(), Error> {
    let start = Instant::now();
    let clock = || start.elapsed();
    let mut progress = Progress::new(warnings, terminal, &clock);
    let words: Vec<OsString> = words.into_iter().collect();
    let result = run_words(words.clone(), out, &mut progress, terminal);
    progress.clear();
    result.map_err(|error| match personalities::bsd::parse_bsd_words(&words) {
        Ok(None) => cli::nearest::suggest_file(error, &words),
        // The messages of the BSDs' gprof stay as they are.
        _ => error,
    })
}

/// Runs a command line. Terminals do not get the control characters of input files.
fn run_words(
    words: Vec<OsString>,
    out: &mut dyn Write,
    progress: &mut Progress<'_>,
    terminal: &Terminal,
) -> Result<(), Error> {
    if terminal.reports.is_none() {
        return run_request(words, out, progress, terminal);
    }
    let mut visible = EscapingWriter::new(out);
    let result = run_request(words, &mut visible, progress, terminal);
    result.and_then(|()| visible.flush().map_err(Error::Output))
}

fn run_request(
    words: Vec<OsString>,
    out: &mut dyn Write,
    progress: &mut Progress<'_>,
    terminal: &Terminal,
) -> Result<(), Error> {
    if let Some(text) = cli::generate::generated(&words)? {
        return out.write_all(&text).and_then(|()| out.flush()).map_err(Error::Output);
    }
    if let Some(arguments) = personalities::bsd::parse_bsd_words(&words)? {
        return report_as_bsd(&arguments, out, progress);
    }
    match cli::parse_words(words)? {
        Request::Formats { version, width } => exports::render_formats(&version, width, terminal, out),
        Request::Text(text) => out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Error::Output),
        Request::Report(mut options) => {
            let page = options.opens.then(|| output::private_page(&mut options)).transpose()?;
            let reported = report_request(*options, out, progress, terminal);
            if let (Err(_), Some(page)) = (&reported, &page) {
                output::remove_private_page(page);
            }
            reported?;
            match page {
                // A page that no browser shows is where the path says.
                Some(page) if !browser::show(&page) => writeln!(out, "{}", page.display()).map_err(Error::Output),
                _ => Ok(()),
            }
        }
    }
}

/// Reports on what a command line asks for.
fn report_request(
    mut options: Options,
    out: &mut dyn Write,
    progress: &mut Progress<'_>,
    terminal: &Terminal,
) -> Result<(), Error> {
    if let Some(attach) = options.attach.take() {
        output::check(&options, terminal)?;
        let interrupts = attach::take_profile(&mut options, &attach, progress)?;
        return report_to_reader(&options, Some(&interrupts), out, progress, terminal);
    }
    if let Some(repeat) = options.repeat.take() {
        repeat::collect(&mut options, &repeat, progress)?;
        return report_to_reader(&options, None, out, progress, terminal);
    }
    options.fit_index(terminal.reports);
    let place = std::path::Path::new("");
    let (images, named, sysroot) = (&mut options.images, options.named, options.sysroot.as_deref());
    sources::named_by_runs::find_programs(images, named, (place, sysroot), progress).map_err(Error::Output)?;
    if let Some(watch) = &options.watch {
        return watch::run(&options, watch, out, progress, terminal);
    }
    report_to_reader(&options, None, out, progress, terminal)
}

/// Reports, through a pager if the user reads the reports on a terminal. `interrupts` are the signals that the run has
/// caught, if it has caught any.
fn report_to_reader(
    options: &Options,
    interrupts: Option<&Interrupts>,
    out: &mut dyn Write,
    progress: &mut Progress<'_>,
    terminal: &Terminal,
) -> Result<(), Error> {
    match options.pager.as_ref().filter(|_| terminal.reports.is_some() && options.writes_to_stdout()) {
        Some(command) => report_through_pager(Pager::new(command, out, interrupts), options, progress, terminal),
        None => report(options, out, progress, terminal),
    }
}

/// Reports through a pager. Warnings that arise while reports are written appear after the pager has ended, because the
/// pager would paint over the warnings.
fn report_through_pager(
    mut pager: Pager<'_>,
    options: &Options,
    progress: &mut Progress<'_>,
    terminal: &Terminal,
) -> Result<(), Error> {
    progress.hold_back();
    // The pager shows its input on the terminal.
    let mut visible = EscapingWriter::new(&mut pager);
    let result = report(options, &mut visible, progress, terminal);
    let result = result.and(visible.flush().map_err(Error::Output));
    let fault = pager.finish();
    progress.release();
    match fault {
        Ok(None) => {}
        Ok(Some(fault)) => _ = writeln!(progress, "gprof: warning: {fault}"),
        Err(fault) => return Err(Error::Pager(fault)),
    }
    result
}

/// Reads the files that the options name: images, profiles, and the files that runs left beside the profiles. Each
/// warning is a line on `warnings`.
///
/// # Errors
///
/// If a file cannot be read, has a wrong format, or does not belong to the other files.
pub fn load(options: &Options, warnings: &mut dyn Write) -> Result<Loaded, Error> {
    load_counts(options, &mut Progress::new(warnings, &Terminal::default(), &|| Duration::ZERO))
}

/// Reads the files, and leaves the stacks that the options keep.
fn load_counts(options: &Options, progress: &mut Progress<'_>) -> Result<Loaded, Error> {
    let mut loaded = sources::load(options, &mut DebugFiles::default(), progress)?;
    model::keep_stacks(&mut loaded, options, progress)?;
    Ok(loaded)
}

/// Analyzes what was loaded as the options ask. Each warning is a line on `warnings`.
///
/// # Errors
///
/// If the options ask for a report that the profiles have no data for, or select a function that does not exist.
pub fn analyze<'a>(loaded: &'a Loaded, options: &'a Options, warnings: &mut dyn Write) -> Result<Analysis<'a>, Error> {
    let wanted = list::wanted(options, loaded)?;
    model::analyze(loaded, options, wanted, &mut Progress::new(warnings, &Terminal::default(), &|| Duration::ZERO))
}

/// Loads, analyzes and renders.
fn report(
    options: &Options,
    out: &mut dyn Write,
    progress: &mut Progress<'_>,
    terminal: &Terminal,
) -> Result<(), Error> {
    if let Some(comparison) = options.comparison.as_ref().filter(|comparison| !comparison.base.is_empty()) {
        return compare::report(options, comparison, out, progress, terminal);
    }
    output::check(options, terminal)?;
    if let Some(contents) = sources::contents::read(options)? {
        return write_contents(&contents, options, out, terminal);
    }
    let loaded = load_counts(options, progress)?;
    if options.reports.sum && !options.sums_lines() {
        progress.tell("writing the sum");
        write::write_sum(loaded.profile(), &loaded, progress)?;
    }
    if let Some(wanted) = &options.reports.extract {
        write::extract(&loaded, options, wanted, progress)?;
    }
    // Nothing is written if the profiles lack the data of one output.
    list::wanted(options, &loaded)?;
    let mut outputs = options.each_alone();
    progress.tell_once(outputs.len() > 1);
    // Files come first: what the standard output shows stays the last on a terminal.
    outputs.sort_by_key(|(output, _)| output.file.is_none());
    for (at, (output, options)) in outputs.iter().enumerate() {
        let analysis = model::analyze(&loaded, options, list::wanted(options, &loaded)?, progress)?;
        if options.sums_lines() && at == 0 {
            let sum = gnu_sum(loaded.profile(), &analysis.functions, &analysis.selections.arcs);
            write::write_sum(&sum, &loaded, progress)?;
        }
        write_output(&analysis, output, out, progress, terminal)?;
    }
    Ok(())
}

/// Writes what profiles contain, without their program.
fn write_contents(
    contents: &[sources::contents::Content],
    options: &Options,
    out: &mut dyn Write,
    terminal: &Terminal,
) -> Result<(), Error> {
    let unseen = Terminal { reports: None, colors: false, ..*terminal };
    options.outputs.iter().try_for_each(|Output { file, format }| match file {
        Some(file) => output::write(file, |out| exports::render_contents(contents, *format, options, &unseen, out)),
        None => exports::render_contents(contents, *format, options, terminal, out),
    })
}

fn write_output(
    analysis: &Analysis<'_>,
    Output { file, format }: &Output,
    out: &mut dyn Write,
    progress: &mut Progress<'_>,
    terminal: &Terminal,
) -> Result<(), Error> {
    // In a text, a name with a line end would look like two rows. Other formats escape control characters themselves.
    let reaches_terminal = file.is_none() && terminal.reports.is_some();
    if format.is_text() && (analysis.options.rules.escapes_names || reaches_terminal) {
        analysis.functions.spell_controls();
    }
    if let Some(file) = file {
        progress.tell("writing the files");
        let terminal = Terminal { reports: None, colors: false, ..*terminal };
        return output::write(file, |out| render(analysis, *format, &terminal, out, progress));
    }
    progress.begin_reports();
    render(analysis, *format, terminal, out, progress)
}

/// Loads, analyzes and renders for a command line of the BSDs.
fn report_as_bsd(arguments: &BsdOptions, out: &mut dyn Write, progress: &mut Progress<'_>) -> Result<(), Error> {
    let loaded = sources::bsd::load(arguments, progress)?;
    if arguments.sum {
        sources::bsd::write_sum(&loaded, arguments.dialect)?;
    }
    if loaded.profile().histograms().is_empty() {
        // If a warning cannot be written, there is no way to report the failure.
        let _ = writeln!(progress, "gprof: warning: time is in ticks, not seconds");
    }
    progress.tell("analyzing the profile");
    let Some(image) = loaded.images().iter().next() else { return Ok(()) };
    let report = personalities::bsd::report::report(arguments, loaded.profile(), image);
    if progress.is_among_reports() {
        report.functions.spell_controls();
    }
    progress.begin_reports();
    let mut buffer = BufWriter::with_capacity(1 << 16, out);
    personalities::bsd::text::render(&report, &mut buffer).and_then(|()| buffer.flush()).map_err(Error::Output)
}
