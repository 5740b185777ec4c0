//! Open files and directories, and operations on names.

use core::ffi::CStr;

use super::file_calls::{
    F_DUPFD_CLOEXEC, O_APPEND, O_CLOEXEC, O_CREAT, O_DIRECTORY, O_EXCL, O_LOOKUP, O_NOFOLLOW, O_NONBLOCK, O_RDWR,
    O_WRONLY, poll,
};
use super::limits::{Limit, RLIMIT_NOFILE, limit, set_limit, within_limit};
use super::{Errno, call, numbers};

/// `AT_FDCWD`: the current directory, as a directory argument.
pub(crate) const CURRENT: Fd = Fd(-100);

const POLLOUT: i16 = 4;
const F_GETFL: usize = 3;
const LOCK_EXCLUSIVE: usize = 2;
const LOCK_AT_ONCE: usize = 4;
const LOCK_UNLOCK: usize = 8;

/// The flags with which files are opened for writing.
pub(crate) const WRITING_FLAGS: usize = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;

/// A file descriptor. Dropping an `Fd` does not close the descriptor, because some descriptors stay open until the
/// process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fd(pub(crate) i32);

impl Fd {
    /// Opens a directory for lookups of files.
    pub(crate) fn open_directory(path: &CStr) -> Result<Fd, Errno> {
        CURRENT.open(path, O_LOOKUP | O_DIRECTORY | O_CLOEXEC, 0)
    }

    /// Creates a file in this directory; fails if the file exists.
    pub(crate) fn create_for_writing(self, path: &CStr, mode: usize, to_map: bool) -> Result<Fd, Errno> {
        let access = if to_map { O_RDWR } else { O_WRONLY };
        self.open(path, access | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    }

    /// Removes a file's name from this directory. Processes that have the file open can still use the file.
    pub(crate) fn unlink(self, path: &CStr) -> Result<(), Errno> {
        // SAFETY: the path ends with a NUL and is valid during the call.
        unsafe { call(numbers::UNLINKAT, [self.0 as usize, path.as_ptr().addr(), 0]) }.map(|_| ())
    }

    /// Renames a file in this directory, and replaces an existing file of the new name.
    pub(crate) fn rename(self, from: &CStr, to: &CStr) -> Result<(), Errno> {
        let directory = self.0 as usize;
        // SAFETY: both paths end with a NUL and are valid during the call.
        unsafe { call(numbers::RENAMEAT, [directory, from.as_ptr().addr(), directory, to.as_ptr().addr()]) }.map(|_| ())
    }

    /// Opens an existing file in this directory for writing. Does not follow a symbolic link.
    pub(crate) fn open_existing(self, path: &CStr) -> Result<Fd, Errno> {
        self.open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0)
    }

