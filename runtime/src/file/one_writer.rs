//! Which thread of the process writes files.

use core::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use crate::arch;
use crate::state::{Reset, resets};

resets! {
    /// The `arch::thread_pointer` of the thread that writes the file, [`NOBODY`], or [`DONE`].
    static WRITER: Reset<AtomicUsize> = Reset::new();
}

/// No thread writes.
pub(crate) const NOBODY: usize = 0;
/// The file of this process is complete.
pub(crate) const DONE: usize = usize::MAX;

/// Makes this thread the writer; false once the file is complete. Waits only for a very short time; `None` if another
/// thread is still writing. Call this with signals blocked.
#[inline(never)]
pub(crate) fn become_writer_soon() -> Option<bool> {
    const TURNS: u32 = 100;
    let me = arch::thread_pointer();
    for _ in 0..TURNS {
        match WRITER.compare_exchange(NOBODY, me, SeqCst, SeqCst) {
            Ok(_) => return Some(true),
            // This thread itself is the writer: there was a fault during writing.
            Err(writer) if writer == DONE || writer == me => return Some(false),
            Err(_) => core::hint::spin_loop(),
        }
    }
    None
}

/// The thread pointer of the writer, [`NOBODY`], or [`DONE`].
pub(crate) fn writer() -> usize {
    WRITER.load(SeqCst)
}

/// Sets the writer, for [`NOBODY`] and [`DONE`]. Only the writer calls this, and a thread that ends the process.
#[inline(always)]
pub(crate) fn set_writer(writer: usize) {
    WRITER.store(writer, SeqCst);
}
