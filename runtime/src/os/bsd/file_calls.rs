//! The flags of files, and the calls of the BSDs that other systems make in other ways.

pub(super) use super::constants::{F_DUPFD_CLOEXEC, O_CLOEXEC, O_LOOKUP};
use super::{Errno, call, numbers};

#[allow(dead_code, reason = "only OpenBSD examines the flags of a call")]
pub(super) const O_ACCESS: usize = 3;
pub(super) const O_WRONLY: usize = 1;
pub(crate) const O_RDWR: usize = 2;
pub(super) const O_NONBLOCK: usize = 4;
pub(super) const O_APPEND: usize = 8;
pub(super) const O_NOFOLLOW: usize = 0x100;
pub(super) const O_CREAT: usize = 0x200;
pub(super) const O_EXCL: usize = 0x800;
pub(super) const O_DIRECTORY: usize = 0x2_0000;

/// The limit of the number of descriptors (`sys/resource.h`).
pub(super) const RLIMIT_NOFILE: usize = 8;

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
