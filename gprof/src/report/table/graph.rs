//! The call graph as a table: entries between lines, callers above and what is called below, names of both indented.

use std::io::{self, Write};

use super::super::entries::{self, Calls, Line, Place};
use super::super::graph::granularity;
use super::super::{blurbs, errors};
use super::{Frame, Group, ROWS, STRONG, column, draw, name_column, printable};
use crate::analysis::Analysis;
use crate::graph::Node;
use crate::number::Fixed;
use crate::options::Options;

pub(crate) fn render(analysis: &Analysis<'_>, options: &Options, frame: Frame, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"Call graph:\n")?;
    granularity(analysis, out)?;
    let mut columns = vec![
        column("index"),
        column("%\ntime"),
        column("self"),
        column("children"),
        column("called"),
        name_column("name"),
    ];
    if options.errors {
        columns.insert(3, column("error"));
    }
    let groups = || analysis.calls.entries.iter().flat_map(|node| entry(analysis, options, *node));
    draw(&columns, groups, frame, out)?;
    blurbs::explain(blurbs::GRAPH, options, out)
}

/// By how many characters names are moved to the right that are not those of the entry.
const INDENT: u16 = 2;

/// An entry: what stands above, the line of the function itself, what stands below.
fn entry(analysis: &Analysis<'_>, options: &Options, node: Node) -> Vec<Group> {
    let lines = entries::lines(analysis, node);
    let group = |lines: &[Line]| {
        let rows = lines.iter().map(|line| cells(analysis, options, line)).collect();
        match lines.first().map(|line| line.place) {
            Some(Place::Main(_)) => Group { rows, style: STRONG, ..Group::default() },
            _ => Group { rows, indent: INDENT, ..Group::default() },
        }
    };
    let parts = lines.chunk_by(|one, other| one.place == other.place);
    let mut groups: Vec<Group> = parts.flat_map(|part| part.chunks(ROWS)).map(group).collect();
    if let Some(first) = groups.first_mut() {
        first.is_apart = true;
    }
    groups
}

fn cells(analysis: &Analysis<'_>, options: &Options, line: &Line) -> Vec<String> {
    let (graph, clock) = (&analysis.calls.graph, &analysis.clock);
    let (number, percent) = match line.place {
        Place::Main(node) => (format!("[{}]", graph.rank(node)), format!("{:.1}", entries::percent(graph, node))),
        Place::Above | Place::Below => Default::default(),
    };
    let time = |samples: f64| format!("{:.2}", Fixed(samples / clock.rate));
    let (own, children) = line.times.map(|(own, children)| (time(own), time(children))).unwrap_or_default();
    let calls = match line.calls {
        Calls::Nothing => String::new(),
        Calls::Some(calls) | Calls::All { outer: calls, inner: 0 } => calls.to_string(),
        Calls::All { outer, inner } => format!("{outer}+{inner}"),
        Calls::Part { some, all } => format!("{some}/{all}"),
    };
    let mut name = Vec::new();
    // A vector takes everything.
    let _ = entries::write_name(analysis, options, line.whose, &mut name);
    let mut cells = vec![number, percent, own];
    if options.errors {
        cells.push(errors::text(line.error, clock));
    }
    cells.extend([children, calls, printable(&name)]);
    cells
}
