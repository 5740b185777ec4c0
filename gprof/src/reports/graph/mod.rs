//! The call graph, an entry for each function with its callers and callees, and the index of the entries.

mod index;
mod index_table;
mod numbered_names;
mod table;
mod text;

pub(crate) use text::called;

use super::doubts::range;
use super::estimates;
use super::report::{Need, Report, Value};
use super::writer::Writer;
use crate::error::Error;
use crate::model::Analysis;
use crate::model::entries::{Calls, Endpoint, EntryLine, LineKind};
use crate::model::graph::Node;
use crate::question::options::Subject;
use crate::question::reports::{GRAPH, Shows};
use crate::sink::json::{Record, write_list};

pub const REPORT: Report = Report {
    name: GRAPH,
    short: Some('q'),
    help: "Print the call graph and its index; with a SPEC, only these functions and what they call, or these arcs (FROM/TO)",
    value: Value::OptionalSpec,
    opposite: Some((
        'Q',
        "no-graph",
        "Do not print the call graph; with a SPEC, print it without these functions or arcs",
    )),
    subject: Some(Subject::Graph),
    needs: &[Need::Graph],
    shows: Shows { all_functions: true, ..Report::OF_FUNCTIONS.shows },
    is_default: |data| data.graph,
    write: |analysis, writer| write_entries(analysis, writer).and_then(|()| write_index(analysis, writer)),
    json: Some(|analysis, out| write_list("call_graph", analysis.entries().map(|node| entry(analysis, node)), out)),
    mentions: |analysis, mention| {
        for line in analysis.entries().flat_map(|node| analysis.entry(node)) {
            if let Endpoint::Function(id) = line.endpoint {
                mention(id);
            }
        }
    },
    ..Report::OF_FUNCTIONS
};

/// Writes the entries.
pub fn write_entries(analysis: &Analysis<'_>, writer: &mut Writer<'_>) -> Result<(), Error> {
    writer.report(|out, frame| match frame {
        None => text::render(analysis, analysis.options, out),
        Some(frame) => table::render(analysis, analysis.options, frame, out),
    })
}

/// Writes the index.
pub fn write_index(analysis: &Analysis<'_>, writer: &mut Writer<'_>) -> Result<(), Error> {
    writer.report(|out, frame| match frame {
        None => index::render(analysis, analysis.options, out),
        Some(frame) => index_table::render(analysis, frame, out),
    })
}

fn entry<'a>(analysis: &Analysis<'_>, node: Node) -> Record<'a> {
    let lines = analysis.entry(node);
    let is_measured = analysis.stacks().is_some();
    let has_estimates = analysis.has_estimates();
    let line = |of: &EntryLine| line(of, is_measured, has_estimates);
    let of = |is: fn(LineKind) -> bool| lines.iter().filter(move |entry| is(entry.kind)).map(line);
    let (number, _) = analysis.entry_number(node);
    let mut record = vec![("number", u64::from(number).into()), ("percent", analysis.percent(node).into())];
    record.extend(of(|kind| matches!(kind, LineKind::Primary(_))).flatten());
    record.push(("above", of(|kind| kind == LineKind::Caller).collect::<Vec<_>>().into()));
    record.push(("below", of(|kind| kind == LineKind::Callee).collect::<Vec<_>>().into()));
    record
}

fn line<'a>(line: &EntryLine, is_measured: bool, has_estimates: bool) -> Record<'a> {
    let (function, cycle) = match line.endpoint {
        Endpoint::Function(id) => (Some(id.index()), None),
        Endpoint::Cycle(at) => (None, Some(at + 1)),
        Endpoint::Spontaneous | Endpoint::Outside => (None, None),
    };
    let (calls, calls_of, self_calls) = match line.calls {
        Calls::None => (None, None, None),
        Calls::WithinCycle(calls) => (Some(calls), None, None),
        Calls::Total { outer, inner } => (Some(outer), None, Some(inner)),
        Calls::Part { some, all } => (Some(some), Some(all), None),
    };
    let (is_counted, is_one) = (line.estimate.is_none(), line.more_estimate.is_none());
    let (self_time, children) = line.times.unzip();
    let mut record = vec![
        ("function", function.into()),
        ("cycle", cycle.into()),
        ("self", self_time.into()),
        ("children", children.into()),
        ("calls", calls.filter(|_| is_counted).into()),
        ("calls_of", calls_of.filter(|_| is_counted).into()),
        ("self_calls", self_calls.filter(|_| is_one).into()),
    ];
    if has_estimates {
        record.extend(estimates::fields(line.estimate));
    }
    if is_measured {
        let known = |error: f64| Some(error).filter(|error| *error != 0.0).into();
        record.push(("self_error", known(line.error)));
        record.push(("children_error", known(line.children_error)));
        record.push(("inclusive_error", known(line.inclusive_error)));
        record.extend(range(line.range));
    }
    record
}
