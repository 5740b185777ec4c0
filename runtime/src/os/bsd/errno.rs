//! Error numbers of the BSDs (`sys/errno.h`).

use super::constants;

/// An error number of a system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub i32);

impl Errno {
    pub const EPERM: Errno = Errno(1);
    pub const ENOENT: Errno = Errno(2);
    pub const ESRCH: Errno = Errno(3);
    pub const EINTR: Errno = Errno(4);
    pub const ENXIO: Errno = Errno(6);
    pub const E2BIG: Errno = Errno(7);
    pub const ENOEXEC: Errno = Errno(8);
    pub const EBADF: Errno = Errno(9);
    pub const ENOMEM: Errno = Errno(12);
    pub const EACCES: Errno = Errno(13);
    pub const EFAULT: Errno = Errno(14);
    pub const EBUSY: Errno = Errno(16);
    pub const EEXIST: Errno = Errno(17);
    pub const ENOTDIR: Errno = Errno(20);
    pub const EINVAL: Errno = Errno(22);
    pub const ENFILE: Errno = Errno(23);
    pub const EMFILE: Errno = Errno(24);
    pub const ETXTBSY: Errno = Errno(26);
    pub const EFBIG: Errno = Errno(27);
    pub const EROFS: Errno = Errno(30);
    pub const EPIPE: Errno = Errno(32);
    pub const EAGAIN: Errno = Errno(35);
    pub const EALREADY: Errno = Errno(37);
    pub const EOPNOTSUPP: Errno = Errno(45);
    pub const ELOOP: Errno = Errno(62);
    pub const ENAMETOOLONG: Errno = Errno(63);

    /// Returns the description of an error that the runtime may meet; empty for other errors.
    pub(crate) fn text(self) -> &'static [u8] {
        match self.0 {
            1 => b"operation not permitted",
            2 => b"no such file or directory",
            5 => b"input/output error",
            9 => b"bad file descriptor",
            12 => b"cannot allocate memory",
            13 => b"permission denied",
            14 => b"bad address",
            16 => b"device busy",
            17 => b"file exists",
            20 => b"not a directory",
            21 => b"is a directory",
            22 => b"invalid argument",
            23 | 24 => b"too many open files",
            27 => b"file too large",
            28 => b"no space left on device",
            30 => b"read-only file system",
            35 => b"resource temporarily unavailable",
            37 => b"operation already in progress",
            62 => b"is a symbolic link",
            63 => b"file name too long",
            69 => b"disk quota exceeded",
            78 => b"function not implemented",
            number => constants::error_text(number),
        }
    }
}

/// Sets the C library's `errno` in this thread.
pub fn set_errno(error: Errno) {
    // SAFETY: the pointer is to this thread's errno.
    unsafe { *constants::errno_location() = error.0 };
}
