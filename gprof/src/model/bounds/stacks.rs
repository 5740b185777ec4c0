//! The stacks that are possible if the profile counts all calls of the functions that it counts calls of: which
//! function may stand above which, and all samples, divided among the functions, in the tree of dominators.

use gmon::Profile;

use super::dominators::{Dominators, ROOT};
use super::samples::{Samples, SharedBin};
use crate::program::symbols::functions::{FunctionId, Functions};

/// What all possible stacks have in common.
///
/// An *entry* is a function with known callers that is called from outside of all functions, or by functions with
/// unknown callers. If an entry is never entered that way while a function that it dominates is on the stack, the
/// functions that it dominates form a *group*. Then no function of the group has the entry above itself but by counted
/// calls.
#[derive(Debug)]
pub(super) struct Stacks {
    /// All samples.
    pub(super) total: f64,
    /// The calls from function to function, each pair once.
    pub(super) calls: Vec<(FunctionId, FunctionId)>,
    /// Whether all callers of each function are known.
    pub(super) has_known_callers: Vec<bool>,
    /// The entry of each function's group, if the function is in a group.
    pub(super) group: Vec<Option<FunctionId>>,
    /// The function `main`, if it is an entry that only start-up code calls.
    pub(super) main_entry: Option<FunctionId>,
    /// Functions with counted calls that no sequence of calls leads to.
    pub(super) unreached: Vec<FunctionId>,
    /// For each node, the samples of all nodes that it dominates, and its own.
    below: Vec<f64>,
    /// All samples, each part behind the part of the function that dominates it.
    pub(super) parts: Vec<Part>,
}

/// Returns the node of a function.
fn node(id: FunctionId) -> u32 {
    id.index() as u32 + 1
}

impl Stacks {
    pub(super) fn new(calls: &Calls, samples: &Samples, functions: &Functions<'_>) -> Stacks {
        let has_known_callers: Vec<bool> = functions.ids().map(|id| calls.knows_callers_of(id)).collect();
        let mut edges = edges(calls, samples, functions);
        let nodes = functions.len() + 1 + samples.shared.len();
        let mut dominators = Dominators::new(nodes, &edges);
        let unreached = unreached(&dominators, functions);
        if !unreached.is_empty() {
            // Somebody called these functions.
            edges.extend(unreached.iter().map(|id| (ROOT, node(*id))));
            dominators = Dominators::new(nodes, &edges);
        }
        let mut known: Vec<(FunctionId, FunctionId)> =
            calls.pairs.iter().filter_map(|(caller, called)| Some(((*caller)?, *called))).collect();
        known.sort_unstable();
        known.dedup();
        let entries = entries(&dominators, &has_known_callers, functions);
        let main_entry = calls.main.filter(|main| unreached.is_empty() && only_start_calls(*main, &known, &entries));
        let is_entered_once = |entry: &FunctionId| calls.counts[entry.index()] == 1 || Some(*entry) == main_entry;
        let below = below(&dominators, samples);
        Stacks {
            total: below[ROOT as usize],
            calls: known,
            has_known_callers,
            group: entries.iter().map(|entry| entry.filter(is_entered_once)).collect(),
            main_entry,
            unreached,
            below,
            parts: parts(&dominators, samples, functions),
        }
    }

    /// Returns the samples of a function and of all functions that it dominates.
    pub(super) fn below(&self, id: FunctionId) -> f64 {
        self.below[node(id) as usize]
    }

    /// Returns the samples that only calls of `main` by start-up code lead to.
    pub(super) fn started_by_main(&self) -> f64 {
        self.main_entry.map_or(0.0, |main| self.below(main))
    }

    /// Returns the samples in none of the groups.
    pub(super) fn outside_groups(&self, functions: &Functions<'_>) -> f64 {
        let entries = functions.ids().filter(|id| self.group[id.index()] == Some(*id));
        entries.fold(self.total, |rest, entry| rest - self.below(entry))
    }

    /// Returns the entry of the group that all functions of a bin belong to.
    pub(super) fn group_of_bin(&self, bin: &SharedBin) -> Option<FunctionId> {
        let group = |id: &FunctionId| self.group[id.index()];
        let first = bin.functions.first().and_then(group).filter(|_| !bin.is_partly_outside);
        first.filter(|first| bin.functions.iter().all(|id| group(id) == Some(*first)))
    }
}

/// Returns all edges. A shared bin is a node that its functions lead to, so what dominates all of them dominates the
/// bin.
fn edges(calls: &Calls, samples: &Samples, functions: &Functions<'_>) -> Vec<(u32, u32)> {
    let caller = |caller: Option<FunctionId>| caller.map_or(ROOT, node);
    let mut edges: Vec<(u32, u32)> = calls.pairs.iter().map(|(from, to)| (caller(*from), node(*to))).collect();
    edges.extend(functions.ids().filter(|id| !calls.counts_calls_of(*id)).map(|id| (ROOT, node(id))));
    for (bin, at) in samples.shared.iter().zip(functions.len() as u32 + 1..) {
        edges.extend(bin.functions.iter().map(|id| (node(*id), at)));
        edges.extend(bin.is_partly_outside.then_some((ROOT, at)));
    }
    edges
}

/// Returns the functions that the root does not reach.
fn unreached(dominators: &Dominators, functions: &Functions<'_>) -> Vec<FunctionId> {
    let is_reached = |id: &FunctionId| dominators.immediate[node(*id) as usize].is_some();
    functions.ids().filter(|id| !is_reached(id)).collect()
}

