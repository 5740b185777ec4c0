//! Names as reports show them.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::analysis::graph::Node;
use crate::analysis::{Analysis, FlatRow};
use crate::cli::options::Options;
use crate::symbols::functions::FunctionId;
use crate::symbols::sources::base;

/// A function's name, with its file and line where names have them.
pub(super) fn name<'a>(analysis: &'a Analysis<'_>, options: &Options, id: FunctionId) -> Cow<'a, [u8]> {
    analysis.functions.written(whole_name(analysis, options, id))
}

/// The same, however long it is.
fn whole_name<'a>(analysis: &'a Analysis<'_>, options: &Options, id: FunctionId) -> Cow<'a, [u8]> {
    let functions = &analysis.functions;
    let name = if options.demangle { functions.readable(id) } else { Cow::Borrowed(functions[id].name) };
    let name = functions.labelled(id, name);
    match analysis.sources.place(id).filter(|_| options.file_names || options.by_line) {
        None => name,
        Some(place) => {
            let mut text = name.into_owned();
            text.extend_from_slice(b" (");
            text.extend_from_slice(analysis.sources.name(place.file, options.paths));
            let address = functions.linked(id, functions[id].address);
            let at = if options.by_line { format!(" @ {address:x}") } else { String::new() };
            text.extend_from_slice(format!(":{}{at})", place.line).as_bytes());
            write_callers(analysis, options, id, &mut text);
            Cow::Owned(text)
        }
    }
}

/// The name of a row of the flat profile, which may be about a function that was inlined.
pub(super) fn of_row<'a>(analysis: &'a Analysis<'_>, options: &Options, row: &FlatRow<'a>) -> Cow<'a, [u8]> {
    let around = whole_name(analysis, options, row.function);
    analysis.functions.written(match row.inlined {
        None => around,
        Some(inlined) => {
            let inlined = readable(analysis, options, inlined);
            Cow::Owned([&inlined, &b" [inlined in "[..], &around, b"]"].concat())
        }
    })
}

/// The name of a function that was inlined.
fn readable<'a>(analysis: &Analysis<'_>, options: &Options, name: &'a [u8]) -> Cow<'a, [u8]> {
    if options.demangle { analysis.functions.readable_name(name) } else { Cow::Borrowed(name) }
}

/// Adds the functions into which a line was inlined.
fn write_callers(analysis: &Analysis<'_>, options: &Options, id: FunctionId, text: &mut Vec<u8>) {
    for caller in analysis.chains.get(&analysis.functions[id].address).into_iter().flatten() {
        let name = readable(analysis, options, caller.function);
        let file = if options.paths { &caller.file } else { base(&caller.file) };
        let place = [&b" in "[..], &name, b" (", file, format!(":{})", caller.line).as_bytes()].concat();
        text.extend_from_slice(&place);
    }
}

/// The number of a function's or cycle's entry: in brackets, or in parentheses when it has no entry.
pub(super) fn number(analysis: &Analysis<'_>, node: Node) -> String {
    let graph = &analysis.calls.graph;
    let share = match node {
        Node::Function(id) => graph.share(id),
        Node::Cycle(at) => graph.cycle_share(at),
    };
    let rank = graph.rank(node);
    // There are millions in large reports, and formats take their time.
    let [before, after] = if share.shown && rank <= analysis.calls.last_rank { ["[", "]"] } else { ["(", ")"] };
    [before, &rank.to_string(), after].concat()
}

/// A function's name with its cycle and the number of its entry.
pub(super) fn write_numbered(
    analysis: &Analysis<'_>,
    options: &Options,
    id: FunctionId,
    out: &mut dyn Write,
) -> io::Result<()> {
    out.write_all(&name(analysis, options, id))?;
    if let Some(cycle) = analysis.calls.graph.cycle_of(id) {
        write!(out, " <cycle {}>", cycle + 1)?;
    }
    out.write_all(b" ")?;
    out.write_all(number(analysis, Node::Function(id)).as_bytes())
}
