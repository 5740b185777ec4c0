//! What linkers and binary optimizers need to place functions: counted calls, and an order of functions.

use std::cmp::Reverse;

use super::chains::Link;
use super::clusters::{self, Placed};
use super::flat::Flat;
use super::graph::Graph;
use super::graph::arcs::Arc;
use crate::program::symbols::functions::{FunctionId, Functions};

/// The program that a profile was made with: the first image.
const PROGRAM: usize = 0;

/// Returns whether a name is one word. Files of orders have blanks and ends of lines between names, and no way to
/// escape them.
fn is_word(name: &[u8]) -> bool {
    !name.iter().any(|byte| byte.is_ascii_whitespace() || byte.is_ascii_control() || b"\"(){}*?[]".contains(byte))
}

/// The functions and calls of a program, for its linker.
#[derive(Debug, Default)]
pub(crate) struct LinkerOrder {
    /// The functions that ran, in the order of [clusters](super::clusters).
    pub(crate) functions: Vec<FunctionId>,
    /// The calls from function to function, most calls first. No function calls itself.
    pub(crate) calls: Vec<Arc>,
}

impl LinkerOrder {
    /// Orders the functions of the program that were called or have samples.
    pub(super) fn new(functions: &Functions<'_>, flat: &Flat, graph: &Graph) -> LinkerOrder {
        let ids: Vec<FunctionId> = functions.ids().collect();
        let is_of_program = |id: FunctionId| functions.image(id) == PROGRAM && is_word(functions[id].name);
        let placed = |id: &FunctionId| {
            let function = &functions[*id];
            let size = function.last.checked_sub(function.address).map_or(0, |size| size.saturating_add(1));
            let calls = graph.calls(*id).saturating_add(graph.self_calls(*id));
            // Nobody counts the calls of a function that was compiled without -pg.
            let weight = if calls == 0 { flat.time[id.index()].ceil() as u64 } else { calls };
            Placed { size, weight: if is_of_program(*id) { weight } else { 0 } }
        };
        let all: Vec<Placed> = ids.iter().map(placed).collect();
        let mut calls: Vec<Arc> = graph.arc_ids().map(|id| *graph.arc(id).0).collect();
        calls.retain(|arc| {
            arc.parent != arc.child && arc.count != 0 && is_of_program(arc.parent) && is_of_program(arc.child)
        });
        calls.sort_by_key(|arc| (Reverse(arc.count), arc.parent, arc.child));
        let link = |arc: &Arc| Link { parent: arc.parent.index(), child: arc.child.index(), count: arc.count };
        let links: Vec<Link> = calls.iter().map(link).collect();
        let ordered = clusters::clustered(&all, &links);
        LinkerOrder { functions: ordered.into_iter().map(|at| ids[at]).collect(), calls }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_several_words_or_with_signs_of_scripts_are_left_out() {
        let is_one = |name: &&str| is_word(name.as_bytes());
        assert!(["main", "_ZN1a1fE", "f.part.0", "f$x@V1", "\u{e9}"].iter().all(is_one));
        assert!(
            !["a b", "a\tb", "a\nb", "a\u{1}b", "a\u{7f}", "a\"", "f()", "f*", "f?", "[f]", "{f}"].iter().any(is_one)
        );
    }
}
