//! Writes whole reports one after the other, with a form feed between them.

use std::io::{self, Write};

use super::annotate::AnnotatedFile;
use super::stats::Detail;
use super::table::Frame;
use super::{counts, flat, graph, index, info, json, order, source, stats, table};
use crate::analysis::Analysis;
use crate::cli::options::{Options, Wanted};
use crate::load::profile_file::FileInfo;
use crate::terminal::Terminal;

/// Writes reports, a form feed between them.
pub struct Writer<'a> {
    out: &'a mut dyn Write,
    terminal: Terminal,
    first: bool,
    first_source: bool,
}

impl<'a> Writer<'a> {
    /// Writes to `out`, which may be a terminal.
    pub fn new(out: &'a mut dyn Write, terminal: &Terminal) -> Writer<'a> {
        Writer { out, terminal: *terminal, first: true, first_source: true }
    }

    /// Begins a report.
    fn begin(&mut self) -> io::Result<&mut dyn Write> {
        if !std::mem::take(&mut self.first) {
            self.out.write_all(b"\x0c\n")?;
        }
        Ok(self.out)
    }

    /// Writes what the profiles consist of.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn info(&mut self, files: &[FileInfo]) -> io::Result<()> {
        info::render(files, self.begin()?)
    }

    /// Writes all wanted reports that show the analysis.
    ///
    /// # Errors
    ///
    /// Those of the output.
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
        if wanted.counts {
            counts::render(analysis, self.begin()?)?;
        }
        Ok(())
    }

    /// Writes all wanted reports as JSON, and how much of the profiles they account for.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn json(&mut self, analysis: &Analysis<'_>) -> io::Result<()> {
        json::render(analysis, self.out)
    }

    /// Writes the same reports, those that can be tables as tables.
    pub(super) fn tables(&mut self, analysis: &Analysis<'_>, options: &Options, wanted: Wanted) -> io::Result<()> {
        let frame = Frame::new(&self.terminal, options);
        if wanted.flat {
            table::flat(analysis, options, frame, self.begin()?)?;
        }
        if wanted.graph {
            table::graph(analysis, options, frame, self.begin()?)?;
            table::index(analysis, frame, self.begin()?)?;
        }
        if wanted.counts {
            counts::render(analysis, self.begin()?)?;
        }
        Ok(())
    }

    /// Writes an annotated source file.
    ///
    /// # Errors
    ///
    /// Those of the output.
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

    /// Writes how much of the profiles the reports account for.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn stats(&mut self, analysis: &Analysis<'_>, files: &[FileInfo]) -> io::Result<()> {
        stats::render(analysis, files, Detail::All, self.begin()?)
    }

    /// Writes as much of the same as readers of other reports should know.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn footer(&mut self, analysis: &Analysis<'_>, files: &[FileInfo]) -> io::Result<()> {
        stats::render(analysis, files, Detail::Notable, self.begin()?)
    }

    /// Writes the order of functions.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn function_order(&mut self, analysis: &Analysis<'_>) -> io::Result<()> {
        order::render_functions(analysis, self.out)
    }

    /// Writes the order of object files.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn file_order(&mut self, analysis: &Analysis<'_>) -> io::Result<()> {
        order::render_files(analysis, self.out)
    }

    /// Writes out what is still held back.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
