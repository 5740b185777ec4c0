//! Inclusive times as the stacks show them.
//!
//! A tick counts for a function if the function is on the stack, once however often the function is there. A tick
//! counts for an arc if the arc's callee stands above its caller on the stack, also once. Ticks count if they count in
//! the flat profile: those in the profiling runtime, outside of all functions, and in functions that the user left out
//! do not.

use std::collections::HashMap;

use super::ranges::{self, Pair, Ranges, Shown, function_of, is_runtime};
pub use super::ticks::{FunctionTicks, Ticks};
use super::ticks::{StackSums, Sums};
use super::tree::{Context, Contexts, Frame};
use crate::model::selection::{ArcSelection, Selection};
use crate::program::symbols::functions::{FunctionId, Functions};

/// The choices of the user that apply to stacks.
#[derive(Clone, Copy, Debug)]
pub struct StackSelection<'a> {
    /// The functions in the flat profile.
    pub flat: &'a Selection,
    /// The functions whose time counts.
    pub time: &'a Selection,
    /// The arcs that hand time to callers.
    pub arcs: &'a ArcSelection,
}

/// The ticks of all functions and arcs.
#[derive(Debug)]
pub struct Measured {
    contexts: Contexts,
    /// The ticks of the contexts that count.
    counted: Sums,
    /// The ticks of each function.
    pub functions: Vec<FunctionTicks>,
    /// The ticks of each arc.
    pub pairs: HashMap<Pair, Ticks>,
    /// How far the times of functions and arcs may be from the truth.
    pub ranges: Ranges,
    /// How much of the samples has stacks.
    pub sums: StackSums,
}

impl Measured {
    /// Adds up the ticks of contexts.
    #[must_use]
    pub fn new(
        mut contexts: Contexts,
        functions: &Functions<'_>,
        selection: StackSelection<'_>,
        sums: StackSums,
    ) -> Measured {
        let pairs = cut_arcs(&mut contexts, functions, selection);
        let paths = Paths { contexts: &contexts, selection };
        let all = Sums::new(&contexts, paths.own());
        let counted = Sums::new(&contexts, paths.counted(&all.own));
        let of = |at: usize| function_of(&contexts.all()[at]).map(FunctionId::index);
        let (all_ticks, counted_ticks) =
            (all.ticks(&contexts, functions.len(), of), counted.ticks(&contexts, functions.len(), of));
        let both = all_ticks.into_iter().zip(counted_ticks);
        let functions: Vec<FunctionTicks> = both.map(|(all, counted)| FunctionTicks { all, counted }).collect();
        let entered_by = pairs;
        let pairs = ticks_of_pairs(&contexts, &entered_by, &counted);
        let ranges = Ranges::new(&Shown {
            contexts: &contexts,
            entered_by: &entered_by,
            counted: &counted,
            functions: &functions,
            pairs: &pairs,
        });
        Measured { functions, pairs, counted, ranges, sums, contexts }
    }

    /// Returns the ticks of groups of functions. `group` returns the index of a function's group.
    #[must_use]
    pub fn groups(&self, groups: usize, group: impl Fn(FunctionId) -> Option<usize>) -> Vec<Ticks> {
        let of = |at: usize| function_of(&self.contexts.all()[at]).and_then(&group);
        self.counted.ticks(&self.contexts, groups, of)
    }

    /// Returns the arcs between different functions, sorted. Not all of them were counted.
    pub fn arcs(&self) -> Vec<(FunctionId, FunctionId)> {
        let arcs = self.pairs.keys().filter_map(|(caller, called)| Some(((*caller)?, *called)));
        let mut arcs: Vec<_> = arcs.filter(|(caller, called)| caller != called).collect();
        arcs.sort_unstable();
        arcs
    }
}

/// The ticks of the functions and arcs of some stacks, with the user's choices.
#[derive(Debug)]
pub struct PartTicks {
    /// The functions, in the order of the tree.
    pub functions: Vec<(FunctionId, Ticks)>,
    /// The arcs.
    pub pairs: HashMap<Pair, Ticks>,
}

/// Adds up the ticks of contexts. The results are as large as the tree, however many functions the program has.
#[must_use]
pub fn part(mut contexts: Contexts, functions: &Functions<'_>, selection: StackSelection<'_>) -> PartTicks {
    let pairs = cut_arcs(&mut contexts, functions, selection);
    let paths = Paths { contexts: &contexts, selection };
    let counted = Sums::new(&contexts, paths.counted(&paths.own()));
    let (mut ids, mut numbers): (Vec<FunctionId>, HashMap<FunctionId, usize>) = (Vec::new(), HashMap::new());
    let mut number = |id: FunctionId| {
        *numbers.entry(id).or_insert_with(|| {
            ids.push(id);
            ids.len() - 1
        })
    };
    let keys: Vec<Option<usize>> = contexts.all().iter().map(|context| function_of(context).map(&mut number)).collect();
    let ticks = counted.ticks(&contexts, ids.len(), |at| keys[at]);
    PartTicks { functions: ids.into_iter().zip(ticks).collect(), pairs: ticks_of_pairs(&contexts, &pairs, &counted) }
}

/// What the user's choices and the profiling runtime make of the paths of the tree.
struct Paths<'a> {
    contexts: &'a Contexts,
    selection: StackSelection<'a>,
}

/// Whether the time of a path counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// No function so far.
    Start,
    Counts,
    DoesNotCount,
}

