//! Files and directories.

use core::ffi::CStr;

use super::limits::{Limit, NOFILE, limit, set_limit, within_limit};
use super::{Errno, call, numbers};
use crate::text::Text;

/// `AT_FDCWD`: stands for the current directory where a directory is asked for.
pub(crate) const CURRENT: Fd = Fd(-100);

const POLLOUT: i16 = 4;
const F_GETFD: usize = 1;
const F_GETFL: usize = 3;
const F_DUPFD_CLOEXEC: usize = 10;
const LOCK_EXCLUSIVE: usize = 2;
const LOCK_AT_ONCE: usize = 4;
const LOCK_UNLOCK: usize = 8;
const O_WRONLY: usize = 1;
pub(crate) const O_RDWR: usize = 2;
const O_NONBLOCK: usize = 4;
const O_APPEND: usize = 8;
const O_NOFOLLOW: usize = 0x100;
const O_CREAT: usize = 0x200;
const O_EXCL: usize = 0x800;
const O_DIRECTORY: usize = 0x2_0000;
const O_CLOEXEC: usize = 0x1_0000;

/// An open file. It is not closed by itself: some live as long as the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fd(pub(crate) i32);

impl Fd {
    /// Opens a directory to find files in it.
    pub(crate) fn open_directory(path: &CStr) -> Result<Fd, Errno> {
        CURRENT.open(path, O_DIRECTORY | O_CLOEXEC, 0)
    }

    /// Makes a file in this directory that was not there.
    pub(crate) fn create_for_writing(self, path: &CStr, mode: usize, to_map: bool) -> Result<Fd, Errno> {
        let access = if to_map { O_RDWR } else { O_WRONLY };
        self.open(path, access | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    }

    /// Takes a file's name out of this directory; whoever has it open keeps it.
    pub(crate) fn unlink(self, path: &CStr) -> Result<(), Errno> {
        // SAFETY: the path ends with a NUL and lives through the call.
        unsafe { call(numbers::UNLINKAT, [self.0 as usize, path.as_ptr().addr(), 0]) }.map(|_| ())
    }

    /// Gives a file of this directory another name in it, in the place of the file that has it, if there is one.
    pub(crate) fn rename(self, from: &CStr, to: &CStr) -> Result<(), Errno> {
        let directory = self.0 as usize;
        // SAFETY: both paths end with a NUL and live through the call.
        unsafe { call(numbers::RENAMEAT, [directory, from.as_ptr().addr(), directory, to.as_ptr().addr()]) }.map(|_| ())
    }

    /// Opens a file of this directory that is there for writing. A symbolic link is not followed.
    pub(crate) fn open_existing(self, path: &CStr) -> Result<Fd, Errno> {
        self.open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0)
    }

    /// Opens a file of this directory for writing, creating it if need be, and for reading as well if it is to be mapped.
    /// A symbolic link is not followed, and a pipe that nobody reads does not block.
    pub(crate) fn open_for_writing(self, path: &CStr, mode: usize, to_map: bool) -> Result<Fd, Errno> {
        let access = if to_map { O_RDWR } else { O_WRONLY };
        self.open(path, access | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, mode)
    }

    /// Opens a file of this directory for reading, without waiting for a pipe, and without following a symbolic link.
    pub(crate) fn open_regular_for_reading(self, path: &CStr) -> Result<Fd, Errno> {
        self.open(path, O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0)
    }

    fn open(self, path: &CStr, flags: usize, mode: usize) -> Result<Fd, Errno> {
        // SAFETY: the path ends with a NUL and lives through the call.
        let open = || unsafe { call(numbers::OPENAT, [self.0 as usize, path.as_ptr().addr(), flags, mode]) };
        let opened = match open() {
            Err(Errno::EMFILE) => with_more_descriptors(open)?,
            other => other?,
        };
        let file = Fd(opened as i32);
        // Where the program has closed a standard file, it writes to what has its number.
        if opened < FIRST_FREE
            && let Ok(higher) = file.duplicate(FIRST_FREE)
        {
            let _ = file.close();
            return Ok(higher);
        }
        Ok(file)
    }

    /// Whether something can be written without waiting for longer than so many milliseconds, and somebody may read it. Where
    /// the system does not say, it is so.
    pub(crate) fn takes_writing(self, milliseconds: u32) -> bool {
        // struct pollfd: the descriptor, the events that are waited for, those that there are.
        let mut polled = [self.0, i32::from(POLLOUT)];
        // SAFETY: the kernel reads and writes one structure of eight bytes.
        let result = unsafe { call(numbers::POLL, [polled.as_mut_ptr().addr(), 1, milliseconds as usize]) };
        let [_, events] = polled;
        // In the upper half is what there is: not an error or a hangup beside.
        result.is_err() || (result == Ok(1) && events >> 16 == i32::from(POLLOUT))
    }

    /// Another descriptor for the same open file, not below `lowest`, closed at exec.
    pub(crate) fn duplicate(self, lowest: usize) -> Result<Fd, Errno> {
        // SAFETY: no pointers.
        let fd = unsafe { call(numbers::FCNTL, [self.0 as usize, F_DUPFD_CLOEXEC, lowest]) }?;
        Ok(Fd(fd as i32))
    }

    fn is_open(self) -> bool {
        // SAFETY: no pointers.
        unsafe { call(numbers::FCNTL, [self.0 as usize, F_GETFD]) }.is_ok()
    }

