//! Files and directories.

use core::ffi::{CStr, c_char};
use core::mem::MaybeUninit;

use super::machine::{O_DIRECTORY, O_NOFOLLOW, Stat, numbers};
use super::{Errno, call};
use crate::text::Text;

/// `AT_FDCWD`: stands for the current directory where a directory is asked for.
pub(crate) const CURRENT: Fd = Fd(-100);

const AT_EMPTY_PATH: usize = 0x1000;
const STATX_BASIC_STATS: usize = 0x7ff;
const RLIMIT_FSIZE: usize = 1;
const RLIMIT_NOFILE: usize = 7;
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

/// With which flags files are opened to be written.
pub(crate) const WRITING_FLAGS: usize = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;

/// An open file. It is not closed by itself: some live as long as the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fd(pub(crate) i32);

/// The start of the kernel's `struct statx`, with room for the rest.
#[repr(C)]
struct Statx {
    mask: u32,
    block_size: u32,
    attributes: u64,
    links: u32,
    owner: u32,
    group: u32,
    mode: u16,
    spare: u16,
    inode: u64,
    size: u64,
    blocks: u64,
    attributes_mask: u64,
    times: [u64; 8],
    special_device: [u32; 2],
    device: [u32; 2],
    rest: [u64; 14],
}

/// What a file is, and which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Status {
    mode: u16,
    pub(crate) size: u64,
    pub(crate) links: u32,
    pub(crate) owner: u32,
    inode: u64,
    device: [u32; 2],
    /// When it was made, where the file system says: numbers of files that are gone are given away again.
    born: [u64; 2],
}

/// Which file something is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) inode: u64,
    pub(crate) device: u64,
}

impl Identity {
    /// That of no file.
    pub(crate) const NONE: Identity = Identity { inode: 0, device: 0 };

    /// The file that a path leads to now; [`Identity::NONE`] where there is none, or no path at that address.
    pub(crate) fn of(path: *const c_char) -> Identity {
        identity(CURRENT, path, 0).unwrap_or(Identity::NONE)
    }
}

impl Status {
    pub(crate) fn is_directory(&self) -> bool {
        self.mode & 0o170_000 == 0o040_000
    }

    pub(crate) fn is_character_device(&self) -> bool {
        self.mode & 0o170_000 == 0o020_000
    }

    pub(crate) fn is_regular(&self) -> bool {
        self.mode & 0o170_000 == 0o100_000
    }

    /// Whether group or others may do anything with the file.
    pub(crate) fn is_shared(&self) -> bool {
        self.mode & 0o077 != 0
    }

    /// Whether both are the same file. The time of birth, where it is known of both, tells files apart that had the same
    /// number one after the other.
    pub(crate) fn is_same_file(&self, other: &Status) -> bool {
        let is_known = self.born != [0; 2] && other.born != [0; 2];
        (self.inode, self.device) == (other.inode, other.device) && (!is_known || self.born == other.born)
    }
}

