//! The call graph with its times, and its entries.

use super::contexts::ticks::StackSums;
use super::graph::{Graph, Node};
use super::limit::LeftOut;

/// The call graph with its times.
#[derive(Debug)]
pub(super) struct TimedGraph {
    pub(super) graph: Graph,
    /// How much of the samples has stacks, if the times are measured.
    pub(super) stacks: Option<StackSums>,
}

/// The functions and cycles that have entries in the call graph.
#[derive(Debug)]
pub(crate) struct Entries {
    /// All functions and cycles that the user did not exclude, used or not, in the order of their ranks.
    pub(crate) all: Vec<Node>,
    /// The functions and cycles that have entries in the report, in the order of their ranks.
    pub(crate) shown: Vec<Node>,
    /// The rank of the last entry that the report shows. The options limit the number of entries.
    pub(crate) last_rank: u32,
    /// The entries beyond that limit.
    pub(crate) left_out: LeftOut,
}
