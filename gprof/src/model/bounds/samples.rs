//! The samples of each function, without dividing what may belong to several functions.

use gmon::Histogram;

use crate::model::division::{Innermost, share};
use crate::model::selection::Selection;
use crate::program::symbols::functions::{Function, FunctionId, Functions};

/// The samples of a bin that several functions share.
#[derive(Debug)]
pub(super) struct SharedBin {
    /// The functions, in the order of their addresses.
    pub(super) functions: Vec<FunctionId>,
    /// Whether the samples may also lie outside of all functions, or in the profiling runtime.
    pub(super) is_partly_outside: bool,
    pub(super) samples: f64,
}

/// All samples, apart from those of the profiling runtime.
#[derive(Debug)]
pub(super) struct Samples {
    /// For each function, the samples that are in this function and in no other.
    pub(super) own: Vec<f64>,
    pub(super) shared: Vec<SharedBin>,
    /// The samples outside of all functions.
    pub(super) outside: f64,
    /// Whether a bin has a negative count.
    pub(super) has_negative: bool,
}

impl Samples {
    /// Assigns the samples to functions. `program` selects all functions but those of the profiling runtime.
    pub(super) fn new(
        histograms: &[Histogram],
        innermost: &Innermost,
        functions: &Functions<'_>,
        program: &Selection,
    ) -> Samples {
        let own = vec![0.0; functions.len()];
        let mut samples = Samples { own, shared: Vec::new(), outside: 0.0, has_negative: false };
        let bounds = |function: &Function<'_>| (function.address, function.last);
        for histogram in histograms {
            share(histogram, innermost, functions.as_slice(), bounds, |bin, credits| {
                let pieces: Vec<FunctionId> = credits.iter().filter_map(|(at, _)| functions.id(*at)).collect();
                let is_covered = is_covered(&pieces, functions, bin.start, bin.last);
                samples.add(&pieces, is_covered, bin.count, functions, program);
            });
        }
        samples
    }

    fn add(
        &mut self,
        pieces: &[FunctionId],
        is_covered: bool,
        count: f64,
        functions: &Functions<'_>,
        program: &Selection,
    ) {
        self.has_negative |= count < 0.0;
        let mut owners: Vec<FunctionId> = pieces.iter().map(|id| functions[*id].counts_for).collect();
        owners.sort_unstable();
        owners.dedup();
        let all = owners.len();
        owners.retain(|id| program.selects(*id));
        let has_runtime = owners.len() < all;
        match owners.as_slice() {
            // Samples in the profiling runtime are not the program's.
            [] if has_runtime && is_covered => {}
            [] => self.outside += count,
            [only] if is_covered && !has_runtime => self.own[only.index()] += count,
            _ => {
                let is_partly_outside = has_runtime || !is_covered;
                self.shared.push(SharedBin { functions: owners, is_partly_outside, samples: count });
            }
        }
    }
}

/// Returns whether functions, in the order of their addresses, cover all addresses from `start` to `last`.
fn is_covered(pieces: &[FunctionId], functions: &Functions<'_>, start: u64, last: u64) -> bool {
    let mut next = start;
    for piece in pieces.iter().map(|id| &functions[*id]) {
        if piece.address > next {
            return false;
        }
        next = next.max(piece.last.saturating_add(1));
    }
    next > last
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::image::Symbol;
    use gmon::{Bins, Unit};

    /// Functions of 16 bytes. The first one is part of the profiling runtime.
    fn functions() -> Functions<'static> {
        let symbol = |(address, name): (u64, &'static [u8])| Symbol { address, name, is_static: false, is_func: true };
        Functions::new([(16, &b"mcount"[..]), (32, b"a"), (48, b"b")].map(symbol).to_vec(), 64)
    }

    #[test]
    fn samples_that_one_function_has_for_certain_are_its_own() {
        let functions = functions();
        let program = Selection::program(&functions);
        let [mcount, a, b] = [0, 1, 2].map(|at| functions.id(at).unwrap());
        let add = |pieces: &[FunctionId], is_covered| {
            let mut samples = Samples { own: vec![0.0; 3], shared: Vec::new(), outside: 0.0, has_negative: false };
            samples.add(pieces, is_covered, 5.0, &functions, &program);
            let shared = samples.shared.into_iter().map(|bin| (bin.functions, bin.is_partly_outside, bin.samples));
            (samples.own, shared.collect::<Vec<_>>(), samples.outside)
        };
        assert_eq!(add(&[a], true), (vec![0.0, 5.0, 0.0], vec![], 0.0));
        let shared = |functions: &[FunctionId], is_partly_outside| {
            (vec![0.0; 3], vec![(functions.to_vec(), is_partly_outside, 5.0)], 0.0)
        };
        assert_eq!(add(&[a], false), shared(&[a], true));
        assert_eq!(add(&[a, b], true), shared(&[a, b], false));
        assert_eq!(add(&[mcount, a], true), shared(&[a], true));
        // Nobody knows what else the bin has samples of.
        let outside = (vec![0.0; 3], vec![], 5.0);
        assert_eq!([add(&[], false), add(&[mcount], false)], [outside.clone(), outside]);
        assert_eq!(add(&[mcount], true), (vec![0.0; 3], vec![], 0.0));
    }

    #[test]
    fn a_bin_below_zero_is_noticed() {
        let functions = functions();
        let program = Selection::program(&functions);
        let has_negative = |bins: Vec<i64>| {
            let histogram = Histogram::new(16..64, Unit::seconds(100), Bins::I64(bins)).unwrap();
            Samples::new(&[histogram], &Innermost::default(), &functions, &program).has_negative
        };
        assert!(has_negative(vec![3, -1, 0]) && !has_negative(vec![3, 1, 0]));
    }
}
