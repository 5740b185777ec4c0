//! The one thread that writes the file at a time, and the stack on which it does.

use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::sync::atomic::Ordering::SeqCst;

use crate::arch;
use crate::os::{a_moment, set_blocked_signals, try_to_block_signals};
use crate::per_process::PER_PROCESS;

pub(super) const NOBODY: usize = 0;
/// The file of this process is as it will stay.
pub(super) const DONE: usize = usize::MAX;

/// Runs `work`, which writes the file, as the only one that does so, and then makes `writer` `after`; not at all once the
/// file is done. No signal comes in: a second one that kills would otherwise find half a file.
pub(super) fn alone(after: usize, work: impl FnOnce()) {
    let mut work = Some(work);
    alone_with(after, &mut || {
        if let Some(work) = work.take() {
            work();
        }
    });
}

#[inline(never)]
fn alone_with(after: usize, work: &mut dyn FnMut()) {
    let blocked = try_to_block_signals().ok();
    if become_writer() {
        // Where a filter of system calls lets no signals be blocked, the program's handlers come in, for which there is no
        // room on the writer's stack. valgrind warns of another stack.
        run(work, blocked.is_some() && !arch::is_in_valgrind());
        PER_PROCESS.writer.store(after, SeqCst);
    }
    if let Some(blocked) = blocked {
        set_blocked_signals(blocked);
    }
}

/// Several times what writing needs, as measured, and a line of a list that is read back.
const SIZE: usize = 20 << 10;

/// The stack of the thread that writes the file. The program may have come to its end where little is left of its own: on a
/// thread's small stack, or on the alternate stack of a handler, two frames of the kernel's below the top.
#[repr(C, align(64))]
struct WritersStack(UnsafeCell<[u8; SIZE]>);

// SAFETY: only the one writer uses it.
unsafe impl Sync for WritersStack {}

static WRITERS_STACK: WritersStack = WritersStack(UnsafeCell::new([0; SIZE]));

/// Runs `work`, on the writer's stack or on this one. Only in the one thread that may write the file, and not in `work` itself.
fn run(mut work: &mut dyn FnMut(), on_writers_stack: bool) {
    unsafe extern "C" fn on_stack(work: *mut c_void) {
        // SAFETY: the work below, of which there is no other reference meanwhile.
        unsafe { (*work.cast::<&mut dyn FnMut()>())() }
    }
    if !on_writers_stack {
        return work();
    }
    // SAFETY: the end of a stack that is this thread's alone; `on_stack` wants the work.
    unsafe {
        let top = WRITERS_STACK.0.get().add(1);
        arch::call_on_stack(top.cast(), on_stack, (&raw mut work).cast());
    }
}

/// Makes this thread the one that writes the file, once nobody else is; false once the file is done. With signals blocked.
#[inline(never)]
fn become_writer() -> bool {
    // A writer that takes longer than this has come to grief; the process is to end all the same.
    const MOMENTS: u32 = 30_000;
    for _ in 0..MOMENTS {
        match become_writer_soon() {
            Some(result) => return result,
            None => a_moment(),
        }
    }
    false
}

/// The same if that can be known very soon.
pub(super) fn become_writer_soon() -> Option<bool> {
    const TURNS: u32 = 100;
    let me = arch::thread_pointer();
    for _ in 0..TURNS {
        match PER_PROCESS.writer.compare_exchange(NOBODY, me, SeqCst, SeqCst) {
            Ok(_) => return Some(true),
            // Ourselves: a fault while writing.
            Err(writer) if writer == DONE || writer == me => return Some(false),
            Err(_) => core::hint::spin_loop(),
        }
    }
    None
}
