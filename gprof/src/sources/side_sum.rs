//! The sum of the side files of one image's runs, and the comparison of the samples of runs with the CPU time of the
//! runs.

use std::collections::{BTreeMap, BTreeSet};

use gmon::side_file::{Accumulator, Identity, SideFile, property};

/// The identity of a program, or without one its path.
type ProgramKey = (Identity, Vec<u8>);

/// The sums of side files, one for each program: an image may be reported with profiles of another program or build,
/// and such files cannot be added up.
#[derive(Default)]
pub(super) struct SideSum {
    sums: BTreeMap<Option<ProgramKey>, Sum>,
    /// For each profile: the number of its ticks, inside and outside of its image, and how many of them no stacks tell
    /// about.
    profiles: Vec<(u64, u64)>,
    /// The number of profiles without a side file.
    without: usize,
    conservation: Conservation,
}

/// The sum of the side files of each program, and what is known about each profile.
#[derive(Default)]
pub(super) struct Sides {
    pub(super) files: Vec<SideFile>,
    /// For each profile: the number of its ticks, inside and outside of its image, and how many of them no stacks tell
    /// about.
    pub(super) profiles: Vec<(u64, u64)>,
    /// The number of profiles without a side file.
    pub(super) without: usize,
    /// The samples of all profiles, and their CPU time.
    pub(super) conservation: Conservation,
}

/// The sum of the side files of one program.
enum Sum {
    /// A single file, which is kept as it is.
    One(Box<SideFile>),
    Several(Box<Accumulator>),
}

impl SideSum {
    /// Adds the side file of a profile with this many samples, if the profile has a side file.
    ///
    /// # Errors
    ///
    /// When the file has another sampling rate than the files before, or when a sum exceeds 64 bits.
    pub(super) fn add(&mut self, side: Option<SideFile>, samples: u64) -> Result<(), gmon::Error> {
        let Some(side) = side else {
            self.profiles.push((samples, samples));
            self.without += 1;
            return Ok(());
        };
        let outside = side.samples().iter().filter(|samples| samples.thread().is_none());
        let ticks = outside.fold(samples, |sum, samples| sum.saturating_add(samples.total()));
        self.conservation.add(&side, ticks);
        let in_stacks = side.unwalked().fold(side.contexts().total(), |sum, (_, ticks)| sum.saturating_add(ticks));
        // All ticks of a run are in the stacks, or none is. A sum may be of runs of both kinds. A live profile may have
        // ticks that came after the stacks were read.
        let is_whole = in_stacks > 0 && side.is_live();
        self.profiles.push((ticks, if is_whole { 0 } else { ticks.saturating_sub(in_stacks) }));
        self.add_file(side)
    }

    fn add_file(&mut self, side: SideFile) -> Result<(), gmon::Error> {
        let key = side.program().map(|program| match &program.identity {
            Identity::Unknown => (Identity::Unknown, program.path.clone()),
            identity => (identity.clone(), Vec::new()),
        });
        let Some(sum) = self.sums.get_mut(&key) else {
            self.sums.insert(key, Sum::One(Box::new(side)));
            return Ok(());
        };
        if let Sum::One(first) = sum {
            let mut several = Accumulator::new();
            several.add(first)?;
            *sum = Sum::Several(Box::new(several));
        }
        match sum {
            Sum::Several(several) => several.add(&side),
            Sum::One(_) => Ok(()),
        }
    }

    /// Adds the files that follow these. Returns `None` when they cannot be added up.
    pub(super) fn append(&mut self, later: SideSum) -> Option<()> {
        let Sides { files, profiles, without, conservation } = later.finish();
        self.conservation.append(conservation);
        self.profiles.extend(profiles);
        self.without += without;
        files.into_iter().try_for_each(|side| self.add_file(side).ok())
    }

    /// The sum for each program.
    pub(super) fn finish(self) -> Sides {
        let SideSum { sums, profiles, without, conservation } = self;
        let sums = sums.into_values().map(|sum| match sum {
            Sum::One(side) => *side,
            Sum::Several(several) => several.finish(),
        });
        Sides { files: sums.collect(), profiles, without, conservation }
    }
}

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
    use super::*;
    use gmon::Word;

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
