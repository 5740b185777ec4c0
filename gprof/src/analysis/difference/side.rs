//! The times of one side: of the base, or of the other profiles.

use super::change::Time;
use crate::analysis::graph::Node;
use crate::analysis::model::Analysis;
use crate::symbols::functions::FunctionId;

/// One side of a difference.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side<'a, 'data> {
    pub(super) analysis: &'a Analysis<'data>,
    /// The samples of all rows.
    pub(super) samples: f64,
    /// By what the times and calls are multiplied.
    pub(super) factor: f64,
    /// Whether the total time is the same on both sides by definition, so that only shares of it can change.
    pub(super) is_normalized: bool,
}

/// The times and calls of functions on one side.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Numbers {
    pub(super) own: Time,
    pub(super) inclusive: Time,
    pub(super) calls: f64,
    pub(super) is_used: bool,
}

/// Time outside of all functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Elsewhere {
    Kernel,
    Outside,
}

impl<'a, 'data> Side<'a, 'data> {
    pub(super) fn new(analysis: &'a Analysis<'data>) -> Side<'a, 'data> {
        let side = Side { analysis, samples: 0.0, factor: 1.0, is_normalized: false };
        let elsewhere = [Elsewhere::Kernel, Elsewhere::Outside].map(|elsewhere| side.samples_of(elsewhere));
        let own = |id| analysis.call_graph.graph.share(id).own;
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

    /// A time with its error, of samples with the error of their number. No error is smaller than one sample: a time without
    /// a sample may be that long.
    pub(super) fn exactly(&self, samples: f64, error: f64) -> Time {
        let error = self.time(error.max(1.0));
        Time { time: self.time(samples), variance: Some(error * error) }
    }

    /// The error of a number of samples. `error` is the error if the total number of samples is a matter of chance, too. If the
    /// base is scaled to the same total, only shares of the total can change, so the error is that of a share. Errors of
    /// measured times are those of shares already.
    fn of_share(&self, samples: f64, error: f64) -> f64 {
        let is_of_share = self.analysis.stacks.is_some();
        if !self.is_normalized || is_of_share || self.samples <= 0.0 {
            return error;
        }
        error * (1.0 - samples / self.samples).clamp(0.0, 1.0).sqrt()
    }

    /// The sum of the numbers of functions. An empty list is a function that does not exist, so its time is 0 for certain.
    pub(super) fn numbers(&self, ids: &[FunctionId]) -> Numbers {
        let zero = Time { time: 0.0, variance: Some(0.0) };
        let is_measured = self.analysis.stacks.is_some();
        if ids.is_empty() {
            return Numbers { own: zero, inclusive: zero, ..Numbers::default() };
        }
        let (mut own, mut inclusive, mut calls, mut is_used) = ((0.0, 0.0), (0.0, 0.0), 0.0, false);
        for id in ids {
            let times = self.analysis.times_of(*id);
            let error = self.of_share(times.own, times.own_error);
            own = (own.0 + times.own, own.1 + error * error);
            inclusive = (inclusive.0 + times.inclusive, inclusive.1 + times.inclusive_error.powi(2));
            calls += times.calls as f64;
            is_used |= self.analysis.call_graph.graph.is_used(Node::Function(*id));
        }
        let time = |(samples, variance): (f64, f64)| self.exactly(samples, variance.sqrt());
        let unknown = |time: Time| Time { variance: time.variance.filter(|_| is_measured), ..time };
        Numbers { own: time(own), inclusive: unknown(time(inclusive)), calls: calls * self.factor, is_used }
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
        let error = self.analysis.errors.of_part(samples.abs().sqrt(), samples);
        let own = self.exactly(samples, self.of_share(samples, error));
        Numbers { own, inclusive: own, calls: 0.0, is_used: samples != 0.0 }
    }
}
