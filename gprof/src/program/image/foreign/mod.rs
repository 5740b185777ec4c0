//! Images that are not ELF files: PE (Windows) and Mach-O (Darwin, NeXT).
//!
//! A reader for each format turns the file into a [`ForeignFile`], which answers all questions.

mod file;
mod macho;
mod pe;
pub(crate) mod universal;

pub(super) use file::ForeignFile;

use super::error::ImageError;

/// Opens a PE or Mach-O file; `None` for a file of another format. A universal file must have exactly one slice.
///
/// # Errors
///
/// When the file is damaged, or is a universal file of several slices.
pub(super) fn open(data: &[u8]) -> Result<Option<ForeignFile<'_>>, ImageError> {
    if let Some(slices) = universal::slices(data)? {
        let [slice] = slices.as_slice() else {
            return Err(ImageError::Universal(universal::names(&slices)));
        };
        return open_slice(slice.data);
    }
    open_slice(data)
}

fn open_slice(data: &[u8]) -> Result<Option<ForeignFile<'_>>, ImageError> {
    let damaged = |format| move |source| ImageError::Damaged { format, source };
    if macho::is_macho(data) {
        macho::open(data).map(Some).map_err(damaged("Mach-O"))
    } else if pe::is_pe(data) {
        pe::open(data).map(Some).map_err(damaged("PE"))
    } else {
        Ok(None)
    }
}

/// Whether a file begins as a PE file, an MS-DOS file, or a Mach-O file.
pub(super) fn begins(start: &[u8]) -> bool {
    start.starts_with(pe::MAGIC) || macho::is_macho(start) || universal::begins(start)
}
