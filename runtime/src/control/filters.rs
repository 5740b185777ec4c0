//! What is done before a filter of system calls is installed.

use core::sync::atomic::Ordering::SeqCst;

use super::buffer::Buffer;
use super::merge;
use super::moncontrol::{KEEPS_OUTSIDE, current, is_ours};
use super::writing_thread::{NOBODY, alone};
use crate::arch;
use crate::message::look_before_filter;
use crate::os::reserve_for_good;
use crate::per_process::PER_PROCESS;
use crate::{file, objects};

/// Gets ready to give up the calls that a filter may refuse: memory is reserved, what is loaded is looked at, and if the file cannot
/// be written behind the filter, the profile is moved into the file now. Whether the file can be written matters only where the filter
/// binds the thread that will write it: with `for_all`, or in the first thread.
pub(crate) fn get_ready(for_all: bool, can_write: bool) {
    if let Some(buffer) = current().filter(|_| is_ours()) {
        // A thread that gives up its calls leaves the file to others.
        let binds_the_writer = for_all || arch::thread_pointer() == PER_PROCESS.first_thread.load(SeqCst);
        alone(NOBODY, || prepare(&buffer, binds_the_writer && !can_write));
    }
}

/// Whether this process is profiled, and not a parent whose memory it has.
pub(crate) fn is_profiled() -> bool {
    is_ours() && current().is_some()
}

/// Gets what the process itself will need behind a filter. `must_move` says that the profile must be in its file by then.
fn prepare(buffer: &Buffer, must_move: bool) {
    reserve_for_good();
    file::reserve_arcs();
    look_before_filter();
    if KEEPS_OUTSIDE.load(SeqCst) {
        // What cannot be seen is said at the end.
        // SAFETY: this thread may write the file.
        unsafe {
            let _ = merge::look();
            objects::look_at_all();
        }
    }
    if must_move && !file::is_live() && !file::is_in_file() {
        move_into_file(buffer);
    }
}

/// Whether the profile is in its file already.
pub(crate) fn is_in_file() -> bool {
    file::is_in_file() && is_ours()
}

/// Goes on counting in the file, with room for many more arcs than there are.
fn move_into_file(buffer: &Buffer) {
    const AT_LEAST: usize = 1 << 15;
    if file::begin_in_file(buffer.header(), merge::arcs_number() * 4 + AT_LEAST) {
        file::announce_in_file(KEEPS_OUTSIDE.load(SeqCst));
    }
}
