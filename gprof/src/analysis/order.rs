//! Orders for linkers, in which what calls each other often is close together.
//!
//! Arcs are taken from the one with most calls down and make [chains](super::chains). Calls of a function by itself say
//! nothing about its neighbours. Which arcs are taken when is GNU's choice.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::chains::{Layout, Link};
use crate::analysis::graph::arcs::{Arc, ArcId};
use crate::analysis::graph::{Graph, Node};
use crate::symbols::file_map::ObjectFiles;
use crate::symbols::functions::{FunctionId, Functions};

/// Functions with many callers go first when they have more than this many.
const FEW_CALLERS: u32 = 5;

/// What GNU's orders depend on by mistake.
#[derive(Clone, Copy, Debug)]
pub(super) struct Faults<'a> {
    /// What the call graph that was printed before has entries for: printing sorts the arcs of these functions.
    pub(super) entries: &'a [Node],
    /// The arcs that options name: each comes once more, without calls, between copies of its functions.
    pub(super) named: &'a [(FunctionId, FunctionId)],
}

/// Puts all functions in order, each once.
///
/// With GNU's faults the last of the functions with many callers has no place, functions that nobody calls and those of
/// arcs that options name may have two, and having few callers ends the first group only for exactly as many as
/// [`FEW_CALLERS`].
pub(super) fn order(
    functions: impl Iterator<Item = FunctionId>,
    counts_for: impl Fn(FunctionId) -> FunctionId,
    graph: &Graph,
    faults: Option<Faults<'_>>,
) -> Vec<FunctionId> {
    let functions: Vec<FunctionId> = functions.collect();
    let mut making = Making::new(functions.len(), graph, faults);
    let (used, unused): (Vec<FunctionId>, Vec<FunctionId>) = functions.iter().partition(|id| graph.calls(**id) != 0);
    for id in &unused {
        making.layout.placed[id.index()] = true;
    }
    let mut arcs = making.arcs();
    making.sort(&mut arcs);
    let mut busy = making.first_group(&arcs, &used);
    making.sort(&mut busy);
    let layout = &mut making.layout;
    let mut rest = layout.chain(&busy, true);
    rest.extend(layout.chain(&arcs, false));
    layout.chain(&rest, true);
    let left = used.into_iter().filter(|id| !layout.placed[id.index()]).collect::<Vec<_>>();
    let mut order = making.functions(&functions);
    order.extend(left);
    order.extend(unused);
    if faults.is_none() {
        let mut seen = vec![false; functions.len()];
        order.retain(|id| !std::mem::replace(&mut seen[id.index()], true));
        order = with_copies(order, counts_for);
    }
    order
}

/// Puts the copies of functions, whose calls count for the functions that they are copies of, directly behind these.
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

/// Puts all object files in order: those that call each other, the others of the program by address, and then those
/// that have no function in it, by name.
///
/// With GNU's faults arcs are taken in the order of the profile, whatever their calls.
pub(super) fn files<'data>(
    functions: &Functions<'data>,
    graph: &Graph,
    files: &ObjectFiles<'data>,
    faults: Option<Faults<'_>>,
) -> Vec<&'data [u8]> {
    let ids: Vec<FunctionId> = functions.ids().collect();
    let mut making = Making::new(ids.len(), graph, faults);
    let is_file = |id: FunctionId| files.is_file(&functions[id]);
    for (at, (parent, child)) in making.ends(&ids).into_iter().enumerate() {
        making.layout.link_placed[at] = !is_file(parent) || !is_file(child);
    }
    let mut arcs = making.arcs();
    if faults.is_none() {
        making.sort(&mut arcs);
    }
    making.layout.chain(&arcs, false);
    let is_left =
        |id: &FunctionId| is_file(*id) && functions[*id].counts_for == *id && !making.layout.placed[id.index()];
    let left: Vec<FunctionId> = ids.iter().copied().filter(is_left).collect();
    let named = ids.iter().copied().filter(|id| is_file(*id)).map(|id| functions[id].name).collect::<HashSet<_>>();
    let placed = making.functions(&ids).into_iter().chain(left).map(|id| functions[id].name);
    placed.chain(files.names.iter().copied().filter(|name| !named.contains(name))).collect()
}

/// An order that is being made. Its arcs are those that options name, with functions of their own, and behind them all
/// of the graph.
struct Making<'a> {
    graph: &'a Graph,
    faults: Option<Faults<'a>>,
    functions: usize,
    layout: Layout,
}

