//! Changes of the process's code, which this runtime does not make on this system.
//!
//! OpenBSD makes the code of a program immutable when the program starts. FreeBSD would permit changes by mprotect(2),
//! unless the program or the system forbids code that can be written.

use core::ffi::CStr;

use super::{Errno, Fd};

/// Whether the runtime can change the program's code while threads execute the code.
pub(crate) const CHANGES_CODE: bool = false;

/// Write access to the code of this process.
#[allow(dead_code, reason = "code is not changed on this system")]
pub(crate) struct OwnCode;

#[allow(dead_code, reason = "code is not changed on this system")]
impl OwnCode {
    /// Opens the code.
    pub(crate) fn open() -> OwnCode {
        OwnCode
    }

    /// Whether each write makes system calls of its own.
    pub(crate) fn writes_single_bytes(&self) -> bool {
        true
    }

    /// Fails.
    ///
    /// # Safety
    ///
    /// None.
    pub(crate) unsafe fn write(&self, _: usize, _: &[u8]) -> Result<(), Errno> {
        Err(Errno::EPERM)
    }

    /// Does nothing.
    pub(crate) fn close(self) {}
}

/// Does nothing.
#[allow(dead_code, reason = "code is not changed on this system")]
pub(crate) fn synchronize() {}

/// Fails.
#[allow(dead_code, reason = "code is not changed on this system")]
pub(crate) fn map_at(_: usize, _: usize) -> bool {
    false
}

/// Fails.
///
/// # Safety
///
/// None.
#[allow(dead_code, reason = "code is not changed on this system")]
pub(crate) unsafe fn make_executable(_: usize, _: usize) -> Result<(), Errno> {
    Err(Errno::EPERM)
}

/// Fails.
#[allow(dead_code, reason = "code is not changed on this system")]
pub(crate) fn open_object_file(_: Option<&CStr>) -> Result<Fd, Errno> {
    Err(Errno::EPERM)
}

/// Measures nothing.
#[allow(dead_code, reason = "code is not changed on this system")]
pub(crate) fn steady_time() -> u64 {
    0
}

/// Measures nothing.
#[allow(dead_code, reason = "code is not changed on this system")]
pub(crate) fn thread_time() -> u64 {
    0
}
