//! The process's limits on descriptors and on the size of files.

use core::mem::MaybeUninit;

use super::super::machine::numbers;
use super::super::{Errno, call};

const RLIMIT_FSIZE: usize = 1;
const RLIMIT_NOFILE: usize = 7;

/// The soft and the hard limit of the number of descriptors.
pub(super) fn descriptors_limit() -> Option<[u64; 2]> {
    let mut limit = [0_u64; 2];
    // SAFETY: the kernel writes a struct rlimit, two words.
    let known = unsafe { call(numbers::PRLIMIT, [0, RLIMIT_NOFILE, 0, limit.as_mut_ptr().addr()]) };
    known.is_ok().then_some(limit)
}

/// Repeats a call that failed for lack of a descriptor, with the soft limit raised to the hard limit.
pub(super) fn with_more_descriptors(open: impl Fn() -> Result<usize, Errno>) -> Result<usize, Errno> {
    let Some(limit) = descriptors_limit() else { return Err(Errno::EMFILE) };
    let [now, most] = limit;
    // SAFETY: the kernel reads a struct rlimit, two words.
    let set = |limit: [u64; 2]| unsafe { call(numbers::PRLIMIT, [0, RLIMIT_NOFILE, limit.as_ptr().addr(), 0]) };
    if now >= most {
        return Err(Errno::EMFILE);
    }
    set([most, most])?;
    let opened = open();
    let _ = set(limit);
    opened
}

/// Checks that a file may have this size: beyond the limit the process would get a fatal signal. May be called below
/// mcount.
pub(in super::super) fn within_limit(size: usize) -> Result<(), Errno> {
    let mut limit = MaybeUninit::<[u64; 2]>::uninit();
    // SAFETY: the kernel writes a struct rlimit, two words.
    let known = unsafe { call(numbers::PRLIMIT, [0, RLIMIT_FSIZE, 0, limit.as_mut_ptr().addr()]) };
    // SAFETY: the first word was written if the call succeeded.
    if known.is_ok() && size as u64 > unsafe { limit.as_ptr().cast::<u64>().read_volatile() } {
        return Err(Errno::EFBIG);
    }
    Ok(())
}
