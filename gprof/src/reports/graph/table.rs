//! The call graph as a table: lines between entries, callers above the entry's function and called functions below,
//! names of both indented.

use std::cell::Cell;
use std::io::{self, Write};

use super::super::columns::Columns;
use super::super::{doubts, errors, explanations, names};
use crate::model::Analysis;
use crate::model::entries::{Calls, Endpoint, EntryLine, LineKind};
use crate::question::options::Options;
use crate::reports::graph::numbered_names::NumberedNames;
use crate::reports::graph::text::{estimated_calls, granularity};
use crate::reports::table::cells::Cells;
use crate::reports::table::drawing::{Frame, Pass, RowSink, RowStyle, STRONG, draw};
use crate::reports::table::more;
use crate::reports::table::widths::{column, name_column, optional_column};

pub(crate) fn render(analysis: &Analysis<'_>, options: &Options, frame: Frame, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"Call graph:\n")?;
    granularity(analysis, out)?;
    let mut columns = vec![
        // The index is in the names as well.
        optional_column(1, "index"),
        column("%\ntime"),
        column("self"),
        column("children"),
        column("called"),
        name_column("name"),
    ];
    if options.errors {
        columns.insert(3, column("error"));
        if analysis.stacks().is_some() {
            columns.insert(5, column("error"));
        }
    }
    let widths = vec![Cell::new(None); analysis.functions.len()];
    let rows = Rows { analysis, options, numbered_names: NumberedNames::new(analysis), widths };
    draw(&columns, |pass, take| rows.hand_over(pass, take), frame, out)?;
    more::render(analysis.graph_entries().left_out.count, "function", options, out)?;
    explanations::explain(&explanations::graph(analysis.stacks().is_some()), options, out)?;
    explanations::explain_estimates(analysis, options, out)?;
    explanations::explain_doubts(analysis.has_doubts(), options, out)
}

/// The indentation of names that are not the name of the entry's function.
const INDENT: usize = 2;

struct Rows<'a, 'data> {
    analysis: &'a Analysis<'data>,
    options: &'a Options,
    numbered_names: NumberedNames,
    /// The width of each function's name once it is known. Every name appears in many rows.
    widths: Vec<Cell<Option<u32>>>,
}

impl Rows<'_, '_> {
    /// Hands over the rows of all entries.
    fn hand_over(&self, pass: Pass, take: RowSink<'_>) -> io::Result<()> {
        let mut cells = Cells::default();
        for node in &self.analysis.graph_entries().shown {
            for (at, line) in self.analysis.entry(*node).iter().enumerate() {
                let row_style = match line.kind {
                    LineKind::Primary(_) => RowStyle { style: STRONG, ..RowStyle::default() },
                    LineKind::Caller | LineKind::Callee => RowStyle { indent: INDENT, ..RowStyle::default() },
                };
                cells.clear();
                self.fill(&mut cells, pass, line)?;
                take(RowStyle { is_apart: at == 0, ..row_style }, &cells)?;
            }
        }
        Ok(())
    }

    fn fill(&self, cells: &mut Cells, pass: Pass, line: &EntryLine) -> io::Result<()> {
        let graph = self.analysis.graph();
        match line.kind {
            LineKind::Primary(node) => {
                cells.text(&format!("[{}]", graph.rank(node)));
                cells.fixed(graph.percent(node), 1);
            }
            LineKind::Caller | LineKind::Callee => (0..2).for_each(|_| cells.blank()),
        }
        let time = |time: Option<f64>, cells: &mut Cells| match time {
            Some(time) => cells.fixed(time, 2),
            None => cells.blank(),
        };
        time(line.times.map(|(own, _)| own), cells);
        if self.options.errors {
            cells.text(&errors::text(line.error));
        }
        time(line.times.map(|(_, children)| children), cells);
        if self.options.errors && self.analysis.stacks().is_some() {
            cells.text(&errors::text(line.children_error));
        }
        match estimated_calls(line) {
            Some((some, others)) => cells.text(&(some + &others)),
            None => cells.cell(|columns| calls(line.calls, columns)),
        }
        let known = match line.endpoint {
            Endpoint::Function(id) if line.range.is_none() => Some(&self.widths[id.index()]),
            _ => None,
        };
        if let Some(width) = known.and_then(Cell::get).filter(|_| pass == Pass::Measure) {
            cells.width(width as usize);
            return Ok(());
        }
        let mut named = Ok(());
        let width = cells.name(|columns| {
            named = self.name(line.endpoint, columns);
            if let Some(range) = line.range {
                columns.text(format!(" {}", doubts::text(range)).as_bytes());
            }
        });
        if let Some(known) = known {
            known.set(u32::try_from(width).ok());
        }
        named
    }

    fn name(&self, endpoint: Endpoint, columns: &mut Columns) -> io::Result<()> {
        match endpoint {
            Endpoint::Function(id) => self.numbered_names.write(self.analysis, id, columns),
            endpoint => names::write_endpoint(self.analysis, endpoint, &mut columns.text),
        }
    }
}

fn calls(calls: Calls, columns: &mut Columns) {
    let (some, sign, others) = match calls {
        Calls::None => return,
        Calls::WithinCycle(calls) | Calls::Total { outer: calls, inner: 0 } => return columns.right(calls, 0),
        Calls::Total { outer, inner } => (outer, b"+", inner),
        Calls::Part { some, all } => (some, b"/", all),
    };
    columns.right(some, 0);
    columns.text(sign);
    columns.right(others, 0);
}
