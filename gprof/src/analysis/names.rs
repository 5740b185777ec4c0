//! Names of functions, rows and entries as every output shows them.

use std::borrow::Cow;

use super::model::Analysis;
use super::rows::FlatRow;
use crate::analysis::graph::Node;
use crate::symbols::functions::FunctionId;
use crate::symbols::sources::base;

impl<'data> Analysis<'data> {
    /// The name of a function: demangled once, however often it is asked for, if the user wants that; with the image
    /// behind it where functions of several images have one name.
    #[must_use]
    pub fn name(&self, id: FunctionId) -> Cow<'_, [u8]> {
        let functions = &self.functions;
        let name = if self.names.demangle { functions.readable(id) } else { Cow::Borrowed(functions[id].name) };
        functions.labelled(id, name)
    }

    /// The name of a function with its file and line, where the user wants names to have them.
    #[must_use]
    pub fn name_with_place(&self, id: FunctionId) -> Cow<'_, [u8]> {
        let name = self.name(id);
        match self.sources.place(id).filter(|_| self.names.places) {
            None => name,
            Some(place) => {
                let mut text = name.into_owned();
                text.extend_from_slice(b" (");
                text.extend_from_slice(self.sources.name(place.file, self.names.paths));
                let address = self.functions.linked(id, self.functions[id].address);
                let at = if self.names.by_line { format!(" @ {address:x}") } else { String::new() };
                text.extend_from_slice(format!(":{}{at})", place.line).as_bytes());
                self.add_callers(id, &mut text);
                Cow::Owned(text)
            }
        }
    }

    /// The name of a row of the flat profile, which may be about a function that was inlined.
    #[must_use]
    pub fn row_name(&self, row: &FlatRow<'data>) -> Cow<'_, [u8]> {
        let around = self.name_with_place(row.function);
        match row.inlined {
            None => around,
            Some(inlined) => Cow::Owned([&self.other_name(inlined), &b" [inlined in "[..], &around, b"]"].concat()),
        }
    }

    /// The name of a function that was inlined, which need not be one of the program's functions.
    #[must_use]
    pub fn other_name<'a>(&self, name: &'a [u8]) -> Cow<'a, [u8]> {
        if self.names.demangle { self.functions.readable_name(name) } else { Cow::Borrowed(name) }
    }

    /// Adds the functions into which a line was inlined.
    fn add_callers(&self, id: FunctionId, text: &mut Vec<u8>) {
        for caller in self.chains.get(&self.functions[id].address).into_iter().flatten() {
            let name = self.other_name(caller.function);
            let file = if self.names.paths { &caller.file } else { base(&caller.file) };
            let place = [&b" in "[..], &name, b" (", file, format!(":{})", caller.line).as_bytes()].concat();
            text.extend_from_slice(&place);
        }
    }

    /// The number of a function or cycle in the call graph, and whether it has an entry there by that number.
    #[must_use]
    pub fn number(&self, node: Node) -> (u32, bool) {
        let rank = self.calls.graph.rank(node);
        (rank, self.calls.graph.node_share(node).shown && rank <= self.calls.last_rank)
    }
}
