//! Copies the profile into other files while the program runs.

use gmon::layout::RawArc;

use super::super::moncontrol::{current, outside};
use super::super::writing_thread::exclusively;
use super::super::{clock, merge};
use crate::file::one_writer::NOBODY;
use crate::file::output::Refusal;
use crate::os::{Errno, Fd};
use crate::samples::contexts;
use crate::{file, kernel, mcount};

/// Writes the counts so far into two other files: the profile and the side file. Profiling continues. `None` if the
/// files of the process are complete. May be called in signal handlers.
pub(super) fn write_copy(files: (Fd, Fd)) -> Option<Result<(), Refusal>> {
    let buffer = current()?;
    let mut result = None;
    exclusively(NOBODY, &mut || {
        mcount::settle_clocks(false);
        kernel::collect();
        contexts::freeze();
        // SAFETY: `exclusively` excludes all other threads, here and below.
        let outside = unsafe { outside(false) };
        // A live file has the tables of the threads.
        let (mut more, mut lost): (&[RawArc], _) = (&[], 0);
        if !file::is_live() {
            // SAFETY: as above; nobody else writes there.
            let own = unsafe { merge::own_arcs(buffer.room_for_arcs()) };
            buffer.set_arcs(own.in_room);
            (more, lost) = (own.more, own.lost);
        }
        result = Some(match lost {
            0 => kernel::write_copy(more, outside, files, clock::now()),
            _ => Err((&b"add up the calls of all threads"[..], Errno::ENOMEM)),
        });
        contexts::thaw();
    });
    result
}
