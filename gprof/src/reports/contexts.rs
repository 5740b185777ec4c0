//! Trees of calling contexts and of callers.

use std::io::{self, Write};

use super::columns::Columns;
use super::report::{Need, Report, Trait, Value};
use super::{explanations, on_demand, stacks};
use crate::model::{Analysis, ContextRow, ContextTable, Frame};
use crate::program::symbols::functions::FunctionId;
use crate::question::options::{Options, Subject};
use crate::question::reports::{CALLERS, CONTEXTS, Shows};
use crate::reports::number::General;
use crate::sink::json::{Record, write_list};

/// Rows that are deeper than this are not indented further, because the length of a report would grow with the square
/// of the depth. Their depth is in brackets.
const DEEPEST_INDENT: usize = 48;

/// The tree of calling contexts.
pub const CONTEXTS_REPORT: Report = Report {
    name: CONTEXTS,
    help: "Print the tree of calling contexts with its times, the longest first: which function called which, up to DEPTH functions \
           deep. Needs stacks",
    value: Value::OptionalNumber("DEPTH"),
    write: |analysis, writer| {
        let Some(table) = analysis.contexts() else { return Ok(()) };
        writer
            .report(|out, _| render(analysis, table, "Calling contexts", explanations::CONTEXTS, analysis.options, out))
    },
    json: Some(|analysis, out| json(CONTEXTS, analysis, analysis.contexts(), out)),
    mentions: |analysis, mention| mentioned(analysis.contexts(), mention),
    ..OF_STACKS
};

/// The callers of the chosen functions.
pub const CALLERS_REPORT: Report = Report {
    name: CALLERS,
    help: "Print the callers of these functions, and the callers' callers, with the time for which each is responsible. Needs stacks",
    value: Value::Spec,
    subject: Some(Subject::Callers),
    write: |analysis, writer| {
        let Some(table) = analysis.callers() else { return Ok(()) };
        writer.report(|out, _| render(analysis, table, "Callers", explanations::CALLERS, analysis.options, out))
    },
    json: Some(|analysis, out| json(CALLERS, analysis, analysis.callers(), out)),
    mentions: |analysis, mention| mentioned(analysis.callers(), mention),
    ..OF_STACKS
};

const OF_STACKS: Report = Report {
    needs: &[Need::Stacks],
    shows: Shows { stacks: true, ..Report::OF_FUNCTIONS.shows },
    traits: &[Trait::Ours, Trait::Functions],
    ..Report::OF_FUNCTIONS
};

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
    let without_estimates = on_demand::without_estimates(analysis, "report");
    for note in on_demand::note(analysis).into_iter().chain(without_estimates) {
        writeln!(out, "{note}")?;
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

fn json(field: &str, analysis: &Analysis<'_>, table: Option<&ContextTable<'_>>, out: &mut dyn Write) -> io::Result<()> {
    let Some(table) = table else { return Ok(()) };
    write_list(field, table.rows.iter().map(|row| context_row(analysis, row)), out)
}

fn mentioned(table: Option<&ContextTable<'_>>, mention: &mut dyn FnMut(FunctionId)) {
    for row in table.into_iter().flat_map(|table| &table.rows) {
        if let Frame::Function(id) = row.frame {
            mention(id);
        }
    }
}

fn context_row<'a>(analysis: &'a Analysis<'_>, row: &ContextRow<'_>) -> Record<'a> {
    let function = match row.frame {
        Frame::Function(id) => Some(id.index()),
        _ => None,
    };
    vec![
        ("depth", row.depth.into()),
        ("function", function.into()),
        ("name", analysis.context_name(row).into()),
        ("percent", row.percent.into()),
        ("inclusive", row.inclusive.into()),
        ("self", row.self_time.into()),
        ("calls", row.calls.into()),
        ("is_doubtful", row.is_doubtful.into()),
    ]
}
