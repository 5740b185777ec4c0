//! An order of functions in which those that call each other often are neighbours.
//!
//! Arcs are taken from the one with most calls down. Each tries to make its ends neighbours: a function that is in no
//! chain yet is attached to the chain of the other: to its nearer end.
//! Which end is GNU's choice, as are the shares of calls that decide what is placed when.

use std::cmp::Reverse;

use crate::functions::FunctionId;
use crate::graph::Graph;
use crate::graph::arcs::{Arc, ArcId};

/// Functions with many callers go first when they have more than this many.
const FEW_CALLERS: u32 = 5;

/// Puts all functions in order.
pub(super) fn order(functions: impl Iterator<Item = FunctionId>, graph: &Graph) -> Vec<FunctionId> {
    let (used, unused): (Vec<FunctionId>, Vec<FunctionId>) = functions.partition(|id| graph.calls(*id) != 0);
    let mut layout = Layout::new(graph, used.len() + unused.len());
    for id in &unused {
        layout.placed[id.index()] = true;
    }
    let mut arcs: Vec<ArcId> = graph.arc_ids().collect();
    arcs.sort_by_key(|id| Reverse(graph.arc(*id).0.count));
    let mut busy = layout.first_group(&arcs, &used);
    busy.sort_by_key(|id| Reverse(graph.arc(*id).0.count));
    let mut rest = layout.chain(&busy, true);
    rest.extend(layout.chain(&arcs, false));
    layout.chain(&rest, true);
    let left = used.into_iter().filter(|id| !layout.placed[id.index()]).collect::<Vec<_>>();
    layout.order.extend(left);
    layout.order.extend(unused);
    layout.order
}

/// A chain of neighbours: the functions between which more can be attached, and their places on a line.
#[derive(Clone, Copy)]
struct Chain {
    first: (FunctionId, i64),
    last: (FunctionId, i64),
}

struct Layout<'a> {
    graph: &'a Graph,
    order: Vec<FunctionId>,
    placed: Vec<bool>,
    arc_placed: Vec<bool>,
    /// The neighbour behind each function.
    behind: Vec<Option<FunctionId>>,
    /// The chain that a function is in, and its place there.
    chain_of: Vec<Option<(usize, i64)>>,
    chains: Vec<Chain>,
}

