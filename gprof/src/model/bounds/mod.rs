//! Bounds of inclusive times, for profiles that have no stacks.
//!
//! gprof assumes that all calls of a function cost the same, so its inclusive times are estimates. This module computes
//! two times that the inclusive time of a function lies between, without that assumption. docs/gprof.md has the proof,
//! and what the proof takes for granted.
//!
//! In the graph of this module, the root stands for all code outside of the program's functions. It calls the functions
//! that the profile counted calls from outside for, and all functions without counted calls, because any code may have
//! called those unseen. The other edges are the counted calls.

mod dominators;
mod reach;
mod samples;
mod stacks;

use gmon::Profile;

use crate::model::contexts::call_sites::TailCalls;
use crate::model::division::Innermost;
use crate::model::selection::Selection;
use crate::program::symbols::functions::{FunctionId, Functions};
use reach::Reach;
use samples::Samples;
use stacks::Calls;
pub use stacks::Part;
use stacks::Stacks;

/// A reason why bounds may not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BoundsDoubt {
    /// The profile has calls of functions, but none that leads from the start of the program to these functions, so
    /// calls are missing.
    CallsAreMissing {
        /// The first of the functions.
        example: FunctionId,
        /// The number of functions.
        count: usize,
    },
    /// The profile counts calls, but neither the call of `main` nor any other call from outside of the program's
    /// functions. Either the runtime of the program leaves out calls from outside, so that functions that libraries
    /// call may have more callers; or the profile began when `main` was already running, as in a forked child.
    StartIsNotCounted,
    /// A counter of samples is negative.
    NegativeSamples,
    /// The machine code of called functions is not known, or is code of a machine whose jumps are not known. A function
    /// that ends in a tail call may have a longer time than its upper bound.
    JumpsAreUnknown {
        /// The number of functions.
        count: usize,
    },
    /// Calls were counted on demand, and those of the rest of the run are missing.
    CallsOnDemand,
}

/// The bounds of all functions, in samples.
#[derive(Debug)]
pub struct Bounds {
    /// For each function, the samples during which the function was certainly on the stack.
    pub lower: Vec<f64>,
    /// For each function, the samples during which the function may have been on the stack.
    pub upper: Vec<f64>,
    /// For each function, whether the profile counts its calls.
    pub is_counted: Vec<bool>,
    /// The samples in code that any function may have called unseen. Every upper bound includes these samples.
    pub unseen: f64,
    /// Whether the upper bounds are exact sums. If the call graph is too large for that, they hold but are larger than
    /// need be.
    pub is_upper_exact: bool,
    /// The number of functions that may have ended in a tail call. Their upper bounds include the functions to which
    /// they may have jumped.
    pub tail_calls: usize,
    /// The reasons why the bounds may not hold.
    pub doubts: Vec<BoundsDoubt>,
    /// All samples, divided among the functions: each part behind the part of the function that dominates it.
    pub parts: Vec<Part>,
}

impl Bounds {
    /// Computes the bounds of all functions. `program` selects all functions but those of the profiling runtime.
    #[must_use]
    pub fn new(
        profile: &Profile,
        innermost: &Innermost,
        tail_calls: &TailCalls,
        functions: &Functions<'_>,
        program: &Selection,
    ) -> Bounds {
        let samples = Samples::new(profile.histograms(), innermost, functions, program);
        let calls = Calls::new(profile, functions);
        let stacks = Stacks::new(&calls, &samples, functions);
        let (upper, is_upper_exact) = upper(&stacks, &samples, tail_calls, functions);
        Bounds {
            lower: functions.ids().map(|id| stacks.below(id)).collect(),
            upper,
            unseen: stacks.outside_groups(functions),
            is_upper_exact,
            tail_calls: tail_calls.functions,
            doubts: doubts(&stacks, &calls, &samples, tail_calls),
            is_counted: functions.ids().map(|id| calls.counts_calls_of(id)).collect(),
            parts: stacks.parts,
        }
    }
}

/// Returns the upper bounds, and whether they are exact.
fn upper(stacks: &Stacks, samples: &Samples, tail_calls: &TailCalls, functions: &Functions<'_>) -> (Vec<f64>, bool) {
    let group = |id: FunctionId| stacks.group[id.index()];
    // The profile counts a tail call for the function to which the called function returns.
    let mut inside = [stacks.calls.as_slice(), &tail_calls.pairs].concat();
    inside.retain(|(from, to)| group(*from).is_some() && group(*from) == group(*to));
    let own: Vec<f64> = functions.ids().map(|id| group(id).map_or(0.0, |_| samples.own[id.index()])).collect();
    // Other shared bins are in the part that every upper bound includes.
    let shared = samples.shared.iter().filter(|bin| stacks.group_of_bin(bin).is_some());
    let reach = Reach::new(&inside, &own, &shared.collect::<Vec<_>>(), functions);
    let bound = |id: FunctionId| match (group(id), stacks.has_known_callers[id.index()]) {
        // A function with unknown callers may be start-up code, which calls `main`.
        (_, false) => stacks.total,
        (None, true) => stacks.total - stacks.started_by_main(),
        (Some(entry), true) => {
            let all = stacks.below(entry);
            let other_entry = stacks.main_entry.filter(|main| *main != entry).map_or(0.0, |main| stacks.below(main));
            // Sums that are not exact may exceed the whole.
            stacks.total - other_entry - all + reach.samples[id.index()].min(all)
        }
    };
    (functions.ids().map(bound).collect(), reach.is_exact)
}

fn doubts(stacks: &Stacks, calls: &Calls, samples: &Samples, tail_calls: &TailCalls) -> Vec<BoundsDoubt> {
    let missing = stacks.unreached.first().map(|example| {
        let count = stacks.unreached.len();
        BoundsDoubt::CallsAreMissing { example: *example, count }
    });
    let no_start = (!calls.count_start() && !calls.pairs.is_empty()).then_some(BoundsDoubt::StartIsNotCounted);
    let negative = samples.has_negative.then_some(BoundsDoubt::NegativeSamples);
    let unknown = (tail_calls.unknown > 0).then_some(BoundsDoubt::JumpsAreUnknown { count: tail_calls.unknown });
    [missing, no_start, negative, unknown].into_iter().flatten().collect()
}
