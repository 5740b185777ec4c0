//! Reports in the layout of the BSDs: call graph, flat profile, index.
//!
//! All numbers are in the [`Report`]. As all renderers, this one only writes.

use std::collections::HashMap;
use std::io::{self, Write};

use super::report::Report;
use crate::model::entries::{Calls, Endpoint, EntryLine, LineKind};
use crate::model::graph::Node;
use crate::model::graph::arcs::Arc;
use crate::model::{Clock, FlatRow, RowSamples};
use crate::program::symbols::functions::FunctionId;
use crate::question::rules::Dialect;
use crate::reports::explanations;
use crate::reports::number::{Fixed, General};

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
        render_graph(report, entries, out)?;
    }
    // The form feeds stand before the flat profile and the index, whether another report came before or not.
    if report.is_flat_wanted {
        out.write_all(b"\x0c\n")?;
        if report.explained {
            out.write_all(explanations::FLAT.as_bytes())?;
        }
        render_flat(report, out)?;
    }
    out.write_all(b"\x0c\n")?;
    render_index(report, out)
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

const HEAD: &str = "                                  called/total       parents 
index  %time    self descendents  called+self    name    \tindex
                                  called/total       children

";

fn render_graph(report: &Report<'_>, entries: &[Node], out: &mut dyn Write) -> io::Result<()> {
    granularity(report, report.graph.total(), "propagated", out)?;
    out.write_all(HEAD.as_bytes())?;
    let entries_of = Entries::new(report);
    for node in entries {
        entries_of.write(*node, out)?;
        out.write_all(b"\n-----------------------------------------------\n\n")?;
    }
    Ok(())
}

struct Entries<'a, 'data> {
    report: &'a Report<'data>,
    /// The calls that were left out, by called function and by caller.
    cut_parents: HashMap<FunctionId, Vec<&'a Arc>>,
    cut_children: HashMap<FunctionId, Vec<&'a Arc>>,
}

impl<'a, 'data> Entries<'a, 'data> {
    fn new(report: &'a Report<'data>) -> Entries<'a, 'data> {
        let mut entries = Entries { report, cut_parents: HashMap::new(), cut_children: HashMap::new() };
        for arc in &report.cut {
            entries.cut_parents.entry(arc.child).or_default().push(arc);
            entries.cut_children.entry(arc.parent).or_default().push(arc);
        }
        entries
    }

    /// Writes an entry. Calls that were left out come first and last.
    fn write(&self, node: Node, out: &mut dyn Write) -> io::Result<()> {
        let cut = |arcs: &HashMap<FunctionId, Vec<&'a Arc>>| match node {
            Node::Function(id) => arcs.get(&id).cloned().unwrap_or_default(),
            Node::Cycle(_) => Vec::new(),
        };
        let cut_parents = cut(&self.cut_parents);
        for arc in &cut_parents {
            untimed(arc.count, out)?;
            write_name(self.report, arc.parent, out)?;
        }
        for line in self.report.entry(node) {
            if line.endpoint != Endpoint::Spontaneous || cut_parents.is_empty() {
                self.line(&line, out)?;
            }
        }
        for arc in cut(&self.cut_children) {
            untimed(arc.count, out)?;
            write_name(self.report, arc.child, out)?;
        }
        Ok(())
    }

    fn line(&self, line: &EntryLine, out: &mut dyn Write) -> io::Result<()> {
        if line.endpoint == Endpoint::Spontaneous {
            return writeln!(out, "{:53}<spontaneous>", "");
        }
        match line.kind {
            LineKind::Primary(node) => {
                let percent = Fixed(self.report.graph.percent(node));
                let number = match node {
                    Node::Function(_) => number(self.report, node),
                    Node::Cycle(_) => format!("[{}]", self.report.graph.rank(node)),
                };
                write!(out, "{number:6.6} {percent:5.1}")?;
            }
            LineKind::Caller | LineKind::Callee if line.times.is_some() => write!(out, "{:12}", "")?,
            LineKind::Caller | LineKind::Callee => {}
        }
        if let Some((own, children)) = line.times {
            write!(out, " {:7.2} {:11.2}", Fixed(own), Fixed(children))?;
        }
        match line.calls {
            Calls::None => write!(out, "{:16}", "")?,
            Calls::WithinCycle(calls) => untimed(calls, out)?,
            Calls::Total { outer, inner: 0 } => write!(out, " {outer:7} {:7}", "")?,
            Calls::Total { outer, inner } => write!(out, " {outer:7}+{inner:<7}")?,
            Calls::Part { some, all } => write!(out, " {some:7}/{all:<7}     ")?,
        }
        // The name of the entry's own function is less indented.
        match (line.kind, line.calls) {
            (LineKind::Primary(_), _) => out.write_all(b" ")?,
            (_, Calls::Total { .. } | Calls::None) => out.write_all(b"     ")?,
            (_, Calls::WithinCycle(_) | Calls::Part { .. }) => {}
        }
        match line.endpoint {
            Endpoint::Function(id) => write_name(self.report, id, out),
            Endpoint::Cycle(at) => {
                writeln!(out, "<cycle {} as a whole>\t[{}]", at + 1, self.report.graph.rank(Node::Cycle(at)))
            }
            Endpoint::Spontaneous | Endpoint::Outside => Ok(()),
        }
    }
}

