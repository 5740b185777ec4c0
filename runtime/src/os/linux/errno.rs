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
        let mut entries = TEXTS.split(|byte| *byte == 0).filter_map(<[u8]>::split_first);
        entries.find(|(number, _)| i32::from(**number) == self.0).map_or(b"", |(_, text)| text)
    }
}

/// The descriptions. Each entry is the number, the text, and a zero byte. A `match` would be three times as much code,
/// and a table of texts would need relocations.
const TEXTS: &[u8] = b"\
    \x01operation not permitted\0\
    \x02no such file or directory\0\
    \x05input/output error\0\
    \x06no such device or address\0\
    \x09bad file descriptor\0\
    \x0bresource temporarily unavailable\0\
    \x0ccannot allocate memory\0\
    \x0dpermission denied\0\
    \x0ebad address\0\
    \x10device or resource busy\0\
    \x11file exists\0\
    \x14not a directory\0\
    \x15is a directory\0\
    \x16invalid argument\0\
    \x17too many open files\0\
    \x18too many open files\0\
    \x1bfile too large\0\
    \x1cno space left on device\0\
    \x1eread-only file system\0\
    \x24file name too long\0\
    \x26function not implemented\0\
    \x28is a symbolic link\0\
    \x72already in progress\0\
    \x7adisk quota exceeded\0\
";

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

#[cfg(test)]
mod tests {
    use super::Errno;

    #[test]
    fn errors_have_texts() {
        let text = |number| str::from_utf8(Errno(number).text()).unwrap();
        assert_eq!([1, 24, 122].map(text), ["operation not permitted", "too many open files", "disk quota exceeded"]);
        assert_eq!(text(23), text(24));
        for number in 1..130 {
            let system = std::io::Error::from_raw_os_error(number).to_string().to_lowercase();
            // Others have shorter or longer texts here.
            if ![40, 114].contains(&number) && !text(number).is_empty() {
                assert!(system.starts_with(text(number)), "{number}: {system}");
            }
        }
        assert_eq!([-1, 0, 3, 111, 257].map(text), [""; 5]);
    }
}
