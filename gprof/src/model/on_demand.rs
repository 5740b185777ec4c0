//! Functions whose calls were counted on demand, and their self times while calls were counted.

use super::division::Innermost;
use super::selection::Selection;
use crate::model::flat::Flat;
use crate::program::symbols::functions::{FunctionId, Functions};
use crate::program::symbols::inlines::Inlined;
use crate::question::options::Options;
use crate::sources::on_demand::{CountedImage, OnDemand};

/// When the calls of a function were counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallsCounted {
    /// During the whole run.
    Always,
    /// In all intervals in which any calls were counted.
    InAllIntervals,
    /// In some of these intervals, or the samples of these intervals are not known.
    InSomeIntervals,
    /// In short windows, from which the calls of the whole time are estimated.
    Estimated,
    /// Never on demand. Code that was compiled to count all calls may have counted them all the same.
    Never,
}

impl CallsCounted {
    fn new(image: &CountedImage, selections: usize) -> CallsCounted {
        match selections {
            _ if !image.is_on_demand => CallsCounted::Always,
            0 => CallsCounted::Never,
            _ if selections == image.selections && !image.lacks_samples => CallsCounted::InAllIntervals,
            _ => CallsCounted::InSomeIntervals,
        }
    }
}

/// The time that belongs to the calls of a function: the sum of the times of all calls that were counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum CallTime {
    /// The time of the function, because all calls were counted.
    #[default]
    Whole,
    /// This self time in samples, of the intervals in which calls were counted. The time of called functions is not
    /// known.
    Own(f64),
    /// The time of the function, because the calls are an estimate for the whole time. The time of called functions
    /// is known if stacks show it.
    Estimated {
        /// Whether stacks show the time of called functions.
        is_measured: bool,
    },
    /// Not known.
    Unknown,
}

/// What was counted on demand, for each function.
#[derive(Debug)]
pub(super) struct OnDemandCounts {
    counted: Vec<CallsCounted>,
    /// The self time of each function while calls were counted, in samples.
    own: Vec<f64>,
}

impl OnDemandCounts {
    /// Finds the functions of the selections, and divides the samples of the intervals among functions, as all samples
    /// are divided. The time of inlined functions is not that of the functions around them, if reports show them apart.
    pub(super) fn new(
        on_demand: &OnDemand,
        functions: &Functions<'_>,
        innermost: &Innermost,
        selected: &Selection,
        inlined: Option<&Inlined<'_>>,
        options: &Options,
    ) -> OnDemandCounts {
        let Flat { mut time, .. } = Flat::exact(&on_demand.histograms, innermost, functions, selected);
        let inlined = inlined.map(|inlined| inlined.times(&on_demand.histograms, innermost));
        for inlined in inlined.unwrap_or_default() {
            // Rounding may leave less than nothing.
            let around = &mut time[inlined.inside.index()];
            *around = (*around - inlined.time).max(0.0);
        }
        OnDemandCounts { counted: counted(functions, on_demand, options), own: time }
    }

    /// Returns when the calls of a function were counted.
    pub(super) fn calls_of(&self, id: FunctionId) -> CallsCounted {
        self.counted[id.index()]
    }

    /// Returns the time that belongs to the calls of a function.
    pub(super) fn time_of(&self, id: FunctionId) -> CallTime {
        match self.calls_of(id) {
            CallsCounted::Always => CallTime::Whole,
            CallsCounted::InAllIntervals => CallTime::Own(self.own[id.index()]),
            CallsCounted::InSomeIntervals | CallsCounted::Estimated | CallsCounted::Never => CallTime::Unknown,
        }
    }
}

/// Returns when the calls of each function were counted.
fn counted(functions: &Functions<'_>, on_demand: &OnDemand, options: &Options) -> Vec<CallsCounted> {
    // For each function the number of selections that have it, and the last one of them.
    let mut selections: Vec<(usize, Option<usize>)> = vec![(0, None); functions.len()];
    for (number, addresses) in on_demand.selections.iter().enumerate() {
        let called = addresses.iter().filter_map(|address| functions[functions.find(*address)?].called_as);
        for id in called {
            let (count, last) = &mut selections[id.index()];
            // Several addresses may belong to one function.
            *count += usize::from(*last != Some(number));
            *last = Some(number);
        }
    }
    // Where one symbol stands for several functions, some of these may not have been selected.
    let is_coarse = options.no_static || options.symbols.is_some();
    let hides_functions = is_coarse && on_demand.facts.patterns.iter().any(|pattern| !pattern.is_empty());
    let unknown = CountedImage::default();
    let image = |id: FunctionId| on_demand.images.get(functions.image(id)).unwrap_or(&unknown);
    let of = |id: FunctionId| match CallsCounted::new(image(id), selections[id.index()].0) {
        CallsCounted::InAllIntervals if hides_functions => CallsCounted::InSomeIntervals,
        counted => counted,
    };
    let mut counted: Vec<CallsCounted> = functions.ids().map(of).collect();
    for id in functions.ids().filter(|id| !functions.is_whole(*id) && is_called(functions, *id)) {
        let owner = functions[id].counts_for.index();
        counted[owner] = joined(counted[owner], counted[id.index()]);
    }
    counted
}

/// Whether a part of a function is called. The code of a function that seldom runs is a part that is jumped to.
fn is_called(functions: &Functions<'_>, id: FunctionId) -> bool {
    functions.is_marked(id) && !functions[id].name.windows(COLD.len()).any(|part| part == COLD)
}

/// What marks the name of code that seldom runs.
const COLD: &[u8] = b".cold";

/// When the calls of a function with a copy were counted.
fn joined(function: CallsCounted, copy: CallsCounted) -> CallsCounted {
    if function == copy { function } else { CallsCounted::InSomeIntervals }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_counted_in_all_intervals_if_all_selections_have_it() {
        let image = CountedImage { is_on_demand: true, selections: 2, lacks_samples: false };
        let of = |image: &CountedImage| [0, 1, 2].map(|selections| CallsCounted::new(image, selections));
        assert_eq!(of(&image), [CallsCounted::Never, CallsCounted::InSomeIntervals, CallsCounted::InAllIntervals]);
        let unknown = CountedImage { lacks_samples: true, ..image };
        assert_eq!(of(&unknown)[2], CallsCounted::InSomeIntervals);
        assert_eq!(of(&CountedImage { is_on_demand: false, ..image }), [CallsCounted::Always; 3]);
    }

    #[test]
    fn a_copy_that_was_not_selected_leaves_a_function_in_doubt() {
        use CallsCounted::{Always, InAllIntervals, InSomeIntervals, Never};
        assert_eq!(joined(InAllIntervals, Never), InSomeIntervals);
        assert_eq!(joined(Never, InAllIntervals), InSomeIntervals);
        assert_eq!([Always, InAllIntervals, Never].map(|one| joined(one, one)), [Always, InAllIntervals, Never]);
    }
}
