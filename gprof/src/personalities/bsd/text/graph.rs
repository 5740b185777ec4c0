//! The call graph.

use std::collections::HashMap;
use std::io::{self, Write};

use super::granularity::granularity;
use super::names::{number, write_name};
use crate::model::entries::{Calls, Endpoint, EntryLine, LineKind};
use crate::model::graph::Node;
use crate::model::graph::arcs::Arc;
use crate::personalities::bsd::report::Report;
use crate::program::symbols::functions::FunctionId;
use crate::reports::number::Fixed;

const HEAD: &str = "                                  called/total       parents 
index  %time    self descendents  called+self    name    \tindex
                                  called/total       children

";

pub(super) fn render(report: &Report<'_>, entries: &[Node], out: &mut dyn Write) -> io::Result<()> {
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
