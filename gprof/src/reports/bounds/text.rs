//! The bounds of inclusive times: one row for each function.

use std::io::{self, Write};

use crate::model::{Analysis, BoundsDoubt, BoundsTable};
use crate::question::options::Options;
use crate::reports::columns::Columns;
use crate::reports::explanations;
use crate::reports::number::{Fixed, General};

pub(crate) fn render(
    analysis: &Analysis<'_>,
    bounds: &BoundsTable,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    introduction(analysis, bounds, out)?;
    let dimension = String::from_utf8_lossy(analysis.clock.dimension.as_bytes());
    writeln!(out, "    self     lower  estimate     upper")?;
    writeln!(out, "{dimension:>8.8}  {dimension:>8.8}  {dimension:>8.8}  {dimension:>8.8}     calls  name")?;
    let mut columns = Columns::default();
    for row in &bounds.rows {
        columns.fixed(row.self_time, 8, 2);
        columns.fixed(row.lower, 10, 2);
        match row.estimate {
            Some(estimate) => columns.fixed(estimate, 10, 2),
            None => columns.blanks(10),
        }
        columns.fixed(row.upper, 10, 2);
        match row.calls {
            Some(calls) => columns.right(calls, 10),
            None => columns.blanks(10),
        }
        columns.blanks(2);
        columns.text(&analysis.name_with_location(row.function));
        columns.text(b"\n");
        columns.take(out)?;
    }
    notes(analysis, bounds, bounds.left_out, options, out)
}

/// Writes the text above the columns, with the reasons why the bounds may not hold.
pub(crate) fn introduction(analysis: &Analysis<'_>, bounds: &BoundsTable, out: &mut dyn Write) -> io::Result<()> {
    let clock = &analysis.clock;
    let dimension = String::from_utf8_lossy(clock.dimension.as_bytes());
    write!(out, "Bounds of inclusive times:\n\nEach sample counts as {} {dimension}.\n", General(clock.time(1.0)))?;
    for doubt in &bounds.doubts {
        out.write_all(b"The bounds may not hold: ")?;
        match doubt {
            BoundsDoubt::CallsAreMissing { example, count } => {
                write!(out, "calls are missing. No counted call leads to {count} called function(s), such as ")?;
                out.write_all(&analysis.name(*example))?;
                out.write_all(b".\n")?;
            }
            BoundsDoubt::StartIsNotCounted => out.write_all(
                b"no call from outside was counted, not even that of main.\n\
                Functions that libraries call may have more callers, or main began before the profile.\n",
            )?,
            BoundsDoubt::JumpsAreUnknown { count } => {
                writeln!(out, "{count} called function(s) may have ended in tail calls: their jumps are not known.")?;
            }
            BoundsDoubt::CallsOnDemand => {
                out.write_all(b"calls were counted on demand, and those of the rest of the run are missing.\n")?;
            }
            BoundsDoubt::NegativeSamples => out.write_all(b"a counter of samples is negative.\n")?,
        }
    }
    Ok(())
}

/// Writes the text below the columns. `left_out` is the number of functions beyond the limit, if the text tells the
/// number.
pub(crate) fn notes(
    analysis: &Analysis<'_>,
    bounds: &BoundsTable,
    left_out: usize,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    let dimension = String::from_utf8_lossy(analysis.clock.dimension.as_bytes());
    if !bounds.is_upper_exact {
        out.write_all(b"\nThe call graph is too large for exact upper bounds. Some are larger than need be.\n")?;
    }
    if options.brief {
        return Ok(());
    }
    if left_out > 0 {
        writeln!(out, "\nFunctions left out by --top or --min-percent: {left_out}.")?;
    }
    if bounds.tail_calls > 0 {
        writeln!(
            out,
            "\nFunctions that may have ended in a tail call: {}. Their upper bounds include the time of the functions\n\
             to which they may have jumped.",
            bounds.tail_calls
        )?;
    }
    if bounds.unseen != 0.0 {
        let unseen = Fixed(bounds.unseen);
        writeln!(
            out,
            "\nEach upper bound includes {unseen:.2} {dimension} in code that any function may have called unseen."
        )?;
    }
    out.write_all(explanations::BOUNDS.as_bytes())
}
