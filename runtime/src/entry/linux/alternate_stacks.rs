//! `sigaltstack` and `munmap`: the runtime's handlers must not run on an alternate stack that is too small or unmapped.

use core::ffi::{c_int, c_void};
use core::mem;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::control::is_ours;
use crate::os::{
    AlternateStack, Errno, block_signals, has_alternate_stack_in, has_alternate_stacks, leave_alternate_stacks,
    next_definition, numbers, set_alternate_stack, set_blocked_signals, set_errno, syscall,
};
use crate::state::Inherited;

type Munmap = unsafe extern "C" fn(*mut c_void, usize) -> c_int;

/// The next definition of `munmap`; 0 in a static program.
static NEXT_MUNMAP: Inherited<AtomicUsize> =
    Inherited::new("the C library's functions stay where they are", AtomicUsize::new(0));

/// Looks up the next definition in programs with a dynamic linker. musl's waits for other threads that use the memory.
pub(super) fn find_next() {
    NEXT_MUNMAP.store(next_definition(c"munmap"), Relaxed);
}

/// `int sigaltstack(const stack_t *ss, stack_t *old_ss)`.
#[unsafe(no_mangle)]
unsafe extern "C" fn sigaltstack(stack: *const AlternateStack, before: *mut AlternateStack) -> c_int {
    // No handler must run between the two steps. A process without a profile has no handlers.
    let blocked = (!stack.is_null() && is_ours()).then(block_signals);
    // SAFETY: the caller's promise.
    let result = unsafe { set_alternate_stack(stack, before) };
    if let Some(blocked) = blocked {
        // SAFETY: the kernel has read the structure.
        if result.is_ok() && !unsafe { &*stack }.is_usable() {
            leave_alternate_stacks();
        }
        set_blocked_signals(blocked);
    }
    match result {
        Ok(()) => 0,
        Err(error) => {
            set_errno(error);
            -1
        }
    }
}

/// `int munmap(void *addr, size_t length)`.
#[unsafe(no_mangle)]
unsafe extern "C" fn munmap(start: *mut c_void, length: usize) -> c_int {
    if has_alternate_stacks() && is_ours() && has_alternate_stack_in(start.addr(), length) {
        leave_alternate_stacks();
    }
    // SAFETY: null, or a function of that name and type.
    let next: Option<Munmap> = unsafe { mem::transmute(NEXT_MUNMAP.load(Relaxed)) };
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(next) = next {
            return next(start, length);
        }
        match syscall(numbers::MUNMAP, [start.addr(), length, 0, 0, 0, 0]) {
            0 => 0,
            error => {
                set_errno(Errno(-error as c_int));
                -1
            }
        }
    }
}
