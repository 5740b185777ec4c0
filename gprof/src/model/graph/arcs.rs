//! Arcs: calls from function to function.

use gmon::internals::{Crowded, Distinct};

use crate::model::selection::ArcSelection;
use crate::program::symbols::functions::{FunctionId, Functions};

/// All calls from one function to another, or from a function to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arc {
    /// The caller.
    pub parent: FunctionId,
    /// The called function.
    pub child: FunctionId,
    /// The number of calls.
    pub count: u64,
}

/// The index of an arc in [`Arcs::all`].
pub type ArcId = u32;

/// All arcs, and for each function the arcs that leave it and the arcs that lead to it.
#[derive(Debug)]
pub struct Arcs {
    /// The arcs. Each pair of functions has one arc, where the profile first names the pair.
    pub all: Vec<Arc>,
    children: Grouped,
    parents: Grouped,
    /// For each function, the number of calls by other functions and by code outside of all functions.
    pub calls: Vec<u64>,
    /// For each function, the number of calls by itself.
    pub self_calls: Vec<u64>,
    /// For each function, the number of calls by code outside of all functions.
    pub from_outside: Vec<u64>,
    /// For each function, the number of its calls of code outside of all functions.
    pub to_outside: Vec<u64>,
    /// The sums over all arcs of the profile, selected or not.
    pub sums: CallSums,
}

/// The calls of a profile, by the ends that are in functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallSums {
    /// All calls.
    pub all: u64,
    /// The calls by code outside of all functions.
    pub from_outside: u64,
    /// The calls of code outside of all functions.
    pub to_outside: u64,
    /// The calls with both ends outside of all functions.
    pub unknown: u64,
}

impl CallSums {
    /// Adds the calls of one arc.
    fn add(&mut self, has_caller: bool, has_called: bool, calls: u64) {
        let add = |sum: &mut u64| *sum = sum.saturating_add(calls);
        add(&mut self.all);
        match (has_caller, has_called) {
            (true, true) => {}
            (false, true) => add(&mut self.from_outside),
            (true, false) => add(&mut self.to_outside),
            (false, false) => add(&mut self.unknown),
        }
    }
}

impl Arcs {
    /// Finds all arcs of a profile as [`Arcs::selected`] does. Only tests select nothing.
    #[cfg(any(test, feature = "internals"))]
    #[must_use]
    pub fn new(raw: &[gmon::Arc], functions: &Functions<'_>) -> Arcs {
        Arcs::selected(raw, functions, &ArcSelection::default(), &[], false)
    }

    /// Finds the functions of each arc of a profile, and adds up the arcs of each pair of functions. Arcs that
    /// `selected` excludes do not count. Arcs with one end outside of all functions count if `with_outside` is set.
    /// `possible` adds arcs of calls that the profile does not count.
    #[must_use]
    pub fn selected(
        raw: &[gmon::Arc],
        functions: &Functions<'_>,
        selected: &ArcSelection,
        possible: &[(FunctionId, FunctionId)],
        with_outside: bool,
    ) -> Arcs {
        let mut all: Vec<Arc> = Vec::with_capacity(raw.len() + possible.len());
        let mut outside = Vec::new();
        let mut sums = CallSums::default();
        let mut callers = Walk::new(functions);
        for arc in raw {
            let found = (callers.find(arc.frompc), functions.find(arc.selfpc));
            sums.add(found.0.is_some(), found.1.is_some(), arc.count);
            let (caller, called) = owners(found, functions);
            match (caller, called) {
                (Some(parent), Some(child)) if selected.selects(parent, child) => {
                    all.push(Arc { parent, child, count: arc.count });
                }
                (Some(_), Some(_)) => {}
                _ => outside.push((caller, called, arc.count)),
            }
        }
        let owner = |id: FunctionId| functions[id].counts_for;
        all.extend(possible.iter().map(|(parent, child)| Arc {
            parent: owner(*parent),
            child: owner(*child),
            count: 0,
        }));
        let mut arcs = Arcs { sums, ..Arcs::from_merged(merged(all, functions.len()), functions.len()) };
        if with_outside {
            arcs.add_outside(&outside);
        }
        arcs
    }

    /// Counts the arcs that have one end outside of all functions.
    fn add_outside(&mut self, outside: &[(Option<FunctionId>, Option<FunctionId>, u64)]) {
        for (caller, called, count) in outside {
            let add = |sum: &mut u64| *sum = sum.saturating_add(*count);
            if let Some(caller) = caller {
                add(&mut self.to_outside[caller.index()]);
            }
            if let Some(called) = called {
                add(&mut self.from_outside[called.index()]);
                add(&mut self.calls[called.index()]);
            }
        }
    }

