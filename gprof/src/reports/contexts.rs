//! Trees of calling contexts and of callers.

use std::io::{self, Write};

use super::columns::Columns;
use super::{explanations, stacks};
use crate::model::{Analysis, ContextTable};
use crate::question::options::Options;
use crate::reports::number::General;

/// Rows that are deeper than this are not indented further, because the length of a report would grow with the square of the
/// depth. Their depth is in brackets.
const DEEPEST_INDENT: usize = 48;

/// Writes the tree of calling contexts.
pub(crate) fn contexts(
    analysis: &Analysis<'_>,
    table: &ContextTable<'_>,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    render(analysis, table, "Calling contexts", explanations::CONTEXTS, options, out)
}

/// Writes the callers of the chosen functions.
pub(crate) fn callers(
    analysis: &Analysis<'_>,
    table: &ContextTable<'_>,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    render(analysis, table, "Callers", explanations::CALLERS, options, out)
}

fn render(
    analysis: &Analysis<'_>,
    table: &ContextTable<'_>,
    title: &str,
    explanation: &str,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    let clock = &analysis.clock;
    let dimension = String::from_utf8_lossy(clock.dimension.as_bytes());
    writeln!(out, "{title}:\n\nEach sample counts as {} {dimension}.", General(clock.time(1.0)))?;
    if let Some(sums) = analysis.stacks_of_reports() {
        writeln!(out, "Times are {}.", stacks::summary(sums))?;
    }
    if table.total <= 0.0 {
        out.write_all(b" no time accumulated\n")?;
    }
    out.write_all(b"\n")?;
    writeln!(out, "  %   inclusive      self")?;
    writeln!(out, " time {dimension:>9.9} {dimension:>9.9}     calls  name")?;
    let mut columns = Columns::default();
    for row in &table.rows {
        columns.fixed(row.percent, 5, 1);
        columns.fixed(row.inclusive, 10, 2);
        columns.fixed(row.self_time, 10, 2);
        match row.calls {
            Some(calls) => columns.right(calls, 10),
            None => columns.blanks(10),
        }
        columns.blanks(2 + 2 * row.depth.min(DEEPEST_INDENT));
        if row.depth > DEEPEST_INDENT {
            columns.text(format!("[{}] ", row.depth).as_bytes());
        }
        columns.text(&analysis.context_name(row));
        columns.text(if row.is_doubtful { b" (?)\n" } else { b"\n" });
        columns.take(out)?;
    }
    if options.brief {
        return Ok(());
    }
    if table.rows.iter().any(|row| row.is_doubtful) {
        out.write_all(DOUBT)?;
    }
    if table.left_out > 0 {
        let count = table.left_out;
        writeln!(out, "\nRows left out by --min-percent (1 by default), --top, or DEPTH: {count} or more.")?;
    }
    out.write_all(explanation.as_bytes())
}

const DOUBT: &[u8] = b"\n(?) A tail call removed functions from the stack. Other functions may stand in\n    place of this function, or between this function and its caller.\n";
