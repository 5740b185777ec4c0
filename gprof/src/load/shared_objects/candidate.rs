//! Files that may be shared objects of runs.

use std::path::Path;
use std::sync::OnceLock;

use super::list::ListedObject;
use crate::image::{self, Headers};

/// A file that may be a shared object of some runs.
pub(super) struct Candidate<'a> {
    pub(super) path: &'a Path,
    /// The file once it was needed, or why it cannot be read.
    pub(super) file: OnceLock<Result<ObjectFile, String>>,
}

/// The content of a file, and its parsed headers.
pub(super) struct ObjectFile {
    pub(super) bytes: Vec<u8>,
    pub(super) headers: Headers,
}

impl Candidate<'_> {
    /// Returns the file, which is read when it is first needed.
    pub(super) fn file(&self, with_code: bool) -> Result<&ObjectFile, String> {
        let read = || {
            let bytes = image::read(self.path, with_code).map_err(|error| error.to_string())?;
            let headers = Headers::read(&bytes).map_err(|error| error.to_string())?;
            Ok(ObjectFile { bytes, headers })
        };
        self.file.get_or_init(read).as_ref().map_err(String::clone)
    }
}

/// Checks that a file is the build that the run loaded.
pub(super) fn check_build(headers: &Headers, listed: &ListedObject) -> Result<(), String> {
    if headers.build_id == listed.build_id {
        return Ok(());
    }
    let name = |id: &Option<String>| id.as_deref().unwrap_or("no build ID").to_owned();
    Err(format!("another build ({}) than in the run ({})", name(&headers.build_id), name(&listed.build_id)))
}
