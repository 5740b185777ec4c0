//! Finds the functions of estimated calls.

use std::collections::HashMap;

use super::estimates::{CallEstimate, CallEstimates, Pair, Sum};
use crate::model::graph::arcs::ends;
use crate::model::selection::ArcSelection;
use crate::program::symbols::functions::{FunctionId, Functions};
use crate::sources::estimates::{Counted, Estimates, FunctionEstimates, RunEstimates};

/// Finds the functions of all estimates. `last_caller` returns an arc with the caller that reports show for it, and
/// `selected` has the arcs that count.
pub(super) fn estimates(
    found: &Estimates,
    functions: &Functions<'_>,
    last_caller: &dyn Fn(&gmon::Arc) -> gmon::Arc,
    selected: &ArcSelection,
) -> CallEstimates {
    let mut sums = Sums::default();
    for run in &found.runs {
        sums.join(run.windows, of_run(run, functions, last_caller, selected));
    }
    let estimate = |(sum, windows): (Sum, u64)| CallEstimate::new(sum, windows);
    CallEstimates {
        functions: sums.functions.into_iter().map(|(id, sum)| (id, estimate(sum))).collect(),
        pairs: sums.pairs.into_iter().map(|(pair, sum)| (pair, estimate(sum))).collect(),
        are_of_all_samples: found.windows.are_of_all_samples,
    }
}

/// The sums of all runs, each with the number of windows.
#[derive(Default)]
struct Sums {
    functions: HashMap<FunctionId, (Sum, u64)>,
    pairs: HashMap<Pair, (Sum, u64)>,
}

/// The sums of one run.
#[derive(Default)]
struct RunSums {
    functions: HashMap<FunctionId, Sum>,
    pairs: HashMap<Pair, Sum>,
}

impl Sums {
    /// Adds a run with this number of windows.
    fn join(&mut self, windows: u64, run: RunSums) {
        fn add<K: Eq + std::hash::Hash>(sums: &mut HashMap<K, (Sum, u64)>, windows: u64, more: HashMap<K, Sum>) {
            for (key, sum) in more {
                let known = sums.entry(key).or_default();
                *known = (known.0.with_independent(sum), known.1.saturating_add(windows));
            }
        }
        add(&mut self.functions, windows, run.functions);
        add(&mut self.pairs, windows, run.pairs);
    }
}

fn of_run(
    run: &RunEstimates,
    functions: &Functions<'_>,
    last_caller: &dyn Fn(&gmon::Arc) -> gmon::Arc,
    selected: &ArcSelection,
) -> RunSums {
    let mut sums = RunSums::default();
    let ends = |caller, called| ends(&last_caller(&gmon::Arc::new(caller, called, 1)), functions);
    for address in &run.selected {
        if let (_, Some(id)) = ends(0, *address) {
            sums.functions.entry(id).or_default();
        }
    }
    for FunctionEstimates { address, all, callers } in &run.functions {
        let (_, Some(called)) = ends(0, *address) else { continue };
        // Several return addresses may be in one caller.
        let mut of_callers: Vec<(Option<FunctionId>, Sum)> = Vec::new();
        for (caller, counted) in callers {
            let (caller, sum) = (ends(*caller, *address).0, Sum::from(*counted));
            match of_callers.iter_mut().find(|(known, _)| *known == caller) {
                Some((_, known)) => *known = known.with(sum),
                None => of_callers.push((caller, sum)),
            }
        }
        // The variance of the sum over all callers is known.
        if let [(_, sum)] = &mut of_callers[..] {
            *sum = (*all).into();
        }
        let is_selected = |caller: Option<FunctionId>| caller.is_none_or(|caller| selected.selects(caller, called));
        let counts = |caller: Option<FunctionId>| caller != Some(called) && is_selected(caller);
        let of_others = if of_callers.iter().all(|(caller, _)| counts(*caller)) {
            (*all).into()
        } else {
            let others = of_callers.iter().filter(|(caller, _)| counts(*caller)).map(|(_, sum)| *sum);
            others.reduce(Sum::with).unwrap_or_default()
        };
        let known = sums.functions.entry(called).or_default();
        // A function may have several entries.
        *known = known.with(of_others);
        for (caller, sum) in of_callers.into_iter().filter(|(caller, _)| is_selected(*caller)) {
            let known = sums.pairs.entry((caller, called)).or_default();
            *known = known.with(sum);
        }
    }
    sums
}

