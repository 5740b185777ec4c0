//! Open files and directories, and operations on names.

use core::ffi::CStr;

use super::super::machine::{O_DIRECTORY, O_NOFOLLOW, numbers};
use super::super::{Errno, call};
use super::limits::{descriptors_limit, with_more_descriptors, within_limit};
use crate::text::Text;

/// `AT_FDCWD`, which stands for the current directory.
pub(crate) const CURRENT: Fd = Fd(-100);

const POLLOUT: i16 = 4;
const F_GETFD: usize = 1;
const F_GETFL: usize = 3;
const F_DUPFD_CLOEXEC: usize = 1030;
const LOCK_EXCLUSIVE: usize = 2;
const LOCK_AT_ONCE: usize = 4;
const LOCK_UNLOCK: usize = 8;
const SEEK_DATA: usize = 3;
const O_WRONLY: usize = 0o1;
pub(crate) const O_RDWR: usize = 0o2;
const O_CREAT: usize = 0o100;
const O_EXCL: usize = 0o200;
const O_APPEND: usize = 0o2000;
const O_NONBLOCK: usize = 0o4000;
const O_CLOEXEC: usize = 0o2_000_000;
const O_PATH: usize = 0o10_000_000;

/// The flags with which files are opened for writing.
pub(crate) const WRITING_FLAGS: usize = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;

/// An open file. The value does not close the file when dropped, because some files stay open for the life of the
/// process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fd(pub(crate) i32);

impl Fd {
    /// Opens a directory only to find files in it, which needs no permission to read the directory.
    pub(crate) fn open_directory(path: &CStr) -> Result<Fd, Errno> {
        CURRENT.open(path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0)
    }

    /// Creates a file in this directory; fails if the name exists.
    pub(crate) fn create_for_writing(self, path: &CStr, mode: usize, to_map: bool) -> Result<Fd, Errno> {
        let access = if to_map { O_RDWR } else { O_WRONLY };
        self.open(path, access | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    }

    /// Removes a name from this directory; processes that have the file open keep it.
    pub(crate) fn unlink(self, path: &CStr) -> Result<(), Errno> {
        // SAFETY: the path ends with a NUL and lives during the call.
        unsafe { call(numbers::UNLINKAT, [self.0 as usize, path.as_ptr().addr(), 0]) }.map(|_| ())
    }

    /// Renames a file of this directory; a file with the new name is replaced.
    pub(crate) fn rename(self, from: &CStr, to: &CStr) -> Result<(), Errno> {
        let directory = self.0 as usize;
        // SAFETY: both paths end with a NUL and live during the call.
        unsafe { call(numbers::RENAMEAT, [directory, from.as_ptr().addr(), directory, to.as_ptr().addr()]) }.map(|_| ())
    }

    /// Opens an existing file of this directory for writing. A symbolic link is not followed.
    pub(crate) fn open_existing(self, path: &CStr) -> Result<Fd, Errno> {
        self.open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0)
    }

    /// Opens a file of this directory for writing, and also for reading if it is to be mapped; creates the file if
    /// necessary. A symbolic link is not followed, and a pipe without a reader does not block.
    pub(crate) fn open_for_writing(self, path: &CStr, mode: usize, to_map: bool) -> Result<Fd, Errno> {
        let flags = if to_map { WRITING_FLAGS & !O_WRONLY | O_RDWR } else { WRITING_FLAGS };
        self.open(path, flags, mode)
    }

    fn open(self, path: &CStr, flags: usize, mode: usize) -> Result<Fd, Errno> {
        // SAFETY: the path ends with a NUL and lives during the call.
        let open = || unsafe { call(numbers::OPENAT, [self.0 as usize, path.as_ptr().addr(), flags, mode]) };
        let opened = match open() {
            Err(Errno::EMFILE) => with_more_descriptors(open)?,
            other => other?,
        };
        let file = Fd(opened as i32);
        // If the program has closed a standard file, it may still write to that number.
        if opened < FIRST_FREE
            && let Ok(higher) = file.duplicate(FIRST_FREE)
        {
            let _ = file.close();
            return Ok(higher);
        }
        Ok(file)
    }

    /// Whether a write is possible within this number of milliseconds and a reader may exist. If the system does not
    /// say, the result is true.
    pub(crate) fn takes_writing(self, milliseconds: u32) -> bool {
        // struct pollfd: the descriptor, the wanted events, and the events that are reported.
        let mut polled = [self.0, i32::from(POLLOUT)];
        let time = [0, u64::from(milliseconds) * 1_000_000];
        let arguments = [polled.as_mut_ptr().addr(), 1, time.as_ptr().addr(), 0, 0];
        // SAFETY: the kernel reads and writes one structure of eight bytes, and a struct timespec.
        let result = unsafe { call(numbers::PPOLL, arguments) };
        let [_, events] = polled;
        // The upper half has the reported events: there must be no error or hangup.
        result.is_err() || (result == Ok(1) && events >> 16 == i32::from(POLLOUT))
    }

