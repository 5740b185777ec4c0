//! The errors of system calls, with the BSDs' numbers.

use nix::errno::Errno;

/// The error of a system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// An error that Linux also has.
    System(Errno),
    /// FreeBSD's ECAPMODE: the call is not allowed in capability mode.
    CapabilityMode,
    /// FreeBSD's ENOTCAPABLE: the path leaves the directory of its descriptor.
    NotCapable,
}

impl From<Errno> for Error {
    fn from(errno: Errno) -> Error {
        Error::System(errno)
    }
}

impl Error {
    /// Returns the error's number on FreeBSD and OpenBSD, which agree on all errors that this kernel returns.
    #[must_use]
    pub fn number(self) -> u64 {
        match self {
            Error::CapabilityMode => 94,
            Error::NotCapable => 93,
            Error::System(Errno::EDEADLK) => 11,
            Error::System(Errno::EAGAIN) => 35,
            Error::System(Errno::EINPROGRESS) => 36,
            Error::System(Errno::EALREADY) => 37,
            Error::System(Errno::EOPNOTSUPP) => 45,
            Error::System(Errno::ETIMEDOUT) => 60,
            Error::System(Errno::ELOOP) => 62,
            Error::System(Errno::ENAMETOOLONG) => 63,
            Error::System(Errno::ENOTEMPTY) => 66,
            Error::System(Errno::EDQUOT) => 69,
            Error::System(Errno::ENOSYS) => 78,
            // Linux and the BSDs agree on the first 34.
            Error::System(errno) => {
                let number = errno as u64;
                assert!(number <= 34, "the BSDs' number of {errno:?} is missing here");
                number
            }
        }
    }
}
