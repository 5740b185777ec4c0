//! Reports where a program built with `cc -pg` spent its time, in the words and the layout of GNU gprof.
//!
//! [`load()`] reads the files that [`Options`] name, [`analyze`] works out what the reports show, and [`render`] writes text. The
//! program `gprof` is [`run`], which is these three, and which alone writes gmon.sum (`-s`), starts the pager, and speaks for the
//! BSDs (`--bsd`). Fields and methods of [`Analysis`] that this page does not use may change.
//!
//! No step takes more than the time of a sort, and none trusts its input.
//!
//! # The ten hottest functions of a program
//!
//! ```no_run
//! fn main() -> Result<(), gprof::Error> {
//!     let options = gprof::Options::parse(["./prog", "gmon.out"])?;
//!     let loaded = gprof::load(&options, &mut std::io::stderr())?;
//!     let analysis = gprof::analyze(&loaded, &options, &mut std::io::stderr())?;
//!     for function in analysis.hottest().take(10) {
//!         println!("{:8.2} s {:10} calls  {}", function.self_time, function.calls, function.name);
//!     }
//!     Ok(())
//! }
//! ```

// What is public in a private module is public for the tests of this project only.
#![cfg_attr(not(feature = "internals"), allow(unreachable_pub))]

// The modules are private. Only the tests of this project look into them.
#[cfg(not(feature = "internals"))]
mod analysis;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod analysis;
#[cfg(not(feature = "internals"))]
mod cli;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod cli;
#[cfg(not(feature = "internals"))]
mod error;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod error;
#[cfg(not(feature = "internals"))]
mod image;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod image;
#[cfg(not(feature = "internals"))]
mod load;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod load;
#[cfg(not(feature = "internals"))]
mod report;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod report;
#[cfg(not(feature = "internals"))]
mod symbols;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod symbols;
#[cfg(not(feature = "internals"))]
mod terminal;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod terminal;

use std::ffi::OsString;
use std::io::{BufWriter, Write};
use std::time::{Duration, Instant};

use analysis::gnu_sum;
use cli::Request;
use cli::bsd::Arguments;
use cli::options::OutputFormat;
use load::sum;
use terminal::Visible;
use terminal::pager::{self, Pager};
use terminal::progress::Progress;

pub use analysis::Analysis;
#[doc(hidden)]
pub use cli::command;
pub use cli::options::Options;
pub use error::Error;
pub use image::ImageError;
pub use load::outside::OutsideImages;
pub use load::profile_file::FileInfo;
pub use load::{Loaded, from_memory};
pub use report::{Format, HotFunction, render};
pub use symbols::file_map::{MapError, MapFault};
pub use terminal::{Terminal, visible};

/// Does what a command line asks for, whose first word is the name of this program.
///
/// Reports go to `out`, warnings to `warnings`, each on a line of its own. If those are terminals, `terminal` says so:
/// then a run that takes long tells about it among the warnings.
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
    let done = obey(words, out, &mut progress, terminal);
    progress.clear();
    done
}

fn obey(
    words: impl IntoIterator<Item = OsString>,
    out: &mut dyn Write,
    progress: &mut Progress<'_>,
    terminal: &Terminal,
) -> Result<(), Error> {
    let words: Vec<OsString> = words.into_iter().collect();
    if terminal.reports.is_some() {
        let mut visible = Visible::new(out);
        let done = answer(words, &mut visible, progress, terminal);
        return done.and_then(|()| visible.flush().map_err(Error::Output));
    }
    answer(words, out, progress, terminal)
}

fn answer(
    words: Vec<OsString>,
    out: &mut dyn Write,
    progress: &mut Progress<'_>,
    terminal: &Terminal,
) -> Result<(), Error> {
    if let Some(arguments) = cli::bsd::parse(&words)? {
        return report_as_bsd(&arguments, out, progress);
    }
    match cli::parse(words)? {
        Request::Text(text) => out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Error::Output),
        Request::Report(options) => match options.pager.as_ref().filter(|_| terminal.reports.is_some()) {
            Some(choice) => paged(choice, &options, out, progress, terminal),
            None => report(&options, out, progress, terminal),
        },
    }
}

