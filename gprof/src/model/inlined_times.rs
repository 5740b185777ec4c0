//! The time in functions that the compiler inlined into others.

use gmon::Histogram;

use crate::model::division::{self, Bin, Innermost};
use crate::program::symbols::functions::FunctionId;
use crate::program::symbols::inlines::Inlined;

/// The samples of one inlined function inside one function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InlinedTime<'data> {
    /// The index among all inlined functions.
    pub place: usize,
    /// The function around the inlined code.
    pub inside: FunctionId,
    /// The symbol of the inlined function.
    pub name: &'data [u8],
    /// The number of samples.
    pub time: f64,
}

impl<'data> Inlined<'data> {
    /// Divides the samples of each bin among inlined functions, as [`Flat::exact`](crate::model::flat::Flat::exact)
    /// divides samples among functions. `take` gets the bin, and for each inlined function its index, the function
    /// around its code, and its samples.
    pub(crate) fn share(
        &self,
        histogram: &Histogram,
        innermost: &Innermost,
        mut take: impl FnMut(Bin, &[(usize, FunctionId, f64)]),
    ) {
        let mut credits = Vec::new();
        division::share(
            histogram,
            innermost,
            &self.ranges,
            |range| (range.start, range.last),
            |bin, ranges| {
                credits.clear();
                credits.extend(ranges.iter().map(|(range, samples)| {
                    let function = self.ranges[*range].function;
                    (function, self.functions[function].0, *samples)
                }));
                take(bin, &credits);
            },
        );
    }

    /// Returns the times of all inlined functions that took any.
    #[must_use]
    pub fn times(&self, histograms: &[Histogram], innermost: &Innermost) -> Vec<InlinedTime<'data>> {
        let mut times = vec![0.0; self.functions.len()];
        for histogram in histograms {
            self.share(histogram, innermost, |_, credits| {
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
