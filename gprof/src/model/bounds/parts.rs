//! All samples, divided among the functions, in the tree of dominators.

use super::dominators::{Dominators, ROOT};
use super::samples::Samples;
use crate::program::symbols::functions::{FunctionId, Functions};

/// Samples with the function through which all calls lead to them.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The function that the samples are in, if it is known and in the program.
    pub function: Option<FunctionId>,
    /// The nearest function that was certainly on the stack.
    pub above: Option<FunctionId>,
    /// Whether the samples are outside of all functions.
    pub is_outside: bool,
    /// The number of samples.
    pub samples: f64,
}

/// Returns the samples of each node, in an order in which dominators come first.
pub(super) fn parts(dominators: &Dominators, samples: &Samples, functions: &Functions<'_>) -> Vec<Part> {
    let function = |node: u32| node.checked_sub(1).and_then(|at| functions.id(at as usize));
    let shared = |node: u32| samples.shared.get((node as usize).checked_sub(functions.len() + 1)?);
    let part = |node: &u32| Part {
        function: function(*node),
        above: dominators.immediate[*node as usize].and_then(function),
        is_outside: *node == ROOT,
        samples: match (function(*node), shared(*node)) {
            (Some(id), _) => samples.own[id.index()],
            (None, Some(bin)) => bin.samples,
            (None, None) => samples.outside,
        },
    };
    dominators.order.iter().map(part).collect()
}
