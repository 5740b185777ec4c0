//! Compares the samples of runs with the CPU time of the runs.

use std::collections::BTreeSet;

use gmon::side_file::{SideFile, property};

/// The samples of runs whose CPU time is known, and how many samples this time is worth.
///
/// [`Analysis::conservation`](crate::Analysis::conservation) returns one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Conservation {
    /// The samples, inside and outside of the programs.
    pub samples: u64,
    /// The CPU time in nanoseconds while samples were taken.
    pub nanoseconds: u64,
    /// The CPU time times the rate, of each run.
    worth: u128,
    /// What took the samples.
    samplers: BTreeSet<Box<[u8]>>,
}

/// How many standard errors the samples may differ from their expected number.
const STANDARD_ERRORS: f64 = 4.0;
/// Small numbers have no normal distribution: with 0.1 expected samples, one in 200 runs has two, which are six
/// standard errors.
const FEW: f64 = 4.0;

impl Conservation {
    /// Adds a run with this many samples, if its CPU time is known.
    pub(super) fn add(&mut self, side: &SideFile, samples: u64) {
        if let (Some(time), Some(rate)) = (side.cpu_time(), side.rate()) {
            let sampler = side.property(property::SAMPLER).unwrap_or_default().into();
            let worth = u128::from(time) * u128::from(rate);
            self.append(Conservation { samples, nanoseconds: time, worth, samplers: BTreeSet::from([sampler]) });
        }
    }

    /// Adds other runs.
    pub(super) fn append(&mut self, others: Conservation) {
        self.samples = self.samples.saturating_add(others.samples);
        self.nanoseconds = self.nanoseconds.saturating_add(others.nanoseconds);
        self.worth = self.worth.saturating_add(others.worth);
        self.samplers.extend(others.samplers);
    }

    /// Returns the CPU time in seconds.
    #[must_use]
    pub fn cpu_time(&self) -> f64 {
        self.nanoseconds as f64 * 1e-9
    }

    /// Returns the number of samples that the CPU time is worth.
    #[must_use]
    pub fn expected(&self) -> f64 {
        self.worth as f64 * 1e-9
    }

    /// Returns the standard error of the expected number.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.expected().sqrt()
    }

    /// Returns the samples beyond the expected number, or a negative number if samples are missing.
    #[must_use]
    pub fn difference(&self) -> f64 {
        self.samples as f64 - self.expected()
    }

    /// Returns whether the difference is not due to chance: whether it is more than four standard errors, or a little
    /// more if only few samples are expected.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.difference().abs() > STANDARD_ERRORS * (self.expected() + FEW).sqrt()
    }

    /// Returns the likely reason why the samples differ from the CPU time.
    #[must_use]
    pub fn likely_reason(&self) -> &'static str {
        if self.difference() > 0.0 {
            return "short threads work in step with the kernel's ticks, or the program sends itself signals of samples";
        }
        let mut samplers = self.samplers.iter().map(AsRef::as_ref);
        match (samplers.next(), samplers.next()) {
            (Some(b"timer"), None) => {
                "threads that block signal 60, call no profiled function, or end between two ticks of a busy kernel"
            }
            (Some(b"itimer"), None) => "threads that block signal 60",
            // A timer samples the first half of a thread's first period, and the kernel begins at the period's end.
            (Some(b"perf"), None) => {
                "threads that end in the second half of their first sampling period, or block signal 60 or call no \
                 profiled function in the first half"
            }
            _ => "threads that are not sampled",
        }
    }
}

#[cfg(test)]
mod tests {
    use gmon::Word;

    use super::*;

    /// A run of 100 seconds at 100 samples per second.
    fn run(samples: u64, sampler: &[u8]) -> Conservation {
        let mut side = SideFile::new(Word::W64);
        for (key, value) in
            [(property::RATE, &b"100"[..]), (property::CPU, b"100000000000"), (property::SAMPLER, sampler)]
        {
            side.add_property(key, value).unwrap();
        }
        let mut conservation = Conservation::default();
        conservation.add(&side, samples);
        conservation
    }

    #[test]
    fn four_standard_errors_are_due_to_chance_and_more_are_not() {
        for (samples, is_broken) in [(10_000, false), (9600, false), (9599, true), (10_400, false), (10_401, true)] {
            assert_eq!(run(samples, b"timer").is_broken(), is_broken, "{samples}");
        }
        assert!(!Conservation::default().is_broken(), "nothing is known");
        let few = |samples| Conservation { samples, worth: 100_000_000, ..Conservation::default() };
        assert!(few(8).expected() < 0.2 && !few(8).is_broken() && few(9).is_broken());
    }

    #[test]
    fn runs_are_added_up() {
        let mut sum = run(9700, b"timer");
        sum.append(run(9700, b"timer"));
        assert_eq!((sum.samples, sum.cpu_time(), sum.expected()), (19_400, 200.0, 20_000.0));
        // Three standard errors twice are more than four standard errors of the sum.
        assert!(sum.is_broken() && !run(9700, b"timer").is_broken());
        assert_eq!((sum.difference(), sum.error()), (-600.0, 20_000_f64.sqrt()));
    }

    #[test]
    fn the_reason_is_that_of_the_sampler_of_all_runs() {
        let reason = |sampler| run(9000, sampler).likely_reason();
        let mut reasons: Vec<&str> = [&b"timer"[..], b"itimer", b"perf", b"other"].map(reason).to_vec();
        reasons.push(run(11_000, b"timer").likely_reason());
        reasons.dedup();
        assert_eq!(reasons.len(), 5, "{reasons:?}");
        // Half of a first period is sampled, and a program can send signals.
        assert!(reason(b"perf").contains("second half of their first sampling period"));
        assert!(reasons[4].contains("sends itself signals of samples"));
        for two in [[&b"itimer"[..], b"perf"], [b"perf", b"timer"], [b"timer", b"zero"]] {
            let mut sum = run(9000, two[0]);
            sum.append(run(9000, two[1]));
            assert_eq!(sum.likely_reason(), reason(b"other"));
        }
    }
}