/// Returns for each function the first of its dominators that has known callers, if there is one: the entry through
/// which all stacks with the function go.
fn entries(dominators: &Dominators, has_known_callers: &[bool], functions: &Functions<'_>) -> Vec<Option<FunctionId>> {
    let mut entries: Vec<Option<FunctionId>> = vec![None; functions.len()];
    for at in dominators.order.iter().filter_map(|node| node.checked_sub(1)) {
        let at = at as usize;
        // Other nodes are shared bins.
        let Some(id) = functions.id(at) else { continue };
        let above = dominators.immediate[at + 1].and_then(|above| above.checked_sub(1));
        let inherited = above.and_then(|above| entries[above as usize]);
        entries[at] = inherited.or(has_known_callers[at].then_some(id));
    }
    entries
}

/// Returns whether all callers of `main` are start-up code or functions that `main` dominates. What calls `main`
/// without being counted is start-up code: C and C++ call `main` at the start of the program only.
fn only_start_calls(main: FunctionId, calls: &[(FunctionId, FunctionId)], entries: &[Option<FunctionId>]) -> bool {
    let is_start_or_inside = |caller: FunctionId| entries[caller.index()].is_none_or(|entry| entry == main);
    let mut callers = calls.iter().filter(|(_, called)| *called == main).map(|(caller, _)| *caller);
    entries[main.index()] == Some(main) && callers.all(is_start_or_inside)
}

/// Returns for each node the samples of all nodes that it dominates, and its own.
fn below(dominators: &Dominators, samples: &Samples) -> Vec<f64> {
    let shared = samples.shared.iter().map(|bin| bin.samples);
    let mut below: Vec<f64> =
        std::iter::once(samples.outside).chain(samples.own.iter().copied()).chain(shared).collect();
    for node in dominators.order.iter().rev() {
        if let Some(above) = dominators.immediate[*node as usize] {
            below[above as usize] += below[*node as usize];
        }
    }
    below
}

/// The calls that the profile counts.
#[derive(Debug)]
pub(super) struct Calls {
    /// The caller and the called function of each counted call. `None` is a caller outside of all functions.
    pub(super) pairs: Vec<(Option<FunctionId>, FunctionId)>,
    /// For each function, the number of all its calls, also by itself and from outside.
    pub(super) counts: Vec<u64>,
    /// The function `main`, if exactly one function has this name.
    pub(super) main: Option<FunctionId>,
}

impl Calls {
    /// Finds the functions of all arcs, whatever the user selected.
    pub(super) fn new(profile: &Profile, functions: &Functions<'_>) -> Calls {
        let owner = |address| functions.find(address).map(|id| functions[id].counts_for);
        let (mut pairs, mut counts) = (Vec::with_capacity(profile.arcs().len()), vec![0_u64; functions.len()]);
        for arc in profile.arcs().iter().filter(|arc| arc.count != 0) {
            let Some(called) = owner(arc.selfpc) else { continue };
            let count = &mut counts[called.index()];
            *count = count.saturating_add(arc.count);
            // The address is the one after the call, or a little less where the runtime rounds addresses. If a function
            // ends with a call that does not return, the address after the call is in the next function.
            let (after, before) = (owner(arc.frompc), owner(arc.frompc.saturating_sub(1)));
            pairs.push((after, called));
            if before != after {
                pairs.push((before, called));
            }
        }
        let mut mains = functions.ids().filter(|id| functions[*id].name == b"main" && functions.is_whole(*id));
        let main = mains.next().filter(|_| mains.next().is_none());
        Calls { pairs, counts, main }
    }

    /// Returns whether all callers of a function are known. Any code may have called a function without counted calls,
    /// unseen; but of `main` it is known that start-up code calls it.
    fn knows_callers_of(&self, id: FunctionId) -> bool {
        self.counts_calls_of(id) || self.main == Some(id)
    }

    /// Returns whether the profile counts the call of `main`, or another call from outside of the program's functions.
    pub(super) fn count_start(&self) -> bool {
        self.main.is_some_and(|main| self.counts_calls_of(main))
            || self.pairs.iter().any(|(caller, _)| caller.is_none())
    }

    /// Returns whether the profile counts calls of a function.
    pub(super) fn counts_calls_of(&self, id: FunctionId) -> bool {
        self.counts[id.index()] != 0
    }
}

/// Samples with the function through which all calls lead to them.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The function that the samples are in, if it is known and in the program.
    pub function: Option<FunctionId>,
    /// The nearest function that was certainly on the stack.
    pub above: Option<FunctionId>,
    /// Whether the samples are outside of all functions.
    pub is_outside: bool,
    /// The number of samples.
    pub samples: f64,
}

/// Returns the samples of each node, in an order in which dominators come first.
pub(super) fn parts(dominators: &Dominators, samples: &Samples, functions: &Functions<'_>) -> Vec<Part> {
    let function = |node: u32| node.checked_sub(1).and_then(|at| functions.id(at as usize));
    let shared = |node: u32| samples.shared.get((node as usize).checked_sub(functions.len() + 1)?);
    let part = |node: &u32| Part {
        function: function(*node),
        above: dominators.immediate[*node as usize].and_then(function),
        is_outside: *node == ROOT,
        samples: match (function(*node), shared(*node)) {
            (Some(id), _) => samples.own[id.index()],
            (None, Some(bin)) => bin.samples,
            (None, None) => samples.outside,
        },
    };
    dominators.order.iter().map(part).collect()
}
