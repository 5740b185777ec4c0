//! The numbers of a single run of a side.

use std::collections::HashMap;
use std::path::Path;

use super::side::{Elsewhere, Side};
use crate::model::analysis::Analysis;
use crate::program::symbols::functions::FunctionId;

/// The property of a side file that tells when the run began, in nanoseconds since 1970 (docs/side-file.md).
const START: &str = "start";

/// The times and calls of one run, by the functions of the analysis that has the sum of the side's runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// For each function, the self time.
    pub(super) own: Vec<f64>,
    /// For each function, the inclusive time; empty if the times of the run and of the sum are not of one kind: either
    /// measured or estimated.
    pub(super) inclusive: Vec<f64>,
    /// For each function, the calls by others.
    pub(super) calls: Vec<u64>,
    /// The calls between functions: the caller, the called function, and the number.
    pub(super) arcs: Vec<(FunctionId, FunctionId, u64)>,
    /// The time in the kernel, and outside of all functions.
    pub(super) elsewhere: [f64; 2],
    /// The time of everything.
    pub(super) total: f64,
    /// When the run began, in nanoseconds since 1970, if its side file tells.
    pub(crate) start: Option<u64>,
}

impl Run {
    /// Takes the numbers from the analysis of one run. `sum` is the analysis of all runs of the side, and both have the
    /// same options except for the profiles.
    #[must_use]
    pub fn new(sum: &Analysis<'_>, run: &Analysis<'_>) -> Run {
        // Another run may have other shared objects, and then its functions have other numbers.
        let of = places(sum, run);
        let side = Side::new(run);
        let functions = sum.functions.len();
        let mut numbers = Run { own: vec![0.0; functions], calls: vec![0; functions], ..Run::default() };
        let has_inclusive = sum.is_measured() == run.is_measured();
        numbers.inclusive = vec![0.0; if has_inclusive { functions } else { 0 }];
        for (id, place) in run.functions.ids().zip(&of) {
            let Some(at) = place.map(FunctionId::index) else { continue };
            let times = run.times_of(id);
            numbers.own[at] += side.time(times.own);
            numbers.calls[at] = numbers.calls[at].saturating_add(times.calls);
            if let Some(inclusive) = numbers.inclusive.get_mut(at) {
                *inclusive += side.time(times.inclusive);
            }
        }
        let graph = run.graph();
        let arcs = graph.arc_ids().map(|id| graph.arc(id).0).filter(|arc| arc.count > 0 && arc.parent != arc.child);
        let place = |id: FunctionId| of.get(id.index()).copied().flatten();
        numbers.arcs = arcs.filter_map(|arc| Some((place(arc.parent)?, place(arc.child)?, arc.count))).collect();
        numbers.elsewhere = Elsewhere::ALL.map(|elsewhere| side.elsewhere(elsewhere).own.time);
        numbers.total = side.total();
        numbers.start = start(run);
        numbers
    }
}

/// For each function of a run, the function of the sum: that at the same place of the same image.
fn places(sum: &Analysis<'_>, run: &Analysis<'_>) -> Vec<Option<FunctionId>> {
    if is_same(sum, run) {
        return run.functions.ids().map(Some).collect();
    }
    let of_sum: HashMap<_, _> = sum.functions.ids().map(|id| (place(sum, id), id)).collect();
    run.functions.ids().map(|id| of_sum.get(&place(run, id)).copied()).collect()
}

/// The image of a function, its address there, and its symbol.
fn place<'a>(of: &'a Analysis<'_>, id: FunctionId) -> (Option<&'a Path>, u64, &'a [u8]) {
    let function = of.function(id);
    (of.images.get(function.image).map(|image| image.path.as_path()), function.address, function.symbol)
}

/// Whether both have the same images at the same places, and so the same functions.
fn is_same(sum: &Analysis<'_>, run: &Analysis<'_>) -> bool {
    sum.images == run.images && sum.functions.len() == run.functions.len()
}

fn start(run: &Analysis<'_>) -> Option<u64> {
    let mut starts = run.side_files().iter().flat_map(|side| &side.properties).filter(|(key, _)| key == START);
    starts.next().and_then(|(_, value)| value.parse().ok())
}

/// Returns the runs of both sides as pairs, if the runs were made in turns: each pair has the indices of a run of the
/// base and of the run that began next or before. `None` if the runs are not as many, their times are not known, or
/// there are too few: pairs have half of the degrees of freedom.
pub(super) fn pairs([base, new]: [&[Run]; 2]) -> Option<Vec<(usize, usize)>> {
    const FEWEST: usize = 4;
    if base.len() != new.len() || base.len() < FEWEST {
        return None;
    }
    let mut turns: Vec<(u64, usize, usize)> = Vec::with_capacity(2 * base.len());
    for (side, runs) in [base, new].into_iter().enumerate() {
        for (at, run) in runs.iter().enumerate() {
            turns.push((run.start?, side, at));
        }
    }
    turns.sort_unstable();
    let pair = |turns: &[(u64, usize, usize)]| match turns {
        [(_, 0, base), (_, 1, new)] | [(_, 1, new), (_, 0, base)] => Some((*base, *new)),
        _ => None,
    };
    turns.chunks(2).map(pair).collect()
}

/// The calls of each run between functions that are joined: by the numbers of both ends, for each run of both sides.
pub(super) fn arcs(
    runs: [&[Run]; 2],
    number: impl Fn(usize, FunctionId) -> usize,
) -> HashMap<(usize, usize), [Vec<u64>; 2]> {
    let counts = runs.map(<[Run]>::len);
    let mut arcs: HashMap<(usize, usize), [Vec<u64>; 2]> = HashMap::new();
    for (side, runs) in runs.into_iter().enumerate() {
        for (at, run) in runs.iter().enumerate() {
            for (caller, called, count) in &run.arcs {
                let ends = (number(side, *caller), number(side, *called));
                let known = arcs.entry(ends).or_insert_with(|| counts.map(|count| vec![0; count]));
                known[side][at] = known[side][at].saturating_add(*count);
            }
        }
    }
    arcs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(starts: &[u64]) -> Vec<Run> {
        starts.iter().map(|start| Run { start: Some(*start), ..Run::default() }).collect()
    }

    #[test]
    fn runs_in_turns_are_pairs() {
        let of = |base: &[u64], new: &[u64]| pairs([&runs(base), &runs(new)]);
        // Which side is first may change from pair to pair.
        assert_eq!(of(&[10, 40, 50, 80], &[20, 30, 70, 60]), Some(vec![(0, 0), (1, 1), (2, 3), (3, 2)]));
        assert_eq!(of(&[10, 20, 30, 40], &[50, 60, 70, 80]), None, "one side after the other");
        assert_eq!(of(&[10, 30, 50], &[20, 40, 60]), None, "too few");
        assert_eq!(of(&[10, 30, 50, 70], &[20, 40, 60, 80, 90]), None);
        let unknown = vec![Run::default(); 4];
        assert_eq!(pairs([&unknown, &runs(&[1, 2, 3, 4])]), None);
    }
}
