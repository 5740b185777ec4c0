//! Moves the profile into a mapped file before a seccomp filter forbids opening or writing files.
//!
//! The file has 4.4BSD's form, as with `GMON_LIVE=1`: header and samples are in the file at any moment, arcs are
//! written at the end, and arcs without calls follow them. No descriptor stays open, and writing needs no system
//! call. The buffer stays where it is.

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::SeqCst};

use gmon::layout::{GmonHdr, RawArc};

use super::{live, names, output, side_file, stale, writer};
use crate::message::{say, say_error};
use crate::objects::Tally;
use crate::os::{map_file, replace};
use crate::samples::{bins, contexts};
use crate::state::{Inherited, Reset, resets};

/// The length of the file, stored before the address.
static LENGTH: Inherited<AtomicUsize> =
    Inherited::new("says something only while there is a mapped file", AtomicUsize::new(0));

resets! {
    /// The address of the mapped file; null for none.
    static FILE: Reset<AtomicPtr<c_void>> = Reset::new();
}

/// Whether samples are counted in the mapped file.
pub(crate) fn is_in_file() -> bool {
    !FILE.load(SeqCst).is_null()
}

/// The address of the arcs in the file, and the number of arcs for which there is room.
pub(crate) fn room_for_arcs() -> Option<(*mut RawArc, usize)> {
    let (file, length) = (FILE.load(SeqCst), LENGTH.load(SeqCst));
    // SAFETY: null, or a header that was written.
    let ncnt = unsafe { file.cast::<GmonHdr>().as_ref() }?.ncnt as usize;
    // SAFETY: the file is longer than header and samples.
    Some((unsafe { file.byte_add(ncnt).cast() }, (length - ncnt) / size_of::<RawArc>()))
}

/// Creates the file, with a header and room for `arcs` arcs, and counts samples there from now on. A failure is
/// reported, and the result is false.
pub(crate) fn begin(header: GmonHdr, arcs: usize) -> bool {
    let length = header.ncnt as usize + arcs * size_of::<RawArc>();
    let mapped = output::open(true).and_then(|file| {
        let mapped = file.extend(0, length).and_then(|()| map_file(file, 0, length));
        if mapped.is_err() {
            let _ = file.truncate();
        }
        let _ = file.close();
        mapped.map_err(|error| (&b"map it"[..], error))
    });
    match mapped {
        Ok(memory) => {
            // SAFETY: fresh memory of that length, which is never freed; header and samples fit the memory.
            unsafe {
                memory.cast::<GmonHdr>().write(GmonHdr { totarc: 0, ..header });
            }
            // Stored first: the child of another thread's fork leaves the file by this length.
            LENGTH.store(length, SeqCst);
            FILE.store(memory, SeqCst);
            // SAFETY: as above.
            unsafe { bins::relocate(memory.byte_add(size_of::<GmonHdr>())) };
            true
        }
        Err((what, error)) => {
            let why = b": the program's seccomp filter forbids later writes: cannot ";
            say_error(&[names::name().to_bytes(), why, what], error);
            false
        }
    }
}

/// Removes the files of an earlier run, once samples are counted in the new file. With `has_side_file`, a side file is
/// written that says which program the file belongs to.
pub(crate) fn announce(has_side_file: bool) {
    stale::remove(!has_side_file);
    let file = if has_side_file { output::open_own_beside(names::name()) } else { None };
    if let Some((file, _)) = file {
        let header = writer::read_back(file, size_of::<GmonHdr>());
        let _ = file.close();
        let _ = header.map(side_file::announce_of);
    }
}

/// Leaves the file to the parent, in the child of a fork, which counts in the buffer again. A handler that was
/// interrupted by the fork may still count at the file's address, so memory of the child's own replaces the file
/// there; false if there is no such memory.
pub(crate) fn leave() -> bool {
    let file = FILE.swap(ptr::null_mut(), SeqCst);
    if file.is_null() {
        return true;
    }
    bins::restore();
    // SAFETY: the mapping of the file, which this process does not need any more.
    unsafe { replace(file, LENGTH.load(SeqCst)) }
}

/// Reports what the file cannot hold. `outside` are the counts outside the program, if the user wants a side file.
pub(crate) fn finish(outside: Option<&[Tally]>) {
    bins::collect_left();
    live::report(bins::fill_overflowed());
    let Some(counts) = outside else { return };
    let lost: &[u8] = match (contexts::has_ticks(), side_file::has_contents(counts)) {
        (true, true) => b"calling contexts and counts of shared objects are lost",
        (true, false) => b"calling contexts are lost",
        (false, true) => b"counts of shared objects are lost",
        (false, false) => return,
    };
    say(&[lost, b": the program's seccomp filter forbids writing files"]);
}
