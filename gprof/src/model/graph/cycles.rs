//! Cycles: sets of functions that all reach each other by calls.
//!
//! Time cannot be handed from called functions to callers around a circle, so a cycle is treated as one node. The order
//! of a cycle's members and the numbers of cycles appear in reports. Both follow from a depth-first walk that starts at
//! each function in the order of addresses and follows the last arc of the profile first.
//!
//! The walk is path-based: it keeps a stack of the components found so far, and an arc back to a component on the stack
//! joins all components above. Each component leaves the stack once, so the time is proportional to the number of arcs.
//! The walk does not recurse, so a chain of a hundred thousand calls needs no deep stack.

use super::arcs::Arcs;
use crate::program::symbols::functions::{FunctionId, Functions};

/// A cycle: two or more functions that reach each other.
#[derive(Debug)]
pub struct Cycle {
    /// The members, in the order in which the walk joined the members.
    pub members: Vec<FunctionId>,
    /// The number of calls from outside of the cycle.
    pub calls: u64,
    /// The number of calls from member to member.
    pub inner_calls: u64,
}

/// The cycles of a graph, and an order in which called functions come before their callers.
#[derive(Debug)]
pub struct Cycles {
    /// All cycles, in the order of their first members' addresses.
    pub all: Vec<Cycle>,
    /// For each function, the index of its cycle in `all`, if the function is in a cycle.
    pub of: Vec<Option<u32>>,
    /// All functions: called functions before their callers, and the members of a cycle next to each other.
    pub order: Vec<FunctionId>,
}

impl Cycles {
    /// Finds the cycles of a graph.
    #[must_use]
    pub fn new(arcs: &Arcs, functions: &Functions<'_>) -> Cycles {
        let components = Walk::new(arcs, functions).components();
        let mut rank = vec![0_u32; functions.len()];
        let mut heads: Vec<(FunctionId, usize)> = Vec::new();
        for (at, members) in components.iter().enumerate() {
            for member in members {
                rank[member.index()] = at as u32;
            }
            if let [head, _, ..] = members.as_slice() {
                heads.push((*head, at));
            }
        }
        heads.sort_unstable();
        let mut order: Vec<FunctionId> = functions.ids().collect();
        order.sort_by_key(|id| rank[id.index()]);
        let mut cycles = Cycles { all: Vec::with_capacity(heads.len()), of: vec![None; functions.len()], order };
        let mut components = components;
        for (_, at) in heads {
            cycles.add(std::mem::take(&mut components[at]));
        }
        cycles.count(arcs);
        cycles
    }

    fn add(&mut self, members: Vec<FunctionId>) {
        for member in &members {
            self.of[member.index()] = Some(self.all.len() as u32);
        }
        self.all.push(Cycle { members, calls: 0, inner_calls: 0 });
    }

    /// Counts the calls that lead to each cycle, and the calls within each cycle.
    fn count(&mut self, arcs: &Arcs) {
        for cycle in &mut self.all {
            cycle.calls =
                cycle.members.iter().fold(0, |sum: u64, id| sum.saturating_add(arcs.from_outside[id.index()]));
        }
        for arc in &arcs.all {
            let Some(at) = self.of[arc.child.index()] else {
                continue;
            };
            let cycle = &mut self.all[at as usize];
            if self.of[arc.parent.index()] != Some(at) {
                cycle.calls = cycle.calls.saturating_add(arc.count);
            } else if arc.parent != arc.child {
                cycle.inner_calls = cycle.inner_calls.saturating_add(arc.count);
            }
        }
    }

    /// Returns whether two functions are in the same cycle.
    #[must_use]
    pub fn same(&self, one: FunctionId, other: FunctionId) -> bool {
        self.of[one.index()].is_some() && self.of[one.index()] == self.of[other.index()]
    }
}

/// The state of a function in the walk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Unseen,
    /// The function was entered as the n-th function, and its component is not complete.
    Open(u32),
    Done,
}

/// The walk through the graph.
struct Walk<'a> {
    arcs: &'a Arcs,
    functions: Vec<FunctionId>,
    state: Vec<State>,
    /// The functions on the current path, each with the number of its arcs that were followed.
    path: Vec<(FunctionId, usize)>,
    /// The components on the path. A component is given by its head, the member that was entered first, with the number
    /// of the head's entry.
    open: Vec<(FunctionId, u32)>,
    /// The next member of each function's component, in the order of joining; and for each head, the last member.
    next: Vec<Option<FunctionId>>,
    last: Vec<FunctionId>,
    entered: u32,
    /// The complete components: called functions before their callers.
    complete: Vec<Vec<FunctionId>>,
}

