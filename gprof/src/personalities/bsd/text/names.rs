//! Names of functions and numbers of entries.

use std::io::{self, Write};

use crate::model::graph::Node;
use crate::personalities::bsd::report::Report;
use crate::program::symbols::functions::FunctionId;

/// Writes a function's name with its cycle, the number of its entry, and the end of the line.
pub(super) fn write_name(report: &Report<'_>, id: FunctionId, out: &mut dyn Write) -> io::Result<()> {
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
