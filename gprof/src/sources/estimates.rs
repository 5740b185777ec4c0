//! Calls that were estimated from short windows: the windows, and the estimates by address.

use gmon::layout::side_file::WHOLE_SHARE;
use gmon::side_file::{EstimatedCalls, Place, Selection, SideFile};

use super::shared_objects::ObjectImages;
use crate::program::image::address_space::Images;

/// The windows from which calls were estimated.
///
/// [`Analysis::call_windows`](crate::Analysis::call_windows) returns them.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CallWindows {
    /// The number of windows.
    pub number: u64,
    /// The length of all windows together, in seconds of CPU time.
    pub covered: f64,
    /// The CPU time in seconds for which the estimates stand.
    pub time: f64,
    /// The part of the time that the windows cover as the user asked for it; `None` if runs had different parts.
    pub share: Option<f64>,
    /// The patterns of the functions whose calls were estimated, sorted. An empty pattern stands for all functions.
    pub patterns: Vec<String>,
    /// Whether the samples of the report are of the same time as the estimates. If some of the runs have no estimates,
    /// or have estimates for a part of their CPU time only, the time of one call is not known.
    pub are_of_all_samples: bool,
    /// Whether the report has no estimates because it is about some threads only. Estimates are those of all threads
    /// together.
    pub are_left_out: bool,
}

/// The estimates of all runs.
#[derive(Debug, Default)]
pub(crate) struct Estimates {
    pub(crate) windows: CallWindows,
    /// The estimates of each side file: their windows are independent.
    pub(crate) runs: Vec<RunEstimates>,
}

/// The estimates of a side file, with addresses in the common address space of the images.
#[derive(Debug, Default)]
pub(crate) struct RunEstimates {
    /// The number of windows.
    pub(crate) windows: u64,
    /// The calls of each function from all callers.
    pub(crate) functions: Vec<FunctionEstimates>,
    /// The functions whose calls were to be estimated.
    pub(crate) selected: Vec<u64>,
}

/// The estimated calls of a function, by the address that calls have for it.
#[derive(Debug)]
pub(crate) struct FunctionEstimates {
    pub(crate) address: u64,
    /// The calls from all callers.
    pub(crate) all: Counted,
    /// The calls from each caller: the return address, or 0 for callers in none of the images.
    pub(crate) callers: Vec<(u64, Counted)>,
}

/// An estimated number of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Counted {
    /// The number of windows in which calls were seen.
    pub(crate) seen: u64,
    pub(crate) calls: u64,
    /// The variance of the number of calls.
    pub(crate) variance: f64,
}

const NANOSECONDS: f64 = 1e9;

/// The part of the CPU time of a run that the estimates stand for at least, if the report divides all samples by them.
/// The runtime begins before the program and ends behind it.
const LEAST_PART: f64 = 0.95;

impl Estimates {
    /// Finds the estimates of all runs. `without_sides` is the number of profiles without a side file, and
    /// `is_of_threads` tells whether the report is about some threads. Returns `None` if no run has estimates.
    pub(super) fn new(
        sides: &[(SideFile, ObjectImages)],
        without_sides: usize,
        is_of_threads: bool,
        images: &Images<'_>,
    ) -> Option<Estimates> {
        let mut found: Option<Estimates> = None;
        let mut shares = Vec::new();
        for (side, objects) in sides {
            let Some(estimates) = side.estimates() else { continue };
            let found = found.get_or_insert_default();
            let (windows, of_side) = (&mut found.windows, estimates.windows());
            windows.number = windows.number.saturating_add(of_side.number);
            windows.covered += of_side.covered as f64 / NANOSECONDS;
            windows.time += of_side.time as f64 / NANOSECONDS;
            shares.push(of_side.share);
            let selected = side.selections().unwrap_or_default().iter().filter(|selection| is_estimated(selection));
            windows.patterns.extend(selected.map(|one| String::from_utf8_lossy(one.pattern()).into_owned()));
            if !is_of_threads {
                found.runs.push(RunEstimates::new(side, estimates.rows(), of_side.number, objects, images));
            }
        }
        let mut found = found?;
        let windows = &mut found.windows;
        windows.patterns.sort_unstable();
        windows.patterns.dedup();
        let share = shares.first().copied().filter(|first| *first > 0 && shares.iter().all(|share| share == first));
        windows.share = share.map(|share| share as f64 / WHOLE_SHARE as f64);
        windows.are_of_all_samples = without_sides == 0 && sides.iter().all(|(side, _)| are_of_all_samples(side));
        windows.are_left_out = is_of_threads;
        Some(found)
    }

    /// Whether any window saw a call of a function in the images.
    pub(super) fn has_calls(&self) -> bool {
        self.runs.iter().any(|run| !run.functions.is_empty())
    }
}

/// Whether the calls of a selection were estimated, in a side file with estimates.
fn is_estimated(selection: &Selection) -> bool {
    !selection.is_of_whole_runs() && selection.intervals().is_empty()
}

/// Whether the estimates of a side file stand for the time of its samples.
fn are_of_all_samples(side: &SideFile) -> bool {
    let Some(estimates) = side.estimates() else { return false };
    let time = estimates.windows().time as f64;
    side.cpu_time().is_none_or(|cpu_time| time >= LEAST_PART * cpu_time as f64)
}

impl RunEstimates {
    fn new(
        side: &SideFile,
        rows: &[EstimatedCalls],
        windows: u64,
        objects: &ObjectImages,
        images: &Images<'_>,
    ) -> RunEstimates {
        let address = |place: Place| {
            let image = objects.image(place.object)?;
            Some(images.place(image, place.address)).filter(|address| *address != 0)
        };
        let mut functions: Vec<FunctionEstimates> = Vec::new();
        for of_function in rows.chunk_by(|one, other| one.callee == other.callee) {
            let Some((all, callers)) = of_function.split_first() else { continue };
            let Some(called) = address(all.callee) else { continue };
            let caller = |row: &EstimatedCalls| (row.caller.and_then(address).unwrap_or(0), Counted::new(row));
            let callers = callers.iter().map(caller).collect();
            functions.push(FunctionEstimates { address: called, all: Counted::new(all), callers });
        }
        let selected = side.selections().unwrap_or_default().iter().filter(|selection| is_estimated(selection));
        let selected = selected.flat_map(Selection::functions).filter_map(|place| address(*place)).collect();
        RunEstimates { windows, functions, selected }
    }
}

impl Counted {
    fn new(row: &EstimatedCalls) -> Counted {
        Counted { seen: row.seen, calls: row.calls, variance: row.variance as f64 }
    }
}
