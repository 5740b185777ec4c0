//! Files and directories.

use core::ffi::CStr;

use super::{Errno, call};
use crate::arch::numbers;
use crate::text::Text;

/// `AT_FDCWD`: stands for the current directory where a directory is asked for.
pub(crate) const CURRENT: Fd = Fd(-100);

const AT_EMPTY_PATH: usize = 0x1000;
const STATX_BASIC_STATS: usize = 0x7ff;
const F_DUPFD_CLOEXEC: usize = 1030;
const O_WRONLY: usize = 0o1;
const O_RDWR: usize = 0o2;
const O_CREAT: usize = 0o100;
const O_NONBLOCK: usize = 0o4000;
const O_DIRECTORY: usize = 0o200_000;
const O_NOFOLLOW: usize = 0o400_000;
const O_CLOEXEC: usize = 0o2_000_000;
const O_PATH: usize = 0o10_000_000;

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
    pub(crate) links: u32,
    pub(crate) owner: u32,
    inode: u64,
    device: [u32; 2],
}

impl Status {
    pub(crate) fn is_directory(&self) -> bool {
        self.mode & 0o170_000 == 0o040_000
    }

    pub(crate) fn is_regular(&self) -> bool {
        self.mode & 0o170_000 == 0o100_000
    }

    /// Whether group or others may do anything with the file.
    pub(crate) fn is_shared(&self) -> bool {
        self.mode & 0o077 != 0
    }

    /// Whether both are the same file.
    pub(crate) fn is_same_file(&self, other: &Status) -> bool {
        (self.inode, self.device) == (other.inode, other.device)
    }
}

impl Fd {
    /// Opens a directory only to find files in it: that needs no permission to read it.
    pub(crate) fn open_directory(path: &CStr) -> Result<Fd, Errno> {
        CURRENT.open(path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0)
    }

    /// Opens a file of this directory for writing, creating it if need be, and for reading as well if it is to be mapped.
    /// A symbolic link is not followed, and a pipe that nobody reads does not block.
    pub(crate) fn open_for_writing(self, path: &CStr, mode: usize, to_map: bool) -> Result<Fd, Errno> {
        let access = if to_map { O_RDWR } else { O_WRONLY };
        self.open(path, access | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, mode)
    }

    fn open(self, path: &CStr, flags: usize, mode: usize) -> Result<Fd, Errno> {
        // SAFETY: the path ends with a NUL and lives through the call.
        let fd = unsafe { call(numbers::OPENAT, [self.0 as usize, path.as_ptr().addr(), flags, mode]) }?;
        Ok(Fd(fd as i32))
    }

    /// Another descriptor for the same open file, not below `lowest`, closed at exec.
    pub(crate) fn duplicate(self, lowest: usize) -> Result<Fd, Errno> {
        // SAFETY: no pointers.
        let fd = unsafe { call(numbers::FCNTL, [self.0 as usize, F_DUPFD_CLOEXEC, lowest]) }?;
        Ok(Fd(fd as i32))
    }

    /// The path of the open file, as the system knows it now; what does not fit is left off.
    pub(crate) fn path<const N: usize>(self) -> Text<N> {
        let mut link = Text::<32>::new();
        link.push(b"/proc/self/fd/");
        link.push_decimal(u64::from(self.0.unsigned_abs()));
        let mut path = Text::new();
        let mut buffer = [0_u8; N];
        if let Some(link) = link.as_c_str() {
            let arguments = [CURRENT.0 as usize, link.as_ptr().addr(), buffer.as_mut_ptr().addr(), N];
            // SAFETY: the kernel writes no more than N bytes into the buffer.
            if let Ok(length) = unsafe { call(numbers::READLINKAT, arguments) } {
                path.push(buffer.get(..length).unwrap_or(&[]));
            }
        }
        path
    }

    /// Makes the file longer by `length` zeros from `offset` on, and sees to it that there is room for them.
    pub(crate) fn extend(self, offset: usize, length: usize) -> Result<(), Errno> {
        // SAFETY: no pointers.
        unsafe { call(numbers::FALLOCATE, [self.0 as usize, 0, offset, length]) }.map(|_| ())
    }

    pub(crate) fn status(self) -> Result<Status, Errno> {
        let mut found = core::mem::MaybeUninit::<Statx>::zeroed();
        let arguments =
            [self.0 as usize, c"".as_ptr().addr(), AT_EMPTY_PATH, STATX_BASIC_STATS, found.as_mut_ptr().addr()];
        // SAFETY: the kernel writes a struct statx, 256 bytes, for which there is room.
        unsafe { call(numbers::STATX, arguments) }?;
        // SAFETY: all zero is a valid value, and so is whatever the kernel wrote: integers only.
        let found = unsafe { found.assume_init() };
        Ok(Status {
            mode: found.mode,
            links: found.links,
            owner: found.owner,
            inode: found.inode,
            device: found.device,
        })
    }

    /// Writes all of `bytes`.
    pub(crate) fn write_all(self, mut bytes: &[u8]) -> Result<(), Errno> {
        while !bytes.is_empty() {
            // SAFETY: the kernel reads the slice.
            match unsafe { call(numbers::WRITE, [self.0 as usize, bytes.as_ptr().addr(), bytes.len()]) } {
                Ok(0) => return Err(Errno::EFBIG),
                Ok(written) => bytes = bytes.get(written..).unwrap_or(&[]),
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Makes the file empty.
    pub(crate) fn truncate(self) -> Result<(), Errno> {
        // SAFETY: no pointers.
        unsafe { call(numbers::FTRUNCATE, [self.0 as usize, 0]) }.map(|_| ())
    }

    /// Closes the descriptor. Some file systems report only here that the last bytes did not reach the disk.
    pub(crate) fn close(self) -> Result<(), Errno> {
        // SAFETY: no pointers.
        unsafe { call(numbers::CLOSE, [self.0 as usize]) }.map(|_| ())
    }
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
        directory.close().unwrap();
        assert_eq!(directory.status(), Err(Errno::EBADF));
    }
}
