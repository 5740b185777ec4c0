//! Finds the code of inlined functions, for which there are no symbols.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::Range;

use crate::program::image::address_space::{Images, Mapping};
use crate::program::image::frames::{Caller, Frames};
use crate::program::image::source_files::{LineRange, Lines};
use crate::program::image::{Image, SourceFiles};
use crate::program::symbols::functions::{FunctionId, Functions};
use crate::program::symbols::line_symbols::{divide, within};

/// For the address of each line symbol: the functions into which its code was inlined, from the inside out.
pub type InlineStacks<'data> = HashMap<u64, Vec<Caller<'data>>>;

/// A range of code of one inlined function.
#[derive(Debug)]
pub(crate) struct InlinedRange {
    pub(crate) start: u64,
    pub(crate) last: u64,
    /// The index of the function in [`Inlined::functions`].
    pub(crate) function: usize,
}

/// All inlined code, in ascending order of addresses.
#[derive(Debug, Default)]
pub struct Inlined<'data> {
    pub(crate) ranges: Vec<InlinedRange>,
    /// Each pair of an innermost inlined function and the function whose code contains it.
    pub(crate) functions: Vec<(FunctionId, &'data [u8])>,
}

impl<'data> Inlined<'data> {
    /// Finds all inlined code.
    #[must_use]
    pub fn find(
        code: Range<u64>,
        lines: &Lines<'data>,
        files: &'data SourceFiles<'data>,
        functions: &Functions<'data>,
    ) -> Inlined<'data> {
        let Some(frames) = files.frames() else {
            return Inlined::default();
        };
        let parts = divide(within(lines, code), |address| {
            let name = frames.inlined(address)?;
            Some((name, functions[functions.find(address)?].counts_for))
        });
        Inlined::of(parts)
    }

    /// Joins the parts of inlined code where neighbors are of one function. Each part has the name of the inlined
    /// function, and the function whose code contains the part.
    fn of(parts: Vec<(LineRange, (&'data [u8], FunctionId))>) -> Inlined<'data> {
        let mut found = Inlined::default();
        let mut known: HashMap<(FunctionId, &[u8]), usize> = HashMap::new();
        for (range, (name, inside)) in parts {
            let function = *known.entry((inside, name)).or_insert_with(|| {
                found.functions.push((inside, name));
                found.functions.len() - 1
            });
            match found.ranges.last_mut().filter(|last| last.last + 1 == range.start) {
                Some(last) if last.function == function => last.last = range.end - 1,
                _ => found.ranges.push(InlinedRange { start: range.start, last: range.end - 1, function }),
            }
        }
        found
    }

    /// Adds the code of another image. `moved` maps the image's functions to the joined table. The image's code must
    /// be above all code that was added before.
    pub fn append(&mut self, other: Inlined<'data>, shift: u64, moved: impl Fn(FunctionId) -> Option<FunctionId>) {
        // A removed function keeps its index, so that later indexes stay valid.
        let before = self.functions.len();
        let kept: Vec<bool> = other.functions.iter().map(|(inside, _)| moved(*inside).is_some()).collect();
        self.functions.extend(other.functions.iter().map(|(inside, name)| (moved(*inside).unwrap_or(*inside), *name)));
        let ranges = other.ranges.into_iter().filter(|range| kept.get(range.function).is_some_and(|kept| *kept));
        self.ranges.extend(ranges.map(|range| InlinedRange {
            start: range.start.wrapping_add(shift),
            last: range.last.wrapping_add(shift),
            function: before + range.function,
        }));
    }

    /// The number of inlined functions, each counted once for each function that contains it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.functions.len()
    }

    /// Whether there are no inlined functions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }
}

/// The functions that were inlined into the code of several images, in their common address space.
pub(crate) struct InlinedCode<'data> {
    images: Vec<(Mapping, &'data Image<'data>, OnceCell<Option<Frames<'data>>>)>,
}

impl<'data> InlinedCode<'data> {
    /// Reads no debug information before the first address is looked up.
    pub(crate) fn new(images: &'data Images<'data>) -> InlinedCode<'data> {
        let images = images.mappings().into_iter().zip(images.iter());
        InlinedCode { images: images.map(|(mapping, image)| (mapping, image, OnceCell::new())).collect() }
    }

    /// Returns the names of the functions that were inlined at an address, the outermost first.
    pub(crate) fn at(&self, address: u64) -> Vec<&'data [u8]> {
        let linked = |mapping: &Mapping| address.wrapping_sub(mapping.shift);
        let image = self.images.iter().find(|(mapping, ..)| mapping.code.contains(&linked(mapping)));
        image.map_or_else(Vec::new, |(mapping, image, frames)| {
            let frames = frames.get_or_init(|| image.files.frames());
            frames.as_ref().map_or_else(Vec::new, |frames| frames.all_inlined(linked(mapping)))
        })
    }
}

#[cfg(test)]
impl Inlined<'static> {
    /// Inlined code for tests: ranges, each with the index of its function.
    pub(crate) fn made_up(ranges: &[(Range<u64>, usize)], functions: Vec<(FunctionId, &'static [u8])>) -> Self {
        let inlined = |(range, function): &(Range<u64>, usize)| InlinedRange {
            start: range.start,
            last: range.end - 1,
            function: *function,
        };
        Inlined { ranges: ranges.iter().map(inlined).collect(), functions }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::image::Symbol;
    use crate::program::image::source_files::FileId;

    fn ids<const N: usize>() -> [FunctionId; N] {
        let symbol = |address| Symbol { address, name: b"f", is_static: false, is_func: true };
        let functions = Functions::new((0..N as u64).map(symbol).collect(), N as u64);
        std::array::from_fn(|at| functions.id(at).unwrap())
    }

    fn ranges(inlined: &Inlined<'_>) -> Vec<(u64, u64, usize)> {
        inlined.ranges.iter().map(|range| (range.start, range.last, range.function)).collect()
    }

    #[test]
    fn neighbors_of_one_inlined_function_are_one_range() {
        let [outer, other] = ids();
        let part =
            |start, end, name, inside| (LineRange { start, end, file: FileId::default(), line: 7 }, (name, inside));
        let inlined = Inlined::of(vec![
            part(10, 14, &b"f"[..], outer),
            part(14, 20, b"f", outer),
            part(20, 24, b"g", outer),
            part(24, 30, b"f", other),
            part(34, 40, b"f", other),
            part(40, 44, b"f", outer),
        ]);
        assert_eq!(inlined.functions, [(outer, &b"f"[..]), (outer, b"g"), (other, b"f")]);
        assert_eq!(ranges(&inlined), [(10, 19, 0), (20, 23, 1), (24, 29, 2), (34, 39, 2), (40, 43, 0)]);
        assert!(!inlined.is_empty() && Inlined::default().is_empty());
    }

    #[test]
    fn the_inlined_code_of_another_image_is_moved() {
        let [one, other, moved] = ids();
        let mut all = Inlined::made_up(&[(10..20, 0)], vec![(one, b"f")]);
        let added = [(10..14, 1), (14..18, 0), (20..30, 1)];
        let added = Inlined::made_up(&added, vec![(other, b"g"), (one, b"h")]);
        // The first function is not in the joined table.
        all.append(added, 100, |id| (id == one).then_some(moved));
        assert_eq!(ranges(&all), [(10, 19, 0), (110, 113, 2), (120, 129, 2)]);
        assert_eq!((all.functions[0], all.functions[2]), ((one, &b"f"[..]), (moved, &b"h"[..])));
        assert_eq!(all.len(), 3);
    }
}
