//! Propagates times: hands the time of called functions to their callers.
//!
//! A function's time is divided among its callers in proportion to the calls of each caller, because the profile has no
//! better data. The order of all additions is fixed. The order decides the last bit of a sum, and that bit may decide
//! how the report rounds the sum and which of two functions comes first.
//!
//! Times of called functions that the stacks of the samples show, in place of propagation.
//!
//! Self times are those of the flat profile. The time of called functions is the number of ticks during which the
//! function was on the stack below another function, and for an arc the number of ticks during which the callee was on
//! the stack directly above the caller. No tick counts twice, so recursive functions and members of a cycle have times
//! of their own.

use super::arcs::{ArcId, Arcs};
use super::cycles::Cycles;
use crate::model::contexts::measured::{Measured, Ticks};
use crate::model::flat::Flat;
use crate::model::selection::Selection;
use crate::program::symbols::functions::{FunctionId, Functions};

/// The time of a function or a cycle, in samples.
#[derive(Clone, Copy, Debug, Default)]
pub struct Share {
    /// Whether the function or cycle has an entry in the call graph.
    pub shown: bool,
    /// The part of the time that counts in this report.
    pub fraction: f64,
    /// The self time that counts.
    pub own: f64,
    /// The time of called functions that counts.
    pub children: f64,
    /// The time of called functions, whether it counts or not.
    pub all_children: f64,
}

/// The time that an arc hands to the caller: the self time of the called function, and the time of the functions below.
pub type Handed = (f64, f64);

/// The result of propagation.
#[derive(Debug)]
pub struct Times {
    /// The time of each function.
    pub functions: Vec<Share>,
    /// The time of each cycle.
    pub cycles: Vec<Share>,
    /// The time that each arc hands up.
    pub arcs: Vec<Handed>,
    /// For each function, the time that goes to callers outside of the program.
    pub outside: Vec<Option<Handed>>,
    /// The self times of all functions that count.
    pub total: f64,
}

/// The selections that decide which time counts and which functions have entries.
#[derive(Clone, Copy, Debug)]
pub struct GraphSelection<'a> {
    /// The functions that have entries.
    pub entries: &'a Selection,
    /// The functions whose time counts.
    pub time: &'a Selection,
    /// Whether excluding a function also excludes all functions that only it calls. GNU's manual promises this; GNU's
    /// program does not do it.
    pub excludes_callees: bool,
}

/// What the times of functions, cycles, and arcs are worked out from.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// The calls.
    pub arcs: &'a Arcs,
    /// The cycles of the calls.
    pub cycles: &'a Cycles,
    /// The self times.
    pub flat: &'a Flat,
    /// The functions of the image.
    pub functions: &'a Functions<'a>,
    /// The time that counts, and the functions that have entries.
    pub selection: GraphSelection<'a>,
}

impl Times {
    /// Propagates times from called functions up to their callers.
    #[must_use]
    pub fn new(inputs: Inputs<'_>) -> Times {
        let mut propagation = Propagation::new(inputs);
        propagation.fractions();
        propagation.times_of_cycles();
        for parent in &inputs.cycles.order {
            propagation.gather(*parent);
        }
        propagation.hand_outside();
        propagation.times
    }

    /// Finds the functions that have entries, and the part of each function's self time that counts. Propagates
    /// nothing.
    fn of_functions_alone(inputs: Inputs<'_>) -> Times {
        let mut propagation = Propagation::new(inputs);
        propagation.fractions();
        propagation.times
    }
}

struct Propagation<'a> {
    arcs: &'a Arcs,
    cycles: &'a Cycles,
    flat: &'a Flat,
    selection: GraphSelection<'a>,
    /// The self time of each cycle.
    cycle_time: Vec<f64>,
    times: Times,
}

