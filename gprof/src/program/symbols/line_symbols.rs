//! Makes symbols for source lines. With these in the table of functions, reports of functions become reports of
//! lines.
//!
//! A range of code from one line of one function gets a symbol with the name of the function and without the type for
//! functions. Inlined code gets the name of the inlined function. Other code of a copy that the compiler made gets the
//! copy's name (`f.cold`), as in reports of functions; the debug information has the name of the function there.

use std::collections::HashMap;
use std::ops::Range;

use gmon::Profile;

use crate::program::image::frames::{Caller, Frames};
use crate::program::image::source_files::{LineRange, Lines, OfFiles};
use crate::program::image::{Nearest, SourceFiles, Symbol, UNIT};
use crate::program::symbols::functions::Functions;

/// The input of line symbols.
pub struct LineSymbolizer<'a, 'data> {
    /// The lines.
    pub lines: &'a Lines<'data>,
    /// The inlined functions.
    pub files: &'data SourceFiles<'data>,
    /// The functions, which determine whether a line symbol is static.
    pub functions: &'a Functions<'data>,
    /// Finds the function of code where the debug information names none.
    pub owners: &'a Owners<'data>,
    /// Whether to look up each byte of code, as GNU gprof does. The file must contain all of these bytes.
    pub every_byte: bool,
    /// Whether copies that the compiler made have names of their own.
    pub names_copies: bool,
    /// Whether to distinguish code of one line that was inlined at several places.
    pub by_caller: bool,
    /// The code with samples or calls, if only that is needed, and the number added to the image's addresses there.
    /// Other lines get no symbols.
    pub profiled: Option<(&'a ProfiledCode, u64)>,
}

/// How to find the function of code where the debug information names none.
pub enum Owners<'data> {
    /// By the table of functions.
    Functions(Functions<'data>),
    /// By all symbols, as GNU gprof does.
    Nearest(Nearest<'data>),
}

/// The code of one line of one function: its symbol, and where it was inlined.
pub type LineSymbol<'data> = (Symbol<'data>, Vec<Caller<'data>>);

impl<'data> LineSymbolizer<'_, 'data> {
    /// Makes the line symbols for a range of code, in ascending order. Code without a known line or function gets no
    /// symbol and belongs to the symbol before.
    #[must_use]
    pub fn symbols(&self, code: Range<u64>) -> Vec<LineSymbol<'data>> {
        let frames = self.files.frames();
        let callers = |address| frames.as_ref().filter(|_| self.by_caller).map(|frames| frames.callers(address));
        let find = |address| Some((self.name(frames.as_ref(), address)?, callers(address).unwrap_or_default()));
        let mut symbols: Vec<LineSymbol<'data>> = Vec::new();
        let mut place = None;
        let runs = self.runs(code.clone());
        let mut runs = runs.chunk_by(|(_, one), (_, other)| one == other).peekable();
        while let Some(run) = runs.next() {
            // Code after this that comes from no line counts as part of this.
            let end = runs.peek().map_or(code.end, |next| next[0].0.start);
            let moved = |shift: u64| run[0].0.start.wrapping_add(shift)..end.wrapping_add(shift);
            if !self.profiled.is_none_or(|(profiled, shift)| profiled.meets(moved(shift))) {
                place = None;
                continue;
            }
            let ranges = run.iter().map(|(range, _)| *range);
            let parts = if self.every_byte { divide_everywhere(ranges, find) } else { divide(ranges, find) };
            for (LineRange { start: address, .. }, (name, callers)) in parts {
                let (file, line) = run[0].1;
                let before = symbols.last().filter(|(before, _)| before.name == name);
                let same = before.filter(|_| place.is_some_and(|(known, _)| known == file));
                if same.is_some_and(|(_, before)| place == Some((file, line)) && *before == callers) {
                    continue;
                }
                // Inlined code has the visibility of the function that contains it.
                let owner = || self.functions.find(address).is_some_and(|id| self.functions[id].is_static);
                let is_static = same.map_or_else(owner, |(before, _)| before.is_static);
                symbols.push((Symbol { address, name, is_static, is_func: false }, callers));
                place = Some((file, line));
            }
        }
        symbols
    }

    /// All code with a line, with the number of the file and the line.
    fn runs(&self, code: Range<u64>) -> Vec<(LineRange, (usize, u32))> {
        let (mut known, mut numbers) = (HashMap::new(), OfFiles::default());
        // Several files in the line tables may have the same path.
        let mut number = |file| {
            numbers.get(file, || {
                let next = known.len();
                *known.entry(self.lines.path(file).full()).or_insert(next)
            })
        };
        within(self.lines, code).map(|range| (range, (number(range.file), range.line))).collect()
    }

    /// The name of the copy that contains an address, if it is a copy.
    fn copy(&self, address: u64) -> Option<&'data [u8]> {
        let function = self.functions.find(address).filter(|_| self.names_copies)?;
        self.functions.copy_name(function)
    }

    /// The name of the innermost function at an address.
    fn name(&self, frames: Option<&Frames<'data>>, address: u64) -> Option<&'data [u8]> {
        if let Some(copy) = self.copy(address)
            && frames.is_none_or(|frames| frames.inlined(address).is_none())
        {
            return Some(copy);
        }
        let told = frames.and_then(|frames| frames.innermost(address));
        told.or_else(|| match self.owners {
            Owners::Functions(all) => Some(all[all.find(address)?].name),
            Owners::Nearest(symbols) => symbols.name(address),
        })
    }
}

