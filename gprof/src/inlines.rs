//! Time in functions that were inlined into others, which no symbol tells of.

use std::collections::HashMap;
use std::ops::Range;

use gmon::Histogram;

use crate::flat::{self, Bin};
use crate::functions::{FunctionId, Functions};
use crate::image::SourceFiles;
use crate::image::frames::Caller;
use crate::image::lines::Lines;
use crate::line_symbols::{divide, within};

/// Where lines were inlined: for the address of each line symbol the functions around it, from the inside out.
pub type Chains<'data> = HashMap<u64, Vec<Caller<'data>>>;

/// Code of one inlined function.
#[derive(Debug)]
struct Part {
    start: u64,
    last: u64,
    /// Of which function it is: a place in [`Inlined::functions`].
    function: usize,
}

/// All code that was inlined, in the order of addresses.
#[derive(Debug, Default)]
pub struct Inlined<'data> {
    parts: Vec<Part>,
    /// Each function that was inlined, the innermost, in each function whose code it is a part of.
    functions: Vec<(FunctionId, &'data [u8])>,
}

/// The samples of one inlined function in one of the functions that it was inlined into.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InlinedTime<'data> {
    /// Which of all inlined functions it is.
    pub place: usize,
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
        let mut found = Inlined::default();
        let mut known: HashMap<(FunctionId, &[u8]), usize> = HashMap::new();
        for (range, (name, inside)) in divide(within(lines, code), |address| {
            let name = frames.inlined(address)?;
            Some((name, functions[functions.find(address)?].counts_for))
        }) {
            let function = *known.entry((inside, name)).or_insert_with(|| {
                found.functions.push((inside, name));
                found.functions.len() - 1
            });
            match found.parts.last_mut().filter(|part| part.last + 1 == range.start) {
                Some(part) if part.function == function => part.last = range.end - 1,
                _ => found.parts.push(Part { start: range.start, last: range.end - 1, function }),
            }
        }
        found
    }

    /// Adds the code of another image, which is moved so far. It must lie behind all that there is; `moved` tells what its
    /// functions have become.
    pub fn append(&mut self, other: Inlined<'data>, shift: u64, moved: impl Fn(FunctionId) -> Option<FunctionId>) {
        // A function that became nothing leaves its place empty, so that those behind it keep theirs.
        let before = self.functions.len();
        let kept: Vec<bool> = other.functions.iter().map(|(inside, _)| moved(*inside).is_some()).collect();
        self.functions.extend(other.functions.iter().map(|(inside, name)| (moved(*inside).unwrap_or(*inside), *name)));
        let parts = other.parts.into_iter().filter(|part| kept.get(part.function).is_some_and(|kept| *kept));
        self.parts.extend(parts.map(|part| Part {
            start: part.start.wrapping_add(shift),
            last: part.last.wrapping_add(shift),
            function: before + part.function,
        }));
    }

    /// How many inlined functions there are, each in each of those around it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.functions.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// Divides the samples of each bin that has any among inlined functions, as [`flat::Flat::exact`] does among functions:
    /// `take` gets the bin, and the place of each with the function around it and what it gets.
    pub(crate) fn share(&self, histogram: &Histogram, mut take: impl FnMut(Bin, &[(usize, FunctionId, f64)])) {
        let mut credits = Vec::new();
        flat::share(
            histogram,
            &self.parts,
            |part| (part.start, part.last),
            |bin, parts| {
                credits.clear();
                credits.extend(parts.iter().map(|(part, samples)| {
                    let function = self.parts[*part].function;
                    (function, self.functions[function].0, *samples)
                }));
                take(bin, &credits);
            },
        );
    }

    /// The time of all inlined functions that took any.
    #[must_use]
    pub fn times(&self, histograms: &[Histogram]) -> Vec<InlinedTime<'data>> {
        let mut times = vec![0.0; self.functions.len()];
        for histogram in histograms {
            self.share(histogram, |_, credits| {
                for (place, _, samples) in credits {
                    times[*place] += samples;
                }
            });
        }
        let all = self.functions.iter().zip(times).enumerate();
        let time = |(place, ((inside, name), time)): (usize, (&(FunctionId, &'data [u8]), f64))| InlinedTime {
            place,
            inside: *inside,
            name,
            time,
        };
        all.map(time).filter(|inlined| inlined.time != 0.0).collect()
    }
}

#[cfg(test)]
impl Inlined<'static> {
    /// Code that tests make up: ranges, each with the place of its function.
    pub(crate) fn made_up(parts: &[(Range<u64>, usize)], functions: Vec<(FunctionId, &'static [u8])>) -> Self {
        let part = |(range, function): &(Range<u64>, usize)| Part {
            start: range.start,
            last: range.end - 1,
            function: *function,
        };
        Inlined { parts: parts.iter().map(part).collect(), functions }
    }
}
