//! Symbols for lines: with them in the table of functions, everything that is told of functions is told of lines.
//!
//! A piece of code that comes from one line of one function is a symbol of its own, which has the function's name and
//! is not marked as a function. Inlined code has the name of the function that was inlined.

use std::collections::HashMap;
use std::ops::Range;

use crate::functions::Functions;
use crate::image::frames::Frames;
use crate::image::lines::{FileId, LineRange, Lines};
use crate::image::{SourceFiles, Symbol};

/// The symbols of all lines of a part of the code, in the order of their addresses.
///
/// `functions` tells which code only its source file sees, and `owners`, which are all there are, whose code it is where
/// the debug information does not say. Code of which no line or no function is known gets no symbol: it belongs to the
/// one before.
#[must_use]
pub fn line_symbols<'data>(
    code: Range<u64>,
    lines: &Lines<'data>,
    files: &'data SourceFiles<'data>,
    (functions, owners): (&Functions<'data>, &Functions<'data>),
) -> Vec<Symbol<'data>> {
    let names = Names { frames: files.frames(), owners };
    let pieces = divide(code, lines, |address| names.of(address));
    let mut files = Files { lines, known: HashMap::new(), numbers: HashMap::new() };
    let mut symbols = Vec::new();
    let mut before: Option<(usize, u32, Symbol<'data>)> = None;
    for (LineRange { start: address, file, line, .. }, name) in pieces {
        let file = files.number(file);
        let same = before.filter(|before| before.0 == file && before.2.name == name);
        if same.is_some_and(|before| before.1 == line) {
            continue;
        }
        // Inlined code is as visible as the function that it is a part of.
        let owner = || functions.find(address).is_some_and(|id| functions[id].is_static);
        let is_static = same.map_or_else(owner, |before| before.2.is_static);
        let symbol = Symbol { address, name, is_static, is_func: false };
        symbols.push(symbol);
        before = Some((file, line, symbol));
    }
    symbols
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

/// The names of the innermost functions.
struct Names<'a, 'data> {
    frames: Option<Frames<'data>>,
    owners: &'a Functions<'data>,
}

impl<'data> Names<'_, 'data> {
    fn of(&self, address: u64) -> Option<&'data [u8]> {
        let told = self.frames.as_ref().and_then(|frames| frames.innermost(address));
        told.or_else(|| Some(self.owners[self.owners.find(address)?].name))
    }
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
