//! The arcs by which contexts were entered, and between which times the truth lies, where tail calls leave in doubt
//! which functions were on the stack.
//!
//! A report shows one of the possible stacks. A function that is on the shown stack only because it is one of several
//! possibilities may have had less time, and a function that is possible but not shown may have had more.

use std::collections::{HashMap, HashSet};

use super::ticks::{FunctionTicks, Sums, Ticks};
use super::tree::{Context, Contexts, Doubt, Frame};
use crate::model::selection::{ArcSelection, Selection};
use crate::program::symbols::functions::{FunctionId, Functions};

/// A caller and a called function. `None` is code outside of all functions.
pub type Pair = (Option<FunctionId>, FunctionId);

/// The function of a context's innermost frame.
pub(super) fn function_of(context: &Context) -> Option<FunctionId> {
    match context.frame {
        Frame::Function(id) => Some(id),
        _ => None,
    }
}

/// Whether a function is part of the profiling runtime, and the user did not choose the function.
pub(super) fn is_runtime(id: FunctionId, time: &Selection) -> bool {
    time.is_runtime(id) && !time.includes(id)
}

/// Returns the arc by which each context was entered. Functions that were inlined into a caller are part of the caller.
#[must_use]
pub(in crate::model) fn entered_by(
    contexts: &Contexts,
    functions: &Functions<'_>,
    time: &Selection,
) -> Vec<Option<Pair>> {
    let callers = callers(contexts);
    let pair = |(context, caller): (&Context, Option<Frame>)| {
        let called = function_of(context).filter(|id| !is_runtime(*id, time))?;
        let called = functions[called].called_as.map_or(called, |id| functions[id].counts_for);
        match caller {
            None | Some(Frame::Outside | Frame::Kernel) => Some((None, called)),
            Some(Frame::Function(caller)) if !is_runtime(caller, time) => Some((Some(caller), called)),
            Some(_) => None,
        }
    };
    contexts.all().iter().zip(callers).map(pair).collect()
}

/// Returns the frame that called each context. Functions that were inlined into a caller are not callers.
fn callers(contexts: &Contexts) -> Vec<Option<Frame>> {
    let all = contexts.all();
    let mut callers: Vec<Option<Frame>> = Vec::with_capacity(all.len());
    for context in all {
        let caller = context.parent().and_then(|parent| match all[parent].frame {
            Frame::Inlined(_) => callers[parent],
            frame => Some(frame),
        });
        callers.push(caller);
    }
    callers
}

/// Makes each context that was entered by an arc that is not selected an outermost context. Such an arc hands no time
/// to callers. An arc from a function to the function itself never hands time to callers, so it stays. Returns whether
/// each context was cut.
pub(in crate::model) fn cut(
    contexts: &mut Contexts,
    pairs: &[Option<Pair>],
    selects: impl Fn(FunctionId, FunctionId) -> bool,
) -> Vec<bool> {
    let is_left_out = |pair: &Option<Pair>| match pair {
        Some((Some(caller), called)) => caller != called && !selects(*caller, *called),
        _ => false,
    };
    let is_cut: Vec<bool> = pairs.iter().map(is_left_out).collect();
    contexts.cut(|at| is_cut[at]);
    is_cut
}

/// Cuts the contexts at the arcs that the user excludes, and joins contexts that have become the same.
#[must_use]
pub(in crate::model) fn without_excluded(
    mut contexts: Contexts,
    functions: &Functions<'_>,
    time: &Selection,
    arcs: &ArcSelection,
) -> Contexts {
    if !arcs.has_exclusions() {
        return contexts;
    }
    let pairs = entered_by(&contexts, functions, time);
    cut(&mut contexts, &pairs, |caller, called| !arcs.excludes(caller, called));
    contexts.merged()
}

/// How far the inclusive time of a function or an arc may be from the truth, in samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// So many samples of the shown time are in doubt.
    pub less: u64,
    /// So many samples more are possible.
    pub more: u64,
}

/// The ranges of the functions and arcs that are in doubt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges {
    /// The ranges of functions.
    pub functions: HashMap<FunctionId, Range>,
    /// The ranges of arcs.
    pub pairs: HashMap<Pair, Range>,
}

/// What the ranges are computed from.
pub(super) struct Shown<'a> {
    pub(super) contexts: &'a Contexts,
    /// The arc by which each context was entered.
    pub(super) entered_by: &'a [Option<Pair>],
    /// The ticks that count.
    pub(super) counted: &'a Sums,
    /// The ticks that reports show for each function.
    pub(super) functions: &'a [FunctionTicks],
    /// The ticks that reports show for each arc.
    pub(super) pairs: &'a HashMap<Pair, Ticks>,
}

fn inclusive(ticks: &Ticks) -> u64 {
    ticks.own.saturating_add(ticks.below)
}

