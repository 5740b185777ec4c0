//! Resource limits of the process.

use core::mem::MaybeUninit;

use super::Errno;
pub(super) use super::file_calls::RLIMIT_NOFILE;
use super::file_calls::{read_limit, write_limit};

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
    // SAFETY: the kernel has written the structure. Reads are word by word, because code below mcount must not use vector registers.
    unsafe {
        Some(Limit { now: (&raw const (*start).now).read_volatile(), most: (&raw const (*start).most).read_volatile() })
    }
}

/// Sets a limit.
pub(super) fn set_limit(of: usize, limit: Limit) -> Result<(), Errno> {
    // SAFETY: the kernel reads the structure.
    unsafe { write_limit(of, (&raw const limit).addr()) }.map(|_| ())
}

/// Fails with EFBIG if a file may not have the size. A write beyond the limit would kill the process with SIGXFSZ. Called below mcount.
pub(super) fn within_limit(size: usize) -> Result<(), Errno> {
    if limit(RLIMIT_FSIZE).is_some_and(|limit| size as u64 > limit.now) { Err(Errno::EFBIG) } else { Ok(()) }
}
