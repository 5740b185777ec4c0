//! The call graph.

use std::collections::HashMap;
use std::io::{self, Write};

use super::{granularity, number, write_name};
use crate::analysis::bsd::Report;
use crate::analysis::graph::Node;
use crate::analysis::graph::arcs::{Arc, ArcId};
use crate::analysis::graph::propagate::Share;
use crate::report::number::Fixed;
use crate::symbols::functions::FunctionId;

const HEAD: &str = "                                  called/total       parents 
index  %time    self descendents  called+self    name    \tindex
                                  called/total       children

";

pub(super) fn render(report: &Report<'_>, entries: &[Node], out: &mut dyn Write) -> io::Result<()> {
    granularity(report, report.graph.total(), "propagated", out)?;
    out.write_all(HEAD.as_bytes())?;
    let entries_of = Entries::new(report);
    for node in entries {
        match *node {
            Node::Function(id) => entries_of.function(id, out)?,
            Node::Cycle(at) => entries_of.cycle(at, out)?,
        }
        out.write_all(b"\n-----------------------------------------------\n\n")?;
    }
    Ok(())
}

struct Entries<'a, 'data> {
    report: &'a Report<'data>,
    /// The calls that were left out, by who is called and by who calls.
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

    /// The callers of a function, the function, what it calls.
    fn function(&self, id: FunctionId, out: &mut dyn Write) -> io::Result<()> {
        let graph = &self.report.graph;
        let cut = |arcs: &HashMap<FunctionId, Vec<&'a Arc>>| arcs.get(&id).cloned().unwrap_or_default();
        let cut_parents = cut(&self.cut_parents);
        if graph.parents(id).is_empty() && cut_parents.is_empty() {
            writeln!(out, "{:53}<spontaneous>", "")?;
        }
        for arc in cut_parents {
            self.untimed(arc.count, arc.parent, out)?;
        }
        for arc in graph.parents(id) {
            self.arc(*arc, graph.arc(*arc).0.parent, out)?;
        }
        self.time(Node::Function(id), graph.share(id), out)?;
        if graph.calls(id) == 0 && graph.self_calls(id) == 0 {
            write!(out, "{:16}", "")?;
        } else {
            calls(graph.calls(id), graph.self_calls(id), out)?;
        }
        out.write_all(b" ")?;
        write_name(self.report, id, out)?;
        for arc in graph.children(id) {
            self.arc(*arc, graph.arc(*arc).0.child, out)?;
        }
        for arc in cut(&self.cut_children) {
            self.untimed(arc.count, arc.child, out)?;
        }
        Ok(())
    }

    /// A cycle as a whole, and its members.
    fn cycle(&self, at: usize, out: &mut dyn Write) -> io::Result<()> {
        let graph = &self.report.graph;
        let cycle = &graph.cycles()[at];
        self.time(Node::Cycle(at), graph.cycle_share(at), out)?;
        calls(cycle.calls, cycle.inner_calls, out)?;
        writeln!(out, " <cycle {} as a whole>\t[{}]", at + 1, graph.rank(Node::Cycle(at)))?;
        for member in &cycle.members {
            let share = graph.share(*member);
            write!(out, "{:12} {:7.2} {:11.2}", "", self.seconds(share.own), self.seconds(share.children))?;
            calls(graph.calls(*member), graph.self_calls(*member), out)?;
            out.write_all(b"     ")?;
            write_name(self.report, *member, out)?;
        }
        Ok(())
    }

    /// The number and the times with which the main line of an entry begins.
    fn time(&self, node: Node, share: &Share, out: &mut dyn Write) -> io::Result<()> {
        let graph = &self.report.graph;
        let total = if graph.total() > 0.0 { graph.total() } else { 1.0 };
        let number = match node {
            Node::Function(_) => number(self.report, node),
            Node::Cycle(_) => format!("[{}]", graph.rank(node)),
        };
        let percent = Fixed(100.0 * (share.own + share.children) / total);
        let (own, children) = (self.seconds(share.own), self.seconds(share.children));
        write!(out, "{number:6.6} {percent:5.1} {own:7.2} {children:11.2}")
    }

    /// The line of a caller or of a called function, whose name stands at the end.
    fn arc(&self, id: ArcId, named: FunctionId, out: &mut dyn Write) -> io::Result<()> {
        let graph = &self.report.graph;
        let (arc, Some((own, children))) = graph.arc(id) else {
            return self.untimed(graph.arc(id).0.count, named, out);
        };
        let (own, children) = (self.seconds(own), self.seconds(children));
        let all = graph.divided_by(arc.child);
        write!(out, "{:12} {own:7.2} {children:11.2} {:7}/{all:<7}     ", "", arc.count)?;
        write_name(self.report, named, out)
    }

    /// The line of calls that hand no time up: those within a cycle, and those left out.
    fn untimed(&self, count: u64, named: FunctionId, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{:32} {count:7} {:7}     ", "", "")?;
        write_name(self.report, named, out)
    }

    fn seconds(&self, samples: f64) -> Fixed {
        Fixed(samples / self.report.rate)
    }
}

/// Calls from outside, and those of itself.
fn calls(outer: u64, inner: u64, out: &mut dyn Write) -> io::Result<()> {
    if inner == 0 { write!(out, " {outer:7} {:7}", "") } else { write!(out, " {outer:7}+{inner:<7}") }
}
