//! Times of called functions that the stacks of the samples show, in place of propagation.
//!
//! Self times are those of the flat profile. The time of called functions is the number of ticks during which the function
//! was on the stack below another function, and for an arc the number of ticks during which the callee was on the stack
//! directly above the caller. No tick counts twice, so recursive functions and members of a cycle have times of their own.

use super::propagate::{Handed, Inputs, Share, Times};
use crate::model::contexts::measured::{Measured, Ticks};
use crate::program::symbols::functions::FunctionId;

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
