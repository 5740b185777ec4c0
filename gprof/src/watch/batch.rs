//! Prints one table after the other, for outputs that are no terminal.

use std::io::Write;
use std::thread;
use std::time::Duration;

use super::readings::{Display, Next, Reading};
use super::table::{Choice, Table};
use crate::error::Error;

/// Prints a table for each reading, and ends after that of a program that has ended.
pub(super) struct Batch<'a> {
    period: Duration,
    top: Option<usize>,
    out: &'a mut dyn Write,
    warnings: &'a mut dyn Write,
    /// The last message, which is not repeated.
    message: Option<String>,
}

impl<'a> Batch<'a> {
    pub(super) fn new(
        period: Duration,
        top: Option<usize>,
        out: &'a mut dyn Write,
        warnings: &'a mut dyn Write,
    ) -> Batch<'a> {
        Batch { period, top, out, warnings, message: None }
    }

    fn print(&mut self, reading: &Reading<'_>) -> std::io::Result<()> {
        let choice = Choice { top: self.top, ..Choice::default() };
        let table = Table::new(reading.counts, None, choice, reading.names);
        writeln!(self.out, "{}\n{}", reading.status.program_line(), reading.status.counts_line())?;
        writeln!(self.out, "{}", table.heading(choice))?;
        for counts in &table.rows {
            writeln!(self.out, "{}", table.line(counts, reading.names))?;
        }
        writeln!(self.out)?;
        self.out.flush()
    }
}

impl Display for Batch<'_> {
    fn show(&mut self, reading: &Reading<'_>) -> Result<Next, Error> {
        let message = &reading.status.message;
        if *message != self.message
            && let Some(text) = message
        {
            // A message that cannot be written is dropped: nobody can read it.
            let _ = writeln!(self.warnings, "gprof: {text}");
        }
        self.message.clone_from(message);
        if reading.is_new && reading.counts.samples + reading.counts.functions.len() as f64 > 0.0 {
            self.print(reading).map_err(Error::Output)?;
        }
        if reading.status.state.is_over() {
            return Ok(Next::Quit);
        }
        thread::sleep(self.period);
        Ok(Next::Read)
    }
}
