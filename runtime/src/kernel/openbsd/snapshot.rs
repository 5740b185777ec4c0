//! The file of `gmon_dump`: the kernel writes the file only when the process ends.
//!
//! The snapshot has the name of the kernel's file, so that the kernel replaces the snapshot at the end.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::file::output::{self, Refusal};
use crate::os::{Errno, Fd, effective_user, may_create_files};
use crate::state::Inherited;

/// The user of the first call of `profil`. At the end, the kernel replaces only a file of this user.
static USER: Inherited<AtomicU32> =
    Inherited::new("the child inherits the kernel's record of the user", AtomicU32::new(0));

/// Remembers the user of the first call of `profil`.
pub(super) fn remember_user() {
    USER.store(effective_user(), Relaxed);
}

/// Opens the directory and the file at start-up: snapshots then need no promise of pledge(2) but "stdio", and no right
/// to create files.
pub(crate) fn open_beforehand(directory: Option<Fd>) -> Result<(), Refusal> {
    remember_directory(directory)?;
    output::keep_new_file()
}

/// Remembers the directory of the file, the current directory for `None`. Only the first call has an effect.
pub(crate) fn remember_directory(directory: Option<Fd>) -> Result<(), Refusal> {
    output::capture_directory(directory).map_err(|error| (&b"open its directory"[..], error))
}

/// Opens the file of a snapshot, empty: the file that was opened at start-up, or else a new file. The directory is the
/// one that was remembered at start-up, or else the current directory.
pub(super) fn open() -> Result<Fd, Refusal> {
    if let Some(kept) = output::kept_file() {
        return kept.truncate().map_err(|error| (&b"empty"[..], error)).map(|()| kept);
    }
    if may_create_files() && effective_user() != USER.load(Relaxed) {
        // The kernel would find a file of another user in the place of its own, and write nothing.
        return Err((b"open as another user, set GMON_LIVE=1 to open it at the start", Errno::EPERM));
    }
    match remember_directory(None).and_then(|()| output::open(false)) {
        Err((_, Errno::EPERM)) if !may_create_files() => {
            let what = b"open without the promises rpath, wpath and cpath, set GMON_LIVE=1 to open it at the start";
            Err((what, Errno::EPERM))
        }
        opened => opened,
    }
}
