//! Files that may be shared objects of runs.

use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

use super::counts::RunObject;
use crate::program::image::{self, Headers};

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
}

impl Candidate<'_> {
    /// Returns the file, which is read when it is first needed.
    pub(super) fn file(&self, with_code: bool) -> Result<&ObjectFile, String> {
        let read = || {
            let bytes = image::read(self.path, with_code).map_err(|error| error.to_string())?;
            let headers = Headers::read(&bytes).map_err(|error| error.to_string())?;
            let identity = image::identity(&bytes).map_err(|error| error.to_string())?;
            Ok(ObjectFile { bytes, headers, identity })
        };
        self.file.get_or_init(read).as_ref().map_err(String::clone)
    }
}

impl ObjectFile {
    /// The part of a range that is code of the file; nothing if the file is shorter than that part. Headers of a damaged
    /// file may have any numbers, and a histogram has a counter for each byte at most.
    pub(super) fn code_in(&self, range: &Range<u64>) -> Range<u64> {
        let code = self.headers.code.clone().unwrap_or_default();
        // A runtime may round the range.
        let end = code.end.checked_next_multiple_of(PAGE).unwrap_or(code.end);
        let part = range.start.max(code.start & !(PAGE - 1))..range.end.min(end);
        let is_in_file = part.end.saturating_sub(part.start) <= self.bytes.len() as u64 + PAGE;
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
