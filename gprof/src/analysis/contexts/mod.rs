//! The calling contexts of the samples: which functions were on the stack at each tick.
//!
//! `build` makes a tree of functions from the tree of return addresses, `call_sites` finds the functions that left the stack
//! by a tail call, `measured` adds up the inclusive times of functions and arcs, and `callers` turns the tree around.

pub mod build;
pub mod call_sites;
pub mod callers;
mod jumps;
pub mod measured;
pub mod pairs;
pub mod sums;
pub mod tree;
mod ways;
