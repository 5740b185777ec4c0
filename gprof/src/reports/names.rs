//! Names as reports write them.

use std::io::{self, Write};

use crate::model::Analysis;
use crate::model::entries::Endpoint;
use crate::model::graph::Node;
use crate::program::symbols::functions::FunctionId;

/// Returns the number of a node of the call graph: in brackets, or in parentheses if the node has no entry.
pub(crate) fn number(analysis: &Analysis<'_>, node: Node) -> String {
    let (number, has_entry) = analysis.entry_number(node);
    // Large reports have millions of numbers, and `format!` is slow.
    let [before, after] = if has_entry { ["[", "]"] } else { ["(", ")"] };
    [before, &number.to_string(), after].concat()
}

/// Writes a function's name with its cycle and the number of its entry.
pub(crate) fn write_numbered(analysis: &Analysis<'_>, id: FunctionId, out: &mut dyn Write) -> io::Result<()> {
    write_with(analysis, id, &number(analysis, Node::Function(id)), out)
}

/// Writes the name of a function that has no entry, with its number in parentheses. Programs that read the report look
/// up numbers in brackets, and skip lines that end with a number in parentheses.
pub(crate) fn write_without_entry(analysis: &Analysis<'_>, id: FunctionId, out: &mut dyn Write) -> io::Result<()> {
    write_with(analysis, id, &format!("({})", analysis.entry_number(Node::Function(id)).0), out)
}

fn write_with(analysis: &Analysis<'_>, id: FunctionId, number: &str, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&analysis.name_with_location(id))?;
    if let Some(cycle) = analysis.graph().cycle_of(id) {
        write!(out, " <cycle {}>", cycle + 1)?;
    }
    out.write_all(b" ")?;
    out.write_all(number.as_bytes())
}

/// Writes the name of the function or cycle that a line of the call graph is about, with the number of its entry.
pub(crate) fn write_endpoint(analysis: &Analysis<'_>, endpoint: Endpoint, out: &mut dyn Write) -> io::Result<()> {
    match endpoint {
        Endpoint::Spontaneous => out.write_all(b"<spontaneous>"),
        // Programs that read the report need a number behind each name, and skip names with a number in parentheses,
        // which have no entry.
        Endpoint::Outside => out.write_all(b"<outside> (0)"),
        Endpoint::Function(id) => write_numbered(analysis, id, out),
        Endpoint::Cycle(at) => {
            let (number, _) = analysis.entry_number(Node::Cycle(at));
            write!(out, "<cycle {} as a whole> [{number}]", at + 1)
        }
    }
}
