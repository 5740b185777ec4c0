//! The times of one side, of the base or of the other profiles, and what the rows and frames of a difference are about.

use super::change::{Change, ComparedCalls, Time, chance};
use super::join::Joined;
use crate::model::analysis::Analysis;
use crate::model::estimates::{CallEstimate, quantile};
use crate::model::flame::{Flame, FlameSubject};
use crate::model::graph::Node;
use crate::program::symbols::functions::FunctionId;

/// One side of a difference.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side<'a, 'data> {
    pub(super) analysis: &'a Analysis<'data>,
    /// The samples of all rows.
    pub(super) samples: f64,
    /// By what the times and calls are multiplied.
    pub(super) factor: f64,
    /// The total time if it is the same on both sides by definition, so that only shares of it can change.
    pub(super) whole: Option<f64>,
}

/// The times and calls of functions on one side.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Numbers {
    pub(super) own: Time,
    pub(super) inclusive: Time,
    pub(super) calls: SideCalls,
    pub(super) is_used: bool,
}

/// The calls of functions on one side.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum SideCalls {
    /// There is no such function.
    #[default]
    Missing,
    Counted(f64),
    Estimated(Estimated),
    /// Estimated, but without an interval, or counted in a part.
    Unknown,
}

/// A number of calls, its variance, and the degrees of freedom of the variance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Estimated {
    calls: f64,
    variance: f64,
    freedom: u64,
}

impl Estimated {
    /// No calls, for certain.
    const NONE: Estimated = Estimated { calls: 0.0, variance: 0.0, freedom: u64::MAX };

    /// The change to the calls of the other side. A change is noise if the 95 % interval of the difference has no
    /// change: with the fewer degrees of freedom of both sides, as in the interval of the side with fewer windows.
    fn change(self, new: Estimated) -> Change {
        Change {
            error: Some((self.variance + new.variance).sqrt()),
            limit: quantile(self.freedom.min(new.freedom)),
            ..Change::without_error(self.calls, new.calls)
        }
    }
}

impl SideCalls {
    /// Adds the calls of a function, or their estimate.
    fn with(self, calls: f64, estimate: Option<CallEstimate>) -> SideCalls {
        match (self, estimate) {
            (SideCalls::Missing, None) => SideCalls::Counted(calls),
            (SideCalls::Counted(sum), None) => SideCalls::Counted(sum + calls),
            (SideCalls::Missing, Some(of @ CallEstimate { interval: Some(_), .. })) => {
                let freedom = of.seen.saturating_sub(1);
                SideCalls::Estimated(Estimated { calls: of.calls as f64, variance: of.error * of.error, freedom })
            }
            (SideCalls::Estimated(sum), Some(of @ CallEstimate { interval: Some(_), .. })) => {
                // Functions of one run have the same windows.
                let error = sum.variance.sqrt() + of.error;
                let freedom = sum.freedom.min(of.seen.saturating_sub(1));
                SideCalls::Estimated(Estimated { calls: sum.calls + of.calls as f64, variance: error * error, freedom })
            }
            _ => SideCalls::Unknown,
        }
    }

    fn times(self, factor: f64) -> SideCalls {
        match self {
            SideCalls::Counted(calls) => SideCalls::Counted(factor * calls),
            SideCalls::Estimated(of) => SideCalls::Estimated(Estimated {
                calls: factor * of.calls,
                variance: factor * factor * of.variance,
                ..of
            }),
            other => other,
        }
    }

