//! Writes the reports one after the other, with a form feed between two reports.

use std::io::{self, Write};

use super::annotate::AnnotatedFile;
use super::stats::Detail;
use super::table::Frame;
use super::{bounds, contexts, counts, flat, graph, index, info, linker_order, order, source, stats, table, threads};
use crate::analysis::Analysis;
use crate::cli::options::{Options, Wanted};
use crate::cli::orderer::Orderer;
use crate::cli::rules::Rules;
use crate::load::profile_file::FileInfo;
use crate::load::side_info::SideInfo;

/// Writes the reports one after the other, with a form feed between two reports.
pub struct Writer<'a> {
    out: &'a mut dyn Write,
    /// The frame of tables, if reports are tables.
    frame: Option<Frame>,
    first: bool,
    first_source: bool,
}

impl<'a> Writer<'a> {
    /// Returns a writer of reports to `out`: of tables in this frame, or of plain text.
    pub(super) fn new(frame: Option<Frame>, out: &'a mut dyn Write) -> Writer<'a> {
        Writer { out, frame, first: true, first_source: true }
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
        let frame = self.frame;
        let out = self.begin()?;
        let Some(frame) = frame else {
            info::render(files, rules.tells_forms, out)?;
            return sides.iter().try_for_each(|side| info::render_side(side, out));
        };
        table::profiles(files, rules.tells_forms, frame, out)?;
        sides.iter().try_for_each(|side| {
            writeln!(out)?;
            table::side(side, frame, out)
        })
    }

    /// Writes the threads.
    ///
    /// # Errors
    ///
    /// The errors of the output.
    pub fn threads(&mut self, sides: &[SideInfo]) -> io::Result<()> {
        match self.frame {
            None => threads::render(sides, self.begin()?),
            Some(frame) => table::threads(sides, frame, self.begin()?),
        }
    }

    /// Writes the flat profile, the call graph, the index, the bounds of inclusive times and the list of execution counts,
    /// as far as the user wants these.
    ///
    /// # Errors
    ///
    /// The errors of the output.
    pub fn reports(&mut self, analysis: &Analysis<'_>, options: &Options, wanted: Wanted) -> io::Result<()> {
        if let Some(frame) = self.frame {
            return self.tables(analysis, options, wanted, frame);
        }
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
    fn tables(&mut self, analysis: &Analysis<'_>, options: &Options, wanted: Wanted, frame: Frame) -> io::Result<()> {
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
        self.statistics(analysis, files, Detail::All)
    }

    /// Writes the footer.
    ///
    /// # Errors
    ///
    /// The errors of the output.
    pub fn footer(&mut self, analysis: &Analysis<'_>, files: &[FileInfo]) -> io::Result<()> {
        self.statistics(analysis, files, Detail::Notable)
    }

    fn statistics(&mut self, analysis: &Analysis<'_>, files: &[FileInfo], detail: Detail) -> io::Result<()> {
        match self.frame {
            None => stats::render(analysis, files, detail, self.begin()?),
            Some(frame) => table::stats(analysis, files, detail, frame, self.begin()?),
        }
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
