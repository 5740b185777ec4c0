//! What is done before a filter of system calls is installed.

use core::sync::atomic::Ordering::SeqCst;

use super::writer::{NOBODY, alone};
use super::{FIRST_THREAD, KEEPS_OUTSIDE, current, is_ours, keep};
use crate::arch;
use crate::buffer::Buffer;
use crate::message::look_before_filter;
use crate::system::{Expected, Wanted, expect, reserve_for_good};
use crate::{gather, kernel, threads};

/// Gets ready for a filter of system calls that the program is about to install, after which much cannot be had any more: memory is
/// reserved, what is loaded is looked at, and if the file could not be written later, the profile is moved into it now. From here
/// on no call is made that the filter refuses. `forget_signals` lets go of signals that kill, which our handler could not send again.
pub(crate) fn expect_filter(wanted: Wanted, for_all: bool, forget_signals: impl FnOnce()) -> Option<Expected> {
    let buffer = current().filter(|_| is_ours())?;
    // A thread that gives up its calls leaves the file to others.
    let binds_the_writer = for_all || arch::thread_pointer() == FIRST_THREAD.load(SeqCst);
    let mut expected = None;
    alone(NOBODY, || {
        reserve_for_good();
        kernel::reserve_arcs();
        let Some(filter) = expect(wanted, for_all) else { return };
        look_before_filter();
        if KEEPS_OUTSIDE.load(SeqCst) {
            // What cannot be seen is said at the end.
            // SAFETY: this thread may write the file.
            unsafe {
                let _ = gather::look();
                kernel::look_at_all();
            }
        }
        let permits = |number, arguments| filter.permits(number, arguments);
        if binds_the_writer && !kernel::can_write_file(permits) && !kernel::is_live() && !kernel::is_in_file() {
            move_into_file(&buffer);
        }
        if !kernel::can_sample(permits) {
            threads::run_clocks(false);
            kernel::stop_for_good();
        }
        if !kernel::can_end_by_signal(permits) {
            forget_signals();
        }
        expected = Some(filter);
    });
    // Not before signals are let in again, which the filter may refuse.
    expected.inspect(Expected::enforce)
}

/// Whether the profile is in its file already.
pub(crate) fn is_in_file() -> bool {
    kernel::is_in_file() && is_ours()
}

/// Puts the buffer into the file, with room for many more arcs than there are.
fn move_into_file(buffer: &Buffer) {
    const AT_LEAST: usize = 1 << 15;
    let length = buffer.length_with(gather::arcs_number() * 4 + AT_LEAST);
    let memory = kernel::begin_in_file(length);
    if !memory.is_null() {
        // SAFETY: fresh memory of that length, which is never freed.
        let moved = unsafe { buffer.copy_to(memory, length) };
        // SAFETY: as above.
        unsafe { kernel::rebuffer(memory, length) };
        keep(&moved);
    }
}
