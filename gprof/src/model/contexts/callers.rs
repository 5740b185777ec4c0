//! The callers of functions: a tree that begins with a function and leads to its callers, and to their callers.

use std::collections::HashMap;

use super::tree::{Contexts, Doubt, Frame, Growing};
use crate::program::symbols::functions::FunctionId;

/// The most levels of callers.
pub(crate) const MOST_LEVELS: usize = 128;

/// Makes a tree of callers from the tree of contexts. The outermost nodes are the functions for which `is_chosen`
/// returns true, and the node below a function is its caller. `own` are the ticks of each context alone. The ticks of a
/// node are those whose callers are not in the tree: because there is no caller, or because the callers have less than
/// `least` ticks, or stand more than 128 levels away.
///
/// The doubt whether a chosen function was called by the next frame or by a function that left the stack stays with the
/// function's callers, so that each chosen function has one tree.
///
/// A tick counts once for a function. If the function is on the stack several times, its outermost frame counts.
#[must_use]
pub fn callers(
    contexts: &Contexts,
    own: &[u64],
    functions: usize,
    is_chosen: impl Fn(FunctionId) -> bool,
    least: u64,
) -> Contexts {
    let all = contexts.all();
    let mut whole = own.to_vec();
    contexts.add_up(&mut whole);
    let mut growing = Growing::default();
    let mut level: Vec<Entry> = Vec::new();
    let chosen = |at: usize| match all[at].frame {
        Frame::Function(id) if is_chosen(id) => Some(id.index()),
        _ => None,
    };
    contexts.each_outermost(functions, chosen, |_, at| {
        let node = growing.add(None, all[at].frame, Doubt::None);
        level.extend(node.map(|node| Entry { node, context: at, ticks: whole[at] }));
    });
    for depth in 0..MOST_LEVELS {
        // Callers with few ticks are not shown.
        let mut sums: HashMap<u32, u64> = HashMap::new();
        for entry in &level {
            let sum = sums.entry(entry.node).or_insert(0);
            *sum = sum.saturating_add(entry.ticks);
        }
        let mut next = Vec::new();
        for Entry { node, context, ticks } in level {
            match all[context].parent().filter(|_| sums.get(&node).is_some_and(|sum| *sum >= least)) {
                Some(caller) => {
                    let is_doubtful = all[caller].is_doubtful() || depth == 0 && all[context].is_doubtful();
                    let node = growing.add(
                        Some(node),
                        all[caller].frame,
                        if is_doubtful { Doubt::Frame } else { Doubt::None },
                    );
                    next.extend(node.map(|node| Entry { node, context: caller, ticks }));
                }
                None => growing.count(Some(node), ticks),
            }
        }
        level = merged(next);
    }
    level.iter().for_each(|entry| growing.count(Some(entry.node), entry.ticks));
    growing.finish()
}

/// A context that is part of a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    node: u32,
    context: usize,
    ticks: u64,
}

/// Adds up the entries with the same node and context.
fn merged(mut entries: Vec<Entry>) -> Vec<Entry> {
    entries.sort_unstable();
    entries.dedup_by(|next, kept| {
        let same = (next.node, next.context) == (kept.node, kept.context);
        if same {
            kept.ticks = kept.ticks.saturating_add(next.ticks);
        }
        same
    });
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::contexts::tree::Context;
    use crate::program::image::Symbol;
    use crate::program::symbols::functions::Functions;

    #[test]
    fn a_function_with_and_without_doubts_has_one_tree() {
        let symbol = |address| Symbol { address, name: b"f", is_static: false, is_func: true };
        let functions = Functions::new([0x10, 0x20, 0x30].map(symbol).to_vec(), 0x40);
        let [main, dear, spin] = [0x10, 0x20, 0x30].map(|address| Frame::Function(functions.find(address).unwrap()));
        let mut growing = Growing::default();
        let root = growing.add(None, main, Doubt::None);
        let between = growing.add(root, dear, Doubt::Frame);
        // Called by `main` or by a function that left the stack, by `main` for certain, and by `dear` or by others.
        for (parent, doubt, ticks) in [(root, Doubt::Between, 5), (root, Doubt::None, 3), (between, Doubt::None, 2)] {
            let context = growing.add(parent, spin, doubt);
            growing.count(context, ticks);
        }
        let contexts = growing.finish();
        let own: Vec<u64> = contexts.all().iter().map(|context| context.ticks).collect();
        let tree = callers(&contexts, &own, functions.len(), |id| Frame::Function(id) == spin, 0);
        let row = |context: &Context| (context.parent(), context.frame, context.ticks, context.is_doubtful());
        let mut rows: Vec<_> = tree.all().iter().map(row).collect();
        rows.sort_unstable();
        let dear_at = tree.all().iter().position(|context| context.frame == dear);
        let expected = [
            (None, spin, 0, false),
            (Some(0), main, 3, false),
            (Some(0), main, 5, true),
            (Some(0), dear, 0, true),
            (dear_at, main, 2, false),
        ];
        assert_eq!(rows, expected);
    }
}
