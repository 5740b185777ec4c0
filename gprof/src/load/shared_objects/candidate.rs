//! Files that may be shared objects of a run.

use std::path::Path;
use std::sync::OnceLock;

use super::list::ListedObject;
use crate::image::{self, Headers};

/// A file that may be the shared object of some runs.
pub(super) struct Candidate<'a> {
    pub(super) path: &'a Path,
    /// The file, once somebody needed it, or why it cannot be read.
    pub(super) file: OnceLock<Result<ObjectFile, String>>,
}

/// A file, and what its headers say.
pub(super) struct ObjectFile {
    pub(super) bytes: Vec<u8>,
    pub(super) headers: Headers,
}

impl Candidate<'_> {
    /// The file, which is read when it is first needed.
    pub(super) fn file(&self, with_code: bool) -> Result<&ObjectFile, String> {
        let read = || {
            let bytes = image::read(self.path, with_code).map_err(|error| error.to_string())?;
            let headers = Headers::read(&bytes).map_err(|error| error.to_string())?;
            Ok(ObjectFile { bytes, headers })
        };
        self.file.get_or_init(read).as_ref().map_err(String::clone)
    }
}

/// Whether a file is of the build that was loaded.
pub(super) fn check_build(headers: &Headers, listed: &ListedObject) -> Result<(), String> {
    if headers.build_id == listed.build_id {
        return Ok(());
    }
    let name = |id: &Option<String>| id.as_deref().unwrap_or("no build ID").to_owned();
    Err(format!("of another build ({}) than what ran ({})", name(&headers.build_id), name(&listed.build_id)))
}