    /// Whether all that is written goes to the end.
    pub(crate) fn appends(self) -> bool {
        // SAFETY: no pointers.
        unsafe { call(numbers::FCNTL, [self.0 as usize, F_GETFL]) }.is_ok_and(|flags| flags & O_APPEND != 0)
    }

    /// Moves the descriptor to a number that programs do not reach which close "all" their descriptors up to some number, or
    /// look at those that they were given: the highest that is free and does not make the table longer that each fork copies.
    pub(crate) fn out_of_the_way(self) -> Fd {
        const HIGHEST: usize = 1023;
        /// More than we ever have.
        const TRIES: usize = 8;
        let highest = limit(NOFILE).map_or(0, |limit| (limit.now as usize).saturating_sub(1).min(HIGHEST));
        for lowest in (0..=highest).rev().take(TRIES) {
            // One that is taken would lead to a higher one.
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

    /// Appends the path of the open file to `path`: nothing, because the kernel does not know the path.
    pub(crate) fn push_path<const N: usize>(self, _path: &mut Text<N>) {}

    /// Makes the file longer by `length` zeros from `offset` on. No call makes room for them beforehand.
    pub(crate) fn extend(self, offset: usize, length: usize) -> Result<(), Errno> {
        self.set_length(offset + length)
    }

    /// Locks the file for this process alone; EAGAIN if another one has it.
    pub(crate) fn lock(self) -> Result<(), Errno> {
        // SAFETY: no pointers.
        unsafe { call(numbers::FLOCK, [self.0 as usize, LOCK_EXCLUSIVE | LOCK_AT_ONCE]) }.map(|_| ())
    }

    /// Undoes [`Fd::lock`].
    pub(crate) fn unlock(self) -> Result<(), Errno> {
        // SAFETY: no pointers.
        unsafe { call(numbers::FLOCK, [self.0 as usize, LOCK_UNLOCK]) }.map(|_| ())
    }

    /// Where from an offset on the file has something that is no hole: at once, because the kernel does not tell of holes.
    pub(crate) fn next_data(self, offset: usize) -> Option<usize> {
        Some(offset)
    }

    /// Reads what stands at an offset, as much as there is and fits.
    pub(crate) fn read_at(self, bytes: &mut [u8], offset: usize) -> Result<usize, Errno> {
        // SAFETY: the kernel writes no more than there is room for.
        unsafe { call(numbers::PREAD, [self.0 as usize, bytes.as_mut_ptr().addr(), bytes.len(), offset]) }
    }

    /// Writes all of `bytes`.
    pub(crate) fn write_all(self, bytes: &[u8]) -> Result<(), Errno> {
        // SAFETY: the kernel reads the slice.
        all(bytes.len(), |done, left| unsafe {
            call(numbers::WRITE, [self.0 as usize, bytes.as_ptr().addr() + done, left])
        })
    }

    /// Writes all of `bytes` at an offset.
    pub(crate) fn write_all_at(self, bytes: &[u8], offset: usize) -> Result<(), Errno> {
        self.write_from(bytes.as_ptr().addr(), bytes.len(), offset)
    }

    /// Writes `length` bytes from `address` on at the beginning of the file.
    ///
    /// # Errors
    ///
    /// EFAULT if they are not all there; a part has been written then.
    pub(crate) fn write_memory(self, address: usize, length: usize) -> Result<(), Errno> {
        self.write_from(address, length, 0)
    }

    fn write_from(self, address: usize, length: usize, offset: usize) -> Result<(), Errno> {
        within_limit(offset + length)?;
        all(length, |done, left| {
            let arguments = [self.0 as usize, address.wrapping_add(done), left, offset + done];
            // SAFETY: the kernel only reads, what is there.
            unsafe { call(numbers::PWRITE, arguments) }
        })
    }

    /// Makes the file empty.
    pub(crate) fn truncate(self) -> Result<(), Errno> {
        self.set_length(0)
    }

    /// Makes the file so long: what was not written is zero.
    pub(crate) fn set_length(self, length: usize) -> Result<(), Errno> {
        within_limit(length)?;
        // SAFETY: no pointers.
        unsafe { call(numbers::FTRUNCATE, [self.0 as usize, length]) }.map(|_| ())
    }

    /// Closes the descriptor. Some file systems report only here that the last bytes did not reach the disk.
    pub(crate) fn close(self) -> Result<(), Errno> {
        // SAFETY: no pointers.
        unsafe { call(numbers::CLOSE, [self.0 as usize]) }.map(|_| ())
    }
}

/// The descriptors below are those of the standard files.
const FIRST_FREE: usize = 3;

/// Does what failed for want of a descriptor with as many as the process may have.
fn with_more_descriptors(open: impl Fn() -> Result<usize, Errno>) -> Result<usize, Errno> {
    let Some(before) = limit(NOFILE).filter(|limit| limit.now < limit.most) else { return Err(Errno::EMFILE) };
    set_limit(NOFILE, Limit { now: before.most, most: before.most })?;
    let opened = open();
    let _ = set_limit(NOFILE, before);
    opened
}

/// The permissions that files are made without, which are left as they are. At start-up, when there is one thread.
pub(crate) fn file_mask() -> usize {
    // SAFETY: no pointers; it cannot fail.
    let set = |mask: usize| unsafe { call(numbers::UMASK, [mask]) }.unwrap_or(0);
    let mask = set(0o077);
    set(mask);
    mask
}

/// Writes until nothing is left; `write` is given how much has been written and how much is left.
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
