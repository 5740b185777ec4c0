//! Symbols for lines: with them in the table of functions, everything that is told of functions is told of lines.
//!
//! A piece of code that comes from one line of one function is a symbol of its own, which has the function's name and
//! is not marked as a function. Inlined code has the name of the function that was inlined.

use std::collections::HashMap;
use std::ops::Range;

use crate::functions::Functions;
use crate::image::frames::{Caller, Frames};
use crate::image::lines::{FileId, LineRange, Lines};
use crate::image::{SourceFiles, Symbol};

/// What the symbols of lines are made of.
pub struct Source<'a, 'data> {
    /// The lines.
    pub lines: &'a Lines<'data>,
    /// What was inlined.
    pub files: &'data SourceFiles<'data>,
    /// These tell which code only its source file sees.
    pub functions: &'a Functions<'data>,
    /// All functions there are: they tell whose code it is where the debug information does not.
    pub owners: &'a Functions<'data>,
    /// Whether code of one line that was inlined at several places is told apart.
    pub by_caller: bool,
}

/// Code of one line of one function: its symbol, and where it was inlined.
pub type Line<'data> = (Symbol<'data>, Vec<Caller<'data>>);

impl<'data> Source<'_, 'data> {
    /// The symbols of all lines of a part of the code, in the order of their addresses. Code of which no line or no
    /// function is known gets no symbol: it belongs to the one before.
    #[must_use]
    pub fn symbols(&self, code: Range<u64>) -> Vec<Line<'data>> {
        let frames = self.files.frames();
        let callers = |address| frames.as_ref().filter(|_| self.by_caller).map(|frames| frames.callers(address));
        let find = |address| Some((self.name(frames.as_ref(), address)?, callers(address).unwrap_or_default()));
        let mut files = Files { lines: self.lines, known: HashMap::new(), numbers: HashMap::new() };
        let mut symbols: Vec<Line<'data>> = Vec::new();
        let mut place = None;
        for (LineRange { start: address, file, line, .. }, (name, callers)) in divide(code, self.lines, find) {
            let file = files.number(file);
            let before = symbols.last().filter(|(before, _)| before.name == name);
            let same = before.filter(|_| place.is_some_and(|(known, _)| known == file));
            if same.is_some_and(|(_, before)| place == Some((file, line)) && *before == callers) {
                continue;
            }
            // Inlined code is as visible as the function that it is a part of.
            let owner = || self.functions.find(address).is_some_and(|id| self.functions[id].is_static);
            let is_static = same.map_or_else(owner, |(before, _)| before.is_static);
            symbols.push((Symbol { address, name, is_static, is_func: false }, callers));
            place = Some((file, line));
        }
        symbols
    }

    /// The name of the innermost function of an address.
    fn name(&self, frames: Option<&Frames<'data>>, address: u64) -> Option<&'data [u8]> {
        let told = frames.and_then(|frames| frames.innermost(address));
        told.or_else(|| Some(self.owners[self.owners.find(address)?].name))
    }
}

/// Divides ranges of lines where something changes that the line table does not say: where a function ends, since what
/// fills the gap behind it counts as its last line, or where another was inlined on the same line.
///
/// What is found at both ends of a range is taken to hold in between. Ranges of which nothing is found are left out.
pub(crate) fn divide<T: PartialEq>(
    code: Range<u64>,
    lines: &Lines<'_>,
    find: impl Fn(u64) -> Option<T>,
) -> Vec<(LineRange, T)> {
    let mut found = Vec::new();
    for range in lines.within(code.clone()).filter(|range| range.line != 0) {
        // The part to look at next comes last.
        let mut parts = vec![LineRange { start: range.start.max(code.start), end: range.end.min(code.end), ..*range }];
        while let Some(part) = parts.pop() {
            let LineRange { start, end, .. } = part;
            let first = find(start);
            let middle = start + end.saturating_sub(start) / 2;
            if middle > start && find(end - 1) != first {
                parts.extend([LineRange { start: middle, ..part }, LineRange { end: middle, ..part }]);
            } else {
                found.extend(first.map(|first| (part, first)));
            }
        }
    }
    found
}

/// Numbers for paths, however many tables name them.
struct Files<'a, 'data> {
    lines: &'a Lines<'data>,
    known: HashMap<Vec<u8>, usize>,
    numbers: HashMap<FileId, usize>,
}

impl Files<'_, '_> {
    fn number(&mut self, file: FileId) -> usize {
        let Files { lines, known, numbers } = self;
        *numbers.entry(file).or_insert_with(|| {
            let next = known.len();
            *known.entry(lines.path(file).full()).or_insert(next)
        })
    }
}
