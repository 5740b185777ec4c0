//! Self times: the time in each function itself.

use gmon::{Bins, Histogram};

use super::division::{Innermost, share};
use crate::model::selection::Selection;
use crate::program::image::UNIT;
use crate::program::symbols::functions::{Function, FunctionId, Functions};

/// The self time of every function, in samples.
#[derive(Debug)]
pub struct Flat {
    /// The samples of each function. A bin that several functions share is divided among these functions, so the
    /// numbers need not be whole.
    pub time: Vec<f64>,
    /// All samples, in a function or not, without those of functions that the user excluded.
    pub total: f64,
    /// The samples of the profiling runtime, unless the user selected the runtime.
    pub runtime: f64,
}

/// Returns how many units of code one bin of a histogram covers.
#[must_use]
pub fn bin_scale(histogram: &Histogram) -> f64 {
    (histogram.highpc().wrapping_sub(histogram.lowpc()) / UNIT) as f64 / histogram.bins().len() as f64
}

/// Returns how many bytes of code one bin of a histogram covers.
#[must_use]
pub fn bin_size(histogram: &Histogram) -> f64 {
    histogram.highpc().wrapping_sub(histogram.lowpc()) as f64 / histogram.bins().len() as f64
}

impl Flat {
    /// Divides the samples of all histograms among the functions that their bins overlap, with GNU's rounding.
    #[must_use]
    pub fn new(histograms: &[Histogram], functions: &Functions<'_>, selected: &Selection) -> Flat {
        let mut flat = Flat::empty(functions);
        let Some(first) = histograms.first() else {
            return flat;
        };
        // All histograms of a profile have bins of one size. If the sizes differ by rounding, the last histogram
        // counts.
        let scale = bin_scale(histograms.last().unwrap_or(first));
        let starts: Vec<u64> = functions.as_slice().iter().map(|function| function.address / UNIT).collect();
        for histogram in histograms {
            // Samples that are addresses need no rounding. GNU gprof does not read such profiles.
            if matches!(histogram.bins(), Bins::Sparse { .. }) {
                flat.add_exactly(histogram, &Innermost::default(), functions, selected);
            } else {
                flat.add(histogram, scale, &starts, functions, selected);
            }
        }
        flat
    }

    /// Divides the samples without rounding: a bin covers its addresses to the byte, the last function reaches to its
    /// end, and no function gets samples from addresses outside of all functions. Samples with stacks are in the
    /// functions of their innermost frames.
    #[must_use]
    pub fn exact(
        histograms: &[Histogram],
        innermost: &Innermost,
        functions: &Functions<'_>,
        selected: &Selection,
    ) -> Flat {
        let mut flat = Flat::empty(functions);
        for histogram in histograms {
            flat.add_exactly(histogram, innermost, functions, selected);
        }
        flat
    }

    fn add_exactly(
        &mut self,
        histogram: &Histogram,
        innermost: &Innermost,
        functions: &Functions<'_>,
        selected: &Selection,
    ) {
        self.total += histogram.total() as f64;
        let bounds = |function: &Function<'_>| (function.address, function.last);
        share(histogram, innermost, functions.as_slice(), bounds, |_, credits| {
            for (at, credit) in credits.iter().copied() {
                // A user who selects a function means the copies that count for the function as well.
                match functions.id(at).map(|id| functions[id].counts_for) {
                    Some(owner) if selected.selects(owner) => self.time[owner.index()] += credit,
                    Some(owner) => self.leave_out(owner, credit, selected),
                    None => {}
                }
            }
        });
    }

    fn empty(functions: &Functions<'_>) -> Flat {
        Flat { time: vec![0.0; functions.len()], total: 0.0, runtime: 0.0 }
    }

    /// Removes the samples of a function that the user excluded.
    fn leave_out(&mut self, id: FunctionId, credit: f64, selected: &Selection) {
        self.total -= credit;
        if selected.is_runtime(id) {
            self.runtime += credit;
        }
    }

