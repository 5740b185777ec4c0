//! What stands in front of the lines of an annotated source file.

use std::collections::BTreeMap;

use gmon::Block;

use crate::analysis::Analysis;
use crate::symbols::functions::FunctionId;

/// What is known of a line that code comes from.
#[derive(Debug)]
pub(super) struct Known {
    /// The calls of all functions that begin on it.
    pub(super) calls: u64,
    /// The first of its pieces of code, by address.
    first: FunctionId,
    /// How often its basic blocks ran.
    blocks: Vec<Block>,
    /// Whether all of its blocks begin behind its code, so that it begins within the block of a line before.
    begins_inside: bool,
}

impl Known {
    pub(super) fn new(analysis: &Analysis<'_>, first: FunctionId) -> Known {
        let blocks = analysis.blocks.of(first).to_vec();
        let begins_inside = blocks.first().is_some_and(|block| block.addr > analysis.functions[first].address);
        Known { calls: analysis.calls.graph.calls(first), first, blocks, begins_inside }
    }

    /// Adds another piece of code, of a higher address.
    pub(super) fn add(&mut self, analysis: &Analysis<'_>, piece: FunctionId) {
        self.calls = self.calls.saturating_add(analysis.calls.graph.calls(piece));
        // Of several pieces, GNU takes each block to begin inside.
        self.begins_inside = !self.blocks.is_empty();
    }
}

/// What stands in front of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Label {
    /// Nothing: no code comes from it.
    NoCode,
    /// Nothing: code comes from it, and nobody counted how often it ran.
    Uncounted,
    /// How often its parts ran, in the order of addresses.
    Counts(Vec<u64>),
}

/// Labels lines one after the other.
pub(super) struct Labels<'a, 'data> {
    pub(super) analysis: &'a Analysis<'data>,
    /// Whether lines that nobody counted have the count of what they are a part of.
    pub(super) all: bool,
    /// Whether that is whatever was counted last, as the lines of the file go; else it is their function.
    pub(super) by_neighbour: bool,
    /// The last count.
    pub(super) last: u64,
}

impl Labels<'_, '_> {
    /// The labels of a file's lines, by line.
    pub(super) fn of(&mut self, lines: &BTreeMap<u32, Known>) -> BTreeMap<u32, Label> {
        lines.iter().map(|(line, known)| (*line, self.label(known))).collect()
    }

    fn label(&mut self, known: &Known) -> Label {
        let functions = &self.analysis.functions;
        if !self.by_neighbour {
            let owner = functions[known.first].called_as;
            self.last = owner.map_or(0, |id| self.analysis.calls.graph.calls(id));
        }
        let mut counts = Vec::new();
        if functions.is_marked(known.first) {
            self.last = known.calls;
            counts.push(known.calls);
        } else if self.all && known.begins_inside {
            counts.push(self.last);
        }
        for block in &known.blocks {
            self.last = block.count;
            // Where all lines are labelled, only what changes within a line is of interest.
            if !self.all || counts.last() != Some(&block.count) {
                counts.push(block.count);
            }
        }
        if self.all && counts.is_empty() {
            counts.push(self.last);
        }
        if counts.is_empty() { Label::Uncounted } else { Label::Counts(counts) }
    }
}
