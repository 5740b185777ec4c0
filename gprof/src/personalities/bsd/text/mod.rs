//! Reports in the layout of the BSDs: call graph, flat profile, index.
//!
//! All numbers are in the [`Report`]. As all renderers, this one only writes.

mod flat;
mod granularity;
mod graph;
mod index;
mod names;

use std::io::{self, Write};

use crate::personalities::bsd::report::Report;
use crate::reports::explanations;

/// Writes all reports that the user wants.
///
/// # Errors
///
/// The errors of `out`.
pub fn render(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    cut(report, out)?;
    if let Some(entries) = &report.entries {
        if report.explained {
            out.write_all(explanations::graph(false).as_bytes())?;
        }
        graph::render(report, entries, out)?;
    }
    // The form feeds stand before the flat profile and the index, whether another report came before or not.
    if report.is_flat_wanted {
        out.write_all(b"\x0c\n")?;
        if report.explained {
            out.write_all(explanations::FLAT.as_bytes())?;
        }
        flat::render(report, out)?;
    }
    out.write_all(b"\x0c\n")?;
    index::render(report, out)
}

/// Writes the calls that were left out to break cycles. The BSDs write a line even if the user did not ask to break
/// cycles.
fn cut(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    if let Some(limit) = report.cycle_limit {
        write!(out, "\n\nCalls left out of the calculation,\nso that no cycle is larger than {limit}:\n")?;
    }
    if report.cut.is_empty() {
        return out.write_all(b"\tNone\n\n");
    }
    for arc in &report.cut {
        out.write_all(b"\t")?;
        out.write_all(&report.functions.written(report.functions[arc.parent].name.into()))?;
        out.write_all(b" to ")?;
        out.write_all(&report.functions.written(report.functions[arc.child].name.into()))?;
        writeln!(out, " with {} calls", arc.count)?;
    }
    out.write_all(b"\n")
}