    /// Groups arcs by caller and by called function. No two arcs may have the same two ends.
    #[must_use]
    pub fn from_merged(all: Vec<Arc>, functions: usize) -> Arcs {
        let mut calls = vec![0_u64; functions];
        let mut self_calls = vec![0; functions];
        for arc in &all {
            let child = arc.child.index();
            if arc.parent == arc.child {
                self_calls[child] = arc.count;
            } else {
                calls[child] = calls[child].saturating_add(arc.count);
            }
        }
        Arcs {
            children: Grouped::new(all.iter().map(|arc| arc.parent), functions),
            parents: Grouped::new(all.iter().map(|arc| arc.child), functions),
            all,
            calls,
            self_calls,
            from_outside: vec![0; functions],
            to_outside: vec![0; functions],
            sums: CallSums::default(),
        }
    }

    /// Returns the arcs that leave a function. Before the arcs are sorted, the last arc in the profile comes first.
    #[must_use]
    pub fn children(&self, parent: FunctionId) -> &[ArcId] {
        self.children.of(parent)
    }

    /// Returns the arcs that lead to a function, in the order of [`Arcs::children`].
    #[must_use]
    pub fn parents(&self, child: FunctionId) -> &[ArcId] {
        self.parents.of(child)
    }

    /// Returns an arc.
    #[must_use]
    pub fn get(&self, id: ArcId) -> &Arc {
        &self.all[id as usize]
    }

    /// Sorts the arcs of each function by a key: arcs to the function in ascending order, arcs from the function in
    /// descending order. Of arcs with the same key, the first in the profile comes first.
    pub(super) fn sort<K: Ord>(&mut self, key: impl Fn(ArcId) -> K) {
        self.parents.sort_each(|id| (key(id), id));
        self.children.sort_each(|id| (std::cmp::Reverse(key(id)), id));
    }
}

/// Returns the caller and the called function of an arc of a profile; `None` is code outside of all functions.
pub(in crate::model) fn ends(arc: &gmon::Arc, functions: &Functions<'_>) -> (Option<FunctionId>, Option<FunctionId>) {
    owners((functions.find(arc.frompc), functions.find(arc.selfpc)), functions)
}

/// Returns the functions that calls count for: the function of the caller, and the called function.
fn owners(
    (caller, called): (Option<FunctionId>, Option<FunctionId>),
    functions: &Functions<'_>,
) -> (Option<FunctionId>, Option<FunctionId>) {
    let owner = |id: FunctionId| functions[id].counts_for;
    (caller.map(owner), called.and_then(|id| functions[id].called_as).map(owner))
}

/// Finds the functions of addresses, one address after the other. In most profiles the addresses of callers ascend, as
/// the functions do. Then the next address is in the function of the last one or in the function behind it, and is not
/// looked up.
struct Walk<'a, 'data> {
    functions: &'a Functions<'data>,
    /// The index of the last function that was found.
    last: usize,
}

impl<'a, 'data> Walk<'a, 'data> {
    fn new(functions: &'a Functions<'data>) -> Walk<'a, 'data> {
        Walk { functions, last: 0 }
    }

    /// Returns what [`Functions::find`] returns.
    fn find(&mut self, address: u64) -> Option<FunctionId> {
        let all = self.functions.as_slice();
        let begins_behind = |at: usize| all.get(at).is_none_or(|function| function.address > address);
        for at in [self.last, self.last + 1] {
            if let Some(function) = all.get(at).filter(|_| !begins_behind(at) && begins_behind(at + 1)) {
                self.last = at;
                return self.functions.id(at).filter(|_| address <= function.last);
            }
        }
        let found = self.functions.find(address);
        self.last = found.map_or(self.last, FunctionId::index);
        found
    }
}

/// Adds up the arcs that have the same two ends. The sum takes the place of the first arc.
fn merged(mut all: Vec<Arc>, functions: usize) -> Vec<Arc> {
    let mut distinct = Distinct::with_room(all.len());
    let mut kept = 0;
    for at in 0..all.len() {
        let arc = all[at];
        let key = (arc.parent.index() as u64, arc.child.index() as u64);
        match distinct.find_or_keep(key, kept, |place| (all[place].parent, all[place].child) == (arc.parent, arc.child))
        {
            Ok(Some(known)) => all[known].count = all[known].count.saturating_add(arc.count),
            Ok(None) => {
                all[kept] = arc;
                kept += 1;
            }
            Err(Crowded) => {
                all.drain(kept..at);
                return merged_by_sort(all, functions);
            }
        }
    }
    all.truncate(kept);
    all
}

