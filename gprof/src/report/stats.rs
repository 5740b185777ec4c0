//! How much of the profiles the reports account for.

use std::io::{self, Write};

use crate::analysis::Analysis;
use crate::input::Parts;
use crate::number::{Fixed, General};

pub(super) fn render(analysis: &Analysis<'_>, parts: &[Parts], out: &mut dyn Write) -> io::Result<()> {
    let stats = &analysis.stats;
    writeln!(out, "Statistics:\n")?;
    writeln!(out, "{:>12}  runs merged", parts.len())?;
    writeln!(out, "{:>12}  samples each second", General(analysis.clock.rate).to_string())?;
    writeln!(
        out,
        "{:>12}  bins at the limit of their counters",
        parts.iter().map(|part| part.saturated).sum::<usize>()
    )?;
    let whole = if stats.samples > 0.0 { stats.samples } else { 1.0 };
    for (samples, what) in [
        (stats.samples, "samples"),
        (stats.attributed, "of them in functions shown"),
        (stats.left_out, "of them in functions left out and the profiling runtime"),
        (stats.outside, "of them outside of all functions"),
    ] {
        writeln!(out, "{:12.1}  {what} ({:.2} %)", Fixed(samples + 0.0), Fixed(100.0 * samples / whole + 0.0))?;
    }
    for (calls, what) in [
        (stats.calls, "calls"),
        (stats.from_outside, "of them from outside of the program's functions"),
        (stats.to_outside, "of them to outside of the program's functions"),
        (stats.unknown, "of them with both ends unknown"),
    ] {
        writeln!(out, "{calls:12}  {what}")?;
    }
    Ok(())
}