impl Ranges {
    /// Computes the ranges. The work is in proportion to the tree and to the number of functions at its call sites.
    pub(super) fn new(shown: &Shown<'_>) -> Ranges {
        if !shown.contexts.has_undecided() {
            return Ranges::default();
        }
        let numbers = shown.doubtful_functions();
        let (least, most) = (shown.least(&numbers), shown.most(&numbers));
        let functions = numbers.iter().filter_map(|(id, number)| {
            let time = shown.time(*id);
            range(time, least[*number], most[*number]).map(|range| (*id, range))
        });
        let pairs = shown.doubtful_pairs();
        let certain = shown.certain_pairs(&pairs);
        let longest = |id: FunctionId| numbers.get(&id).map_or_else(|| shown.time(id), |number| most[*number]);
        let pairs = pairs.into_iter().filter_map(|pair| {
            // During a call both functions are on the stack.
            let most = pair.0.map_or(u64::MAX, longest).min(longest(pair.1));
            let time = shown.pairs.get(&pair).map_or(0, inclusive);
            let least = certain.get(&pair).copied().unwrap_or(0);
            range(time, least, most).map(|range| (pair, range))
        });
        Ranges { functions: functions.collect(), pairs: pairs.collect() }
    }
}

/// Returns the range of a time; `None` if the time is certain.
fn range(time: u64, least: u64, most: u64) -> Option<Range> {
    let range = Range { less: time.saturating_sub(least), more: most.saturating_sub(time) };
    (range != Range::default()).then_some(range)
}

