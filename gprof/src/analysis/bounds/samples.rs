//! The samples of each function, without dividing what may belong to several functions.

use gmon::Histogram;

use crate::analysis::division::{Innermost, share};
use crate::analysis::selection::Selection;
use crate::symbols::functions::{Function, FunctionId, Functions};

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