    /// Returns the change to the calls of the other side.
    pub(super) fn change(self, new: SideCalls, compared: ComparedCalls) -> Change {
        match (self, new) {
            _ if compared == ComparedCalls::Different => Change::without_error(f64::NAN, f64::NAN),
            (SideCalls::Missing, SideCalls::Missing) => Change::without_error(0.0, 0.0),
            (SideCalls::Missing, SideCalls::Counted(new)) => Change::without_error(0.0, new),
            (SideCalls::Counted(old), SideCalls::Missing) => Change::without_error(old, 0.0),
            (SideCalls::Counted(old), SideCalls::Counted(new)) => Change::without_error(old, new),
            (SideCalls::Missing, SideCalls::Estimated(new)) => Estimated::NONE.change(new),
            (SideCalls::Estimated(old), SideCalls::Missing) => old.change(Estimated::NONE),
            (SideCalls::Estimated(old), SideCalls::Estimated(new)) => old.change(new),
            _ => Change::without_error(f64::NAN, f64::NAN),
        }
    }
}

/// Time outside of all functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Elsewhere {
    Kernel,
    Outside,
}

impl Elsewhere {
    /// All of them, in the order of their rows.
    pub(super) const ALL: [Elsewhere; 2] = [Elsewhere::Kernel, Elsewhere::Outside];
}

impl<'a, 'data> Side<'a, 'data> {
    pub(super) fn new(analysis: &'a Analysis<'data>) -> Side<'a, 'data> {
        let side = Side { analysis, samples: 0.0, factor: 1.0, whole: None };
        let elsewhere = Elsewhere::ALL.map(|elsewhere| side.samples_of(elsewhere));
        let own = |id| analysis.graph().share(id).own;
        Side { samples: analysis.functions.ids().map(own).chain(elsewhere).sum(), ..side }
    }

    /// The time of a number of samples.
    pub(super) fn time(&self, samples: f64) -> f64 {
        self.analysis.clock.time(samples) * self.factor
    }

    /// The total time.
    pub(super) fn total(&self) -> f64 {
        self.time(self.samples)
    }

    /// A time of samples with the error of their number. No error is smaller than one sample: a time without a sample
    /// may be that long.
    ///
    /// `error` is the error if the total number of samples is a matter of chance, too. If only shares of the total can
    /// change, the result has the error of a share.
    pub(super) fn exactly(&self, samples: f64, error: f64) -> Time {
        let (time, sample) = (self.time(samples), self.time(1.0));
        let of_share = if time > 0.0 { chance(time, self.whole) / time } else { 1.0 };
        let variance = (error * sample).powi(2);
        let spread = if time > 0.0 && variance > 0.0 { variance / time } else { sample };
        Time { time, variance: Some((variance * of_share).max(sample * sample)), spread }
    }

    /// The sum of the numbers of functions. An empty list is a function that does not exist, so its time is 0 for
    /// certain.
    pub(super) fn numbers(&self, ids: &[FunctionId]) -> Numbers {
        if ids.is_empty() {
            return Numbers { own: Time::NONE, inclusive: Time::NONE, ..Numbers::default() };
        }
        let graph = self.analysis.graph();
        let (mut own, mut inclusive, mut is_used) = ((0.0, 0.0), Time::NONE, false);
        let mut calls = SideCalls::default();
        for id in ids {
            let times = self.analysis.times_of(*id);
            let variance = (graph.share(*id).fraction * self.analysis.errors().of(Node::Function(*id))).powi(2);
            own = (own.0 + times.own, own.1 + variance);
            let below = (times.inclusive - times.own).max(0.0);
            inclusive = inclusive.with(self.exactly(times.inclusive, (variance + below).sqrt()));
            calls = calls.with(times.calls as f64, times.estimate);
            is_used |= graph.is_used(Node::Function(*id));
        }
        let own = self.exactly(own.0, own.1.sqrt());
        let is_measured = self.analysis.is_measured();
        let inclusive = Time { variance: inclusive.variance.filter(|_| is_measured), ..inclusive };
        Numbers { own, inclusive, calls: calls.times(self.factor), is_used }
    }