impl<'a> Walk<'a> {
    fn new(arcs: &'a Arcs, functions: &Functions<'_>) -> Walk<'a> {
        let functions: Vec<FunctionId> = functions.ids().collect();
        Walk {
            arcs,
            state: vec![State::Unseen; functions.len()],
            path: Vec::new(),
            open: Vec::new(),
            next: vec![None; functions.len()],
            last: functions.clone(),
            entered: 0,
            complete: Vec::new(),
            functions,
        }
    }

    fn components(mut self) -> Vec<Vec<FunctionId>> {
        for start in std::mem::take(&mut self.functions) {
            if self.state[start.index()] == State::Unseen {
                self.enter(start);
                self.walk();
            }
        }
        self.complete
    }

    fn enter(&mut self, function: FunctionId) {
        self.state[function.index()] = State::Open(self.entered);
        self.open.push((function, self.entered));
        self.path.push((function, 0));
        self.entered += 1;
    }

    fn walk(&mut self) {
        while let Some((function, followed)) = self.path.last_mut() {
            let Some(arc) = self.arcs.children(*function).get(*followed) else {
                let function = *function;
                self.path.pop();
                self.leave(function);
                continue;
            };
            *followed += 1;
            let child = self.arcs.get(*arc).child;
            match self.state[child.index()] {
                State::Unseen => self.enter(child),
                State::Open(entered) => self.join(entered),
                State::Done => {}
            }
        }
    }

    /// Joins all components above the component of the function that was entered as the n-th function into that
    /// component.
    fn join(&mut self, entered: u32) {
        let keep = self.open.partition_point(|(_, head_entered)| *head_entered <= entered);
        let Some((head, _)) = keep.checked_sub(1).and_then(|at| self.open.get(at)).copied() else {
            return;
        };
        for (other, _) in self.open.drain(keep..) {
            let tail = self.last[head.index()];
            self.next[tail.index()] = Some(other);
            self.last[head.index()] = self.last[other.index()];
        }
    }

    /// Completes the component of a function that leaves the path, if the function is the head of the component.
    fn leave(&mut self, function: FunctionId) {
        if self.open.last().is_none_or(|(head, _)| *head != function) {
            return;
        }
        self.open.pop();
        let mut members = Vec::new();
        let mut member = Some(function);
        while let Some(id) = member {
            self.state[id.index()] = State::Done;
            members.push(id);
            member = self.next[id.index()];
        }
        self.complete.push(members);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::image::Symbol;

    /// Returns the cycles of functions at 0x10, 0x20, … with these calls.
    fn cycles(functions: u64, calls: &[(u64, u64)]) -> (Cycles, Functions<'static>) {
        let symbol = |n: u64| Symbol { address: 16 * (n + 1), name: b"f", is_static: false, is_func: true };
        let functions = Functions::new((0..functions).map(symbol).collect(), u64::MAX);
        let arc = |(from, to): &(u64, u64)| gmon::Arc::new(16 * (from + 1), 16 * (to + 1), 2);
        let arcs: Vec<gmon::Arc> = calls.iter().map(arc).collect();
        (Cycles::new(&Arcs::new(&arcs, &functions), &functions), functions)
    }

    fn members(cycles: &Cycles) -> Vec<Vec<usize>> {
        cycles.all.iter().map(|cycle| cycle.members.iter().map(|id| id.index()).collect()).collect()
    }

    fn order(cycles: &Cycles) -> Vec<usize> {
        cycles.order.iter().map(|id| id.index()).collect()
    }

    #[test]
    fn the_called_come_before_their_callers() {
        let (diamond, _) = cycles(4, &[(3, 2), (2, 0), (3, 1), (1, 0), (3, 3)]);
        assert!(diamond.all.is_empty());
        assert_eq!(order(&diamond), [0, 1, 2, 3]);
        let (chain, _) = cycles(3, &[(0, 1), (1, 2)]);
        assert_eq!(order(&chain), [2, 1, 0]);
    }

    #[test]
    fn cycles_are_numbered_by_address_and_count_their_calls() {
        let (cycles, _) = cycles(6, &[(0, 4), (4, 3), (3, 4), (0, 1), (1, 2), (2, 1), (2, 2), (1, 4)]);
        assert_eq!(members(&cycles), [vec![1, 2], vec![4, 3]]);
        assert_eq!((cycles.all[0].calls, cycles.all[0].inner_calls), (2, 4));
        assert_eq!((cycles.all[1].calls, cycles.all[1].inner_calls), (4, 4));
    }

    #[test]
    fn the_newest_arc_is_followed_first() {
        let (cycles, _) = cycles(3, &[(0, 1), (0, 2), (1, 0), (2, 0)]);
        assert_eq!(members(&cycles), [vec![0, 2, 1]]);
    }

    #[test]
    fn interlocking_circles_are_one_cycle() {
        let (cycles, _) = cycles(4, &[(0, 1), (1, 2), (2, 1), (2, 3), (3, 0)]);
        assert_eq!(members(&cycles), [vec![0, 1, 2, 3]]);
    }

    #[test]
    fn a_deep_chain_needs_no_deep_stack() {
        let deep = 100_000;
        let mut calls: Vec<(u64, u64)> = (1..deep).map(|n| (n - 1, n)).collect();
        let (chain, _) = cycles(deep, &calls);
        assert_eq!(chain.order[0].index() as u64, deep - 1);
        calls.push((deep - 1, 0));
        let (circle, functions) = cycles(deep, &calls);
        assert_eq!(circle.all[0].members.len(), functions.len());
    }
}