impl<'a> Layout<'a> {
    fn new(graph: &'a Graph, functions: usize) -> Layout<'a> {
        Layout {
            graph,
            order: Vec::with_capacity(functions),
            placed: vec![false; functions],
            arc_placed: vec![false; graph.arc_ids().len()],
            behind: vec![None; functions],
            chain_of: vec![None; functions],
            chains: Vec::new(),
        }
    }

    fn arc(&self, id: ArcId) -> Arc {
        *self.graph.arc(id).0
    }

    /// Puts functions with many callers first, and gives the arcs by which the others of them are to be chained.
    fn first_group(&mut self, arcs: &[ArcId], used: &[FunctionId]) -> Vec<ArcId> {
        let callers = self.callers(arcs);
        let mut group = used.to_vec();
        group.sort_by_key(|id| Reverse(callers[id.index()]));
        group.truncate(used.len() / 80);
        let end = group.iter().position(|id| callers[id.index()] == FEW_CALLERS).unwrap_or(group.len());
        group.truncate(end);
        let mut touched = Vec::new();
        for id in &group {
            // The newest arc first, as before they were sorted by time.
            let newest = |arcs: &[ArcId]| {
                let mut arcs = arcs.to_vec();
                arcs.sort_unstable_by_key(|arc| Reverse(*arc));
                arcs
            };
            for arc in newest(self.graph.children(*id)).into_iter().chain(newest(self.graph.parents(*id))) {
                self.arc_placed[arc as usize] = true;
                let Arc { parent, child, .. } = self.arc(arc);
                touched.extend((parent != child).then_some(arc));
            }
            self.placed[id.index()] = true;
        }
        let mut within = Vec::new();
        for id in touched {
            let Arc { parent, child, .. } = self.arc(id);
            if self.placed[parent.index()] && self.placed[child.index()] {
                within.push(id);
                self.placed[parent.index()] = false;
                self.placed[child.index()] = false;
            }
        }
        let last = group.len().saturating_sub(1);
        let alone = group[..last].iter().filter(|id| self.placed[id.index()]);
        self.order.extend(alone);
        within
    }

    /// How many arcs reach each function, of those that make nine tenths of all calls.
    fn callers(&self, arcs: &[ArcId]) -> Vec<u32> {
        let all: u64 = arcs.iter().fold(0, |sum: u64, id| sum.wrapping_add(self.arc(*id).count));
        let mut callers = vec![0; self.placed.len()];
        let mut so_far = 0_u64;
        for id in arcs {
            let arc = self.arc(*id);
            so_far = so_far.wrapping_add(arc.count);
            if so_far as f64 / all as f64 > 0.90 {
                break;
            }
            callers[arc.child.index()] += 1;
        }
        callers
    }

    /// Makes chains of arcs, puts their functions in order, and gives the arcs that found no place. Unless `all` count,
    /// the last hundredth of calls does not.
    fn chain(&mut self, arcs: &[ArcId], all: bool) -> Vec<ArcId> {
        let total: u64 = arcs.iter().fold(0, |sum: u64, id| sum.wrapping_add(self.arc(*id).count));
        let mut so_far = 0_u64;
        let mut left = Vec::new();
        for id in arcs {
            let arc = self.arc(*id);
            so_far = so_far.wrapping_add(arc.count);
            if self.arc_placed[*id as usize] {
                continue;
            }
            let rare = !all && so_far as f64 / total as f64 > 0.99;
            let done = self.placed[arc.parent.index()] || self.placed[arc.child.index()];
            if !rare && !done && self.attach(arc) {
                self.arc_placed[*id as usize] = true;
            } else {
                left.push(*id);
            }
        }
        self.emit(arcs, all);
        left
    }

    /// Attaches one end of an arc to the chain of the other, if one of them is in no chain.
    fn attach(&mut self, Arc { parent, child, .. }: Arc) -> bool {
        if parent == child {
            return false;
        }
        let (alone, other) = match (self.chain_of[parent.index()], self.chain_of[child.index()]) {
            (None, _) => (parent, child),
            (_, None) => (child, parent),
            _ => return false,
        };
        let Some((at, place)) = self.chain_of[other.index()] else {
            // Two that are alone: the caller comes first.
            self.chains.push(Chain { first: (parent, 0), last: (child, 1) });
            self.chain_of[parent.index()] = Some((self.chains.len() - 1, 0));
            self.chain_of[child.index()] = Some((self.chains.len() - 1, 1));
            self.join(parent, child);
            return true;
        };
        let Chain { first, last } = self.chains[at];
        let (to_last, to_first) = (last.1 - place, place - first.1);
        // Where both are equally near, a caller goes to the front and a called function to the back.
        let at_last = to_last < to_first || (to_last == to_first && alone == child);
        if at_last {
            self.chains[at].last = (alone, last.1 + 1);
            self.chain_of[alone.index()] = Some((at, last.1 + 1));
            self.join(last.0, alone);
        } else {
            self.chains[at].first = (alone, first.1 - 1);
            self.chain_of[alone.index()] = Some((at, first.1 - 1));
            self.join(alone, first.0);
        }
        true
    }

    fn join(&mut self, before: FunctionId, behind: FunctionId) {
        self.behind[before.index()] = Some(behind);
    }

    /// Puts chains in order, each where the first arc of one of its callers stands; with `all`, callers in no chain too.
    fn emit(&mut self, arcs: &[ArcId], all: bool) {
        for (chains, wanted) in [(true, true), (false, all)] {
            for id in arcs.iter().filter(|_| wanted) {
                let Arc { parent, child, .. } = self.arc(*id);
                if self.placed[parent.index()] || self.placed[child.index()] {
                    continue;
                }
                match self.chain_of[parent.index()].filter(|_| chains) {
                    Some((at, _)) => self.emit_chain(self.chains[at].first.0),
                    None if chains => {}
                    None => self.emit_one(parent),
                }
            }
        }
    }

    fn emit_chain(&mut self, first: FunctionId) {
        let mut next = Some(first);
        while let Some(id) = next {
            self.emit_one(id);
            next = self.behind[id.index()];
        }
    }

    fn emit_one(&mut self, id: FunctionId) {
        self.placed[id.index()] = true;
        self.order.push(id);
    }
}
