//! Makes sure that one thread at a time writes the file, and provides its stack.

use core::cell::UnsafeCell;
use core::ffi::c_void;

use crate::arch;
use crate::closures::closure_trait;
use crate::file;
use crate::file::one_writer::{DONE, NOBODY, become_writer_soon, set_writer};
use crate::kernel;
use crate::os::{a_moment, set_blocked_signals, try_to_block_signals};
use crate::state::Inherited;

closure_trait! {
    /// What only one thread at a time does.
    pub(super) Work()
}

/// Runs `work`, which writes the file, in one thread at a time, and then sets `writer` to `after`. Does nothing once
/// the file is complete, and returns false. Signals are blocked: a second fatal signal would otherwise leave half a
/// file.
pub(super) fn exclusively(after: usize, work: &mut dyn Work) -> bool {
    run_as_writer(become_writer, after, work)
}

/// As [`exclusively`], but does nothing if another thread is the writer now.
pub(super) fn exclusively_now(work: &mut dyn Work) -> bool {
    run_as_writer(|| become_writer_soon() == Some(true), NOBODY, work)
}

#[inline(never)]
fn run_as_writer(become_writer: fn() -> bool, after: usize, work: &mut dyn Work) -> bool {
    let blocked = try_to_block_signals().ok();
    let is_writer = become_writer();
    if is_writer {
        // If a seccomp filter prevents blocking signals, the program's handlers may run here, and the writer's stack
        // has no room for them. valgrind warns about a change of stacks.
        // A kernel that writes the file itself leaves little to do, and may forbid system calls on memory that is no
        // stack.
        run(work, !kernel::is_kernels() && blocked.is_some() && !arch::is_in_valgrind());
        file::release_directory();
        set_writer(after);
    } else if after == DONE {
        // The other writer has failed, or is stuck. A thread that ends the process must not wait again.
        set_writer(DONE);
    }
    if let Some(blocked) = blocked {
        set_blocked_signals(blocked);
    }
    is_writer
}

/// Several times the measured need for writing, and a line of a list that is read back.
const SIZE: usize = 20 << 10;

/// The stack of the thread that writes the file. The program may end where little is left of its own stack: on a
/// thread's small stack, or on the alternate stack of a handler, two signal frames below the top.
#[repr(C, align(64))]
struct WritersStack(UnsafeCell<[u8; SIZE]>);

// SAFETY: only the one writer uses the stack.
unsafe impl Sync for WritersStack {}

static WRITERS_STACK: Inherited<WritersStack> =
    Inherited::new("made anew for each use", WritersStack(UnsafeCell::new([0; SIZE])));

/// Runs `work`, on the writer's stack or on this thread's stack. Call this only in the thread that may write the
/// file, and not in `work` itself.
fn run(mut work: &mut dyn Work, on_writers_stack: bool) {
    unsafe extern "C" fn on_stack(work: *mut c_void) {
        // SAFETY: the address of `work` below, to which there is no other reference during the call.
        unsafe { (*work.cast::<&mut dyn Work>()).call() }
    }
    if !on_writers_stack {
        return work.call();
    }
    // SAFETY: the end of a stack that only this thread uses; the argument is what the called function expects.
    unsafe {
        let top = WRITERS_STACK.0.get().add(1);
        arch::call_on_stack(top.cast(), on_stack, (&raw mut work).cast());
    }
}

/// Makes this thread the writer once there is no other writer; false once the file is complete. Call this with
/// signals blocked.
#[inline(never)]
fn become_writer() -> bool {
    // A writer that takes longer than this has failed; the process must end all the same.
    const MOMENTS: u32 = 30_000;
    for _ in 0..MOMENTS {
        match become_writer_soon() {
            Some(result) => return result,
            None => a_moment(),
        }
    }
    false
}