/// Reports through a pager. What is to be said among the reports is said when the pager has ended, so that the pager
/// does not paint over the words.
fn paged(
    choice: &pager::PagerCommand,
    options: &Options,
    out: &mut dyn Write,
    progress: &mut Progress<'_>,
    terminal: &Terminal,
) -> Result<(), Error> {
    let mut pager = Pager::new(choice, out);
    progress.hold_back();
    // The pager's pipe ends at the terminal too.
    let mut visible = Visible::new(&mut pager);
    let done = report(options, &mut visible, progress, terminal);
    let done = done.and(visible.flush().map_err(Error::Output));
    let fault = pager.finish();
    progress.release();
    match fault {
        Ok(None) => {}
        Ok(Some(fault)) => _ = writeln!(progress, "gprof: warning: {fault}"),
        Err(fault) => return Err(Error::Pager(fault)),
    }
    done
}

/// Reads everything that the options name: images, profiles, and what runs left beside these. Warnings go to `warnings`, each on
/// a line of its own.
///
/// # Errors
///
/// When a file cannot be read, is not what it should be, or does not go with the others.
pub fn load(options: &Options, warnings: &mut dyn Write) -> Result<Loaded, Error> {
    load::load(options, &mut Progress::new(warnings, &Terminal::default(), &|| Duration::ZERO))
}

/// Works out everything that the reports show that the options ask for. Warnings go to `warnings`, each on a line of its own.
///
/// # Errors
///
/// When the options ask for something that the profiles or the functions do not have.
pub fn analyze<'a>(loaded: &'a Loaded, options: &'a Options, warnings: &mut dyn Write) -> Result<Analysis<'a>, Error> {
    analysis::analyze(loaded, options, &mut Progress::new(warnings, &Terminal::default(), &|| Duration::ZERO))
}

/// The whole way from files to text.
fn report(
    options: &Options,
    out: &mut dyn Write,
    progress: &mut Progress<'_>,
    terminal: &Terminal,
) -> Result<(), Error> {
    let loaded = load::load(options, progress)?;
    if options.reports.sum && !options.sums_lines() {
        progress.tell("writing the sum");
        sum::write(loaded.profile(), &loaded)?;
    }
    let mut analysis = analysis::analyze(&loaded, options, progress)?;
    if options.sums_lines() {
        let sum = gnu_sum::as_gnu(loaded.profile(), &analysis.functions, &analysis.selections.arcs);
        sum::write(&sum, &loaded)?;
    }
    let format = match options.format {
        OutputFormat::Json => Format::Json,
        OutputFormat::Text if options.table => Format::Table(*terminal),
        OutputFormat::Text => Format::Text,
    };
    // JSON has escapes of its own.
    if terminal.reports.is_some() && format != Format::Json {
        analysis.functions.spell_controls();
    }
    progress.begin_reports();
    render(&analysis, format, out, progress)
}

/// The whole way from files to text for a command line of the BSDs.
fn report_as_bsd(arguments: &Arguments, out: &mut dyn Write, progress: &mut Progress<'_>) -> Result<(), Error> {
    let loaded = load::bsd::load(arguments, progress)?;
    if arguments.sum {
        load::bsd::write_sum(&loaded, arguments.dialect)?;
    }
    if loaded.profile().histograms.is_empty() {
        // Where even a warning cannot be written, nobody is left to be told.
        let _ = writeln!(progress, "gprof: warning: time is in ticks, not seconds");
    }
    progress.tell("working out the reports");
    let Some(image) = loaded.images().iter().next() else { return Ok(()) };
    let mut report = analysis::bsd::report(arguments, loaded.profile(), image);
    if progress.is_among_reports() {
        report.functions.spell_controls();
    }
    progress.begin_reports();
    let mut buffer = BufWriter::with_capacity(1 << 16, out);
    report::bsd::render(&report, &mut buffer).and_then(|()| buffer.flush()).map_err(Error::Output)
}