/// Adds up arcs as [`merged`] does, without a hash table, which hostile arcs can make slow.
fn merged_by_sort(mut all: Vec<Arc>, functions: usize) -> Vec<Arc> {
    let mut groups = Grouped::new(all.iter().map(|arc| arc.parent), functions);
    groups.sort_each(|id| (all[id as usize].child, id));
    let mut is_first = vec![true; all.len()];
    for callers in groups.starts.windows(2) {
        let mut first: Option<usize> = None;
        for id in &groups.ids[callers[0]..callers[1]] {
            let at = *id as usize;
            match first.filter(|first| all[*first].child == all[at].child) {
                Some(first) => {
                    all[first].count = all[first].count.saturating_add(all[at].count);
                    is_first[at] = false;
                }
                None => first = Some(at),
            }
        }
    }
    let mut is_first = is_first.into_iter();
    all.retain(|_| is_first.next().unwrap_or(true));
    all
}

/// Arcs grouped by one of their ends.
#[derive(Debug)]
struct Grouped {
    /// The index in `ids` where the group of each function begins, followed by the length of `ids`.
    starts: Vec<usize>,
    ids: Vec<ArcId>,
}

impl Grouped {
    fn new(ends: impl DoubleEndedIterator<Item = FunctionId> + ExactSizeIterator + Clone, functions: usize) -> Grouped {
        let mut starts = vec![0_usize; functions + 1];
        for end in ends.clone() {
            starts[end.index() + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut ids = vec![0; ends.len()];
        for (id, end) in ends.enumerate().rev() {
            let at = &mut next[end.index()];
            ids[*at] = id as ArcId;
            *at += 1;
        }
        Grouped { starts, ids }
    }

    fn of(&self, function: FunctionId) -> &[ArcId] {
        &self.ids[self.starts[function.index()]..self.starts[function.index() + 1]]
    }

    fn sort_each<K: Ord>(&mut self, key: impl Fn(ArcId) -> K) {
        // The keys are scattered over the memory, so each key is read once, and not for each comparison.
        let mut keyed = Vec::new();
        for borders in self.starts.windows(2).filter(|borders| borders[1] - borders[0] > 1) {
            let ids = &mut self.ids[borders[0]..borders[1]];
            keyed.clear();
            keyed.extend(ids.iter().map(|id| (key(*id), *id)));
            keyed.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
            for (id, (_, sorted)) in ids.iter_mut().zip(&keyed) {
                *id = *sorted;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_finds_what_a_lookup_finds() {
        let symbol =
            |address: u64| crate::program::image::Symbol { address, name: b"f", is_static: false, is_func: true };
        let some = Functions::new([16, 32, 33, 64].map(symbol).to_vec(), 70);
        let aliases = Functions::with_aliases([16, 32, 32, 64].map(symbol).to_vec());
        for functions in [&some, &aliases, &Functions::new(Vec::new(), 0)] {
            for first in 0..72 {
                let mut walk = Walk::new(functions);
                for address in (first..72).chain((0..72).rev()).chain([40, first, 33, 70, 16]) {
                    assert_eq!(walk.find(address), functions.find(address), "{first} {address}");
                }
            }
        }
    }

    #[test]
    fn a_hash_table_and_sorted_arcs_have_the_same_sums() {
        let symbol =
            |n: u64| crate::program::image::Symbol { address: 16 * n, name: b"f", is_static: false, is_func: true };
        let functions = Functions::new((1..5).map(symbol).collect(), 100);
        let ids: Vec<FunctionId> = functions.ids().collect();
        let arc = |(parent, child, count): (usize, usize, u64)| Arc { parent: ids[parent], child: ids[child], count };
        let all = [(0, 1, 1), (2, 1, 2), (0, 3, 4), (0, 1, 8), (0, 2, 16), (2, 1, u64::MAX), (0, 3, 32), (0, 1, 64)];
        let sums = [(0, 1, 73), (2, 1, u64::MAX), (0, 3, 36), (0, 2, 16)].map(arc);
        assert_eq!(merged(all.map(arc).to_vec(), ids.len()), sums);
        assert_eq!(merged_by_sort(all.map(arc).to_vec(), ids.len()), sums);
        assert!(merged_by_sort(Vec::new(), ids.len()).is_empty());
    }
}
