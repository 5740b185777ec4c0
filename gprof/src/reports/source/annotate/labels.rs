//! The counts in front of the lines of an annotated source file.

use std::collections::BTreeMap;

use gmon::Block;

use crate::model::{Analysis, CallEstimate};
use crate::program::symbols::functions::FunctionId;

/// A line that has code.
#[derive(Debug)]
pub(super) struct CodeLine {
    /// The calls of all functions that begin on the line.
    pub(super) calls: u64,
    /// The first piece of code of the line, by address.
    first: FunctionId,
    /// The basic blocks that begin on the line.
    blocks: Vec<Block>,
    /// Whether all basic blocks of the line begin after its code does: then the code begins inside the block of an
    /// earlier line.
    begins_inside: bool,
}

impl CodeLine {
    pub(super) fn new(analysis: &Analysis<'_>, first: FunctionId) -> CodeLine {
        let blocks = analysis.blocks().of(first).to_vec();
        let begins_inside = blocks.first().is_some_and(|block| block.addr > analysis.functions[first].address);
        CodeLine { calls: analysis.graph().calls(first), first, blocks, begins_inside }
    }

    /// Returns whether estimates say that the line's function was called.
    pub(super) fn is_seen(&self, analysis: &Analysis<'_>) -> bool {
        analysis.graph().estimate(self.first).is_some_and(|estimate| estimate.seen > 0)
    }

    /// Adds another piece of code, which must have a higher address.
    pub(super) fn add(&mut self, analysis: &Analysis<'_>, piece: FunctionId) {
        self.calls = self.calls.saturating_add(analysis.graph().calls(piece));
        // If a line has several pieces of code, GNU assumes that the code begins inside a block.
        self.begins_inside = !self.blocks.is_empty();
    }
}

/// The text in front of a line.
#[derive(Clone, Debug, PartialEq)]
pub enum Label {
    /// No text: the line has no code.
    NoCode,
    /// No text: the line has code, but the profile has no count for it.
    Uncounted,
    /// The execution counts of the line's blocks, in the order of addresses.
    Counts(Vec<u64>),
    /// The estimated calls of the line's function, which nobody counted.
    Estimated(CallEstimate),
}

/// Computes the labels of lines, one after the other.
pub(super) struct Labels<'a, 'data> {
    pub(super) analysis: &'a Analysis<'data>,
    /// Whether lines without a count get the count of the code around them.
    pub(super) all: bool,
    /// Whether that count is the last count in the order of the file's lines; otherwise it is the count of the line's
    /// function.
    pub(super) by_preceding_line: bool,
    /// The last count.
    pub(super) last: u64,
}

impl Labels<'_, '_> {
    /// Returns the labels of a file's lines, by line.
    pub(super) fn of(&mut self, lines: &BTreeMap<u32, CodeLine>) -> BTreeMap<u32, Label> {
        lines.iter().map(|(line, code_line)| (*line, self.label(code_line))).collect()
    }

    fn label(&mut self, code_line: &CodeLine) -> Label {
        let functions = &self.analysis.functions;
        let is_named = functions.is_marked(code_line.first) || (self.all && !self.by_preceding_line);
        let estimate = functions[code_line.first].called_as.and_then(|id| self.analysis.graph().estimate(id));
        if let Some(estimate) = estimate.filter(|_| code_line.calls == 0 && code_line.blocks.is_empty()) {
            return if is_named { Label::Estimated(estimate) } else { Label::Uncounted };
        }
        if !self.by_preceding_line {
            let owner = functions[code_line.first].called_as;
            self.last = owner.map_or(0, |id| self.analysis.graph().calls(id));
        }
        let mut counts = Vec::new();
        if functions.is_marked(code_line.first) {
            self.last = code_line.calls;
            counts.push(code_line.calls);
        } else if self.all && code_line.begins_inside {
            counts.push(self.last);
        }
        for block in &code_line.blocks {
            self.last = block.count;
            // If all lines have labels, only a count that differs from the one before is worth showing.
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
