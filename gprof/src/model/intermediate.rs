//! The inputs of rows, counts and the index.

use super::blocks::Blocks;
use super::errors::Errors;
use super::flat::Flat;
use super::graph::Graph;
use super::input::Input;
use crate::program::symbols::functions::Functions;

/// The inputs of rows, counts and the index, complete once the call graph is complete.
pub(super) struct Intermediate<'a, 'data> {
    pub(super) functions: &'a Functions<'data>,
    pub(super) flat: &'a Flat,
    pub(super) graph: &'a Graph,
    pub(super) blocks: &'a Blocks,
    pub(super) errors: &'a Errors,
    pub(super) input: &'a Input<'data>,
}
