//! The self times of source lines.
//!
//! Code belongs to the line that the line table names. So the time of an inlined function belongs to the lines of that
//! function.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use gmon::Histogram;

use crate::model::division::{self, Innermost};
use crate::program::image::source_files::{LineRange, Lines, OfFiles};
use crate::program::symbols::functions::{FunctionId, Functions};
use crate::program::symbols::line_symbols::within;

/// The samples of source lines, for each function that the samples count for.
#[derive(Debug, Default)]
pub struct LineTimes {
    /// The paths of the source files.
    files: Vec<Vec<u8>>,
    /// The samples by function, index of the file in `files`, and line.
    samples: HashMap<(FunctionId, usize, u32), f64>,
}

impl LineTimes {
    /// Divides the samples of an image among its lines. Samples of code that comes from no line are left out. An
    /// address in a histogram is the address in the image plus `shift`.
    #[must_use]
    pub fn new(
        (histograms, innermost): (&[Histogram], &Innermost),
        shift: u64,
        code: Range<u64>,
        lines: &Lines<'_>,
        functions: &Functions<'_>,
    ) -> LineTimes {
        let ranges: Vec<LineRange> = within(lines, code).collect();
        let mut times = LineTimes::default();
        let (mut known, mut numbers) = (HashMap::new(), OfFiles::default());
        let moved = |address: u64| address.wrapping_add(shift);
        let bounds = |range: &LineRange| (moved(range.start), moved(range.end.saturating_sub(1)));
        for histogram in histograms {
            division::share(histogram, innermost, &ranges, bounds, |_, credits| {
                for (at, credit) in credits.iter().copied().filter(|(_, credit)| *credit != 0.0) {
                    let LineRange { start, file, line, .. } = ranges[at];
                    let Some(function) = functions.find(start).map(|id| functions[id].counts_for) else { continue };
                    let file = numbers.get(file, || times.number(&mut known, lines.path(file).full()));
                    *times.samples.entry((function, file, line)).or_default() += credit;
                }
            });
        }
        times
    }

    /// Returns the index of a file.
    fn number(&mut self, known: &mut HashMap<Vec<u8>, usize>, path: Vec<u8>) -> usize {
        *known.entry(path).or_insert_with_key(|path| {
            self.files.push(path.clone());
            self.files.len() - 1
        })
    }

    /// Adds the times of another image. `moved` maps a function of that image to the joined functions.
    pub fn append(&mut self, other: LineTimes, moved: impl Fn(FunctionId) -> Option<FunctionId>) {
        let first = self.files.len();
        self.files.extend(other.files);
        let samples = other.samples.into_iter();
        self.samples.extend(
            samples.filter_map(|((id, file, line), samples)| Some(((moved(id)?, first + file, line), samples))),
        );
    }

    /// Returns the samples of each line of each file, for the functions that are selected.
    #[must_use]
    pub fn of_files(&self, is_selected: impl Fn(FunctionId) -> bool) -> HashMap<&[u8], BTreeMap<u32, f64>> {
        // Floating-point sums depend on the order, which must be the same in each run.
        let mut sorted: Vec<_> = self.samples.iter().filter(|((id, ..), _)| is_selected(*id)).collect();
        sorted.sort_by_key(|(key, _)| **key);
        let mut files: HashMap<&[u8], BTreeMap<u32, f64>> = HashMap::new();
        for ((_, file, line), samples) in sorted {
            let Some(path) = self.files.get(*file) else { continue };
            *files.entry(path.as_slice()).or_default().entry(*line).or_default() += samples;
        }
        files
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_several_images_stay_apart() {
        let symbol = |address| crate::program::image::Symbol { address, name: b"f", is_static: false, is_func: true };
        let functions = Functions::new(vec![symbol(16), symbol(32)], 48);
        let id = |at| functions.id(at).unwrap();
        let times = |files: &[&str], samples: &[(usize, usize, u32, f64)]| LineTimes {
            files: files.iter().map(|file| file.as_bytes().to_vec()).collect(),
            samples: samples.iter().map(|(at, file, line, samples)| ((id(*at), *file, *line), *samples)).collect(),
        };
        let mut all = times(&["a.c", "b.c"], &[(0, 0, 7, 1.0), (0, 1, 8, 2.0)]);
        // The other image has a function that is not among the joined ones, and a file of the same path.
        all.append(times(&["c.c", "a.c"], &[(0, 0, 7, 4.0), (0, 1, 7, 8.0), (1, 1, 9, 16.0)]), |of_image| {
            (of_image == id(0)).then(|| id(1))
        });
        let files = all.of_files(|_| true);
        let lines = |file: &str| files[file.as_bytes()].iter().map(|(line, time)| (*line, *time)).collect::<Vec<_>>();
        assert_eq!((lines("a.c"), lines("b.c"), lines("c.c")), (vec![(7, 9.0)], vec![(8, 2.0)], vec![(7, 4.0)]));
        assert_eq!(all.of_files(|of_line| of_line == id(0)).len(), 2);
    }
}
