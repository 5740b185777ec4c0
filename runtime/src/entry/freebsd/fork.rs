//! `fork`, `pdfork` and `rfork`: the child starts its own profile.
//!
//! `pthread_atfork` is not sufficient: libc's version does nothing if the program is not linked with libthr, and only
//! `fork` calls the functions that a program registers.

use core::ffi::c_int;
use core::mem;
use core::sync::atomic::{
    AtomicBool, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use super::machine::thread_fork_address;
use crate::control;
use crate::entry::begin::after_fork_in_child;
use crate::os::{Errno, next_definition, raw_fork, raw_pdfork, raw_rfork, set_errno};
use crate::ownership;
use crate::state::Inherited;

type Fork = unsafe extern "C" fn() -> c_int;
type ForkWithDescriptor = unsafe extern "C" fn(*mut c_int, c_int) -> c_int;

/// The addresses of the next definitions of `fork` and `pdfork`; 0 if there is none.
static NEXT: Inherited<AtomicUsize> =
    Inherited::new("the C library's functions stay where they are", AtomicUsize::new(0));
static NEXT_WITH_DESCRIPTOR: Inherited<AtomicUsize> =
    Inherited::new("the C library's functions stay where they are", AtomicUsize::new(0));

/// Whether [`find_next`] was called.
static IS_FOUND: Inherited<AtomicBool> =
    Inherited::new("the C library's functions stay where they are", AtomicBool::new(false));

/// Looks up the next definitions in dynamic programs. Called at start-up, or at the first fork of a program without
/// start-up object.
pub(super) fn find_next() {
    if !IS_FOUND.load(SeqCst) {
        NEXT.store(next_definition(c"fork"), Relaxed);
        NEXT_WITH_DESCRIPTOR.store(next_definition(c"pdfork"), Relaxed);
        IS_FOUND.store(true, SeqCst);
    }
}

/// Returns the C library's `fork`: the next definition, or libthr's function in a static program with threads.
fn theirs() -> Option<Fork> {
    find_next();
    let next = match NEXT.load(Relaxed) {
        0 => thread_fork_address(),
        next => next,
    };
    // SAFETY: the address is 0 or the address of a function of this type.
    unsafe { mem::transmute(next) }
}

/// Makes a child with a copy of the memory by calling `make`, which returns as `fork` does. The child's profile starts
/// at zero.
fn profiled(make: impl FnOnce() -> c_int) -> c_int {
    if !ownership::is_ours() {
        return make();
    }
    control::before_fork();
    let process = make();
    if process == 0 {
        after_fork_in_child();
    } else {
        control::after_fork_in_parent();
    }
    process
}

/// Returns the result of a system call as C's functions do.
fn returned(result: Result<c_int, Errno>) -> c_int {
    result.unwrap_or_else(|error| failed(error.0))
}

/// Sets `errno`, and returns -1.
pub(super) extern "C" fn failed(error: c_int) -> c_int {
    set_errno(Errno(error));
    -1
}

/// `pid_t fork(void)`: calls the C library's `fork`. The child's profile starts at zero.
#[unsafe(no_mangle)]
extern "C" fn fork() -> c_int {
    profiled(|| match theirs() {
        // SAFETY: the function is the C library's `fork`.
        Some(fork) => unsafe { fork() },
        // A static program without threads: libc's fork only makes the system call too.
        None => returned(raw_fork()),
    })
}

/// `pid_t pdfork(int *fdp, int flags)`: calls the C library's `pdfork`. The child's profile starts at zero.
#[unsafe(no_mangle)]
unsafe extern "C" fn pdfork(descriptor: *mut c_int, flags: c_int) -> c_int {
    find_next();
    // SAFETY: the address is 0 or the address of a function of this type.
    let theirs: Option<ForkWithDescriptor> = unsafe { mem::transmute(NEXT_WITH_DESCRIPTOR.load(Relaxed)) };
    profiled(|| match theirs {
        // SAFETY: the caller passes valid arguments for pdfork.
        Some(pdfork) => unsafe { pdfork(descriptor, flags) },
        // SAFETY: as above.
        None => returned(unsafe { raw_pdfork(descriptor, flags) }),
    })
}

/// The flags of `rfork` that decide what the child shares.
const RFPROC: u32 = 0x10;
const RFMEM: u32 = 0x20;
const RFSPAWN: u32 = 1 << 31;
/// If only [`RFPROC`] of these flags is set, `rfork` makes a child with a copy of the memory. Without `RFPROC`, `rfork`
/// makes no child. With the other flags, the child shares the memory, and its calls and ticks count in the parent.
pub(super) const DECIDING_FLAGS: u32 = RFPROC | RFMEM | RFSPAWN;
pub(super) const COPIES_MEMORY: u32 = RFPROC;

/// `rfork` with flags that make a child with a copy of the memory.
pub(super) unsafe extern "C" fn rfork_copy(flags: c_int) -> c_int {
    // SAFETY: `rfork` has checked the flags.
    profiled(|| returned(unsafe { raw_rfork(flags) }))
}
