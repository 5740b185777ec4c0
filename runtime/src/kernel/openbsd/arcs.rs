//! The arcs in the buffer: the tables of the threads while the process runs, and the merged arcs of all threads after
//! `exit`.
//!
//! An entry of a table has the layout of an arc in the file. An empty entry is an arc of zeros, which readers skip.
//! `totarc` in the header is the size of all tables in bytes, so the buffer is a complete profile at any time.

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicI32, Ordering::SeqCst};

use gmon::layout::{GmonHdr, RawArc};

use super::header;
use super::sampler::look_if_due;
use crate::file::{Children, children_leave};
use crate::kernel::buffer::buffer;
use crate::message::say_count;
use crate::os::{map, take_reserved};
use crate::samples::bins;
use crate::state::Inherited;

/// If the buffer has no room, a table of this size or more gets its own mapping.
const LARGE: usize = 1 << 20;

/// The `totarc` of this process. A child of a fork finds its value here.
static TAKEN: Inherited<AtomicI32> =
    Inherited::new("the child restores the header of its buffer from there", AtomicI32::new(0));

/// Returns the unit of the sizes of tables: the size of an arc.
pub(crate) fn arcs_grain() -> usize {
    size_of::<RawArc>()
}

/// Returns the address after the samples, where the arcs start, and the number of bytes from there to the end of the
/// buffer.
///
/// # Safety
///
/// `header` must be the start of a buffer of `length` bytes.
unsafe fn room(header: *mut GmonHdr, length: usize) -> (*mut RawArc, usize) {
    // SAFETY: the caller guarantees a whole buffer; no code changes `ncnt` after the start.
    unsafe {
        let behind = (&raw const (*header).ncnt).read_volatile() as usize;
        (header.byte_add(behind).cast(), length.saturating_sub(behind))
    }
}

/// Returns the header's `totarc`, the size of the arcs in bytes. The kernel reads `totarc` at the end of the process.
///
/// # Safety
///
/// `header` must be the start of a buffer.
unsafe fn totarc(header: *mut GmonHdr) -> &'static AtomicI32 {
    // SAFETY: the caller guarantees a buffer. Buffers are never freed, and all threads access this word as an atomic.
    unsafe { AtomicI32::from_ptr(&raw mut (*header).totarc) }
}

/// Allocates zeroed memory for a table of arcs: a part of the buffer, or other memory if the buffer has no room.
/// Returns null if there is no memory. Also looks at the kernel's counters, because the program seldom calls the
/// runtime. Called below mcount.
///
/// The counts of a table in other memory reach the buffer at `exit`, and are lost if the process is killed.
pub(crate) fn map_arcs(length: usize) -> *mut c_void {
    look_if_due();
    if let Some((start, size)) = buffer() {
        // SAFETY: `buffer` returns the start and the size of a buffer.
        let ((arcs, room), totarc) = unsafe { (room(start.cast(), size), totarc(start.cast())) };
        let add = |taken: i32| i32::try_from(length).ok().and_then(|more| taken.checked_add(more));
        let taken = TAKEN.fetch_update(SeqCst, SeqCst, |taken| add(taken).filter(|all| *all as usize <= room));
        if let Ok(taken) = taken {
            totarc.fetch_max(taken + length as i32, SeqCst);
            // SAFETY: the table ends inside the room: `fetch_update` succeeds only then.
            return unsafe { arcs.byte_add(taken as usize).cast() };
        }
    }
    if length < LARGE { take_reserved(length) } else { map(length) }
}

/// Restores the header in the child of a fork, and runs `reset`, which clears the rest of the buffer and the tables.
/// Afterwards restores `totarc`, because the tables keep their places in the buffer; or leaves `totarc` 0, with which
/// the kernel writes no file, if children leave none.
pub(crate) fn after_fork_in_child(reset: impl FnOnce()) {
    let header: Option<*mut GmonHdr> = buffer().map(|(start, _)| start.cast());
    if let Some(header) = header {
        // SAFETY: `buffer` returns the start of a buffer, and the child has one thread. The copy was made when the
        // buffer was set.
        unsafe { header::restore(header) };
    }
    reset();
    if let Some(header) = header {
        let taken = if children_leave(Children::None) { 0 } else { TAKEN.load(SeqCst) };
        // SAFETY: as above.
        unsafe { set_totarc(header, taken) };
    }
}

/// Sets the size of the arcs.
///
/// # Safety
///
/// `header` must be the start of a buffer.
unsafe fn set_totarc(header: *mut GmonHdr, size: i32) {
    TAKEN.store(size, SeqCst);
    // SAFETY: the caller's promise.
    unsafe { totarc(header) }.store(size, SeqCst);
}

/// Replaces the tables by the merged arcs of all threads, and sets counters that wrapped to 65,535. If the buffer has
/// no room for all arcs, only the most frequent arcs stay, and a message has the number of the other calls.
///
/// # Safety
///
/// `header` must be the start of a buffer of `length` bytes, `arcs` must not be in this buffer, and no thread may still
/// count calls.
pub(super) unsafe fn put(header: *mut GmonHdr, length: usize, arcs: &[RawArc]) {
    // SAFETY: the caller guarantees a buffer of this length.
    let (start, size) = unsafe { room(header, length) };
    bins::fill_overflowed();
    let room = size / size_of::<RawArc>();
    let least = least_of_most_frequent(arcs, room);
    let more = arcs.iter().filter(|arc| arc.raw_count > least).count();
    // The number of arcs with the count `least` for which there is room.
    let mut equal = room.saturating_sub(more);
    let (mut kept, mut lost_arcs, mut lost_calls) = (0, 0_u64, 0_u64);
    for arc in arcs {
        let is_kept = arc.raw_count > least || (arc.raw_count == least && equal > 0);
        if !is_kept {
            lost_arcs += 1;
            lost_calls = lost_calls.saturating_add(arc.raw_count as u64);
            continue;
        }
        equal -= usize::from(arc.raw_count == least);
        // SAFETY: at most `room` arcs are kept.
        unsafe { start.add(kept).write(RawArc { ..*arc }) };
        kept += 1;
    }
    if kept == 0 {
        // If `totarc` were 0, the kernel would write no file, and the samples would be lost: write an arc of zeros.
        // SAFETY: the buffer has room for at least one arc.
        unsafe { ptr::write_bytes(start, 0, 1) };
        kept = 1;
    }
    // SAFETY: the caller guarantees a buffer.
    unsafe { set_totarc(header, (kept * size_of::<RawArc>()) as i32) };
    if lost_arcs > 0 {
        say_count(b"", lost_calls, b" calls are not in the file: the file has only room for the most frequent arcs");
    }
}

/// Returns the smallest count such that `room` is sufficient for all arcs with higher counts.
fn least_of_most_frequent(arcs: &[RawArc], room: usize) -> isize {
    if arcs.len() <= room {
        return 0;
    }
    let (mut low, mut high) = (0, isize::MAX);
    while low < high {
        let middle = low + (high - low) / 2;
        if arcs.iter().filter(|arc| arc.raw_count > middle).count() <= room {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}