    /// The samples outside of all functions.
    fn samples_of(&self, elsewhere: Elsewhere) -> f64 {
        if !self.analysis.is_of_whole_program() {
            return 0.0;
        }
        let (stats, images) = (self.analysis.stats(), self.analysis.stats().outside_images);
        match elsewhere {
            Elsewhere::Kernel => images.kernel as f64,
            Elsewhere::Outside => stats.outside + images.vdso as f64 + images.elsewhere as f64,
        }
    }

    /// The time outside of all functions.
    pub(super) fn elsewhere(&self, elsewhere: Elsewhere) -> Numbers {
        let samples = self.samples_of(elsewhere);
        let own = self.exactly(samples, samples.abs().sqrt());
        Numbers { own, inclusive: own, calls: SideCalls::Counted(0.0), is_used: samples != 0.0 }
    }
}

/// The joined functions, and where each function of both sides is among them.
#[derive(Debug)]
pub(super) struct Subjects {
    pub(super) joined: Vec<Joined>,
    of: [Vec<usize>; 2],
    /// For each cycle of both sides, the lowest number of its members.
    cycles: [Vec<usize>; 2],
}

/// What a frame is about, the same for both sides.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum FrameKey {
    /// Joined functions: their number.
    Functions(usize),
    /// A function that was inlined: its symbol.
    Inlined(Vec<u8>),
    /// A cycle: the lowest number of its members.
    Cycle(usize),
    /// Anything else.
    Other(FlameSubject),
}

impl Subjects {
    pub(super) fn new<'data>(joined: Vec<Joined>, sides: [&Analysis<'data>; 2]) -> Subjects {
        let mut of = sides.map(|side| vec![0; side.functions.len()]);
        for (at, group) in joined.iter().enumerate() {
            for (of, ids) in of.iter_mut().zip(group) {
                ids.iter().for_each(|id| of[id.index()] = at);
            }
        }
        // Copies are where their functions are.
        for (of, side) in of.iter_mut().zip(sides) {
            for id in side.functions.ids().filter(|id| !side.functions.is_whole(*id)) {
                of[id.index()] = of[side.functions[id].counts_for.index()];
            }
        }
        let cycles = [0, 1].map(|side: usize| {
            let cycles = sides[side].graph().cycles().iter();
            let lowest = cycles.map(|cycle| cycle.members.iter().map(|id| of[side][id.index()]).min().unwrap_or(0));
            lowest.collect()
        });
        Subjects { joined, of, cycles }
    }

    /// Returns the number of the joined functions that a function is one of.
    pub(super) fn number(&self, side: usize, id: FunctionId) -> usize {
        self.of[side][id.index()]
    }

    /// Returns what a frame of one side is about.
    pub(super) fn key(&self, side: usize, flame: &Flame, subject: FlameSubject) -> FrameKey {
        match subject {
            FlameSubject::Function(id) => FrameKey::Functions(self.number(side, id)),
            FlameSubject::Inlined(number) => {
                FrameKey::Inlined(flame.inlined.get(number as usize).cloned().unwrap_or_default())
            }
            FlameSubject::Cycle(at) => FrameKey::Cycle(self.cycles[side][at]),
            other => FrameKey::Other(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails if estimates of few windows are compared with the limit of many, or a side without the function counts as
    /// one of few windows.
    #[test]
    fn estimates_of_few_windows_need_a_larger_change() {
        let of = |calls, freedom| SideCalls::Estimated(Estimated { calls, variance: 50.0, freedom });
        // 2.4 standard errors: more than the 2.0 of many windows, and less than the 2.8 of five.
        let is_noise = |old: SideCalls, new| old.change(new, ComparedCalls::Estimated).is_noise();
        assert_eq!(is_noise(of(100.0, 299), of(124.0, 299)), Some(false));
        assert_eq!(is_noise(of(100.0, 299), of(124.0, 4)), Some(true));
        assert_eq!(is_noise(SideCalls::Missing, of(17.0, 299)), Some(false));
        assert_eq!(is_noise(SideCalls::Missing, of(17.0, 4)), Some(true));
    }
}