impl Shown<'_> {
    /// The ticks that reports show for a function.
    fn time(&self, id: FunctionId) -> u64 {
        self.functions.get(id.index()).map_or(0, |ticks| inclusive(&ticks.counted))
    }

    /// Returns the functions that are in doubt, each with a number.
    fn doubtful_functions(&self) -> HashMap<FunctionId, usize> {
        let mut numbers: HashMap<FunctionId, usize> = HashMap::new();
        let mut add = |id: FunctionId| {
            let next = numbers.len();
            numbers.entry(id).or_insert(next);
        };
        let mut crowds = HashSet::new();
        // A function that is on the shown stack as one of several possibilities is among these.
        for at in 0..self.contexts.all().len() {
            for (_, undecided) in self.contexts.undecided(at) {
                undecided.possible.iter().copied().for_each(&mut add);
                crowds.extend(undecided.crowd);
            }
        }
        crowds.into_iter().flat_map(|crowd| &self.contexts.crowds()[crowd]).copied().for_each(&mut add);
        numbers
    }

    /// Returns the ticks during which each function was on the stack for certain.
    fn least(&self, numbers: &HashMap<FunctionId, usize>) -> Vec<u64> {
        let key = |at: usize| {
            let context = &self.contexts.all()[at];
            let function = function_of(context).filter(|_| context.doubt != Doubt::Frame)?;
            numbers.get(&function).copied()
        };
        self.counted.ticks(self.contexts, numbers.len(), key).iter().map(inclusive).collect()
    }

    /// Returns the ticks during which each function may have been on the stack.
    fn most(&self, numbers: &HashMap<FunctionId, usize>) -> Vec<u64> {
        let number = |id: FunctionId| numbers.get(&id).copied();
        let find = |at: usize, keys: &mut Vec<usize>| {
            keys.extend(function_of(&self.contexts.all()[at]).and_then(number));
            for (_, undecided) in self.contexts.undecided(at) {
                keys.extend(undecided.possible.iter().copied().filter_map(number));
            }
        };
        let mut most = self.outermost(numbers.len(), find);
        // A site with very many functions is looked at as a whole. Ticks that count twice do not matter: the sum is a
        // bound.
        let crowds = self.contexts.crowds();
        let find =
            |at: usize, keys: &mut Vec<usize>| keys.extend(self.contexts.undecided(at).filter_map(|(_, of)| of.crowd));
        for (crowd, ticks) in crowds.iter().zip(self.outermost(crowds.len(), find)) {
            for number in crowd.iter().copied().filter_map(number) {
                most[number] = most[number].saturating_add(ticks);
            }
        }
        let all = self.counted.own.iter().fold(0_u64, |sum, ticks| sum.saturating_add(*ticks));
        most.into_iter().map(|ticks| ticks.min(all)).collect()
    }

    /// Returns the ticks of the contexts with each key, each tick once.
    fn outermost(&self, keys: usize, find: impl Fn(usize, &mut Vec<usize>)) -> Vec<u64> {
        let mut ticks = vec![0_u64; keys];
        self.contexts.each_outermost_of(keys, find, |key, at| {
            ticks[key] = ticks[key].saturating_add(self.counted.whole[at]);
        });
        ticks
    }

    /// Whether the arc by which a context was entered is in doubt.
    fn is_entry_doubtful(&self, at: usize) -> bool {
        let context = &self.contexts.all()[at];
        let is_guess = |at: usize| self.contexts.all()[at].doubt == Doubt::Frame;
        match context.doubt {
            Doubt::None => context.parent().is_some_and(is_guess),
            // The call instruction may name the function, which may have called others that called the function again.
            Doubt::Between => self.contexts.undecided(at).any(|(_, undecided)| undecided.from != function_of(context)),
            Doubt::Frame => true,
        }
    }

    /// Returns the arcs that are in doubt: those of the shown stacks, and those that are possible.
    fn doubtful_pairs(&self) -> HashSet<Pair> {
        let mut pairs: HashSet<Pair> = HashSet::new();
        let mut known: HashSet<(usize, Option<FunctionId>, Option<FunctionId>)> = HashSet::new();
        let all = self.contexts.all();
        for (at, context) in all.iter().enumerate() {
            pairs.extend(self.entered_by[at].filter(|_| self.is_entry_doubtful(at)));
            let mut caller = context.parent();
            while let Some(guess) = caller.filter(|at| all[*at].doubt == Doubt::Frame) {
                caller = all[guess].parent();
            }
            let caller = caller.and_then(|at| function_of(&all[at]));
            for (number, undecided) in self.contexts.undecided(at) {
                let called = function_of(context);
                if !known.insert((number, caller, called)) {
                    continue;
                }
                let possible = || undecided.possible.iter().copied();
                // Without a name in the call instruction, the caller may have called any of the functions. Both the
                // function that the instruction names and the called function may have jumped to another, and back.
                let callers = possible().map(Some).chain([undecided.from.map_or(caller, Some), called]);
                let to = || possible().chain(called).chain(undecided.from);
                let steps = callers.flat_map(|from| to().map(move |to| (from, to)));
                // The other arcs are in no report, unless mcount has counted the arc.
                let is_counted = |pair: &Pair| undecided.from.is_none() && pair.0 == caller;
                pairs.extend(steps.filter(|pair| self.pairs.contains_key(pair) || is_counted(pair)));
            }
        }
        pairs
    }

    /// Returns the ticks of arcs without those in doubt.
    fn certain_pairs(&self, pairs: &HashSet<Pair>) -> HashMap<Pair, u64> {
        let numbers: HashMap<Pair, usize> = pairs.iter().copied().zip(0..).collect();
        let key = |at: usize| {
            let pair = self.entered_by[at].filter(|_| !self.is_entry_doubtful(at))?;
            numbers.get(&pair).copied()
        };
        let ticks = self.counted.ticks(self.contexts, numbers.len(), key);
        numbers.into_iter().map(|(pair, number)| (pair, inclusive(&ticks[number]))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::contexts::tree::{Frame, Growing, Undecided};
    use crate::program::image::Symbol;
    use crate::program::symbols::functions::Functions;

    #[test]
    fn only_what_a_call_through_a_pointer_leaves_open_has_a_range() {
        let symbol = |address| Symbol { address, name: b"f", is_static: false, is_func: true };
        let functions = Functions::new([16, 32, 48].map(symbol).to_vec(), 64);
        let [main, dear, spin] = std::array::from_fn(|at| functions.id(at).unwrap());
        // `main` calls `spin` by name and `dear` by name. A pointer leads to `spin` directly, or to `dear`, which jumps
        // to `spin`.
        let mut growing = Growing::default();
        let root = growing.add(None, Frame::Function(main), Doubt::None);
        let called = [(spin, Doubt::Between, 2), (spin, Doubt::None, 4), (dear, Doubt::None, 1)];
        let called = called.map(|(id, doubt, ticks)| {
            let context = growing.add(root, Frame::Function(id), doubt);
            growing.count(context, ticks);
            context
        });
        let undecided = growing.add_undecided(Undecided { possible: vec![dear], ..Undecided::default() });
        growing.note(called[0], undecided);
        let contexts = growing.finish();
        let ticks = |own, below| Ticks { own, below };
        let times = [ticks(0, 7), ticks(1, 0), ticks(6, 0)].map(|all| FunctionTicks { all, counted: all });
        let pairs = HashMap::from([
            ((None, main), times[0].all),
            ((Some(main), spin), ticks(6, 0)),
            ((Some(main), dear), ticks(1, 0)),
        ]);
        let shown = Shown {
            contexts: &contexts,
            entered_by: &[
                Some((None, main)),
                Some((Some(main), spin)),
                Some((Some(main), spin)),
                Some((Some(main), dear)),
            ],
            counted: &Sums::new(&contexts, contexts.all().iter().map(|context| context.ticks).collect()),
            functions: &times,
            pairs: &pairs,
        };
        let Ranges { functions, pairs } = Ranges::new(&shown);
        assert_eq!(functions, HashMap::from([(dear, Range { less: 0, more: 2 })]));
        let expected =
            [((Some(main), spin), Range { less: 2, more: 0 }), ((Some(main), dear), Range { less: 0, more: 2 })];
        assert_eq!(pairs, HashMap::from(expected));
    }
}