impl Fd {
    /// Opens a directory only to find files in it: that needs no permission to read it.
    pub(crate) fn open_directory(path: &CStr) -> Result<Fd, Errno> {
        CURRENT.open(path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0)
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
        let time = [0, u64::from(milliseconds) * 1_000_000];
        let arguments = [polled.as_mut_ptr().addr(), 1, time.as_ptr().addr(), 0, 0];
        // SAFETY: the kernel reads and writes one structure of eight bytes, and a struct timespec.
        let result = unsafe { call(numbers::PPOLL, arguments) };
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
        let [limit, _] = descriptors_limit().unwrap_or([0; 2]);
        let highest = (limit as usize).saturating_sub(1).min(HIGHEST);
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

    /// Appends the path of the open file to `path`, as the system knows it now.
    pub(crate) fn push_path<const N: usize>(self, path: &mut Text<N>) {
        let mut link = Text::<32>::new();
        link.push(b"/proc/self/fd/");
        link.push_decimal(u64::from(self.0.unsigned_abs()));
        if let Some(link) = link.as_c_str() {
            push_link(link, path);
        }
    }

    /// Makes the file longer by `length` zeros from `offset` on, and sees to it that there is room for them.
    pub(crate) fn extend(self, offset: usize, length: usize) -> Result<(), Errno> {
        within_limit(offset + length)?;
        // SAFETY: no pointers.
        unsafe { call(numbers::FALLOCATE, [self.0 as usize, 0, offset, length]) }.map(|_| ())
    }

    pub(crate) fn status(self) -> Result<Status, Errno> {
        let mut found = MaybeUninit::<Statx>::uninit();
        let arguments =
            [self.0 as usize, c"".as_ptr().addr(), AT_EMPTY_PATH, STATX_BASIC_STATS, found.as_mut_ptr().addr()];
        // SAFETY: the kernel writes a struct statx, 256 bytes, for which there is room.
        match unsafe { call(numbers::STATX, arguments) } {
            Ok(_) => {}
            Err(error) if error == Errno::EBADF => return Err(error),
            // There is none before Linux 4.11, and filters of system calls may not know it.
            Err(_) => return self.old_status(),
        }
        // SAFETY: the kernel has written all of it, integers only.
        let found = unsafe { found.assume_init() };
        // Seconds and nanoseconds of the last access, of the birth, and of two more.
        let [_, _, seconds, nanoseconds, ..] = found.times;
        Ok(Status {
            mode: found.mode,
            size: found.size,
            links: found.links,
            owner: found.owner,
            inode: found.inode,
            device: found.device,
            born: [seconds, nanoseconds],
        })
    }

    /// The same by the older call.
    fn old_status(self) -> Result<Status, Errno> {
        let mut found = MaybeUninit::<Stat>::uninit();
        // SAFETY: the kernel writes a struct stat, for which there is room.
        unsafe { call(numbers::FSTAT, [self.0 as usize, found.as_mut_ptr().addr()]) }?;
        // SAFETY: the kernel has written all of it, integers only.
        let found = unsafe { found.assume_init() };
        Ok(Status {
            mode: found.mode as u16,
            size: found.size,
            links: found.links as u32,
            owner: found.owner,
            inode: found.inode,
            device: parts_of_device(found.device),
            born: [0; 2],
        })
    }

    /// Which file it is. Below mcount: without the structures that would go through a vector register.
    pub(crate) fn identity(self) -> Option<Identity> {
        identity(self, c"".as_ptr(), AT_EMPTY_PATH)
    }

    /// Opens a file of this directory for reading.
    pub(crate) fn open_for_reading(self, path: &CStr) -> Result<Fd, Errno> {
        self.open(path, O_CLOEXEC, 0)
    }

    /// The same without waiting for a pipe, and without following a symbolic link.
    pub(crate) fn open_regular_for_reading(self, path: &CStr) -> Result<Fd, Errno> {
        self.open(path, O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0)
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

    /// Where from an offset on the file has something that is no hole; `None` if there is nothing more.
    pub(crate) fn next_data(self, offset: usize) -> Option<usize> {
        // SAFETY: no pointers.
        match unsafe { call(numbers::LSEEK, [self.0 as usize, offset, SEEK_DATA]) } {
            Ok(data) => Some(data),
            Err(Errno::ENXIO) => None,
            // The file system does not say.
            Err(_) => Some(offset),
        }
    }

    /// Reads what comes next, as much as there is and fits; 0 at the end.
    pub(crate) fn read(self, bytes: &mut [u8]) -> Result<usize, Errno> {
        // SAFETY: the kernel writes no more than there is room for.
        unsafe { call(numbers::READ, [self.0 as usize, bytes.as_mut_ptr().addr(), bytes.len()]) }
    }

    /// Reads what stands at an offset, as much as there is and fits.
    pub(crate) fn read_at(self, bytes: &mut [u8], offset: usize) -> Result<usize, Errno> {
        // SAFETY: the kernel writes no more than there is room for.
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

/// How many descriptors the process may have: as its limit is now, and the most that it may make of that.
fn descriptors_limit() -> Option<[u64; 2]> {
    let mut limit = [0_u64; 2];
    // SAFETY: the kernel writes a struct rlimit, two words.
    let known = unsafe { call(numbers::PRLIMIT, [0, RLIMIT_NOFILE, 0, limit.as_mut_ptr().addr()]) };
    known.is_ok().then_some(limit)
}

/// Does what failed for want of a descriptor with as many as the process may have.
fn with_more_descriptors(open: impl Fn() -> Result<usize, Errno>) -> Result<usize, Errno> {
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

/// The permissions that files are made without, which are left as they are. At start-up, when there is one thread.
pub(crate) fn file_mask() -> usize {
    // SAFETY: no pointers; it cannot fail.
    let set = |mask: usize| unsafe { call(numbers::UMASK, [mask]) }.unwrap_or(0);
    let mask = set(0o077);
    set(mask);
    mask
}

/// Which file a path leads to from a directory. Below mcount.
fn identity(directory: Fd, path: *const c_char, flags: usize) -> Option<Identity> {
    let mut found = MaybeUninit::<Statx>::uninit();
    let start: *mut Statx = found.as_mut_ptr();
    let arguments = [directory.0 as usize, path.addr(), flags, STATX_BASIC_STATS, start.addr()];
    // SAFETY: the kernel writes a struct statx, 256 bytes, for which there is room, and of which three words are read. What
    // is not a path's address, it does not read.
    unsafe {
        if call(numbers::STATX, arguments).is_ok() {
            let inode = (&raw const (*start).inode).read_volatile();
            let device = (&raw const (*start).device).cast::<u64>().read_volatile();
            return Some(Identity { inode, device });
        }
    }
    // As for `status`.
    let mut found = MaybeUninit::<Stat>::uninit();
    let start: *mut Stat = found.as_mut_ptr();
    let arguments = [directory.0 as usize, path.addr(), start.addr(), flags];
    // SAFETY: the kernel writes a struct stat, for which there is room, and of which two words are read.
    unsafe {
        call(numbers::NEWFSTATAT, arguments).ok()?;
        let [major, minor] = parts_of_device((&raw const (*start).device).read_volatile());
        let inode = (&raw const (*start).inode).read_volatile();
        Some(Identity { inode, device: u64::from(minor) << 32 | u64::from(major) })
    }
}

/// The two numbers of a device, as the older call has them in one word.
fn parts_of_device(device: u64) -> [u32; 2] {
    let low_bits = |number: u64| number as u32;
    [low_bits(device >> 8 & 0xfff), low_bits(device & 0xff | device >> 12 & 0xf_ff00)]
}

/// Appends what a symbolic link says to `path`; nothing where it cannot be read.
#[inline(never)]
fn push_link<const N: usize>(link: &CStr, path: &mut Text<N>) {
    path.fill(|room| {
        let arguments = [CURRENT.0 as usize, link.as_ptr().addr(), room.as_mut_ptr().addr(), room.len()];
        // SAFETY: the kernel writes no more than there is room for.
        unsafe { call(numbers::READLINKAT, arguments) }.unwrap_or(0)
    });
}

/// Appends the path of the program's executable file; nothing where it cannot be read.
pub(crate) fn push_program_path<const N: usize>(path: &mut Text<N>) {
    let link = c"/proc/self/exe";
    path.fill(|room| {
        let arguments = [CURRENT.0 as usize, link.as_ptr().addr(), room.as_mut_ptr().addr(), room.len()];
        // SAFETY: the kernel writes no more than there is room for.
        let length = unsafe { call(numbers::READLINKAT, arguments) }.unwrap_or(0);
        let found = room.get(..length).unwrap_or_default();
        found.strip_suffix(DELETED).unwrap_or(found).len()
    });
}

/// What the kernel puts behind the path of a file that has no name any more.
pub(super) const DELETED: &[u8] = b" (deleted)";

/// Whether a file may be so long: beyond the limit the process would get a signal that kills. Below mcount.
pub(super) fn within_limit(size: usize) -> Result<(), Errno> {
    let mut limit = MaybeUninit::<[u64; 2]>::uninit();
    // SAFETY: the kernel writes a struct rlimit, two words.
    let known = unsafe { call(numbers::PRLIMIT, [0, RLIMIT_FSIZE, 0, limit.as_mut_ptr().addr()]) };
    // SAFETY: the first word is there if the call went well.
    if known.is_ok() && size as u64 > unsafe { limit.as_ptr().cast::<u64>().read_volatile() } {
        return Err(Errno::EFBIG);
    }
    Ok(())
}

/// Writes until nothing is left; `write` is given that and how much has been written.
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

/// Whether a file can be opened and written behind a filter of system calls if `permits` answers for system calls, as (number, arguments).
pub(crate) fn can_write_files(permits: impl Fn(usize, [usize; 3]) -> bool) -> bool {
    let descriptor = 3;
    permits(numbers::OPENAT, [descriptor, 0, WRITING_FLAGS])
        && [numbers::STATX, numbers::UNLINKAT, numbers::PWRITE, numbers::FTRUNCATE, numbers::CLOSE]
            .into_iter()
            .all(|number| permits(number, [descriptor, 0, 0]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_has_the_kernels_layout() {
        assert_eq!(size_of::<Statx>(), 256);
        let directory = Fd::open_directory(c"/").unwrap();
        let status = directory.status().unwrap();
        assert!(status.is_directory() && !status.is_regular());
        assert!(status.is_same_file(&status));
        let older = directory.old_status().unwrap();
        assert_eq!(older, status, "the older call says the same");
        directory.close().unwrap();
        assert_eq!(directory.status(), Err(Errno::EBADF));
        assert_eq!(parts_of_device(0x456 << 20 | 0x103 << 8 | 0x12), [0x103, 0x4_5612]);
    }
}
