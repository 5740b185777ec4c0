//! Replaces a file that this run has written before.
//!
//! The new file has a name of its own until it is complete, and then takes the name of the old file in one step. So a
//! reader finds one of them, complete, and the old file stays if the disk is full or the process is killed. The next
//! run removes a new file that a killed process left.

use super::kept::Kept;
use super::names;
use super::output::{self, Refusal};
use crate::os::{Errno, Fd};

/// Stores a file: `write` writes the empty file that it gets. `has_earlier` says that this run has written the file
/// before. If that file cannot be replaced in one step, it is removed or emptied first, and `write` may run a second
/// time.
pub(crate) fn store<T>(
    kept: Kept,
    has_earlier: bool,
    mut write: impl FnMut(Fd) -> Result<T, Errno>,
) -> Result<T, Refusal> {
    if has_earlier && let Some(new) = create(kept) {
        let written = write(new);
        if end(kept, new, written.is_ok()) || written.is_err() {
            return written.map_err(|error| (&b"replace, the file stays as it was"[..], error));
        }
    }
    let file = output::open_kept(kept)?;
    let written = write(file);
    output::finish(file, written)
}

/// Creates the new file; `None` if there is no old file with contents that may be overwritten, or if the process may
/// not create and remove files in the directory.
#[inline(never)]
fn create(kept: Kept) -> Option<Fd> {
    let (old, new) = names::successor(kept.suffix());
    let directory = output::directory_of(old).ok()?;
    let there = directory.open_existing(old).ok()?;
    let status = output::refusal(there.status());
    let _ = there.close();
    status.ok().filter(|status| status.size > 0)?;
    match directory.unlink(new) {
        Ok(()) | Err(Errno::ENOENT) => directory.create_for_writing(new, output::mode(), false).ok(),
        Err(_) => None,
    }
}

/// Puts the new file in the place of the old file if `is_complete`. Otherwise, and if that is not possible, removes the
/// new file. The result says whether the new file is in place.
#[inline(never)]
fn end(kept: Kept, file: Fd, is_complete: bool) -> bool {
    let (old, new) = names::successor(kept.suffix());
    let directory = output::directory_of(old).ok();
    // Another process may have removed the file and created its own.
    let is_ours = |directory: &Fd| file.status().is_ok_and(|status| output::is_named(*directory, new, &status));
    let is_in_place = directory.filter(is_ours).is_some_and(|directory| {
        let is_renamed = is_complete && is_stored(file) && directory.rename(new, old).is_ok();
        if !is_renamed {
            let _ = directory.unlink(new);
        }
        is_renamed
    });
    // SAFETY: `control` lets only one thread write files.
    let file = if is_in_place { unsafe { kept.replace(file) } } else { file };
    let _ = output::close(file);
    is_in_place
}

/// Whether the contents are stored: some file systems report a failed write only when a descriptor is closed.
fn is_stored(file: Fd) -> bool {
    file.duplicate(0).is_ok_and(|other| other.close().is_ok())
}
