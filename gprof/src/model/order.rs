//! Orders of functions for linkers, in which functions that call each other often are near each other.
//!
//! Arcs build [chains](super::chains), the arc with most calls first. Arcs with equally many calls are ordered by the
//! addresses of the caller and of the called function. So the order depends on functions and calls alone, and not on
//! the order of the profile. Calls of a function by itself do not matter.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::chains::{Layout, Link};
use crate::model::graph::Graph;
use crate::program::symbols::file_map::ObjectFiles;
use crate::program::symbols::functions::{FunctionId, Functions};

/// A function goes first if it has more callers than this.
const FEW_CALLERS: u32 = 5;

/// At most one of this many called functions goes first because of its callers.
const CALLED_FOR_EACH_POPULAR: usize = 80;

/// Callers are counted among the most frequent calls, which make this part of all calls.
const FREQUENT: f64 = 0.90;

/// Returns all functions in order, each function once: functions with many callers, functions that call each other,
/// other functions that were called, functions that were not called.
pub(super) fn order(
    functions: impl Iterator<Item = FunctionId>,
    counts_for: impl Fn(FunctionId) -> FunctionId,
    graph: &Graph,
) -> Vec<FunctionId> {
    let functions: Vec<FunctionId> = functions.collect();
    let mut layout = layout(functions.len(), graph);
    let (used, unused): (Vec<FunctionId>, Vec<FunctionId>) = functions.iter().partition(|id| graph.calls(**id) != 0);
    for id in &unused {
        layout.placed[id.index()] = true;
    }
    let arcs = sorted_arcs(&layout);
    let busy = first_group(&mut layout, &arcs, &used);
    let mut rest = layout.chain(&busy, true);
    rest.extend(layout.chain(&arcs, false));
    layout.chain(&rest, true);
    let left: Vec<FunctionId> = used.into_iter().filter(|id| !layout.placed[id.index()]).collect();
    let placed = layout.order.iter().map(|number| functions[*number]);
    with_copies(placed.chain(left).chain(unused).collect(), counts_for)
}

/// Moves copies of functions directly behind the functions that the copies count for.
fn with_copies(order: Vec<FunctionId>, counts_for: impl Fn(FunctionId) -> FunctionId) -> Vec<FunctionId> {
    let mut copies: HashMap<FunctionId, Vec<FunctionId>> = HashMap::new();
    for id in order.iter().copied().filter(|id| counts_for(*id) != *id) {
        copies.entry(counts_for(id)).or_default().push(id);
    }
    if copies.is_empty() {
        return order;
    }
    let owners = order.into_iter().filter(|id| counts_for(*id) == *id);
    owners.flat_map(|id| std::iter::once(id).chain(copies.remove(&id).unwrap_or_default())).collect()
}

/// Returns all object files in order: files that call each other, other files of the program by address, and files
/// without a function in the program by name.
pub(super) fn files<'data>(
    functions: &Functions<'data>,
    graph: &Graph,
    files: &ObjectFiles<'data>,
) -> Vec<&'data [u8]> {
    let ids: Vec<FunctionId> = functions.ids().collect();
    let mut layout = layout(ids.len(), graph);
    let is_file = |id: FunctionId| files.is_file(&functions[id]);
    for (is_placed, link) in layout.link_placed.iter_mut().zip(&layout.links) {
        *is_placed = !is_file(ids[link.parent]) || !is_file(ids[link.child]);
    }
    let arcs = sorted_arcs(&layout);
    layout.chain(&arcs, false);
    let is_left = |id: &FunctionId| is_file(*id) && functions[*id].counts_for == *id && !layout.placed[id.index()];
    let left: Vec<FunctionId> = ids.iter().copied().filter(is_left).collect();
    let named = ids.iter().copied().filter(|id| is_file(*id)).map(|id| functions[id].name).collect::<HashSet<_>>();
    let placed = layout.order.iter().map(|number| ids[*number]).chain(left).map(|id| functions[id].name);
    placed.chain(files.names.iter().copied().filter(|name| !named.contains(name))).collect()
}

/// Returns an empty order for this number of functions, with all arcs of the graph.
fn layout(functions: usize, graph: &Graph) -> Layout {
    let link = |id| {
        let (arc, _) = graph.arc(id);
        Link { parent: arc.parent.index(), child: arc.child.index(), count: arc.count }
    };
    Layout::new(functions, graph.arc_ids().map(link).collect())
}