impl From<Counted> for Sum {
    fn from(Counted { seen, calls, variance }: Counted) -> Sum {
        Sum { calls: calls as f64, variance, seen }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::image::Symbol;
    use crate::sources::estimates::CallWindows;

    /// Three functions of 16 bytes: `a` at 16, `b` at 32, and `c` at 48.
    fn functions() -> Functions<'static> {
        let symbol =
            |(at, name): (u64, &'static [u8])| Symbol { address: 16 * at, name, is_static: false, is_func: true };
        Functions::new([(1, &b"a"[..]), (2, b"b"), (3, b"c")].map(symbol).to_vec(), 64)
    }

    fn counted(seen: u64, calls: u64, variance: f64) -> Counted {
        Counted { seen, calls, variance }
    }

    fn found(runs: Vec<RunEstimates>, selected: &ArcSelection) -> (CallEstimates, Vec<FunctionId>) {
        let functions = functions();
        let found = Estimates { runs, windows: CallWindows::default() };
        let ids = functions.ids().collect();
        (estimates(&found, &functions, &|arc| *arc, selected), ids)
    }

    fn facts(estimate: Option<CallEstimate>) -> (u64, f64, u64, u64) {
        let CallEstimate { calls, error, seen, windows, .. } = estimate.unwrap();
        (calls, error, seen, windows)
    }

    /// Fails if the variance of several callers is used where that of their sum is known, if a call of a function by
    /// itself counts as a call by others, or if a function that no window saw is forgotten.
    #[test]
    fn estimates_of_callers_and_functions() {
        let run = RunEstimates {
            windows: 100,
            functions: vec![
                FunctionEstimates {
                    address: 32,
                    all: counted(8, 100, 25.0),
                    callers: vec![(20, counted(5, 60, 16.0)), (24, counted(6, 40, 9.0))],
                },
                FunctionEstimates {
                    address: 48,
                    all: counted(9, 90, 81.0),
                    callers: vec![(0, counted(2, 10, 1.0)), (36, counted(3, 20, 4.0)), (52, counted(4, 60, 36.0))],
                },
            ],
            selected: vec![16, 32],
        };
        let (estimates, ids) = found(vec![run], &ArcSelection::default());
        let (a, b, c) = (ids[0], ids[1], ids[2]);
        assert_eq!(facts(estimates.of(b)), (100, 5.0, 8, 100));
        assert_eq!(facts(estimates.of_pair(Some(a), b)), (100, 5.0, 8, 100), "the only caller");
        assert_eq!(facts(estimates.of(c)), (30, 3.0, 3, 100), "not by itself");
        assert_eq!(facts(estimates.of_pair(Some(c), c)), (60, 6.0, 4, 100));
        assert_eq!(facts(estimates.of_pair(None, c)), (10, 1.0, 2, 100));
        assert_eq!(facts(estimates.of(a)), (0, 0.0, 0, 100), "not seen");
        assert_eq!(facts(estimates.of_pair(Some(c), b)), (0, 0.0, 0, 100), "not seen");
        assert!(estimates.are_seen(b) && !estimates.are_seen(a));
        assert_eq!(estimates.arcs(), [(a, b), (b, c), (c, c)]);
    }

    /// Fails if two runs are added as if they had the same windows.
    #[test]
    fn runs_are_independent() {
        let run = |windows, of: Counted| RunEstimates {
            windows,
            functions: vec![FunctionEstimates { address: 32, all: of, callers: vec![(20, of)] }],
            selected: Vec::new(),
        };
        let runs = vec![run(100, counted(5, 30, 9.0)), run(50, counted(6, 40, 16.0))];
        let (estimates, ids) = found(runs, &ArcSelection::default());
        assert_eq!(facts(estimates.of(ids[1])), (70, 5.0, 11, 150));
        assert_eq!(facts(estimates.of_pair(Some(ids[0]), ids[1])), (70, 5.0, 11, 150));
        assert_eq!(estimates.of(ids[2]), None);
    }
}