/// The code of all lines within a range.
pub(crate) fn within(lines: &Lines<'_>, code: Range<u64>) -> impl Iterator<Item = LineRange> {
    let clipped = move |range: &LineRange| {
        let (start, end) = (range.start.max(code.start), range.end.min(code.end));
        LineRange { start, end, ..*range }
    };
    lines.within(code.clone()).filter(|range| range.line != 0).map(clipped)
}

/// The code for which a profile has samples or calls.
#[derive(Debug)]
pub struct ProfiledCode {
    /// The ranges: first and last addresses, ascending and without overlaps.
    parts: Vec<(u64, u64)>,
}

impl ProfiledCode {
    /// The code of all bins with samples, and of all calls. Bins are taken a little larger than they are, because GNU
    /// gprof rounds their borders.
    #[must_use]
    pub fn new(profile: &Profile) -> ProfiledCode {
        let bins = profile.histograms().iter().flat_map(|histogram| {
            histogram.hit().map(|(bin, _)| histogram.bin_range(bin)).map(|Range { start, end }| {
                let more = end.saturating_sub(start).saturating_add(2 * UNIT);
                (start.saturating_sub(more), end.saturating_add(more))
            })
        });
        let calls = profile.arcs().iter().map(|arc| (arc.frompc, arc.frompc));
        let mut parts: Vec<(u64, u64)> = bins.chain(calls).collect();
        parts.sort_unstable();
        parts.dedup_by(|next, kept| {
            let joins = next.0 <= kept.1;
            if joins {
                kept.1 = kept.1.max(next.1);
            }
            joins
        });
        ProfiledCode { parts }
    }

    fn meets(&self, range: Range<u64>) -> bool {
        let first = self.parts.partition_point(|part| part.1 < range.start);
        self.parts.get(first).is_some_and(|part| part.0 < range.end)
    }
}

/// Splits ranges of lines at every address where the function changes. Ranges without a function are left out.
fn divide_everywhere<T: PartialEq>(
    ranges: impl Iterator<Item = LineRange>,
    find: impl Fn(u64) -> Option<T>,
) -> Vec<(LineRange, T)> {
    let mut found: Vec<(LineRange, T)> = Vec::new();
    for range in ranges {
        let mut is_known = false;
        for address in range.start..range.end {
            let Some(now) = find(address) else {
                is_known = false;
                continue;
            };
            match found.last_mut().filter(|(_, last)| is_known && *last == now) {
                Some((part, _)) => part.end = address + 1,
                None => found.push((LineRange { start: address, end: address + 1, ..range }, now)),
            }
            is_known = true;
        }
    }
    found
}

/// Splits ranges of lines where the function changes and the line table has no new row: at the end of a function,
/// because the padding after it counts as its last line, or where another function was inlined on the same line.
///
/// A result that is the same at both ends of a range is assumed for the whole range. Ranges without a result are left
/// out.
pub(crate) fn divide<T: PartialEq>(
    ranges: impl Iterator<Item = LineRange>,
    find: impl Fn(u64) -> Option<T>,
) -> Vec<(LineRange, T)> {
    let mut found = Vec::new();
    for range in ranges {
        // The next part to examine is at the end.
        let mut parts = vec![range];
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::image::source_files::FileId;

    #[test]
    fn a_change_that_no_border_shows() {
        let range = |start, end| LineRange { start, end, file: FileId::default(), line: 7 };
        let whole = [range(10, 20), range(30, 34), range(34, 36)];
        let find = |address: u64| match address {
            14 | 15 => Some("inner"),
            17 | 35 => None,
            _ => Some("outer"),
        };
        let found = |parts: Vec<(LineRange, &'static str)>| -> Vec<(u64, u64, &str)> {
            parts.iter().map(|(part, name)| (part.start, part.end, *name)).collect()
        };
        assert_eq!(
            found(divide_everywhere(whole.into_iter(), find)),
            [
                (10, 14, "outer"),
                (14, 16, "inner"),
                (16, 17, "outer"),
                (18, 20, "outer"),
                (30, 34, "outer"),
                (34, 35, "outer")
            ]
        );
        // The same result at both ends is assumed for all in between.
        assert_eq!(found(divide(whole.into_iter(), find)), [(10, 20, "outer"), (30, 34, "outer"), (34, 35, "outer")]);
    }

    /// This test reads a program of the project, which is not in the package.
    #[cfg(feature = "internals")]
    #[test]
    fn lines_within_a_range_end_with_the_range() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/gnu/inlined");
        let (bytes, storage) = (std::fs::read(path).unwrap(), crate::program::image::ImageStorage::default());
        let image = crate::program::image::Image::parse(&bytes, crate::program::image::Policy::Full, &storage).unwrap();
        let lines = image.files.lines();
        // Line 7 has the code from 0x11f8 to 0x120f.
        let found: Vec<_> = within(&lines, 0x11f9..0x120a).map(|range| (range.start, range.end, range.line)).collect();
        assert_eq!((found[0].0, found[found.len() - 1].1), (0x11f9, 0x120a), "{found:x?}");
        assert!(found.iter().all(|range| range.2 == 7));
        assert!(found.windows(2).all(|pair| pair[0].1 == pair[1].0), "{found:x?}");
    }

    #[test]
    fn code_meets_a_range_if_they_have_an_address_in_common() {
        let code = ProfiledCode { parts: vec![(10, 20), (30, 40)] };
        let meets = |ranges: [Range<u64>; 3]| ranges.map(|range| code.meets(range));
        assert_eq!(meets([0..10, 21..30, 41..50]), [false; 3]);
        assert_eq!(meets([0..11, 20..21, 29..31]), [true; 3]);
        assert_eq!(meets([40..41, 12..14, 0..90]), [true; 3]);
    }
}
