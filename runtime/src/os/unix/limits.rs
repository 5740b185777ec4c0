//! Resource limits of the process.

use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::Errno;
pub(super) use super::file_calls::RLIMIT_NOFILE;
use super::file_calls::{HOLDS_LITTLE, read_limit, write_limit};

use crate::state::Inherited;

/// The limit of the size of files.
const RLIMIT_FSIZE: usize = 1;

/// The soft and the hard limit: `struct rlimit`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Limit {
    pub(super) now: u64,
    pub(super) most: u64,
}

/// Returns a limit, if the kernel reports the limit. Called below mcount.
pub(super) fn limit(of: usize) -> Option<Limit> {
    let mut found = MaybeUninit::<Limit>::uninit();
    // SAFETY: the kernel writes the structure.
    unsafe { read_limit(of, found.as_mut_ptr().addr()) }.ok()?;
    let start: *const Limit = found.as_ptr();
    // SAFETY: the kernel has written the structure. Reads are word by word, because code below mcount must not use
    // vector registers.
    unsafe {
        Some(Limit { now: (&raw const (*start).now).read_volatile(), most: (&raw const (*start).most).read_volatile() })
    }
}

/// Sets a limit.
pub(super) fn set_limit(of: usize, limit: Limit) -> Result<(), Errno> {
    // SAFETY: the kernel reads the structure.
    unsafe { write_limit(of, (&raw const limit).addr()) }.map(|_| ())
}

/// Fails with EFBIG if a file may not have the size. A write beyond the limit would kill the process with SIGXFSZ.
/// Called below mcount.
///
/// If only the soft limit forbids the size, the soft limit becomes the hard limit until [`restore_limit`].
pub(super) fn within_limit(size: usize) -> Result<(), Errno> {
    match limit(RLIMIT_FSIZE) {
        Some(limit) if size as u64 > limit.now => {
            if !HOLDS_LITTLE
                || size as u64 > limit.most
                || set_limit(RLIMIT_FSIZE, Limit { now: limit.most, ..limit }).is_err()
            {
                return Err(Errno::EFBIG);
            }
            LOWERED.store(limit.now.wrapping_add(1), Relaxed);
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The soft limit of the size of files before [`within_limit`] changed it, plus 1; 0 if it is unchanged.
static LOWERED: Inherited<AtomicU64> =
    Inherited::new("set while files are written; the child restores the limit", AtomicU64::new(0));

/// Restores the soft limit of the size of files. Call this after each writing of files.
pub(crate) fn restore_limit() {
    if !HOLDS_LITTLE {
        return;
    }
    let before = LOWERED.swap(0, Relaxed);
    if let Some(now) = before.checked_sub(1)
        && let Some(limit) = limit(RLIMIT_FSIZE)
    {
        let _ = set_limit(RLIMIT_FSIZE, Limit { now, ..limit });
    }
}