/// Returns the indexes of all arcs, most calls first, without calls of functions by themselves.
fn sorted_arcs(layout: &Layout) -> Vec<usize> {
    let links = layout.links.iter().enumerate();
    let mut arcs: Vec<usize> = links.filter(|(_, link)| link.parent != link.child).map(|(at, _)| at).collect();
    arcs.sort_unstable_by_key(|at| {
        let Link { parent, child, count } = layout.links[*at];
        (Reverse(count), parent, child)
    });
    arcs
}

/// Puts functions with many callers first, and returns the arcs that pair these functions. Other arcs of these
/// functions make no neighbors, because the functions have too many callers to be near all of them.
fn first_group(layout: &mut Layout, arcs: &[usize], used: &[FunctionId]) -> Vec<usize> {
    let group = popular(layout, arcs, used);
    let mut is_alone = vec![false; layout.placed.len()];
    for id in &group {
        is_alone[id.index()] = true;
        layout.placed[id.index()] = true;
    }
    let is_popular = is_alone.clone();
    let mut within = Vec::new();
    for at in arcs {
        let Link { parent, child, .. } = layout.links[*at];
        layout.link_placed[*at] |= is_popular[parent] || is_popular[child];
        if is_alone[parent] && is_alone[child] {
            within.push(*at);
            for end in [parent, child] {
                is_alone[end] = false;
                layout.placed[end] = false;
            }
        }
    }
    // The arcs of the pairs still make neighbors.
    for at in &within {
        layout.link_placed[*at] = false;
    }
    layout.order.extend(group.iter().map(|id| id.index()).filter(|number| is_alone[*number]));
    within
}

/// Returns the functions with many callers, at most one of eighty called functions.
fn popular(layout: &Layout, arcs: &[usize], used: &[FunctionId]) -> Vec<FunctionId> {
    let callers = callers(layout, arcs);
    let mut group = used.to_vec();
    group.sort_by_key(|id| Reverse(callers[id.index()]));
    group.truncate(used.len() / CALLED_FOR_EACH_POPULAR);
    let end = group.iter().position(|id| callers[id.index()] <= FEW_CALLERS).unwrap_or(group.len());
    group.truncate(end);
    group
}

