//! Writes the reports one after the other, with a form feed between two reports.

use std::io::{self, Write};

use super::annotate::AnnotatedFile;
use super::stats::Detail;
use super::table::Frame;
use super::{
    annotate, bounds, contexts, counts, flat, graph, index, info, linker_order, order, source, stats, table, threads,
    warnings,
};
use crate::error::Error;
use crate::model::Analysis;
use crate::question::options::Options;
use crate::question::orderer::Orderer;
use crate::question::reports::Wanted;
use crate::question::rules::Rules;
use crate::sources::profile_file::FileInfo;
use crate::sources::side_info::SideInfo;
use crate::terminal::Terminal;

/// Writes the reports one after the other, with a form feed between two reports.
pub struct Writer<'a> {
    out: &'a mut dyn Write,
    first: bool,
    first_source: bool,
}

impl<'a> Writer<'a> {
    /// Returns a writer of reports to `out`.
    pub fn new(out: &'a mut dyn Write) -> Writer<'a> {
        Writer { out, first: true, first_source: true }
    }

    /// Starts a report.
    fn begin(&mut self) -> io::Result<&mut dyn Write> {
        if !std::mem::take(&mut self.first) {
            self.out.write_all(b"\x0c\n")?;
        }
        Ok(self.out)
    }

    /// Writes the records in each profile, and the contents of side files (`-i`).
    ///
    /// # Errors
    ///
    /// The errors of the output.
    pub fn info(&mut self, files: &[FileInfo], sides: &[SideInfo], rules: &Rules) -> io::Result<()> {
        let out = self.begin()?;
        info::render(files, rules.tells_forms, out)?;
        sides.iter().try_for_each(|side| info::render_side(side, out))
    }

    /// Writes the threads.
    ///
    /// # Errors
    ///
    /// The errors of the output.
    pub fn threads(&mut self, sides: &[SideInfo]) -> io::Result<()> {
        threads::render(sides, self.begin()?)
    }

    /// Writes the flat profile, the call graph, the index, the bounds of inclusive times and the list of execution counts,
    /// as far as the user wants these.
    ///
    /// # Errors
    ///
    /// The errors of the output.
    pub fn reports(&mut self, analysis: &Analysis<'_>, options: &Options, wanted: Wanted) -> io::Result<()> {
        if wanted.graph && options.traditional {
            graph::render(analysis, options, self.begin()?)?;
        }
        if wanted.flat {
            flat::render(analysis, options, self.begin()?)?;
        }
        if wanted.graph {
            if !options.traditional {
                graph::render(analysis, options, self.begin()?)?;
            }
            index::render(analysis, options, self.begin()?)?;
        }
        if let Some(bounds) = analysis.bounds() {
            bounds::render(analysis, bounds, options, self.begin()?)?;
        }
        self.stacks(analysis, options)?;
        if wanted.counts {
            counts::render(analysis, self.begin()?)?;
        }
        Ok(())
    }

    /// Writes the same reports as [`Writer::reports`], as tables where possible.
    pub(crate) fn tables(
        &mut self,
        analysis: &Analysis<'_>,
        options: &Options,
        wanted: Wanted,
        terminal: &Terminal,
    ) -> io::Result<()> {
        let frame = Frame::new(terminal, options);
        if wanted.flat {
            table::flat(analysis, options, frame, self.begin()?)?;
        }
        if wanted.graph {
            table::graph(analysis, options, frame, self.begin()?)?;
            table::index(analysis, frame, self.begin()?)?;
        }
        if let Some(bounds) = analysis.bounds() {
            table::bounds(analysis, bounds, options, frame, self.begin()?)?;
        }
        self.stacks(analysis, options)?;
        if wanted.counts {
            counts::render(analysis, self.begin()?)?;
        }
        Ok(())
    }

    /// Writes the reports about stacks.
    fn stacks(&mut self, analysis: &Analysis<'_>, options: &Options) -> io::Result<()> {
        if let Some(table) = analysis.contexts() {
            contexts::contexts(analysis, table, options, self.begin()?)?;
        }
        if let Some(table) = analysis.callers() {
            contexts::callers(analysis, table, options, self.begin()?)?;
        }
        Ok(())
    }

    /// Writes an annotated source file.
    ///
    /// # Errors
    ///
    /// The errors of the output.
    pub fn source(&mut self, file: &AnnotatedFile, options: &Options) -> io::Result<()> {
        if !std::mem::take(&mut self.first_source) {
            self.out.write_all(b"\n")?;
        }
        let out = self.begin()?;
        out.write_all(b"*** File ")?;
        out.write_all(&file.path)?;
        out.write_all(b":\n")?;
        source::render(file, options, out)
    }

    /// Writes the statistics.
    ///
    /// # Errors
    ///
    /// The errors of the output.
    pub fn stats(&mut self, analysis: &Analysis<'_>, files: &[FileInfo]) -> io::Result<()> {
        stats::render(analysis, files, Detail::All, self.begin()?)
    }

    /// Writes the footer.
    ///
    /// # Errors
    ///
    /// The errors of the output.
    pub fn footer(&mut self, analysis: &Analysis<'_>, files: &[FileInfo]) -> io::Result<()> {
        stats::render(analysis, files, Detail::Notable, self.begin()?)
    }

    /// Writes the order of functions.
    ///
    /// # Errors
    ///
    /// The errors of the output.
    pub fn function_order(&mut self, analysis: &Analysis<'_>) -> io::Result<()> {
        order::render_functions(analysis, self.out)
    }

    /// Writes the functions that ran, or their calls, for a linker.
    ///
    /// # Errors
    ///
    /// The errors of the output.
    pub fn linker_order(&mut self, analysis: &Analysis<'_>, orderer: Orderer) -> io::Result<()> {
        linker_order::render(analysis, orderer, self.out)
    }

    /// Writes the order of object files.
    ///
    /// # Errors
    ///
    /// The errors of the output.
    pub fn file_order(&mut self, analysis: &Analysis<'_>) -> io::Result<()> {
        order::render_files(analysis, self.out)
    }
}

/// Writes all reports that the options ask for as text, or for a terminal as tables.
pub(crate) fn render(
    analysis: &Analysis<'_>,
    tables_for: Option<&Terminal>,
    out: &mut dyn Write,
    warnings: &mut dyn Write,
) -> Result<(), Error> {
    let Analysis { options, wanted, files, side_files, .. } = analysis;
    // Linkers read orders, and GNU's text has no such lines.
    let is_for_people = wanted.info || wanted.threads || wanted.shows_reports();
    if is_for_people && options.rules.tells_mismatches {
        warnings::write(&warnings::of(analysis), out).map_err(Error::Output)?;
    }
    let mut writer = Writer::new(out);
    if wanted.info {
        writer.info(files, side_files, &options.rules).map_err(Error::Output)?;
    }
    if wanted.threads {
        writer.threads(side_files).map_err(Error::Output)?;
    }
    match tables_for {
        None => writer.reports(analysis, options, *wanted),
        Some(terminal) => writer.tables(analysis, options, *wanted, terminal),
    }
    .map_err(Error::Output)?;
    if wanted.source {
        annotated(analysis, &mut writer, warnings)?;
    }
    if wanted.function_order {
        writer.function_order(analysis).map_err(Error::Output)?;
    }
    if let Some(orderer) = wanted.linker_order {
        writer.linker_order(analysis, orderer).map_err(Error::Output)?;
    }
    if wanted.file_order {
        writer.file_order(analysis).map_err(Error::Output)?;
    }
    if wanted.stats {
        writer.stats(analysis, files).map_err(Error::Output)?;
    } else if options.has_footer(*wanted) {
        writer.footer(analysis, files).map_err(Error::Output)?;
    }
    Ok(())
}

/// Writes the annotated source files, with `-y` each to a file of its own.
fn annotated(analysis: &Analysis<'_>, writer: &mut Writer<'_>, warnings: &mut dyn Write) -> Result<(), Error> {
    let options = analysis.options;
    for file in annotate::annotate(analysis, options) {
        let file = match file {
            Ok(file) => file,
            Err(missing) => {
                let _ = writeln!(warnings, "gprof: warning: {}: {}", missing.path.display(), missing.why);
                continue;
            }
        };
        if options.annotation.separate {
            annotate::store(&file, |out| source::render(&file, options, out))?;
        } else {
            writer.source(&file, options).map_err(Error::Output)?;
        }
    }
    Ok(())
}