    fn add(
        &mut self,
        histogram: &Histogram,
        scale: f64,
        starts: &[u64],
        functions: &Functions<'_>,
        selected: &Selection,
    ) {
        let low = histogram.lowpc() / UNIT;
        // The first unit of a bin. Here and in the rest of this file, the order of the operations decides the last bit
        // of a result, and that bit may decide how the report rounds the result.
        let border = |bin: u64| low.wrapping_add((scale * bin as f64) as u64);
        let mut function = starts.partition_point(|start| *start <= low).saturating_sub(1);
        for (bin, count) in histogram.hit() {
            let count = count as f64;
            let (bin_start, bin_end) = (border(bin), border(bin + 1));
            self.total += count;
            // Bins ascend: a function that ends before this bin ends before the next bin as well. The last function of
            // the table has no end here and gets no time.
            while starts.get(function + 1).is_some_and(|end| *end <= bin_start) {
                function += 1;
            }
            for (id, borders) in functions.ids().zip(starts.windows(2)).skip(function) {
                if borders[0] >= bin_end {
                    break;
                }
                let shared = bin_end.min(borders[1]).saturating_sub(bin_start.max(borders[0]));
                if shared == 0 {
                    continue;
                }
                let credit = shared as f64 * count / scale;
                if selected.selects(id) {
                    self.time[id.index()] += credit;
                } else {
                    self.leave_out(id, credit, selected);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::image::Symbol;
    use gmon::{Bins, Unit};

    fn functions(addresses: &[u64]) -> Functions<'static> {
        let symbol = |address: &u64| Symbol { address: *address, name: b"f", is_static: false, is_func: true };
        Functions::new(addresses.iter().map(symbol).collect(), u64::MAX)
    }

    fn histogram(lowpc: u64, highpc: u64, bins: &[u64]) -> Histogram {
        Histogram::new(lowpc..highpc, Unit::seconds(100), bins.to_vec()).unwrap()
    }

    fn time(addresses: &[u64], histograms: &[Histogram]) -> (Vec<f64>, f64) {
        let functions = functions(addresses);
        let flat = Flat::new(histograms, &functions, &Selection::program(&functions));
        (flat.time, flat.total)
    }

    #[test]
    fn whole_bins() {
        let bins = histogram(0x100, 0x110, &[1, 2, 3, 4]);
        assert_eq!(time(&[0x100, 0x108, 0x200], &[bins]), (vec![3.0, 7.0, 0.0], 10.0));
    }

    #[test]
    fn a_bin_that_two_functions_share() {
        let bins = histogram(0x100, 0x108, &[0, 5]);
        assert_eq!(time(&[0x100, 0x106, 0x200], &[bins]), (vec![2.5, 2.5, 0.0], 5.0));
    }

    #[test]
    fn exact_shares_add_up() {
        // Bins of 3 1/3 bytes, and functions that begin at odd addresses.
        let bins = histogram(0x100, 0x10a, &[6, 6, 6]);
        let functions = functions(&[0x101, 0x105]);
        let flat = Flat::exact(&[bins], &Innermost::default(), &functions, &Selection::program(&functions));
        // The first bin is 0x100..0x104, the second 0x104..0x107, the third 0x107..0x10a.
        assert_eq!((flat.time, flat.total), (vec![4.5 + 2.0, 4.0 + 6.0], 18.0));
    }

    #[test]
    fn samples_outside_all_functions_are_in_the_total() {
        let bins = histogram(0x100, 0x108, &[5, 1]);
        assert_eq!(time(&[0x104, 0x200], &[bins]), (vec![1.0, 0.0], 6.0));
    }

    #[test]
    fn signed_bins_subtract() {
        let bins = Histogram::new(0x100..0x108, Unit::seconds(100), Bins::I64(vec![5, -1])).unwrap();
        assert_eq!(time(&[0x100, 0x200], &[bins]), (vec![4.0, 0.0], 4.0));
    }

    #[test]
    fn ranges_in_any_order() {
        let ranges = [histogram(0x200, 0x208, &[1, 1]), histogram(0x100, 0x108, &[2, 2])];
        assert_eq!(time(&[0x100, 0x200, 0x300], &ranges), (vec![4.0, 2.0, 0.0], 6.0));
    }
}
