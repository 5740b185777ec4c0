//! The buffer of the profile, as the kernel knows it since the first call of `profil`.

use core::ffi::c_void;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::SeqCst};

use gmon::layout::{GmonHdr, RawArc};

use crate::file::output::Refusal;
use crate::os::{Errno, Fd};
use crate::state::Inherited;

/// `profil` of six arguments.
pub(crate) type ProfilCall = unsafe fn(*mut c_void, usize, usize, usize, u32, i32) -> Result<(), Errno>;

/// What a kernel that has the call does in the place of this module and of `termination`.
#[derive(Clone, Copy)]
pub(crate) struct KernelsProfil {
    /// The system call.
    pub(crate) call: ProfilCall,
    /// Puts all arcs in the buffer before the process ends, when the kernel writes the buffer as the file. The arcs are
    /// not in the buffer.
    pub(crate) put_arcs: unsafe fn(*mut GmonHdr, usize, &[RawArc]),
    /// Opens the file of a snapshot, empty: the kernel writes no file before the end.
    pub(crate) open_snapshot: fn() -> Result<Fd, Refusal>,
}

/// The buffer of the first call, null before that call. The buffer never changes.
static BUFFER: Inherited<AtomicPtr<c_void>> =
    Inherited::new("the child has the same buffer, which is cleared", AtomicPtr::new(core::ptr::null_mut()));
/// The size of the buffer in bytes, stored before the buffer.
static LENGTH: Inherited<AtomicUsize> =
    Inherited::new("the child has the same buffer, which is cleared", AtomicUsize::new(0));

/// The buffer of the first call and its size in bytes.
pub fn buffer() -> Option<(*mut c_void, usize)> {
    let buffer = BUFFER.load(SeqCst);
    (!buffer.is_null()).then(|| (buffer, LENGTH.load(SeqCst)))
}

/// Sets the buffer of the first call.
pub(super) fn set_buffer(start: *mut c_void, length: usize) {
    LENGTH.store(length, SeqCst);
    BUFFER.store(start, SeqCst);
}

/// Returns the buffer of the first call and forgets the buffer.
pub fn take_buffer() -> Option<(*mut c_void, usize)> {
    let taken = buffer();
    BUFFER.store(core::ptr::null_mut(), SeqCst);
    taken
}