    /// Duplicates the descriptor, to a number that is not below `lowest`, closed at exec.
    pub(crate) fn duplicate(self, lowest: usize) -> Result<Fd, Errno> {
        // SAFETY: no pointers.
        let fd = unsafe { call(numbers::FCNTL, [self.0 as usize, F_DUPFD_CLOEXEC, lowest]) }?;
        Ok(Fd(fd as i32))
    }

    fn is_open(self) -> bool {
        // SAFETY: no pointers.
        unsafe { call(numbers::FCNTL, [self.0 as usize, F_GETFD]) }.is_ok()
    }

    /// Whether all writes go to the end of the file.
    pub(crate) fn appends(self) -> bool {
        // SAFETY: no pointers.
        unsafe { call(numbers::FCNTL, [self.0 as usize, F_GETFL]) }.is_ok_and(|flags| flags & O_APPEND != 0)
    }

    /// Moves the descriptor to the highest free number that does not enlarge the table of descriptors, which each
    /// fork copies. Programs that close all descriptors up to some number, or examine their inherited descriptors, do
    /// not reach that number.
    pub(crate) fn out_of_the_way(self) -> Fd {
        const HIGHEST: usize = 1023;
        /// More descriptors than the runtime ever has.
        const TRIES: usize = 8;
        let [limit, _] = descriptors_limit().unwrap_or([0; 2]);
        let highest = (limit as usize).saturating_sub(1).min(HIGHEST);
        for lowest in (0..=highest).rev().take(TRIES) {
            // `duplicate` would skip a number in use and return a higher one.
            if lowest > self.0 as usize
                && !Fd(lowest as i32).is_open()
                && let Ok(high) = self.duplicate(lowest)
            {
                let _ = self.close();
                return high;
            }
        }
        self
    }

    /// Appends the current path of the open file to `path`.
    pub(crate) fn push_path<const N: usize>(self, path: &mut Text<N>) {
        let mut link = Text::<32>::new();
        link.push(b"/proc/self/fd/");
        link.push_decimal(u64::from(self.0.unsigned_abs()));
        if let Some(link) = link.as_c_str() {
            path.fill(|room| read_link(link, room));
        }
    }

    /// Extends the file by `length` zeros from `offset` on, and allocates room for them.
    pub(crate) fn extend(self, offset: usize, length: usize) -> Result<(), Errno> {
        within_limit(offset + length)?;
        // SAFETY: no pointers.
        unsafe { call(numbers::FALLOCATE, [self.0 as usize, 0, offset, length]) }.map(|_| ())
    }

    /// Opens a file of this directory for reading.
    pub(crate) fn open_for_reading(self, path: &CStr) -> Result<Fd, Errno> {
        self.open(path, O_CLOEXEC, 0)
    }

    /// As [`Fd::open_for_reading`], but a pipe does not block, and a symbolic link is not followed.
    pub(crate) fn open_regular_for_reading(self, path: &CStr) -> Result<Fd, Errno> {
        self.open(path, O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0)
    }

    /// Locks the file for this process alone; EAGAIN if another process has the lock.
    pub(crate) fn lock(self) -> Result<(), Errno> {
        // SAFETY: no pointers.
        unsafe { call(numbers::FLOCK, [self.0 as usize, LOCK_EXCLUSIVE | LOCK_AT_ONCE]) }.map(|_| ())
    }

    /// Undoes [`Fd::lock`].
    pub(crate) fn unlock(self) -> Result<(), Errno> {
        // SAFETY: no pointers.
        unsafe { call(numbers::FLOCK, [self.0 as usize, LOCK_UNLOCK]) }.map(|_| ())
    }

    /// The offset of the next data that is not in a hole; `None` if there is none.
    pub(crate) fn next_data(self, offset: usize) -> Option<usize> {
        // SAFETY: no pointers.
        match unsafe { call(numbers::LSEEK, [self.0 as usize, offset, SEEK_DATA]) } {
            Ok(data) => Some(data),
            Err(Errno::ENXIO) => None,
            // The file system does not support the question.
            Err(_) => Some(offset),
        }
    }

