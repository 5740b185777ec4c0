//! The flags of files, and the calls of Linux that other systems make in other ways.

pub(super) use super::machine::{O_DIRECTORY, O_NOFOLLOW};
use super::{Errno, call, numbers};

pub(super) const O_WRONLY: usize = 0o1;
pub(crate) const O_RDWR: usize = 0o2;
pub(super) const O_CREAT: usize = 0o100;
pub(super) const O_EXCL: usize = 0o200;
pub(super) const O_APPEND: usize = 0o2000;
pub(super) const O_NONBLOCK: usize = 0o4000;
pub(super) const O_CLOEXEC: usize = 0o2_000_000;
/// Opens a directory without permission to read the directory: O_PATH.
pub(super) const O_LOOKUP: usize = 0o10_000_000;
pub(super) const F_DUPFD_CLOEXEC: usize = 1030;

/// The limit of the number of descriptors (`asm-generic/resource.h`).
pub(super) const RLIMIT_NOFILE: usize = 7;

/// Whether the runtime finds its directory again by the path, and so holds no descriptor, and writes beyond the soft
/// limit of the size of files. Otherwise the runtime holds the directory, which takes less code.
pub const HOLDS_LITTLE: bool = true;

/// Waits at most this number of milliseconds for the events of a `struct pollfd`.
pub(super) fn poll(polled: &mut [i32; 2], milliseconds: u32) -> Result<usize, Errno> {
    let time = [0, u64::from(milliseconds) * 1_000_000];
    let arguments = [polled.as_mut_ptr().addr(), 1, time.as_ptr().addr(), 0, 0];
    // SAFETY: the kernel reads and writes one 8-byte structure, and a struct timespec.
    unsafe { call(numbers::PPOLL, arguments) }
}

/// Reads a limit.
///
/// # Safety
///
/// There must be room for a `struct rlimit` at the address.
pub(super) unsafe fn read_limit(of: usize, to: usize) -> Result<usize, Errno> {
    // SAFETY: the caller guarantees the room that the kernel writes.
    unsafe { call(numbers::PRLIMIT, [0, of, 0, to]) }
}

/// Sets a limit.
///
/// # Safety
///
/// There must be a `struct rlimit` at the address.
pub(super) unsafe fn write_limit(of: usize, from: usize) -> Result<usize, Errno> {
    // SAFETY: the caller guarantees the structure that the kernel reads.
    unsafe { call(numbers::PRLIMIT, [0, of, from, 0]) }
}
