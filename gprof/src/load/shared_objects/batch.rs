//! Sums of the profiles of shared objects.

use std::path::Path;

use gmon::{Accumulator, Hints, Profile};

use crate::cli::options::ProfilePath;
use crate::error::Error;
use crate::image::Headers;
use crate::load::profile_file;
use crate::load::profile_sum::ProfileSum;

/// What became of the profile of a shared object.
pub(super) enum Outcome {
    /// The profile is in the sum.
    Added,
    /// The profile is none of this run, or cannot be read, for this reason.
    LeftOut(String),
    /// So many samples are in no image, for this reason.
    Outside(String, u64),
}

/// The sum of some profiles of one candidate.
pub(super) struct CandidateSum {
    /// The place of the object among the candidates.
    pub(super) candidate: usize,
    pub(super) sum: ProfileSum,
    /// The samples of all profiles that could be read.
    pub(super) samples: u64,
    /// Why the sum is none, if there is a reason.
    pub(super) failure: Option<Error>,
}

impl CandidateSum {
    pub(super) fn add(&mut self, path: &Path, bytes: &[u8], headers: &Headers) {
        let path = ProfilePath::File(path.to_owned());
        let hints = Hints { form: None, word: Some(headers.word), order: Some(headers.order) };
        let added = profile_file::parse(&path, bytes, &hints).and_then(|mut file| {
            self.samples = self.samples.saturating_add(samples(&file.profile));
            file.info.is_shared_object = true;
            if self.failure.is_none() { self.sum.add(&path, file, headers.code.as_ref()) } else { Ok(()) }
        });
        if let Err(error) = added {
            self.failure.get_or_insert(error);
        }
    }

    /// Adds profiles that come after these; nothing when they do not go together.
    fn append(&mut self, later: CandidateSum) -> Option<()> {
        self.samples = self.samples.saturating_add(later.samples);
        match (&self.failure, later.failure) {
            (Some(_), _) => Some(()),
            (None, None) => self.sum.append(later.sum),
            (None, failure) => {
                self.failure = failure;
                Some(())
            }
        }
    }
}

/// What became of some tasks.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) outcomes: Vec<Outcome>,
    /// Neighbours are of different candidates.
    pub(super) sums: Vec<CandidateSum>,
}

impl Batch {
    /// Adds tasks that come after these; nothing when their profiles do not go together.
    pub(super) fn append(&mut self, later: Batch) -> Option<()> {
        self.outcomes.extend(later.outcomes);
        for sum in later.sums {
            match self.sums.last_mut().filter(|last| last.candidate == sum.candidate) {
                Some(last) => last.append(sum)?,
                None => self.sums.push(sum),
            }
        }
        Some(())
    }

    /// Whether the samples of all objects can stand in one report.
    pub(super) fn has_one_unit(&mut self, units: &Accumulator) -> Option<()> {
        let mut units = units.clone();
        for sum in self.sums.iter_mut().filter(|sum| sum.failure.is_none()) {
            units = sum.sum.join_units(&units)?;
        }
        Some(())
    }
}

/// All samples of a profile.
pub(super) fn samples(profile: &Profile) -> u64 {
    let totals = profile.histograms.iter().map(|histogram| u64::try_from(histogram.total()).unwrap_or(0));
    totals.fold(0, u64::saturating_add)
}