impl<'a> Propagation<'a> {
    fn new(Inputs { arcs, cycles, flat, functions, selection }: Inputs<'a>) -> Propagation<'a> {
        Propagation {
            arcs,
            cycles,
            flat,
            selection,
            cycle_time: vec![0.0; cycles.all.len()],
            times: Times {
                functions: vec![Share::default(); functions.len()],
                cycles: vec![Share::default(); cycles.all.len()],
                arcs: vec![(0.0, 0.0); arcs.all.len()],
                outside: vec![None; functions.len()],
                total: 0.0,
            },
        }
    }

    /// Goes from callers down to called functions, and decides which part of each function's time counts, and whether
    /// the function has an entry.
    fn fractions(&mut self) {
        let mut inherited = vec![false; self.cycles.all.len()];
        for id in self.cycles.order.iter().rev().copied() {
            match self.cycles.of[id.index()].map(|cycle| cycle as usize) {
                None => self.times.functions[id.index()] = self.inherit(&[id], self.arcs.calls[id.index()]),
                Some(cycle) if !inherited[cycle] => {
                    inherited[cycle] = true;
                    let members = &self.cycles.all[cycle].members;
                    let share = self.inherit(members, self.cycles.all[cycle].calls);
                    self.times.cycles[cycle] = share;
                    for member in members {
                        self.times.functions[member.index()] = share;
                    }
                }
                Some(_) => {}
            }
            self.choose(id);
        }
    }

    /// Returns what functions that form one node inherit from the callers of the node. `calls` is the number of calls
    /// of the node.
    fn inherit(&self, members: &[FunctionId], calls: u64) -> Share {
        let mut share = Share::default();
        let GraphSelection { entries, time, excludes_callees } = self.selection;
        if excludes_callees && !self.is_called(members) {
            // A node without callers is where the program begins.
            let selected = |selection: &Selection| members.iter().any(|member| selection.selects(*member));
            share.shown = selected(entries);
            share.fraction = f64::from(u8::from(selected(time)));
            return share;
        }
        for member in members {
            let outside = self.arcs.from_outside[member.index()];
            if outside != 0 {
                share.shown |= !entries.is_restricted();
                let fraction = f64::from(u8::from(!time.is_restricted()));
                share.fraction += fraction * (outside as f64 / calls as f64);
            }
            for arc in self.arcs.parents(*member) {
                let arc = self.arcs.get(*arc);
                // The members have no share yet, so calls within the node add nothing.
                let parent = &self.times.functions[arc.parent.index()];
                share.shown |= parent.shown;
                if calls != 0 {
                    share.fraction += parent.fraction * (arc.count as f64 / calls as f64);
                }
            }
        }
        share
    }

    /// Applies the user's selections to one function.
    fn choose(&mut self, id: FunctionId) {
        let GraphSelection { entries, time, excludes_callees } = self.selection;
        let share = &mut self.times.functions[id.index()];
        let begins =
            |selection: &Selection| if excludes_callees { selection.includes(id) } else { selection.selects(id) };
        share.shown = if share.shown { !entries.excludes(id) } else { begins(entries) };
        if share.fraction == 0.0 {
            if begins(time) {
                share.fraction = 1.0;
            }
        } else if time.excludes(id) {
            share.fraction = 0.0;
        }
        share.own = self.flat.time[id.index()] * share.fraction;
        self.times.total += share.own;
    }

    /// Returns whether any function outside of a node calls a member of the node.
    fn is_called(&self, members: &[FunctionId]) -> bool {
        members.iter().any(|member| {
            let mut parents = self.arcs.parents(*member).iter().map(|arc| self.arcs.get(*arc));
            self.arcs.from_outside[member.index()] != 0
                || parents
                    .any(|arc| arc.count != 0 && arc.parent != arc.child && !self.cycles.same(arc.parent, arc.child))
        })
    }

    /// Computes the time that callers outside of the program get: all time of their calls, unless the user excluded the
    /// function.
    fn hand_outside(&mut self) {
        for (at, count) in self.arcs.from_outside.iter().enumerate().filter(|(_, count)| **count != 0) {
            let (time, children, calls) = match self.cycles.of[at].map(|cycle| cycle as usize) {
                Some(cycle) => {
                    (self.cycle_time[cycle], self.times.cycles[cycle].all_children, self.cycles.all[cycle].calls)
                }
                None => (self.flat.time[at], self.times.functions[at].all_children, self.arcs.calls[at]),
            };
            let counts = !self.selection.time.is_restricted() && self.times.functions[at].fraction != 0.0;
            let part = if counts { *count as f64 / calls as f64 } else { 0.0 };
            self.times.outside[at] = Some((time * part, children * part));
        }
    }

    fn times_of_cycles(&mut self) {
        for (at, cycle) in self.cycles.all.iter().enumerate() {
            let counts = |member: &&FunctionId| self.times.functions[member.index()].fraction != 0.0;
            let time =
                cycle.members.iter().filter(counts).fold(0.0, |sum, member| sum + self.flat.time[member.index()]);
            self.cycle_time[at] = time;
            self.times.cycles[at].own = self.times.cycles[at].fraction * time;
        }
    }

    /// Adds up the time of the functions that `parent` called, which must be complete.
    fn gather(&mut self, parent: FunctionId) {
        let fraction = self.times.functions[parent.index()].fraction;
        if fraction == 0.0 {
            return;
        }
        for id in self.arcs.children(parent) {
            let Some((own, children)) = self.handed(*id) else {
                continue;
            };
            self.times.arcs[*id as usize] = (own * fraction, children * fraction);
            let sum = own + children;
            let part = fraction * sum;
            let cycle = self.cycles.of[parent.index()].map(|cycle| &mut self.times.cycles[cycle as usize]);
            for share in [Some(&mut self.times.functions[parent.index()]), cycle].into_iter().flatten() {
                share.all_children += sum;
                share.children += part;
            }
        }
    }

    /// Returns the time that an arc hands up, before the fraction of the caller is applied; `None` if the arc hands up
    /// no time.
    fn handed(&self, id: ArcId) -> Option<Handed> {
        let arc = self.arcs.get(id);
        let child = arc.child.index();
        if arc.count == 0 || arc.parent == arc.child || self.cycles.same(arc.parent, arc.child) {
            return None;
        }
        if self.times.functions[child].fraction == 0.0 {
            return None;
        }
        let (time, all_children, calls) = match self.cycles.of[child].map(|cycle| cycle as usize) {
            Some(cycle) => {
                (self.cycle_time[cycle], self.times.cycles[cycle].all_children, self.cycles.all[cycle].calls)
            }
            None => (self.flat.time[child], self.times.functions[child].all_children, self.arcs.calls[child]),
        };
        let part = arc.count as f64 / calls as f64;
        (calls != 0).then_some((time * part, all_children * part))
    }
}

impl Times {
    /// Takes the times that the stacks show.
    #[must_use]
    pub fn measured(inputs: Inputs<'_>, measured: &Measured) -> Times {
        let Inputs { arcs, cycles, flat, functions, .. } = inputs;
        let mut times = Times::of_functions_alone(inputs);
        times.total = 0.0;
        for (at, share) in times.functions.iter_mut().enumerate() {
            let ticks = &measured.functions[at];
            if ticks.all.own > 0 {
                share.fraction = ticks.counted.own as f64 / ticks.all.own as f64;
            }
            share.own = flat.time[at] * share.fraction;
            share.children = ticks.counted.below as f64;
            share.all_children = ticks.all.below as f64;
            times.total += share.own;
        }
        let pair = |caller: Option<FunctionId>, called: FunctionId| {
            measured.pairs.get(&(caller, called)).map_or((0.0, 0.0), handed)
        };
        times.arcs = arcs.all.iter().map(|arc| pair(Some(arc.parent), arc.child)).collect();
        for id in functions.ids().filter(|id| arcs.from_outside[id.index()] != 0) {
            times.outside[id.index()] = Some(pair(None, id));
        }
        let group = |id: FunctionId| cycles.of[id.index()].map(|cycle| cycle as usize);
        let below = measured.groups(cycles.all.len(), group);
        for ((share, cycle), ticks) in times.cycles.iter_mut().zip(&cycles.all).zip(below) {
            let own = cycle.members.iter().map(|member| times.functions[member.index()].own).sum();
            let children = ticks.below as f64;
            *share = Share { fraction: 1.0, own, children, all_children: children, ..*share };
        }
        times
    }
}

fn handed(ticks: &Ticks) -> Handed {
    (ticks.own as f64, ticks.below as f64)
}
