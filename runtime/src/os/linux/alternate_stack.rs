//! Alternate stacks for signals: whether the runtime's handlers use them.
//!
//! A handler with `SA_ONSTACK` runs on the thread's alternate stack if the thread has one. The handlers need the flag:
//! the thread may run on the small stack of a coroutine, as Go's and OCaml's threads do. But the kernel ends the
//! process if the signal's frame does not fit an alternate stack, or if the memory of the alternate stack is gone. So
//! when a thread gets an alternate stack that is too small, or unmaps its alternate stack, all handlers of the runtime
//! lose the flag.

use core::ffi::{c_int, c_ulong};
use core::mem::MaybeUninit;
use core::sync::atomic::{
    AtomicBool,
    Ordering::{Relaxed, SeqCst},
};

use super::machine::{self, numbers};
use super::{Errno, call, checked};
use crate::arch;
use crate::state::Inherited;

/// The handler runs on the thread's alternate stack.
pub(super) const SA_ONSTACK: usize = 0x0800_0000;
const AT_MINSIGSTKSZ: c_ulong = 51;
/// The size of a signal's frame with AVX-512's registers, for kernels that do not tell the size.
const LARGE_FRAME: usize = 4096;
/// What the runtime's handlers need besides the frame.
const ROOM: usize = 1024;
const SS_DISABLE: c_int = 2;

/// `stack_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct AlternateStack {
    start: usize,
    flags: c_int,
    size: usize,
}

/// Whether handlers that are put in place use alternate stacks.
static ARE_USED: Inherited<AtomicBool> =
    Inherited::new("the child inherits the handlers and the alternate stack", AtomicBool::new(true));
/// Whether all handlers have left alternate stacks.
static ARE_LEFT: Inherited<AtomicBool> =
    Inherited::new("the child inherits the handlers and the alternate stack", AtomicBool::new(false));
/// Whether any thread has set an alternate stack by the C library's function.
static ARE_SET: Inherited<AtomicBool> =
    Inherited::new("the child inherits the handlers and the alternate stack", AtomicBool::new(false));

unsafe extern "C" {
    fn getauxval(kind: c_ulong) -> c_ulong;
}

/// The flag that makes a handler run on the thread's alternate stack, if there is one: the thread's own stack may be
/// too small.
///
/// Under valgrind the flag is 0. valgrind takes the flag for the presence of an alternate stack: in a thread without
/// one, valgrind makes no room for the handler and ends the program as for a stack overflow.
pub(super) fn alternate_stack() -> usize {
    if arch::is_in_valgrind() || !ARE_USED.load(Relaxed) { 0 } else { SA_ONSTACK }
}

/// The smallest alternate stack on which the runtime's handlers can run.
fn least_size() -> usize {
    // SAFETY: the C library is initialized; the function reads the array that the kernel has passed.
    let frame = match unsafe { getauxval(AT_MINSIGSTKSZ) } as usize {
        0 => LARGE_FRAME,
        frame => frame,
    };
    frame + ROOM
}

/// Sets this thread's alternate stack for the program, and returns the previous one in `before`. Only the program's own
/// filters judge this call.
///
/// # Safety
///
/// Both must be null or valid, or pointers that the kernel refuses.
pub(crate) unsafe fn set_alternate_stack(
    stack: *const AlternateStack,
    before: *mut AlternateStack,
) -> Result<(), Errno> {
    // SAFETY: the caller's promise.
    checked(unsafe { machine::syscall(numbers::SIGALTSTACK, [stack.addr(), before.addr(), 0, 0, 0, 0]) }).map(|_| ())
}

impl AlternateStack {
    /// Whether handlers can use the stack, which a thread has just set. True if there is no stack.
    pub(crate) fn is_usable(&self) -> bool {
        let is_stack = self.flags & SS_DISABLE == 0;
        if is_stack {
            ARE_SET.store(true, Relaxed);
        }
        !is_stack || self.size >= least_size()
    }
}

/// Whether handlers use alternate stacks, and a thread has set one.
pub(crate) fn has_alternate_stacks() -> bool {
    ARE_SET.load(Relaxed) && !ARE_LEFT.load(Relaxed)
}

/// Whether this thread's alternate stack is in a range of addresses. False if a seccomp filter hides the answer.
pub(crate) fn has_alternate_stack_in(start: usize, length: usize) -> bool {
    let mut found = MaybeUninit::<AlternateStack>::uninit();
    // SAFETY: the kernel writes a structure, which is read if the call succeeded.
    unsafe {
        if call(numbers::SIGALTSTACK, [0, found.as_mut_ptr().addr()]).is_err() {
            return false;
        }
        let stack = found.assume_init();
        let [end, end_of_range] = [stack.start.saturating_add(stack.size), start.saturating_add(length)];
        stack.flags & SS_DISABLE == 0 && stack.start < end_of_range && start < end
    }
}

/// Handlers that are put in place later do not use alternate stacks. False if no handler uses alternate stacks any
/// more.
pub(super) fn stop_using() -> bool {
    ARE_USED.store(false, SeqCst);
    !ARE_LEFT.load(SeqCst)
}

/// The handlers that were in place before do not use alternate stacks any more either.
pub(super) fn have_left() {
    ARE_LEFT.store(true, SeqCst);
}
