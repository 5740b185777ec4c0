//! Files that may be shared objects of runs, and the sums of their profiles.

use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

use gmon::side_file::function_addresses;
use gmon::{Accumulator, Unit};

use super::counts::{RunObject, SparseProfile};
use crate::error::Error;
use crate::program::image::{self, Headers};
use crate::question::files::ProfilePath;
use crate::sources::mismatch;
use crate::sources::profile_file::{self, ProfileSum};

/// Objects are mapped in pages.
const PAGE: u64 = 4096;

/// A file that may be a shared object of some runs.
pub(super) struct Candidate<'a> {
    pub(super) path: &'a Path,
    /// The file once it was needed, or why it cannot be read.
    pub(super) file: OnceLock<Result<ObjectFile, String>>,
}

/// The content of a file, its parsed headers, and its identity.
pub(super) struct ObjectFile {
    pub(super) bytes: Vec<u8>,
    pub(super) headers: Headers,
    identity: Option<String>,
    /// The names of functions, if there is no file because the program generated the code.
    pub(super) functions: Vec<Box<[u8]>>,
}

impl<'a> Candidate<'a> {
    /// Makes a candidate whose file is not read yet.
    pub(super) fn new(path: &'a Path) -> Candidate<'a> {
        Candidate { path, file: OnceLock::new() }
    }

    /// Makes a candidate for code that a program generated.
    pub(super) fn generated(path: &'a Path, functions: &[Box<[u8]>]) -> Candidate<'a> {
        let headers = Headers::of_code(0..function_addresses(functions.len()).start);
        let file = ObjectFile { bytes: Vec::new(), headers, identity: None, functions: functions.to_vec() };
        Candidate { path, file: Ok(file).into() }
    }
    /// Returns the file, which is read when it is first needed.
    pub(super) fn file(&self, with_code: bool) -> Result<&ObjectFile, String> {
        let read = || {
            let bytes = image::read(self.path, with_code).map_err(|error| error.to_string())?;
            let headers = Headers::read(&bytes).map_err(|error| error.to_string())?;
            let identity = image::identity(&bytes).map_err(|error| error.to_string())?;
            Ok(ObjectFile { bytes, headers, identity, functions: Vec::new() })
        };
        self.file.get_or_init(read).as_ref().map_err(String::clone)
    }
}

impl ObjectFile {
    /// The part of a range that is code of the file; nothing if the file is shorter than that part. Headers of a
    /// damaged file may have any numbers, and a histogram has a counter for each byte at most.
    fn code_in(&self, range: &Range<u64>) -> Range<u64> {
        let code = self.headers.code.clone().unwrap_or_default();
        // A runtime may round the range.
        let end = code.end.checked_next_multiple_of(PAGE).unwrap_or(code.end);
        let part = range.start.max(code.start & !(PAGE - 1))..range.end.min(end);
        let size = part.end.saturating_sub(part.start);
        let is_in_file = size <= self.bytes.len() as u64 + PAGE || !self.functions.is_empty();
        if is_in_file { part } else { 0..0 }
    }

    /// Checks that the file is the build that the run loaded.
    pub(super) fn check_build(&self, object: &RunObject) -> Result<(), String> {
        let build_id = self.headers.build_id.as_deref().map(image::padded_build_id);
        let is_same = object.identity == build_id || object.identity.is_some() && object.identity == self.identity;
        if is_same {
            return Ok(());
        }
        let name = |id: Option<&str>| id.unwrap_or("no build ID").to_owned();
        let (found, expected) = (name(build_id.as_deref()), name(object.identity.as_deref()));
        Err(format!("another build ({found}) than in the run ({expected})"))
    }
}

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
    sparse: SparseProfile,
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
        let added = profile_file::read_profile(&path, bytes, &hints).and_then(|mut file| {
            self.samples = self.samples.saturating_add(file.samples());
            file.info.is_shared_object = true;
            let code = headers.code.as_ref();
            let mismatch = code.and_then(|code| mismatch::find_wrong_addresses(&file.profile, code));
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