impl<'a> Making<'a> {
    fn new(functions: usize, graph: &'a Graph, faults: Option<Faults<'a>>) -> Making<'a> {
        let named = faults.map_or(0, |faults| faults.named.len());
        let copies = (0..named).map(|at| Link { parent: functions + 2 * at, child: functions + 2 * at + 1, count: 0 });
        let of_graph = graph.arc_ids().map(|id| {
            let Arc { parent, child, count } = *graph.arc(id).0;
            Link { parent: parent.index(), child: child.index(), count }
        });
        let layout = Layout::new(functions + 2 * named, copies.chain(of_graph).collect());
        Making { graph, faults, functions, layout }
    }

    /// The functions of a list of numbers: copies stand for what they are copies of.
    fn original(&self, functions: &[FunctionId], number: usize) -> FunctionId {
        let Some(copy) = number.checked_sub(self.functions) else {
            return functions[number];
        };
        let (parent, child) = self.faults.map_or(&[][..], |faults| faults.named)[copy / 2];
        if copy % 2 == 0 { parent } else { child }
    }

    /// The functions that have a place, in order.
    fn functions(&self, functions: &[FunctionId]) -> Vec<FunctionId> {
        self.layout.order.iter().map(|number| self.original(functions, *number)).collect()
    }

    /// The ends of all arcs.
    fn ends(&self, functions: &[FunctionId]) -> Vec<(FunctionId, FunctionId)> {
        let ends = |link: &Link| (self.original(functions, link.parent), self.original(functions, link.child));
        self.layout.links.iter().map(ends).collect()
    }

    /// The places of all arcs but those of functions that call themselves, in the order of the profile.
    fn arcs(&self) -> Vec<usize> {
        let links = self.layout.links.iter().enumerate();
        links.filter(|(_, link)| link.parent != link.child).map(|(at, _)| at).collect()
    }

    /// Sorts arcs, most calls first; those with equal counts stay as they are.
    fn sort(&self, arcs: &mut [usize]) {
        arcs.sort_by_key(|at| Reverse(self.layout.links[*at].count));
    }

    /// Puts functions with many callers first, and gives the arcs by which the others of them are to be chained.
    fn first_group(&mut self, arcs: &[usize], used: &[FunctionId]) -> Vec<usize> {
        let group = self.popular(arcs, used);
        let has_entry = self.has_entry();
        let mut touched = Vec::new();
        for id in &group {
            let is_sorted = has_entry[id.index()];
            for list in [self.graph.children(*id), self.graph.parents(*id)] {
                touched.extend(self.places(list, is_sorted));
            }
            self.layout.placed[id.index()] = true;
        }
        let mut within = Vec::new();
        for at in touched {
            self.layout.link_placed[at] = true;
            let Link { parent, child, .. } = self.layout.links[at];
            let placed = &mut self.layout.placed;
            if parent != child && placed[parent] && placed[child] {
                within.push(at);
                placed[parent] = false;
                placed[child] = false;
            }
        }
        let last = if self.faults.is_none() { group.len() } else { group.len().saturating_sub(1) };
        let alone = group[..last].iter().map(|id| id.index()).filter(|number| self.layout.placed[*number]);
        self.layout.order.extend(alone);
        within
    }

    /// The places of arcs of the graph: the newest first, as long as nothing sorted them.
    fn places(&self, arcs: &[ArcId], is_sorted: bool) -> Vec<usize> {
        let copies = self.layout.links.len() - self.graph.arc_ids().len();
        let mut places: Vec<usize> = arcs.iter().map(|id| copies + *id as usize).collect();
        if !is_sorted {
            places.sort_unstable_by_key(|place| Reverse(*place));
        }
        places
    }

    /// The functions with many callers: one of eighty at most.
    fn popular(&self, arcs: &[usize], used: &[FunctionId]) -> Vec<FunctionId> {
        let callers = self.callers(arcs);
        let mut group = used.to_vec();
        group.sort_by_key(|id| Reverse(callers[id.index()]));
        group.truncate(used.len() / 80);
        let has_few = |id: &FunctionId| match callers[id.index()] {
            FEW_CALLERS => true,
            other => self.faults.is_none() && other < FEW_CALLERS,
        };
        let end = group.iter().position(has_few).unwrap_or(group.len());
        group.truncate(end);
        group
    }

    /// How many arcs reach each function, of those that make nine tenths of all calls.
    fn callers(&self, arcs: &[usize]) -> Vec<u32> {
        let all = self.layout.calls(arcs);
        let mut callers = vec![0; self.layout.placed.len()];
        let mut so_far = 0_u64;
        for at in arcs {
            let link = self.layout.links[*at];
            so_far = so_far.wrapping_add(link.count);
            if so_far as f64 / all as f64 > 0.90 {
                break;
            }
            callers[link.child] += 1;
        }
        callers
    }

    /// For each function, whether the call graph that was printed before has an entry for it.
    fn has_entry(&self) -> Vec<bool> {
        let mut has = vec![false; self.functions];
        for node in self.faults.map_or(&[][..], |faults| faults.entries) {
            if let Node::Function(id) = node {
                has[id.index()] = true;
            }
        }
        has
    }
}
