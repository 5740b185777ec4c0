//! The inputs of rows, counts and the index.

use super::blocks::Blocks;
use super::errors::Errors;
use super::flat::Flat;
use super::graph::Graph;
use super::selection::Selections;
use crate::cli::options::{Options, Wanted};
use crate::symbols::functions::Functions;
use crate::symbols::sources::Sources;

/// The inputs of rows, counts and the index, complete once the call graph is complete.
pub(super) struct Basis<'a, 'data> {
    pub(super) functions: &'a Functions<'data>,
    pub(super) flat: &'a Flat,
    pub(super) graph: &'a Graph,
    pub(super) sources: &'a Sources,
    pub(super) selections: &'a Selections,
    pub(super) blocks: &'a Blocks,
    pub(super) errors: &'a Errors,
    pub(super) options: &'a Options,
    pub(super) wanted: Wanted,
}
