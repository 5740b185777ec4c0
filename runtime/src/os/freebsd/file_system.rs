//! Operations on open files for which FreeBSD has system calls of its own.

use core::ffi::CStr;

use super::limits::within_limit;
use super::{Errno, Fd, call, numbers};
use crate::text::Text;

const F_KINFO: usize = 22;
const SEEK_DATA: usize = 3;

/// `struct kinfo_file` (`sys/user.h`), with only the fields that gmon needs.
#[repr(C)]
struct FileInformation {
    size: i32,
    rest: [i32; 91],
    path: [u8; 1024],
}

const _: () = assert!(size_of::<FileInformation>() == 1392);

impl Fd {
    /// Appends the current path of the open file to `path`. Appends nothing if the kernel does not know the path.
    pub(crate) fn push_path<const N: usize>(self, path: &mut Text<N>) {
        let mut found = FileInformation { size: size_of::<FileInformation>() as i32, rest: [0; 91], path: [0; 1024] };
        // SAFETY: the kernel reads the structure's size from its first field and writes at most that size.
        if unsafe { call(numbers::FCNTL, [self.0 as usize, F_KINFO, (&raw mut found).addr()]) }.is_ok()
            && let Ok(known) = CStr::from_bytes_until_nul(&found.path)
        {
            path.push(known.to_bytes());
        }
    }

    /// Extends the file to `offset + length` bytes and allocates disk space for the range if the file system can. New
    /// bytes are zero.
    pub(crate) fn extend(self, offset: usize, length: usize) -> Result<(), Errno> {
        within_limit(offset + length)?;
        // SAFETY: no pointers. The call returns an error number.
        match unsafe { call(numbers::POSIX_FALLOCATE, [self.0 as usize, offset, length]) } {
            Ok(0) => Ok(()),
            // ZFS cannot allocate space in advance.
            Ok(error) if [Errno::EINVAL, Errno::EOPNOTSUPP].contains(&Errno(error as i32)) => {
                self.set_length(offset + length)
            }
            Ok(error) => Err(Errno(error as i32)),
            Err(error) => Err(error),
        }
    }

    /// Returns the offset of the next data that is not a hole, from an offset on; `None` if no data follows.
    pub(crate) fn next_data(self, offset: usize) -> Option<usize> {
        // SAFETY: no pointers.
        match unsafe { call(numbers::LSEEK, [self.0 as usize, offset, SEEK_DATA]) } {
            Ok(data) => Some(data),
            Err(Errno::ENXIO) => None,
            // The file system does not report holes.
            Err(_) => Some(offset),
        }
    }
}