    /// Reads the next bytes, at most as many as fit; 0 at the end of the file.
    pub(crate) fn read(self, bytes: &mut [u8]) -> Result<usize, Errno> {
        // SAFETY: the kernel writes no more bytes than there is room for.
        unsafe { call(numbers::READ, [self.0 as usize, bytes.as_mut_ptr().addr(), bytes.len()]) }
    }

    /// Reads the bytes at an offset, at most as many as fit.
    pub(crate) fn read_at(self, bytes: &mut [u8], offset: usize) -> Result<usize, Errno> {
        // SAFETY: the kernel writes no more bytes than there is room for.
        unsafe { call(numbers::PREAD, [self.0 as usize, bytes.as_mut_ptr().addr(), bytes.len(), offset]) }
    }

    /// Writes all of `bytes`.
    pub(crate) fn write_all(self, bytes: &[u8]) -> Result<(), Errno> {
        // SAFETY: the kernel reads the slice.
        all(bytes, |left, _| unsafe { call(numbers::WRITE, [self.0 as usize, left.as_ptr().addr(), left.len()]) })
    }

    /// Writes all of `bytes` at an offset.
    pub(crate) fn write_all_at(self, bytes: &[u8], offset: usize) -> Result<(), Errno> {
        within_limit(offset + bytes.len())?;
        all(bytes, |left, done| {
            let arguments = [self.0 as usize, left.as_ptr().addr(), left.len(), offset + done];
            // SAFETY: the kernel reads the slice.
            unsafe { call(numbers::PWRITE, arguments) }
        })
    }

    /// Makes the file empty.
    pub(crate) fn truncate(self) -> Result<(), Errno> {
        self.set_length(0)
    }

    /// Sets the length of the file; new bytes are zero.
    pub(crate) fn set_length(self, length: usize) -> Result<(), Errno> {
        within_limit(length)?;
        // SAFETY: no pointers.
        unsafe { call(numbers::FTRUNCATE, [self.0 as usize, length]) }.map(|_| ())
    }

    /// Closes the descriptor. Some file systems report only here that data did not reach the disk.
    pub(crate) fn close(self) -> Result<(), Errno> {
        // SAFETY: no pointers.
        unsafe { call(numbers::CLOSE, [self.0 as usize]) }.map(|_| ())
    }
}

/// The first descriptor that is not a standard file.
const FIRST_FREE: usize = 3;

/// The process's umask, which stays unchanged. Call this at start-up, while there is one thread.
pub(crate) fn file_mask() -> usize {
    // SAFETY: no pointers; the call cannot fail.
    let set = |mask: usize| unsafe { call(numbers::UMASK, [mask]) }.unwrap_or(0);
    let mask = set(0o077);
    set(mask);
    mask
}

/// Reads the target of a symbolic link into `room`. The result is the length of the target; 0 if the link cannot be read.
#[inline(never)]
fn read_link(link: &CStr, room: &mut [u8]) -> usize {
    let arguments = [CURRENT.0 as usize, link.as_ptr().addr(), room.as_mut_ptr().addr(), room.len()];
    // SAFETY: the kernel writes no more bytes than there is room for.
    unsafe { call(numbers::READLINKAT, arguments) }.unwrap_or(0)
}

/// Appends the path of the program's executable file to `path`; nothing if the path cannot be read.
pub(crate) fn push_program_path<const N: usize>(path: &mut Text<N>) {
    path.fill(|room| {
        let length = read_link(c"/proc/self/exe", room);
        let found = room.get(..length).unwrap_or_default();
        found.strip_suffix(DELETED).unwrap_or(found).len()
    });
}

/// The suffix that the kernel appends to the path of a file without a name.
pub(in super::super) const DELETED: &[u8] = b" (deleted)";

/// Writes all bytes. `write` gets the remaining bytes and the number of bytes written so far.
fn all(bytes: &[u8], write: impl Fn(&[u8], usize) -> Result<usize, Errno>) -> Result<(), Errno> {
    let mut done = 0;
    while let Some(left) = bytes.get(done..).filter(|left| !left.is_empty()) {
        match write(left, done) {
            Ok(0) => return Err(Errno::EFBIG),
            Ok(written) => done += written,
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Whether a file can be opened and written behind a seccomp filter, for which `permits` answers.
pub(crate) fn can_write_files(permits: impl Fn(usize, [usize; 3]) -> bool) -> bool {
    let descriptor = 3;
    permits(numbers::OPENAT, [descriptor, 0, WRITING_FLAGS])
        && [numbers::STATX, numbers::UNLINKAT, numbers::PWRITE, numbers::FTRUNCATE, numbers::CLOSE]
            .into_iter()
            .all(|number| permits(number, [descriptor, 0, 0]))
}