impl Paths<'_> {
    /// The ticks of each context that the flat profile counts.
    fn own(&self) -> Vec<u64> {
        let own = |context: &Context| match context.frame {
            Frame::Function(id) if self.selection.flat.selects(id) => context.ticks,
            _ => 0,
        };
        self.contexts.all().iter().map(own).collect()
    }

    /// The ticks of each context that the call graph counts.
    fn counted(&self, own: &[u64]) -> Vec<u64> {
        let states = states(self.contexts, self.selection.time);
        let counted = own.iter().zip(states).map(|(own, state)| if state == State::Counts { *own } else { 0 });
        counted.collect()
    }
}

/// Returns whether the choices of the user let the time of each context count. Time below no function counts if the
/// user did not choose functions.
pub(in crate::model) fn time_counts(contexts: &Contexts, time: &Selection) -> Vec<bool> {
    let counts = |state| state == State::Counts || (state == State::Start && !time.is_restricted());
    states(contexts, time).into_iter().map(counts).collect()
}

fn states(contexts: &Contexts, time: &Selection) -> Vec<State> {
    let mut states: Vec<State> = Vec::with_capacity(contexts.all().len());
    for context in contexts.all() {
        let above = context.parent().map_or(State::Start, |parent| states[parent]);
        states.push(match context.frame {
            Frame::Function(id) if !is_runtime(id, time) => match above {
                State::Start if time.selects(id) => State::Counts,
                State::DoesNotCount if time.includes(id) => State::Counts,
                State::Start => State::DoesNotCount,
                State::Counts if time.excludes(id) => State::DoesNotCount,
                other => other,
            },
            _ => above,
        });
    }
    states
}

/// Returns the arc by which each context was entered. Where the user left out the arc, the context has no caller and no
/// arc any more.
fn cut_arcs(contexts: &mut Contexts, functions: &Functions<'_>, selection: StackSelection<'_>) -> Vec<Option<Pair>> {
    let mut pairs = ranges::entered_by(contexts, functions, selection.time);
    let is_cut = ranges::cut(contexts, &pairs, |caller, called| selection.arcs.selects(caller, called));
    pairs.iter_mut().zip(is_cut).filter(|(_, is_cut)| *is_cut).for_each(|(pair, _)| *pair = None);
    pairs
}

fn ticks_of_pairs(contexts: &Contexts, pairs: &[Option<Pair>], counted: &Sums) -> HashMap<Pair, Ticks> {
    let mut numbers: HashMap<Pair, usize> = HashMap::new();
    let number = |pair: &Option<Pair>| {
        let next = numbers.len();
        pair.map(|pair| *numbers.entry(pair).or_insert(next))
    };
    let keys: Vec<Option<usize>> = pairs.iter().map(number).collect();
    let ticks = counted.ticks(contexts, numbers.len(), |at| keys[at]);
    numbers.into_iter().map(|(pair, key)| (pair, ticks[key])).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tree::{Doubt, Growing};
    use super::*;
    use crate::model::selection::Selections;
    use crate::program::image::Symbol;
    use std::collections::HashSet;

    /// The functions `main`, `f`, and `g`, and `mcount`, which is part of the profiling runtime.
    fn functions() -> Functions<'static> {
        let symbol = |(address, name): (u64, &'static [u8])| Symbol { address, name, is_static: false, is_func: true };
        Functions::new([(16, &b"main"[..]), (32, b"f"), (48, b"g"), (64, b"mcount")].map(symbol).to_vec(), 80)
    }

    /// A tree: each context with the index of its caller, its frame, and its ticks.
    fn tree(contexts: &[(Option<u32>, Frame, u64)]) -> Contexts {
        let mut growing = Growing::default();
        for (caller, frame, ticks) in contexts {
            let context = growing.add(*caller, *frame, Doubt::None);
            growing.count(context, *ticks);
        }
        growing.finish()
    }

    #[test]
    fn the_time_of_the_runtime_counts_for_nobody_and_hides_no_other_time() {
        let functions = functions();
        let Selections { flat, time, arcs, .. } = &Selections::program(&functions);
        let [main, f, g, mcount] = std::array::from_fn(|at| functions.id(at).unwrap());
        // A signal handler may run while the runtime counts a call.
        let contexts = tree(&[
            (None, Frame::Function(main), 1),
            (Some(0), Frame::Function(f), 2),
            (Some(1), Frame::Function(mcount), 4),
            (Some(2), Frame::Function(g), 8),
        ]);
        let pairs = ranges::entered_by(&contexts, &functions, time);
        assert_eq!(pairs, [Some((None, main)), Some((Some(main), f)), None, None]);
        let measured = Measured::new(contexts, &functions, StackSelection { flat, time, arcs }, StackSums::default());
        let ticks = |id: FunctionId| {
            let Ticks { own, below } = measured.functions[id.index()].counted;
            (own, below)
        };
        assert_eq!([main, f, g, mcount].map(ticks), [(1, 10), (2, 8), (8, 0), (0, 8)]);
    }

    #[test]
    fn time_below_no_function_counts_unless_functions_are_chosen() {
        let functions = functions();
        let f = functions.id(1).unwrap();
        let contexts = tree(&[(None, Frame::Outside, 1), (Some(0), Frame::Function(f), 1)]);
        assert_eq!(time_counts(&contexts, &Selections::program(&functions).time), [true, true]);
        let chosen = Selection::by_names(&functions, &HashSet::from([&b"f"[..]]), &HashSet::new());
        assert_eq!(time_counts(&contexts, &chosen), [false, true]);
    }
}
