//! The arcs by which contexts were entered, and the arcs that the user leaves out.

use super::tree::{Context, Contexts, Frame};
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

/// Makes outermost contexts of those that were entered by an arc that is not selected. Such an arc hands no time to callers.
/// An arc from a function to the function itself never hands time to callers, so it stays. Returns whether each context was cut.
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
