//! Time in functions that were inlined into others, which no symbol tells of.

use std::collections::HashMap;
use std::ops::Range;

use gmon::Histogram;

use crate::flat;
use crate::functions::{FunctionId, Functions};
use crate::image::SourceFiles;
use crate::image::frames::Caller;
use crate::image::lines::Lines;
use crate::line_symbols::{divide, within};

/// Where lines were inlined: for the address of each line symbol the functions around it, from the inside out.
pub type Chains<'data> = HashMap<u64, Vec<Caller<'data>>>;

/// Code of one inlined function.
#[derive(Debug)]
struct Part<'data> {
    start: u64,
    last: u64,
    /// The function whose code it is a part of.
    inside: FunctionId,
    /// The function that was inlined: the innermost.
    name: &'data [u8],
}

/// All code that was inlined, in the order of addresses.
#[derive(Debug, Default)]
pub struct Inlined<'data> {
    parts: Vec<Part<'data>>,
}

/// The samples of one inlined function in one of the functions that it was inlined into.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InlinedTime<'data> {
    /// The function around it.
    pub inside: FunctionId,
    /// Its name as the linker would know it.
    pub name: &'data [u8],
    /// The samples.
    pub time: f64,
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
        let mut parts: Vec<Part<'data>> = Vec::new();
        for (range, (name, inside)) in divide(within(lines, code), |address| {
            let name = frames.inlined(address)?;
            Some((name, functions[functions.find(address)?].counts_for))
        }) {
            match parts.last_mut().filter(|part| part.last + 1 == range.start) {
                Some(part) if (part.name, part.inside) == (name, inside) => part.last = range.end - 1,
                _ => parts.push(Part { start: range.start, last: range.end - 1, inside, name }),
            }
        }
        Inlined { parts }
    }

    /// Adds the code of another image, which is moved so far. It must lie behind all that there is; `moved` tells what its
    /// functions have become.
    pub fn append(&mut self, other: Inlined<'data>, shift: u64, moved: impl Fn(FunctionId) -> Option<FunctionId>) {
        self.parts.extend(other.parts.into_iter().filter_map(|part| {
            let (start, last) = (part.start.wrapping_add(shift), part.last.wrapping_add(shift));
            Some(Part { start, last, inside: moved(part.inside)?, ..part })
        }));
    }

    /// The time of all inlined functions, as [`flat::Flat::exact`] divides it among functions.
    #[must_use]
    pub fn times(&self, histograms: &[Histogram]) -> Vec<InlinedTime<'data>> {
        let mut of_parts = vec![0.0; self.parts.len()];
        for histogram in histograms {
            flat::share(histogram, &self.parts, |part| (part.start, part.last), |at, time| of_parts[at] += time);
        }
        let mut found: Vec<InlinedTime<'data>> = Vec::new();
        let mut known: HashMap<(FunctionId, &[u8]), usize> = HashMap::new();
        for (part, time) in self.parts.iter().zip(of_parts).filter(|(_, time)| *time != 0.0) {
            let at = *known.entry((part.inside, part.name)).or_insert(found.len());
            match found.get_mut(at) {
                Some(known) => known.time += time,
                None => found.push(InlinedTime { inside: part.inside, name: part.name, time }),
            }
        }
        found
    }
}
