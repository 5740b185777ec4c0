//! How often basic blocks ran.

use std::collections::HashMap;

use gmon::Block;

use crate::symbols::functions::{FunctionId, Functions};

/// The basic blocks of each function, or rather of each line: they are looked at by line only.
#[derive(Debug, Default)]
pub struct Blocks {
    of: HashMap<FunctionId, Vec<Block>>,
}

impl Blocks {
    /// Finds out where blocks lie, and keeps at most `most` of one line.
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

    /// The blocks that begin in a line, in the order of the profile.
    #[must_use]
    pub fn of(&self, id: FunctionId) -> &[Block] {
        self.of.get(&id).map_or(&[], Vec::as_slice)
    }
}
