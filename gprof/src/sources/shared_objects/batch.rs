//! Adds up the profiles of shared objects.

use std::path::Path;

use gmon::{Accumulator, Unit};

use super::candidate::ObjectFile;
use super::counts::SparseProfile;
use crate::error::Error;
use crate::program::image::Headers;
use crate::question::files::ProfilePath;
use crate::sources::address_mismatch;
use crate::sources::profile_file;
use crate::sources::profile_sum::ProfileSum;

/// The result of reading one profile of a shared object.
pub(super) enum Outcome {
    /// The profile is in the sum.
    Added,
    /// The profile is left out, for this reason.
    LeftOut(String),
    /// The shared object is left out for this reason, and this many samples count as outside all images.
    Outside(String, u64),
}

/// The sum of profiles of one candidate.
pub(super) struct CandidateSum {
    /// The index of the candidate.
    pub(super) candidate: usize,
    /// The sum of the profiles that are files.
    pub(super) sum: ProfileSum,
    /// The sum of the counts from side files.
    pub(super) sparse: SparseProfile,
    /// The number of samples in all profiles that could be read.
    pub(super) samples: u64,
    /// The error that makes the sum invalid, if there is one.
    pub(super) failure: Option<Error>,
}

impl CandidateSum {
    pub(super) fn new(candidate: usize, sum: ProfileSum) -> CandidateSum {
        CandidateSum { candidate, sum, sparse: SparseProfile::default(), samples: 0, failure: None }
    }

    /// Adds counts from a side file.
    pub(super) fn add_sparse(&mut self, counts: &SparseProfile) {
        self.samples = self.samples.saturating_add(counts.samples());
        self.sparse.append(counts);
    }

    pub(super) fn add(&mut self, path: &Path, bytes: &[u8], headers: &Headers) {
        let path = ProfilePath::File(path.to_owned());
        let hints = headers.hints;
        let added = profile_file::parse(&path, bytes, &hints).and_then(|mut file| {
            self.samples = self.samples.saturating_add(file.samples());
            file.info.is_shared_object = true;
            let code = headers.code.as_ref();
            let mismatch = code.and_then(|code| address_mismatch::find(&file.profile, code));
            if self.failure.is_none() { self.sum.add(&path, file, mismatch) } else { Ok(()) }
        });
        if let Err(error) = added {
            self.failure.get_or_insert(error);
        }
    }

    /// Adds the profiles that follow these. Returns `None` when the profiles are not compatible.
    fn append(&mut self, later: CandidateSum) -> Option<()> {
        self.samples = self.samples.saturating_add(later.samples);
        self.sparse.append(&later.sparse);
        match (&self.failure, later.failure) {
            (Some(_), _) => Some(()),
            (None, None) => self.sum.append(later.sum),
            (None, failure) => {
                self.failure = failure;
                Some(())
            }
        }
    }

    /// Adds the counts from side files to the sum of the profiles. Returns the number of samples outside the code of
    /// the object's file.
    pub(super) fn settle(&mut self, path: &Path, file: &ObjectFile, unit: Unit) -> u64 {
        let sparse = std::mem::take(&mut self.sparse);
        let (profile, outside) = sparse.profile(&file.code_in(&sparse.code), unit);
        self.samples = self.samples.saturating_sub(outside);
        if self.failure.is_none()
            && let Err(source) = self.sum.add_counts(profile)
        {
            self.failure = Some(Error::Profile { file: path.display().to_string(), source });
        }
        outside
    }
}

/// The results of some tasks.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) outcomes: Vec<Outcome>,
    /// Neighbors in this list are sums of different candidates.
    pub(super) sums: Vec<CandidateSum>,
}

impl Batch {
    /// Adds the results of the tasks that follow these. Returns `None` when the profiles are not compatible.
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

    /// Checks that the samples of all objects have compatible units. Returns `None` if not.
    pub(super) fn has_one_unit(&mut self, units: &Accumulator) -> Option<()> {
        let mut units = units.clone();
        for sum in self.sums.iter_mut().filter(|sum| sum.failure.is_none()) {
            units = sum.sum.join_units(&units)?;
        }
        Some(())
    }
}
