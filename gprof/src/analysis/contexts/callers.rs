//! The callers of functions: a tree that begins with a function and leads to its callers, and to their callers.

use std::collections::HashMap;

use super::tree::{Contexts, Frame, Growing};
use crate::symbols::functions::FunctionId;

/// The most levels of callers.
pub(crate) const MOST_LEVELS: usize = 128;

/// Makes a tree of callers from the tree of contexts. The outermost nodes are the functions for which `is_chosen` returns
/// true, and the node below a function is its caller. `own` are the ticks of each context alone. The ticks of a node are
/// those whose callers are not in the tree: because there is no caller, or because the callers have less than `least`
/// ticks, or stand more than 128 levels away.
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
        let node = growing.add(None, all[at].frame, all[at].is_doubtful);
        level.extend(node.map(|node| Entry { node, context: at, ticks: whole[at] }));
    });
    for _ in 0..MOST_LEVELS {
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
                    let node = growing.add(Some(node), all[caller].frame, all[caller].is_doubtful);
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
