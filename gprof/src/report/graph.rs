//! The call graph: an entry for each function, with its callers above and what it calls below.

use std::io::{self, Write};

use super::blurbs;
use super::names::write_numbered;
use crate::analysis::Analysis;
use crate::functions::FunctionId;
use crate::graph::Node;
use crate::graph::arcs::ArcId;
use crate::number::{Fixed, General};
use crate::options::Options;

pub(super) fn render(analysis: &Analysis<'_>, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let title = match (options.traditional, options.brief) {
        (true, false) => blurbs::GRAPH,
        (true, true) => "",
        (false, true) => "\t\t\tCall graph\n\n",
        (false, false) => "\t\t     Call graph (explanation follows)\n\n",
    };
    out.write_all(title.as_bytes())?;
    header(analysis, options, out)?;
    // The BSDs give the time of what was called more room, and set entries apart.
    let (children, separator) = if options.traditional {
        (11, "\n-----------------------------------------------\n\n")
    } else {
        (7, "-----------------------------------------------\n")
    };
    let entries = Entries { analysis, options, children };
    for node in &analysis.calls.entries {
        match *node {
            Node::Function(id) => entries.function(id, out)?,
            Node::Cycle(at) => entries.cycle(at, out)?,
        }
        out.write_all(separator.as_bytes())?;
    }
    if options.brief || options.traditional { Ok(()) } else { out.write_all(blurbs::GRAPH.as_bytes()) }
}

fn header(analysis: &Analysis<'_>, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let (clock, total) = (&analysis.clock, analysis.calls.graph.total());
    write!(out, "\ngranularity: each sample hit covers {} byte(s)", General(clock.granularity))?;
    if total > 0.0 {
        write!(out, " for {:.2}% of {:.2} ", Fixed(100.0 / total), Fixed(total / clock.rate))?;
        out.write_all(clock.dimension.as_bytes())?;
        out.write_all(b"\n\n")?;
    } else {
        out.write_all(b" no time propagated\n\n")?;
    }
    out.write_all(if options.traditional { TRADITIONAL_COLUMNS } else { COLUMNS })
}

const COLUMNS: &[u8] = b"index % time    self  children    called     name\n";

const TRADITIONAL_COLUMNS: &[u8] = b"\x20                                 called/total       parents \n\
index  %time    self descendants  called+self    name    \tindex\n\
\x20                                 called/total       children\n\n";

struct Entries<'a, 'data> {
    analysis: &'a Analysis<'data>,
    options: &'a Options,
    /// The width of the time of what was called.
    children: usize,
}

impl Entries<'_, '_> {
    /// The callers of a function, the function, what it calls.
    fn function(&self, id: FunctionId, out: &mut dyn Write) -> io::Result<()> {
        let graph = &self.analysis.calls.graph;
        let (outside, handed) = graph.from_outside(id);
        if outside != 0 {
            let (own, children) = handed.unwrap_or_default();
            self.outside(own, children, outside, graph.divided_by(id), out)?;
        } else if graph.parents(id).is_empty() {
            writeln!(out, "{:width$}<spontaneous>", "", width = 42 + self.children)?;
        }
        for arc in graph.parents(id) {
            self.arc(*arc, graph.arc(*arc).0.parent, out)?;
        }
        self.time(Node::Function(id), out)?;
        if graph.calls(id) == 0 && graph.self_calls(id) == 0 {
            write!(out, "{:17}", "")?;
        } else {
            calls(graph.calls(id), graph.self_calls(id), out)?;
            out.write_all(b" ")?;
        }
        write_numbered(self.analysis, self.options, id, out)?;
        for arc in graph.children(id) {
            self.arc(*arc, graph.arc(*arc).0.child, out)?;
        }
        match graph.to_outside(id) {
            0 => Ok(()),
            count => self.outside(0.0, 0.0, count, count, out),
        }
    }

    /// The line of callers, or of what is called, that is no function of the program. Programs that read the report
    /// pass over names with a number in parentheses, which have no entry, and know no names without a number.
    fn outside(&self, own: f64, children: f64, count: u64, all: u64, out: &mut dyn Write) -> io::Result<()> {
        let (own, children, width) = (self.in_units(own), self.in_units(children), self.children);
        writeln!(out, "{:12} {own:7.2} {children:width$.2} {count:7}/{all:<7}     <outside> (0)", "")
    }

    /// A cycle as a whole, and its members.
    fn cycle(&self, at: usize, out: &mut dyn Write) -> io::Result<()> {
        let graph = &self.analysis.calls.graph;
        let cycle = &graph.cycles()[at];
        self.time(Node::Cycle(at), out)?;
        calls(cycle.calls, cycle.inner_calls, out)?;
        writeln!(out, " <cycle {} as a whole> [{}]", at + 1, graph.rank(Node::Cycle(at)))?;
        for member in &cycle.members {
            let share = graph.share(*member);
            let (own, children, width) = (self.in_units(share.own), self.in_units(share.children), self.children);
            write!(out, "{:12} {own:7.2} {children:width$.2}", "")?;
            calls(graph.calls(*member), graph.self_calls(*member), out)?;
            out.write_all(b"     ")?;
            write_numbered(self.analysis, self.options, *member, out)?;
        }
        Ok(())
    }

    /// The number and the times with which the main line of an entry begins.
    fn time(&self, node: Node, out: &mut dyn Write) -> io::Result<()> {
        let graph = &self.analysis.calls.graph;
        let share = match node {
            Node::Function(id) => graph.share(id),
            Node::Cycle(at) => graph.cycle_share(at),
        };
        let total = if graph.total() > 0.0 { graph.total() } else { 1.0 };
        let number = format!("[{}]", graph.rank(node));
        let percent = Fixed(100.0 * (share.own + share.children) / total);
        let (own, children) = (self.in_units(share.own), self.in_units(share.children));
        let width = self.children;
        write!(out, "{number:6.6} {percent:5.1} {own:7.2} {children:width$.2}")
    }

    /// The line of a caller or of a called function, whose name stands at the end.
    fn arc(&self, id: ArcId, named: FunctionId, out: &mut dyn Write) -> io::Result<()> {
        let graph = &self.analysis.calls.graph;
        match graph.arc(id) {
            (arc, None) => write!(out, "{:width$} {:7} {:7}     ", "", arc.count, "", width = 21 + self.children)?,
            (arc, Some((own, children))) => {
                let (own, children) = (self.in_units(own), self.in_units(children));
                let (all, width) = (graph.divided_by(arc.child), self.children);
                write!(out, "{:12} {own:7.2} {children:width$.2} {:7}/{all:<7}     ", "", arc.count)?;
            }
        }
        write_numbered(self.analysis, self.options, named, out)
    }

    /// Samples in the clock's unit.
    fn in_units(&self, samples: f64) -> Fixed {
        Fixed(samples / self.analysis.clock.rate)
    }
}

/// Calls from outside, and those of itself.
fn calls(outer: u64, inner: u64, out: &mut dyn Write) -> io::Result<()> {
    if inner == 0 { write!(out, " {outer:7} {:7}", "") } else { write!(out, " {outer:7}+{inner:<7}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_itself_stand_behind_a_plus() {
        let text = |outer, inner| {
            let mut out = Vec::new();
            calls(outer, inner, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(text(3, 0), "       3        ");
        assert_eq!(text(0, 5), "       0+5      ");
        assert_eq!(text(12_345_678, 12_345_678), " 12345678+12345678");
    }
}