/// Writes calls that hand no time to the caller: calls within a cycle, and calls that were left out.
fn untimed(count: u64, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{:32} {count:7} {:7}     ", "", "")
}

/// The numbers of decimals of times.
#[derive(Clone, Copy)]
struct Decimals {
    of_calls: usize,
    of_sums: usize,
}

impl Decimals {
    /// In units below milliseconds, times for each call are whole numbers, and sums have one more decimal.
    fn of(report: &Report<'_>) -> Decimals {
        let [of_calls, of_sums] = if report.flat.unit.prefix == 'm' { [2, 2] } else { [0, 3] };
        Decimals { of_calls, of_sums }
    }
}

fn render_flat(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    granularity(report, report.flat.total, "accumulated", out)?;
    let decimals = Decimals::of(report);
    writeln!(out, "  %   cumulative   self              self     total           ")?;
    writeln!(out, " time   seconds   seconds    calls  {0}s/call  {0}s/call  name    ", report.flat.unit.prefix)?;
    for (row, numbers) in report.flat_rows() {
        let [percent, cumulative, own] = [numbers.percent, numbers.cumulative, numbers.self_time].map(Fixed);
        let of_sums = decimals.of_sums;
        write!(out, "{percent:5.1} {cumulative:10.of_sums$} {own:8.of_sums$}")?;
        calls(report, row, &numbers, decimals, out)?;
        write_name(report, row.function, out)?;
    }
    Ok(())
}

/// Writes the calls of a function, and the times for each call.
fn calls(
    report: &Report<'_>,
    row: &RowSamples<'_>,
    numbers: &FlatRow<'_>,
    Decimals { of_calls, .. }: Decimals,
    out: &mut dyn Write,
) -> io::Result<()> {
    if let (Some(own), Some(all)) = (numbers.self_per_call, numbers.total_per_call) {
        write!(out, " {:8} {:8.of_calls$} {:8.of_calls$}  ", row.calls, Fixed(own), Fixed(all))
    } else if let Some(part) = row.own_percent().filter(|_| report.dialect == Dialect::FreeBsd) {
        // Without calls, the column shows the self time as a percentage of the total time.
        write!(out, " {:8} {:7.2}% {:8}  ", 0, Fixed(part), "")
    } else {
        write!(out, " {:8} {:8} {:8}  ", "", "", "")
    }
}

const COLUMNS: usize = 3;

/// The number of characters of a name that are shown.
const WIDTH: usize = 19;

fn render_index(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"Index by function name\n\n")?;
    let rows = report.index.len().div_ceil(COLUMNS);
    for row in 0..rows {
        for node in report.index.iter().skip(row).step_by(rows) {
            write!(out, "{:>6.6} ", number(report, *node))?;
            match *node {
                Node::Function(id) => cell(&report.functions.written(report.functions[id].name.into()), out)?,
                Node::Cycle(at) => cell(format!("<cycle {}>", at + 1).as_bytes(), out)?,
            }
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Writes as much of a name as fits, and blanks up to the next column.
fn cell(name: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let shown = name.get(..WIDTH).unwrap_or(name);
    out.write_all(shown)?;
    write!(out, "{:blanks$}", "", blanks = WIDTH - shown.len())
}

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

/// Writes a function's name with its cycle, the number of its entry, and the end of the line.
fn write_name(report: &Report<'_>, id: FunctionId, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&report.functions.written(report.functions[id].name.into()))?;
    if let Some(cycle) = report.graph.cycle_of(id) {
        write!(out, " <cycle {}>", cycle + 1)?;
    }
    writeln!(out, " {}", number(report, Node::Function(id)))
}

/// Returns the number of an entry: in brackets, or in parentheses if there is no such entry.
pub(super) fn number(report: &Report<'_>, node: Node) -> String {
    let rank = report.graph.rank(node);
    if report.graph.node_share(node).shown { format!("[{rank}]") } else { format!("({rank})") }
}
