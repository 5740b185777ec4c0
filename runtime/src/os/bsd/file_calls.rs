//! The flags of files, and the calls of the BSDs that other systems make in other ways.

pub(super) use super::constants::{F_DUPFD_CLOEXEC, O_CLOEXEC, O_LOOKUP};
pub(super) use super::open_flags::{O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDWR, O_WRONLY};
use super::{Errno, call, numbers};

/// The limit of the number of descriptors (`sys/resource.h`).
pub(super) const RLIMIT_NOFILE: usize = 8;

/// Whether the runtime finds its directory again by the path, and so holds no descriptor, and writes beyond the soft
/// limit of the size of files. Otherwise the runtime holds the directory, which takes less code.
pub const HOLDS_LITTLE: bool = false;

/// Waits at most this number of milliseconds for the events of a `struct pollfd`.
pub(super) fn poll(polled: &mut [i32; 2], milliseconds: u32) -> Result<usize, Errno> {
    // SAFETY: the kernel reads and writes one 8-byte structure.
    unsafe { call(numbers::POLL, [polled.as_mut_ptr().addr(), 1, milliseconds as usize]) }
}

/// Reads a limit.
///
/// # Safety
///
/// There must be room for a `struct rlimit` at the address.
pub(super) unsafe fn read_limit(of: usize, to: usize) -> Result<usize, Errno> {
    // SAFETY: the caller guarantees the room that the kernel writes.
    unsafe { call(numbers::GETRLIMIT, [of, to]) }
}

/// Sets a limit.
///
/// # Safety
///
/// There must be a `struct rlimit` at the address.
pub(super) unsafe fn write_limit(of: usize, from: usize) -> Result<usize, Errno> {
    // SAFETY: the caller guarantees the structure that the kernel reads.
    unsafe { call(numbers::SETRLIMIT, [of, from]) }
}
