//! Error numbers of Linux (`asm-generic/errno.h`).

/// An error number, as system calls return it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub i32);

impl Errno {
    pub const ENOENT: Errno = Errno(2);
    pub const ENXIO: Errno = Errno(6);
    pub const EAGAIN: Errno = Errno(11);
    pub const ENOMEM: Errno = Errno(12);
    pub const EBUSY: Errno = Errno(16);
    pub const ENODEV: Errno = Errno(19);
    pub const EACCES: Errno = Errno(13);
    pub const EFAULT: Errno = Errno(14);
    pub const EEXIST: Errno = Errno(17);
    pub const EMFILE: Errno = Errno(24);
    pub const ENFILE: Errno = Errno(23);
    pub const EROFS: Errno = Errno(30);
    pub const EPIPE: Errno = Errno(32);
    pub const EPERM: Errno = Errno(1);
    pub const EBADF: Errno = Errno(9);
    pub const EFBIG: Errno = Errno(27);
    pub const EINTR: Errno = Errno(4);
    pub const EINVAL: Errno = Errno(22);
    pub const ENAMETOOLONG: Errno = Errno(36);
    pub const ENOTDIR: Errno = Errno(20);
    pub const ESRCH: Errno = Errno(3);
    pub const EALREADY: Errno = Errno(114);

    /// The description of a number that is likely here; empty for others.
    pub(crate) fn text(self) -> &'static [u8] {
        match self.0 {
            1 => b"operation not permitted",
            2 => b"no such file or directory",
            5 => b"input/output error",
            6 => b"no such device or address",
            9 => b"bad file descriptor",
            11 => b"resource temporarily unavailable",
            12 => b"cannot allocate memory",
            13 => b"permission denied",
            14 => b"bad address",
            16 => b"device or resource busy",
            17 => b"file exists",
            20 => b"not a directory",
            21 => b"is a directory",
            22 => b"invalid argument",
            23 | 24 => b"too many open files",
            27 => b"file too large",
            28 => b"no space left on device",
            30 => b"read-only file system",
            36 => b"file name too long",
            38 => b"function not implemented",
            40 => b"is a symbolic link",
            114 => b"already in progress",
            122 => b"disk quota exceeded",
            _ => b"",
        }
    }
}

// The numbers that only the `profil` of other systems needs.
impl Errno {
    pub const ENOSYS: Errno = Errno(38);
}

unsafe extern "C" {
    fn __errno_location() -> *mut core::ffi::c_int;
}

/// Sets the C library's `errno` of this thread.
pub fn set_errno(error: Errno) {
    // SAFETY: this thread's own variable.
    unsafe { *__errno_location() = error.0 };
}
