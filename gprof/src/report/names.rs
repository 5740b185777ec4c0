//! Names as reports write them.

use std::io::{self, Write};

use crate::analysis::Analysis;
use crate::analysis::entries::Endpoint;
use crate::analysis::graph::Node;
use crate::symbols::functions::FunctionId;

/// The number of a function's or cycle's entry: in brackets, or in parentheses when it has no entry.
pub(super) fn number(analysis: &Analysis<'_>, node: Node) -> String {
    let (number, has_entry) = analysis.entry_number(node);
    // There are millions in large reports, and formats take their time.
    let [before, after] = if has_entry { ["[", "]"] } else { ["(", ")"] };
    [before, &number.to_string(), after].concat()
}

/// A function's name with its cycle and the number of its entry.
pub(super) fn write_numbered(analysis: &Analysis<'_>, id: FunctionId, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&analysis.name_with_location(id))?;
    if let Some(cycle) = analysis.calls.graph.cycle_of(id) {
        write!(out, " <cycle {}>", cycle + 1)?;
    }
    out.write_all(b" ")?;
    out.write_all(number(analysis, Node::Function(id)).as_bytes())
}

/// Endpoint line of the call graph it is, with the number of the entry.
pub(super) fn write_endpoint(analysis: &Analysis<'_>, endpoint: Endpoint, out: &mut dyn Write) -> io::Result<()> {
    match endpoint {
        Endpoint::Spontaneous => out.write_all(b"<spontaneous>"),
        // Programs that read the report pass over names with a number in parentheses, which have no entry, and know no
        // names without a number.
        Endpoint::Outside => out.write_all(b"<outside> (0)"),
        Endpoint::Function(id) => write_numbered(analysis, id, out),
        Endpoint::Cycle(at) => {
            let (number, _) = analysis.entry_number(Node::Cycle(at));
            write!(out, "<cycle {} as a whole> [{number}]", at + 1)
        }
    }
}