    /// Opens an existing file in this directory for reading and writing. Does not follow a symbolic link.
    pub(crate) fn open_existing_to_change(self, path: &CStr) -> Result<Fd, Errno> {
        self.open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0)
    }

    /// Opens a file in this directory for writing, and also for reading if `to_map` is set. Creates the file if
    /// necessary. Does not follow a symbolic link, and does not block on a pipe without readers.
    pub(crate) fn open_for_writing(self, path: &CStr, mode: usize, to_map: bool) -> Result<Fd, Errno> {
        let flags = if to_map { WRITING_FLAGS & !O_WRONLY | O_RDWR } else { WRITING_FLAGS };
        self.open(path, flags, mode)
    }

    /// Opens a file in this directory for reading. Does not block on a pipe, and does not follow a symbolic link.
    pub(crate) fn open_regular_for_reading(self, path: &CStr) -> Result<Fd, Errno> {
        self.open(path, O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0)
    }

    pub(super) fn open(self, path: &CStr, flags: usize, mode: usize) -> Result<Fd, Errno> {
        // SAFETY: the path ends with a NUL and is valid during the call.
        let open = || unsafe { call(numbers::OPENAT, [self.0 as usize, path.as_ptr().addr(), flags, mode]) };
        let opened = match open() {
            Err(Errno::EMFILE) => with_more_descriptors(open)?,
            other => other?,
        };
        let file = Fd(opened as i32);
        // If the program closed a standard descriptor, the program would write its output to a file with that number.
        if opened < FIRST_FREE
            && let Ok(higher) = file.duplicate(FIRST_FREE)
        {
            let _ = file.close();
            return Ok(higher);
        }
        Ok(file)
    }

    /// Returns whether the file accepts a write within a number of milliseconds and, for a pipe, has a reader. Returns
    /// true if the system cannot tell.
    pub(crate) fn takes_writing(self, milliseconds: u32) -> bool {
        // struct pollfd: the descriptor, the requested events, the returned events.
        let mut polled = [self.0, i32::from(POLLOUT)];
        let result = poll(&mut polled, milliseconds);
        let [_, events] = polled;
        // The upper half has the returned events; POLLOUT must be the only event, without POLLERR or POLLHUP.
        result.is_err() || (result == Ok(1) && events >> 16 == i32::from(POLLOUT))
    }

    /// Duplicates the descriptor to the lowest free number from `lowest` on, with close-on-exec.
    pub(crate) fn duplicate(self, lowest: usize) -> Result<Fd, Errno> {
        // SAFETY: no pointers.
        let fd = unsafe { call(numbers::FCNTL, [self.0 as usize, F_DUPFD_CLOEXEC, lowest]) }?;
        Ok(Fd(fd as i32))
    }

    /// Returns whether the descriptor is in append mode.
    pub(crate) fn appends(self) -> bool {
        // SAFETY: no pointers.
        unsafe { call(numbers::FCNTL, [self.0 as usize, F_GETFL]) }.is_ok_and(|flags| flags & O_APPEND != 0)
    }

    /// Moves the descriptor to a high number, which programs that close or inspect all low descriptors rarely reach:
    /// the highest free number up to 1023. A higher number would enlarge the descriptor table that each `fork` copies.
    pub(crate) fn out_of_the_way(self) -> Fd {
        const HIGHEST: usize = 1023;
        /// More than the number of descriptors that gmon opens.
        const TRIES: usize = 8;
        let mut lowest = HIGHEST;
        for _ in 0..TRIES {
            if lowest <= self.0 as usize {
                break;
            }
            match self.duplicate(lowest) {
                Ok(high) if high.0 as usize == lowest => {
                    let _ = self.close();
                    return high;
                }
                // The number is in use, so the kernel has taken a higher number.
                Ok(higher) => _ = higher.close(),
                Err(_) => lowest = limit(RLIMIT_NOFILE).map_or(0, |limit| lowest.min(limit.now as usize)),
            }
            lowest = lowest.saturating_sub(1);
        }
        self
    }

    /// Locks the file exclusively; fails with EAGAIN if another process has the lock.
    pub(crate) fn lock(self) -> Result<(), Errno> {
        // SAFETY: no pointers.
        unsafe { call(numbers::FLOCK, [self.0 as usize, LOCK_EXCLUSIVE | LOCK_AT_ONCE]) }.map(|_| ())
    }

    /// Releases the lock of [`Fd::lock`].
    pub(crate) fn unlock(self) -> Result<(), Errno> {
        // SAFETY: no pointers.
        unsafe { call(numbers::FLOCK, [self.0 as usize, LOCK_UNLOCK]) }.map(|_| ())
    }

    /// Reads bytes at an offset, at most the length of `bytes`. Returns the number of bytes.
    pub(crate) fn read_at(self, bytes: &mut [u8], offset: usize) -> Result<usize, Errno> {
        // SAFETY: the kernel writes at most `bytes.len()` bytes.
        unsafe { call(numbers::PREAD, [self.0 as usize, bytes.as_mut_ptr().addr(), bytes.len(), offset]) }
    }

    /// Writes all of `bytes`.
    pub(crate) fn write_all(self, bytes: &[u8]) -> Result<(), Errno> {
        // SAFETY: the kernel reads only bytes of the slice.
        all(bytes.len(), |done, left| unsafe {
            call(numbers::WRITE, [self.0 as usize, bytes.as_ptr().addr() + done, left])
        })
    }

    /// Writes all of `bytes` at an offset.
    pub(crate) fn write_all_at(self, bytes: &[u8], offset: usize) -> Result<(), Errno> {
        self.write_from(bytes.as_ptr().addr(), bytes.len(), offset)
    }

    /// Writes `length` bytes of memory from `address` on to the start of the file.
    ///
    /// # Errors
    ///
    /// EFAULT if a part of the memory is unmapped; the file then has the bytes before that part.
    pub(crate) fn write_memory(self, address: usize, length: usize) -> Result<(), Errno> {
        self.write_from(address, length, 0)
    }

    fn write_from(self, address: usize, length: usize, offset: usize) -> Result<(), Errno> {
        within_limit(offset + length)?;
        all(length, |done, left| {
            let arguments = [self.0 as usize, address.wrapping_add(done), left, offset + done];
            // SAFETY: the kernel only reads, and checks the addresses.
            unsafe { call(numbers::PWRITE, arguments) }
        })
    }

    /// Truncates the file to length 0.
    pub(crate) fn truncate(self) -> Result<(), Errno> {
        self.set_length(0)
    }

    /// Sets the file's length. New bytes are zero.
    pub(crate) fn set_length(self, length: usize) -> Result<(), Errno> {
        within_limit(length)?;
        // SAFETY: no pointers.
        unsafe { call(numbers::FTRUNCATE, [self.0 as usize, length]) }.map(|_| ())
    }

    /// Closes the descriptor. Some file systems report a failed write only at close.
    pub(crate) fn close(self) -> Result<(), Errno> {
        // SAFETY: no pointers.
        unsafe { call(numbers::CLOSE, [self.0 as usize]) }.map(|_| ())
    }
}

/// The lowest descriptor that is not standard input, output or error.
const FIRST_FREE: usize = 3;

/// Repeats a call that failed with EMFILE, with the limit of descriptors raised to the hard limit meanwhile.
pub(super) fn with_more_descriptors(open: impl FnOnce() -> Result<usize, Errno>) -> Result<usize, Errno> {
    let Some(before) = limit(RLIMIT_NOFILE).filter(|limit| limit.now < limit.most) else { return Err(Errno::EMFILE) };
    set_limit(RLIMIT_NOFILE, Limit { now: before.most, most: before.most })?;
    let opened = open();
    let _ = set_limit(RLIMIT_NOFILE, before);
    opened
}

/// Calls `write` until all `length` bytes are written. `write` takes the number of written bytes and the number of
/// remaining bytes.
fn all(length: usize, write: impl Fn(usize, usize) -> Result<usize, Errno>) -> Result<(), Errno> {
    let mut done = 0;
    while done < length {
        match write(done, length - done) {
            Ok(0) => return Err(Errno::EFBIG),
            Ok(written) => done += written,
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
