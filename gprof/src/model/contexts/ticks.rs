//! Ticks of functions, arcs, and contexts, and how much of the samples has stacks.

use gmon::side_file::CutReason;

use super::tree::{Contexts, Frame};
use crate::model::percent::whole;
use crate::sources::stacks::{Profiles, Stacks};

/// Ticks of a function or an arc.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticks {
    /// The ticks in the function itself.
    pub own: u64,
    /// The ticks in functions above the function on the stack.
    pub below: u64,
}

/// The ticks of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FunctionTicks {
    /// All ticks.
    pub all: Ticks,
    /// The ticks that count, where the user restricts the time (`-n`, `-N`, `-E`, `-F`).
    pub counted: Ticks,
}

/// The ticks of each context.
#[derive(Debug)]
pub(super) struct Sums {
    /// The ticks of the context alone.
    pub(super) own: Vec<u64>,
    /// The ticks of the context and of all contexts below.
    pub(super) whole: Vec<u64>,
}

impl Sums {
    pub(super) fn new(contexts: &Contexts, own: Vec<u64>) -> Sums {
        let mut whole = own.clone();
        contexts.add_up(&mut whole);
        Sums { own, whole }
    }

    /// Adds up the ticks of the contexts that have the same key, each tick once.
    pub(super) fn ticks(&self, contexts: &Contexts, keys: usize, key: impl Fn(usize) -> Option<usize>) -> Vec<Ticks> {
        let mut ticks = vec![Ticks::default(); keys];
        for (at, own) in self.own.iter().enumerate() {
            if let Some(key) = key(at) {
                ticks[key].own = ticks[key].own.saturating_add(*own);
            }
        }
        contexts.each_outermost(keys, key, |key, at| {
            ticks[key].below = ticks[key].below.saturating_add(self.whole[at]);
        });
        // Until here, the own ticks were among those below.
        ticks.iter_mut().for_each(|ticks| ticks.below = ticks.below.saturating_sub(ticks.own));
        ticks
    }
}

/// How much of the samples has stacks. Numbers are in samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StackSums {
    /// The samples that have a stack.
    pub stacks: u64,
    /// The samples whose stack reaches the outermost function.
    pub whole: u64,
    /// The samples without a stack, in profiles that have stacks.
    pub without_stack: u64,
    /// The samples whose stack has a place where a tail call may have removed one of several functions.
    pub doubtful: u64,
    /// The samples whose stack is not whole, or is missing, because the tree of stacks was full.
    pub without_room: u64,
    /// The profiles that have stacks.
    pub covered: Profiles,
    /// The profiles without stacks.
    pub uncovered: Profiles,
    /// The profiles that are sums of runs with stacks and of runs without, with the samples of the latter runs.
    pub partial: Profiles,
}

impl StackSums {
    /// Adds up the samples.
    #[must_use]
    pub fn new(stacks: &Stacks, contexts: &Contexts) -> StackSums {
        let without_stack = stacks.cuts().values().fold(0_u64, |sum, ticks| sum.saturating_add(*ticks));
        let (covered, uncovered, partial) = (stacks.covered(), stacks.uncovered(), stacks.partial());
        let without_room = stacks.cuts().get(&CutReason::NO_MEMORY).copied().unwrap_or(0);
        let mut sums = StackSums { without_stack, without_room, covered, uncovered, partial, ..StackSums::default() };
        // Whether the path to each context is cut, whether it has a doubt, and whether the tree had no room for it.
        let mut paths: Vec<(bool, bool, bool)> = Vec::with_capacity(contexts.all().len());
        for context in contexts.all() {
            let above = context.parent().map_or((false, false, false), |parent| paths[parent]);
            let (is_cut, is_doubtful, has_no_room) = above;
            let is_cut = is_cut || matches!(context.frame, Frame::Cut(_));
            let is_doubtful = is_doubtful || context.is_doubtful();
            let has_no_room = has_no_room || context.frame == Frame::Cut(CutReason::NO_MEMORY);
            let add = |sum: &mut u64, counts: bool| *sum = sum.saturating_add(if counts { context.ticks } else { 0 });
            add(&mut sums.stacks, true);
            add(&mut sums.whole, !is_cut);
            add(&mut sums.doubtful, is_doubtful);
            add(&mut sums.without_room, has_no_room);
            paths.push((is_cut, is_doubtful, has_no_room));
        }
        sums
    }

    /// Returns all samples of the profiles that have stacks.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.stacks.saturating_add(self.without_stack)
    }

    /// Returns whether profiles, or runs in a sum of profiles, have no stacks.
    #[must_use]
    pub fn lack_runs(&self) -> bool {
        self.uncovered.count > 0 || self.partial.ticks > 0
    }

    /// Returns a number of stacks as a percentage of all stacks.
    #[must_use]
    pub fn percent(&self, stacks: u64) -> f64 {
        100.0 * stacks as f64 / whole(self.stacks as f64)
    }

    /// Returns the samples of the profiles without stacks as a percentage of the samples of all profiles.
    #[must_use]
    pub fn uncovered_percent(&self) -> f64 {
        self.percent_of_all(self.uncovered)
    }

    /// Returns the samples of runs without stacks, in sums with other runs, as a percentage of the samples of all
    /// profiles.
    #[must_use]
    pub fn partial_percent(&self) -> f64 {
        self.percent_of_all(self.partial)
    }

    fn percent_of_all(&self, profiles: Profiles) -> f64 {
        let all = self.covered.ticks as f64 + self.uncovered.ticks as f64 + self.partial.ticks as f64;
        100.0 * profiles.ticks as f64 / whole(all)
    }

    /// Returns the standard error of a measured number of samples, which has a binomial distribution: each sample hits
    /// the function or does not.
    #[must_use]
    pub fn error(&self, samples: f64) -> f64 {
        let all = self.samples() as f64;
        if samples <= 0.0 || samples >= all { 0.0 } else { (samples * (1.0 - samples / all)).sqrt() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_without_stacks_are_profiles_or_parts_of_profiles() {
        let lack = |uncovered: u64, partial: u64| {
            let uncovered = Profiles { count: uncovered, ticks: 0 };
            let partial = Profiles { count: 1, ticks: partial };
            StackSums { uncovered, partial, ..StackSums::default() }.lack_runs()
        };
        assert_eq!([lack(0, 0), lack(1, 0), lack(0, 1)], [false, true, true]);
    }

    #[test]
    fn none_and_all_of_the_samples_have_no_error() {
        let sums = StackSums { stacks: 8, without_stack: 8, ..StackSums::default() };
        assert_eq!(
            [-1.0, 0.0, 4.0, 16.0, 17.0].map(|samples| sums.error(samples)),
            [0.0, 0.0, 3.0_f64.sqrt(), 0.0, 0.0]
        );
        assert_eq!(StackSums::default().error(0.0), 0.0);
    }
}
