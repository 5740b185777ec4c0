//! Chooses the image in a universal file of Darwin by the profile.

use std::path::Path;

use super::{address_mismatch, profile_file};
use crate::error::Error;
use crate::program::image::{self, Headers, ImageError, Slice};
use crate::question::files::{KnownForm, ProfilePath};

/// The image that was chosen.
pub(super) struct Choice {
    /// The bytes of the image.
    pub(super) bytes: Vec<u8>,
    /// Which image was chosen, if there were several.
    pub(super) note: Option<String>,
}

/// Chooses the slice of a universal file whose word size, byte order, and addresses fit the first profile. Returns `None` for
/// a file of another format.
///
/// # Errors
///
/// When the file is damaged, the profile cannot be read, or not exactly one slice fits.
pub(super) fn choose(
    path: &Path,
    bytes: &[u8],
    profiles: &[ProfilePath],
    known: &KnownForm,
) -> Result<Option<Choice>, Error> {
    let fail = |source| Error::Image { file: path.display().to_string(), source };
    let Some(slices) = image::slices(bytes).map_err(fail)? else {
        return Ok(None);
    };
    if let [only] = slices.as_slice() {
        return Ok(Some(Choice { bytes: only.data.to_vec(), note: None }));
    }
    let names = image::slice_names(&slices);
    let fitting: Vec<&Slice<'_>> = match profiles.first() {
        // The report reads the profile again.
        Some(profile) if !profile.is_read_once() => {
            let bytes = profile_file::bytes(profile)?;
            slices.iter().filter(|slice| fits(slice, profile, &bytes, known)).collect()
        }
        Some(_) | None => Vec::new(),
    };
    let [slice] = fitting.as_slice() else {
        return Err(fail(ImageError::Universal(names)));
    };
    let note = format!("universal file with the slices {names}: only {} fits the profile", slice.name);
    Ok(Some(Choice { bytes: slice.data.to_vec(), note: Some(note) }))
}

/// Whether a profile can belong to a slice. The slice must have the word size and the byte order that the command line gives.
fn fits(slice: &Slice<'_>, path: &ProfilePath, bytes: &[u8], known: &KnownForm) -> bool {
    let fits = || {
        let headers = Headers::read(slice.data).ok()?;
        let hints = known.hints(headers.hints);
        if hints.word() != headers.hints.word() || hints.order() != headers.hints.order() {
            return None;
        }
        let profile = profile_file::parse(path, bytes, &hints).ok()?.profile;
        Some(address_mismatch::find(&profile, &headers.code?).is_none())
    };
    fits().unwrap_or(false)
}