/// Returns for each function how many of the most frequent arcs lead to the function.
fn callers(layout: &Layout, arcs: &[usize]) -> Vec<u32> {
    let all = layout.calls(arcs);
    let mut callers = vec![0; layout.placed.len()];
    let mut so_far = 0_u64;
    for at in arcs {
        let link = layout.links[*at];
        so_far = so_far.saturating_add(link.count);
        if so_far as f64 / all as f64 > FREQUENT {
            break;
        }
        callers[link.child] += 1;
    }
    callers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::division::Innermost;
    use crate::model::flat::Flat;
    use crate::model::graph::arcs::Arcs;
    use crate::model::graph::propagate::GraphSelection;
    use crate::model::selection::Selection;
    use crate::program::image::Symbol;

    /// Returns the functions in the order that the calls (from, to, count) give.
    fn places(functions: u64, calls: &[(u64, u64, u64)]) -> Vec<usize> {
        let symbol = |n: u64| Symbol { address: 16 * (n + 1), name: b"f", is_static: false, is_func: true };
        let functions = Functions::new((0..functions).map(symbol).collect(), 16 * (functions + 1));
        let arc = |(from, to, count): &(u64, u64, u64)| gmon::Arc::new(16 * (from + 1), 16 * (to + 1), *count);
        let of = |calls: &[(u64, u64, u64)]| {
            let arcs: Vec<gmon::Arc> = calls.iter().map(arc).collect();
            let selected = Selection::program(&functions);
            let choices = GraphSelection { entries: &selected, time: &selected, excludes_callees: true };
            let flat = Flat::exact(&[], &Innermost::default(), &functions, &selected);
            let graph = Graph::new(Arcs::new(&arcs, &functions), &flat, &functions, choices);
            order(functions.ids(), |id| id, &graph).into_iter().map(FunctionId::index).collect::<Vec<_>>()
        };
        let found = of(calls);
        let mut reversed = calls.to_vec();
        reversed.reverse();
        assert_eq!(of(&reversed), found, "the order of the profile shows");
        found
    }

    #[test]
    fn chains_grow_at_the_nearer_end() {
        // 1 calls 2; 2 calls 3; 4 calls 1; no function calls 0 and 4.
        assert_eq!(places(5, &[(1, 2, 10), (2, 3, 7), (4, 1, 7), (0, 1, 1)]), [1, 2, 3, 0, 4]);
        // A caller goes to the front.
        assert_eq!(places(5, &[(1, 2, 10), (3, 1, 7), (2, 3, 5), (4, 2, 2)]), [3, 1, 2, 0, 4]);
    }

    #[test]
    fn equal_calls_are_taken_by_address() {
        assert_eq!(places(6, &[(4, 5, 3), (2, 3, 3), (5, 4, 3), (3, 2, 3)]), [2, 3, 4, 5, 0, 1]);
        assert_eq!(places(4, &[(3, 2, 3), (2, 3, 3), (1, 1, 9)]), [2, 3, 0, 1]);
    }

    #[test]
    fn functions_with_many_callers_come_first() {
        // 160 functions in a circle of calls. Ten functions call 150, and ten others call 151, more often than all
        // other calls.
        let chain = (0..160).map(|n| (n, (n + 1) % 160, 1));
        let popular = (0..10).flat_map(|n| [(n, 150, 1000 - n), (20 + n, 151, 900 - n)]);
        let mut calls: Vec<_> = chain.chain(popular).collect();
        let found = places(160, &calls);
        assert_eq!((found.len(), &found[..2]), (160, &[150, 151][..]));
        assert!((0..160).all(|n| found.contains(&n)));
        // Six callers are many callers; five are not.
        calls.retain(|(from, to, _)| *to != 151 || *from < 25 || *from == 150);
        assert_eq!(places(160, &calls)[0], 150);
        assert_ne!(places(160, &calls)[1], 151);
    }

    #[test]
    fn one_of_eighty_functions_may_come_first_because_of_its_callers() {
        let chain = (0..80).map(|n| (n, (n + 1) % 80, 1));
        let popular = (0..10).flat_map(|n| [(n, 50, 1000 - n), (20 + n, 60, 900 - n)]);
        let calls: Vec<_> = chain.chain(popular).collect();
        let found = places(80, &calls);
        assert_eq!(found[0], 50);
        // The other one follows the caller that calls it most.
        let at = found.iter().position(|place| *place == 60).unwrap();
        assert!(at > 1 && found[at - 1] == 20, "{found:?}");
    }

    #[test]
    fn the_most_frequent_calls_reach_nine_tenths_of_all_calls() {
        let links = [(0, 1, 6), (0, 2, 3), (1, 2, 1)].map(|(parent, child, count)| Link { parent, child, count });
        let layout = Layout::new(3, links.to_vec());
        assert_eq!(callers(&layout, &[0, 1, 2]), [0, 1, 1]);
    }

    #[test]
    fn calls_of_a_popular_function_make_no_neighbors_beside_those_of_another() {
        let links = [(0, 1, 9), (2, 1, 8), (0, 3, 7), (4, 0, 6), (2, 3, 5)];
        let links = links.map(|(parent, child, count)| Link { parent, child, count });
        let mut layout = Layout::new(160, links.to_vec());
        let symbol = |n: u64| Symbol { address: 16 * (n + 1), name: b"f", is_static: false, is_func: true };
        let functions = Functions::new((0..160).map(symbol).collect(), 16 * 161);
        let used: Vec<FunctionId> = functions.ids().collect();
        // More callers of 0 and of 1 than few.
        for (child, first) in [(0, 10), (1, 20)] {
            let more = (first..first + 10).map(|parent| Link { parent, child, count: 1000 });
            layout.links.extend(more);
        }
        layout.link_placed = vec![false; layout.links.len()];
        let arcs = sorted_arcs(&layout);
        let within = first_group(&mut layout, &arcs, &used);
        assert_eq!(within, [0]);
        assert_eq!(layout.link_placed[..5], [false, true, true, true, false]);
        assert!(layout.link_placed[5..].iter().all(|is_placed| *is_placed));
    }
}
