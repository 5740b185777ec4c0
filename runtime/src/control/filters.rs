//! Prepares for a seccomp filter that the program is about to install.

use core::sync::atomic::Ordering::SeqCst;

use super::buffer::Buffer;
use super::merge;
use super::moncontrol::{KEEPS_OUTSIDE, current, is_first_thread, is_ours, is_profiled};
use super::writing_thread::exclusively;
use crate::file::one_writer::NOBODY;
use crate::message::look_before_filter;
use crate::os::{effective_user, reserve_for_good};
use crate::samples::contexts;
use crate::{file, objects};

/// Prepares for system calls that a filter may refuse: reserves memory, reads the list of loaded objects, and, if the
/// file cannot be written behind the filter, moves the profile into the file. Whether the file can be written matters
/// only if the filter binds the thread that will write the file: with `for_all`, or in the first thread.
pub(crate) fn get_ready(for_all: bool, can_write: bool) {
    if let Some(buffer) = current().filter(|_| is_ours()) {
        // Another thread than the first one does not write the file at the end.
        let binds_the_writer = for_all || is_first_thread();
        exclusively(NOBODY, &mut || prepare(&buffer, binds_the_writer && !can_write));
    }
}

/// Gets what this process needs behind a filter. With `must_move`, the profile is moved into its file.
fn prepare(buffer: &Buffer, must_move: bool) {
    reserve_for_good();
    file::reserve_arcs();
    contexts::reserve_live();
    look_before_filter();
    look_at_objects();
    if !must_move {
        file::hold(false);
    }
    if must_move && !file::is_live() && !file::is_in_file() {
        move_into_file(buffer);
    }
}

/// Prepares for the loss of `/proc` or of the way to the directory: reads the list of loaded objects, and holds the
/// directory open. With `with_files`, the process will not be able to open files, so the files are opened too.
pub(crate) fn hold(with_files: bool) {
    if is_profiled() {
        exclusively(NOBODY, &mut || {
            look_at_objects();
            file::hold(with_files);
        });
    }
}

/// Prepares for another user, who may not create files: opens the files of the superuser's process. The process can
/// read its list of objects later.
pub(crate) fn hold_files() {
    const SUPERUSER: u32 = 0;
    if is_profiled() && effective_user() == SUPERUSER {
        exclusively(NOBODY, &mut || file::hold(true));
    }
}

/// Reads the list of loaded objects. Errors are reported at the end.
fn look_at_objects() {
    if KEEPS_OUTSIDE.load(SeqCst) {
        // SAFETY: this thread may write the file.
        unsafe {
            let _ = merge::look();
            objects::look_at_all();
        }
    }
}

/// Whether the process counts in a mapped file, see [`file::is_in_file`].
pub(crate) fn is_in_file() -> bool {
    file::is_in_file() && is_ours()
}

/// Moves the counts into the file, with room for many more arcs than there are now.
fn move_into_file(buffer: &Buffer) {
    const AT_LEAST: usize = 1 << 15;
    if file::begin_in_file(buffer.header(), merge::arcs_number() * 4 + AT_LEAST) {
        file::announce_in_file(KEEPS_OUTSIDE.load(SeqCst));
    }
}
