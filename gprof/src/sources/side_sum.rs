//! The sum of the side files of one image's runs.

use std::collections::BTreeMap;

use gmon::side_file::{Accumulator, Identity, SideFile};

use super::conservation::Conservation;

/// The identity of a program, or without one its path.
type ProgramKey = (Identity, Vec<u8>);

/// The sums of side files, one for each program: an image may be reported with profiles of another program or build,
/// and such files cannot be added up.
#[derive(Default)]
pub(super) struct SideSum {
    sums: BTreeMap<Option<ProgramKey>, Sum>,
    /// For each profile: the number of its ticks, inside and outside of its image, and how many of them no stacks tell about.
    profiles: Vec<(u64, u64)>,
    /// The number of profiles without a side file.
    without: usize,
    conservation: Conservation,
}

/// The sum of the side files of each program, and what is known about each profile.
#[derive(Default)]
pub(super) struct Sides {
    pub(super) files: Vec<SideFile>,
    /// For each profile: the number of its ticks, inside and outside of its image, and how many of them no stacks tell about.
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
