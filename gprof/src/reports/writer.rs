//! Writes reports one after the other.

use std::io::{self, Write};

use super::table::Frame;
use crate::error::Error;

/// Writes reports one after the other, with a form feed between two reports.
pub struct Writer<'a> {
    out: &'a mut dyn Write,
    warnings: &'a mut dyn Write,
    /// The frame of tables, if reports are tables.
    frame: Option<Frame>,
    is_first: bool,
}

impl<'a> Writer<'a> {
    /// Returns a writer of reports to `out`: of tables in this frame, or of text. Warnings about files that cannot be
    /// shown go to `warnings`.
    pub fn new(out: &'a mut dyn Write, warnings: &'a mut dyn Write, frame: Option<Frame>) -> Writer<'a> {
        Writer { out, warnings, frame, is_first: true }
    }

    /// Writes a report.
    ///
    /// # Errors
    ///
    /// The errors of the output.
    pub fn report(&mut self, write: impl FnOnce(&mut dyn Write, Option<Frame>) -> io::Result<()>) -> Result<(), Error> {
        let between = if std::mem::take(&mut self.is_first) { "" } else { "\x0c\n" };
        let written = self.out.write_all(between.as_bytes()).and_then(|()| write(self.out, self.frame));
        written.map_err(Error::Output)
    }

    /// Writes a list for other programs, which have no use for a form feed.
    ///
    /// # Errors
    ///
    /// The errors of the output.
    pub fn list(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
        write(self.out).map_err(Error::Output)
    }

    /// Returns where warnings go.
    pub fn warnings(&mut self) -> &mut dyn Write {
        self.warnings
    }
}
