//! The limits of the process.

use core::mem::MaybeUninit;

use super::{Errno, call, numbers};

/// The size of a file, the number of descriptors, and memory (`sys/resource.h`).
pub(super) const FSIZE: usize = 1;
pub(super) const NOFILE: usize = 8;
pub(super) const DATA: usize = 2;

/// A limit as it is now, and the most that the process may make of it: `struct rlimit`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Limit {
    pub(super) now: u64,
    pub(super) most: u64,
}

/// A limit, if the kernel says. Below mcount.
pub(super) fn limit(of: usize) -> Option<Limit> {
    let mut found = MaybeUninit::<Limit>::uninit();
    // SAFETY: the kernel writes the structure.
    unsafe { call(numbers::GETRLIMIT, [of, found.as_mut_ptr().addr()]) }.ok()?;
    let start: *const Limit = found.as_ptr();
    // SAFETY: it has. Word by word: below mcount no vector register may be used.
    unsafe {
        Some(Limit { now: (&raw const (*start).now).read_volatile(), most: (&raw const (*start).most).read_volatile() })
    }
}

/// Sets a limit.
pub(super) fn set_limit(of: usize, limit: Limit) -> Result<(), Errno> {
    // SAFETY: the kernel reads the structure.
    unsafe { call(numbers::SETRLIMIT, [of, (&raw const limit).addr()]) }.map(|_| ())
}

/// Whether a file may be so long: beyond the limit the process would get a signal that kills. Below mcount.
pub(super) fn within_limit(size: usize) -> Result<(), Errno> {
    if limit(FSIZE).is_some_and(|limit| size as u64 > limit.now) { Err(Errno::EFBIG) } else { Ok(()) }
}
