//! Names as reports write them.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::analysis::entries::Whose;
use crate::analysis::graph::Node;
use crate::analysis::{Analysis, FlatRow};
use crate::symbols::functions::FunctionId;

/// A function's name, with its file and line where names have them.
pub(super) fn name<'a>(analysis: &'a Analysis<'_>, id: FunctionId) -> Cow<'a, [u8]> {
    analysis.functions.written(analysis.name_with_place(id))
}

/// The name of a row of the flat profile.
pub(super) fn of_row<'a, 'data>(analysis: &'a Analysis<'data>, row: &FlatRow<'data>) -> Cow<'a, [u8]> {
    analysis.functions.written(analysis.row_name(row))
}

/// The number of a function's or cycle's entry: in brackets, or in parentheses when it has no entry.
pub(super) fn number(analysis: &Analysis<'_>, node: Node) -> String {
    let (number, has_entry) = analysis.number(node);
    // There are millions in large reports, and formats take their time.
    let [before, after] = if has_entry { ["[", "]"] } else { ["(", ")"] };
    [before, &number.to_string(), after].concat()
}

/// A function's name with its cycle and the number of its entry.
pub(super) fn write_numbered(analysis: &Analysis<'_>, id: FunctionId, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&name(analysis, id))?;
    if let Some(cycle) = analysis.calls.graph.cycle_of(id) {
        write!(out, " <cycle {}>", cycle + 1)?;
    }
    out.write_all(b" ")?;
    out.write_all(number(analysis, Node::Function(id)).as_bytes())
}

/// Whose line of the call graph it is, with the number of the entry.
pub(super) fn write_whose(analysis: &Analysis<'_>, whose: Whose, out: &mut dyn Write) -> io::Result<()> {
    match whose {
        Whose::Spontaneous => out.write_all(b"<spontaneous>"),
        // Programs that read the report pass over names with a number in parentheses, which have no entry, and know no
        // names without a number.
        Whose::Outside => out.write_all(b"<outside> (0)"),
        Whose::Function(id) => write_numbered(analysis, id, out),
        Whose::Cycle(at) => {
            let (number, _) = analysis.number(Node::Cycle(at));
            write!(out, "<cycle {} as a whole> [{number}]", at + 1)
        }
    }
}
