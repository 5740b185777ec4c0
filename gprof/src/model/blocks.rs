//! Execution counts of basic blocks.

use std::collections::HashMap;

use gmon::Block;

use crate::program::symbols::functions::{FunctionId, Functions};

/// The basic blocks that begin in each line. Only reports by line show basic blocks.
#[derive(Debug, Default)]
pub struct Blocks {
    of: HashMap<FunctionId, Vec<Block>>,
}

impl Blocks {
    /// Finds the line of each block, and keeps at most `most` blocks for each line.
    pub(crate) fn new(all: &[Block], functions: &Functions<'_>, most: usize) -> Blocks {
        let mut of: HashMap<FunctionId, Vec<Block>> = HashMap::new();
        for block in all {
            let Some(id) = functions.find(block.addr) else { continue };
            let known = of.entry(id).or_default();
            if known.len() < most {
                known.push(*block);
            }
        }
        Blocks { of }
    }

    /// Returns the blocks that begin in a line, in the order of the profile.
    #[must_use]
    pub fn of(&self, id: FunctionId) -> &[Block] {
        self.of.get(&id).map_or(&[], Vec::as_slice)
    }
}
