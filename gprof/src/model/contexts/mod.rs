//! The calling contexts of the samples: which functions were on the stack at each tick.
//!
//! `build` makes a tree of functions from the tree of return addresses, `call_sites` finds the functions that left the
//! stack by a tail call, `measured` adds up the inclusive times of functions and arcs, and `callers` turns the tree
//! around. `ranges` computes how far measured times may be from the truth because of tail calls, and `tail_calls` finds
//! the tail calls that bounds must allow for.

pub mod build;
pub mod call_sites;
pub mod callers;
mod jumps;
pub mod measured;
pub mod ranges;
pub mod ticks;
pub mod tree;
mod ways;
