//! The line above a report that says what a sample stands for.

use std::io::{self, Write};

use crate::model::Clock;
use crate::personalities::bsd::report::Report;
use crate::reports::number::{Fixed, General};

/// Writes the line with the size of a bin and the time of a sample.
pub(super) fn granularity(report: &Report<'_>, total: f64, nothing: &str, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "\ngranularity: each sample hit covers {} byte(s)", General(report.clock.granularity))?;
    if total > 0.0 {
        write!(
            out,
            " for {:.2}% of {:.2} seconds\n\n",
            Fixed(Clock::percent_of_one(total)),
            Fixed(report.clock.time(total))
        )
    } else {
        write!(out, " no time {nothing}\n\n")
    }
}
