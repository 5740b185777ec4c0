//! What is done before a filter of system calls is installed.

use core::sync::atomic::Ordering::SeqCst;

use super::writer::{NOBODY, alone};
use super::{FIRST_THREAD, KEEPS_OUTSIDE, current, is_ours, keep};
use crate::arch;
use crate::buffer::Buffer;
use crate::message::{look_before_filter, say};
use crate::system::{Expected, Wanted, expect, reserve_for_good};
use crate::{ending, gather, kernel, snapshot, threads};

/// A filter for which everything is ready, and what is to be undone if the kernel refuses to install it.
pub(crate) struct Prepared {
    filter: Expected,
    /// Whether samples have been stopped.
    stopped: bool,
    /// The signals whose handlers have been taken away.
    unwatched: u64,
}

/// Gets ready for a filter of system calls that the program is about to install, after which much cannot be had any more: memory is
/// reserved, what is loaded is looked at, and if the file could not be written later, the profile is moved into it now. Handlers that
/// could not do their work are taken away. From here on no call is made that the filter refuses, by a process without a profile either.
pub(crate) fn expect_filter(wanted: Wanted, for_all: bool) -> Option<Prepared> {
    let is_ours = is_ours();
    // The child of a vfork would bind its parent, whose memory it has.
    if !is_ours && !kernel::is_copy() {
        return None;
    }
    let filter = expect(wanted, for_all)?;
    let permits = |number, arguments| filter.permits(number, arguments);
    if let Some(buffer) = current().filter(|_| is_ours) {
        // A thread that gives up its calls leaves the file to others.
        let binds_the_writer = for_all || arch::thread_pointer() == FIRST_THREAD.load(SeqCst);
        let must_move = binds_the_writer && !kernel::can_write_file(permits);
        alone(NOBODY, || prepare(&buffer, must_move));
    }
    // Not with signals blocked: the filter may refuse to let them in again.
    let stopped = !kernel::can_sample(permits) && {
        snapshot::unwatch();
        kernel::stop_for_good(|| threads::run_clocks(false))
    };
    if stopped && is_ours && current().is_some() {
        // Behind the filter there may be no way to say anything.
        say(&[b"no samples from here on: the program's filter of system calls forbids rt_sigreturn"]);
    }
    let unwatched = if kernel::can_end_by_signal(permits) { 0 } else { ending::unwatch() };
    filter.enforce();
    Some(Prepared { filter, stopped, unwatched })
}

impl Prepared {
    /// The kernel has not installed it.
    pub(crate) fn withdraw(self) {
        self.filter.withdraw();
        snapshot::watch_again();
        ending::watch_again(self.unwatched);
        if self.stopped {
            kernel::go_on_again();
            threads::run_clocks(true);
            if is_ours() && current().is_some() {
                say(&[b"samples go on: the filter was not installed"]);
            }
        }
    }
}

/// Gets what the process itself will need behind a filter. `must_move` says that the profile must be in its file by then.
fn prepare(buffer: &Buffer, must_move: bool) {
    reserve_for_good();
    kernel::reserve_arcs();
    look_before_filter();
    if KEEPS_OUTSIDE.load(SeqCst) {
        // What cannot be seen is said at the end.
        // SAFETY: this thread may write the file.
        unsafe {
            let _ = gather::look();
            kernel::look_at_all();
        }
    }
    if must_move && !kernel::is_live() && !kernel::is_in_file() {
        move_into_file(buffer);
    }
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
        // A file that was written before said how many there were.
        moved.set_arcs(0);
        // SAFETY: as above.
        unsafe { kernel::rebuffer(memory, length) };
        keep(&moved);
        kernel::announce_in_file(KEEPS_OUTSIDE.load(SeqCst));
    }
}
