//! The header of the buffer, which the kernel clears in children.
//!
//! A child that the runtime does not see, such as the child of a `vfork`, has a copy of its parent's counts; with a
//! header of zeros, the kernel writes no file for such a child. The child of libc's `fork` gets its header back.

use core::cell::UnsafeCell;

use gmon::layout::GmonHdr;

use crate::os::{PAGE, zero_in_copies};
use crate::state::Inherited;

/// A copy of the header.
struct Header(UnsafeCell<GmonHdr>);

// SAFETY: written once, at the start, and read in children with one thread.
unsafe impl Sync for Header {}

static HEADER: Inherited<Header> = Inherited::new(
    "the child restores the header of its buffer from there",
    Header(UnsafeCell::new(GmonHdr { lpc: 0, hpc: 0, ncnt: 0, version: 0, profrate: 0, totarc: 0, spare: [0; 2] })),
);

/// Makes the kernel clear the header in children.
///
/// # Safety
///
/// `header` must be the start of a buffer, which is whole pages, before the first fork.
pub(super) unsafe fn clear_in_children(header: *mut GmonHdr) {
    // SAFETY: the caller guarantees a buffer. Children of libc's `fork` clear the rest of the page anyway.
    unsafe {
        HEADER.0.get().write(header.read());
        // Without the kernel's help, a child that the runtime does not see leaves a file with its parent's counts.
        let _ = zero_in_copies(header.cast(), PAGE);
    }
}

/// Restores the header in a child.
///
/// # Safety
///
/// As for [`clear_in_children`], which this process or its parent has called; the process must have one thread.
pub(super) unsafe fn restore(header: *mut GmonHdr) {
    // SAFETY: the caller guarantees a buffer. Nothing changes the copy any more.
    unsafe { header.write(*HEADER.0.get()) };
}
