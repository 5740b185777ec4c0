//! The flat profile and the call graph as Markdown, for comments on changes.

use std::io::{self, Write};

use crate::model::entries::{Endpoint, EntryLine, LineKind};
use crate::model::{Analysis, FlatRow};
use crate::question::reports::{FLAT, GRAPH};
use crate::reports::graph::called;
use crate::reports::number::Fixed;
use crate::reports::{doubts, estimates, names, on_demand, warnings};
use crate::sink::markdown::{Table, code, escaped};

pub(super) fn render(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    write_warnings(&warnings::of(analysis), out)?;
    if let Some(note) = on_demand::note(analysis) {
        writeln!(out, "{}\n", escaped(note.as_bytes()))?;
    }
    // Without a choice, and with a choice of other reports alone, there are both.
    let wants = |report| analysis.wanted.has(report);
    let has_choice = wants(FLAT) || wants(GRAPH);
    if wants(FLAT) || !has_choice {
        flat(analysis, out)?;
    }
    if wants(GRAPH) || !has_choice {
        graph(analysis, out)?;
    }
    Ok(())
}

/// Writes warnings as a quotation.
pub(crate) fn write_warnings(warnings: &[String], out: &mut dyn Write) -> io::Result<()> {
    warnings.iter().try_for_each(|warning| writeln!(out, "> {}\n", escaped(warning.as_bytes())))
}

/// Writes how many rows have no room.
pub(crate) fn write_left_out(count: usize, what: &str, out: &mut dyn Write) -> io::Result<()> {
    match count {
        0 => Ok(()),
        1 => writeln!(out, "\n1 more {what}."),
        _ => writeln!(out, "\n{count} more {what}s."),
    }
}

fn fixed(number: f64) -> String {
    format!("{:.2}", Fixed(number))
}

fn flat(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    let unit = String::from_utf8_lossy(analysis.clock().dimension.as_bytes()).into_owned();
    writeln!(out, "### Flat profile\n\nTimes are in {}.\n", escaped(unit.as_bytes()))?;
    let mut table = Table::new(&["function"], &["%", "self", "calls"]);
    for row in analysis.flat_rows() {
        let FlatRow { percent, self_time, calls, estimate, .. } = row;
        let calls = match estimate {
            Some(_) => estimates::cell(estimate),
            None if calls == 0 => String::new(),
            None => calls.to_string(),
        };
        let cells = [code(&analysis.row_name(&row)), fixed(percent), fixed(self_time), escaped(calls.as_bytes())];
        table.row(cells.into_iter());
    }
    out.write_all(table.lines().as_bytes())?;
    write_left_out(analysis.flat_profile().left_out.count, "row", out)?;
    writeln!(out)
}

fn graph(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "### Call graph\n\nThe callers of a function stand above it, and what it calls below.\n")?;
    let mut table = Table::new(&["", "function"], &["%", "self", "children", "called"]);
    for node in &analysis.graph_entries().shown {
        for line in &analysis.entry(*node) {
            table.row(cells(analysis, line)?.into_iter());
        }
    }
    out.write_all(table.lines().as_bytes())?;
    write_left_out(analysis.graph_entries().left_out.count, "function", out)?;
    writeln!(out)
}

fn cells(analysis: &Analysis<'_>, line: &EntryLine) -> io::Result<[String; 6]> {
    let mut name = Vec::new();
    names::write_endpoint(analysis, line.endpoint, &mut name)?;
    let is_known = matches!(line.endpoint, Endpoint::Function(_) | Endpoint::Cycle(_));
    let name = if is_known { code(&name) } else { escaped(&name) };
    let name = match line.range {
        Some(range) => format!("{name} {}", escaped(doubts::text(range).as_bytes())),
        None => name,
    };
    let time = |time: Option<f64>| time.map(fixed).unwrap_or_default();
    let (own, children) = (time(line.times.map(|(own, _)| own)), time(line.times.map(|(_, children)| children)));
    let called = escaped(called(line).as_bytes());
    Ok(match line.kind {
        LineKind::Primary(node) => {
            let percent = format!("{:.1}", Fixed(analysis.graph().percent(node)));
            [String::new(), format!("**{name}**"), percent, own, children, called]
        }
        LineKind::Caller => ["from".to_owned(), name, String::new(), own, children, called],
        LineKind::Callee => ["to".to_owned(), name, String::new(), own, children, called],
    })
}
