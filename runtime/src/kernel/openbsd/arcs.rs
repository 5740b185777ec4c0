//! The arcs in the buffer: the tables of the threads while the process runs, and the sums of all threads at the end.
//!
//! An entry of a table is an arc of the file, and an empty entry is an arc of zeros, which readers skip. `totarc` of the header
//! says how many bytes tables take, so the buffer is a whole profile at each moment.

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicI32, Ordering::SeqCst};

use gmon::layout::{GmonHdr, RawArc};

use super::sampler::look_if_due;
use crate::file::{Children, children_leave};
use crate::kernel::buffer::buffer;
use crate::message::say_count;
use crate::os::{map, take_reserved};
use crate::samples::bins;

/// Tables of this size and more are mapped by themselves when the buffer has no room.
const LARGE: usize = 1 << 20;

/// The unit of the size of tables: whole arcs.
pub(crate) fn arcs_grain() -> usize {
    size_of::<RawArc>()
}

/// The first byte behind the samples, and the bytes from there to the end of the buffer.
///
/// # Safety
///
/// `header` must be the start of a buffer of `length` bytes.
unsafe fn room(header: *mut GmonHdr, length: usize) -> (*mut RawArc, usize) {
    // SAFETY: the caller's promise; nobody changes `ncnt`.
    unsafe {
        let behind = (&raw const (*header).ncnt).read_volatile() as usize;
        (header.byte_add(behind).cast(), length.saturating_sub(behind))
    }
}

/// The header's bytes of arcs, which the kernel reads at the end of the process.
///
/// # Safety
///
/// `header` must be the start of a buffer.
unsafe fn totarc(header: *mut GmonHdr) -> &'static AtomicI32 {
    // SAFETY: the caller's promise: buffers are never freed, and threads write this word only here.
    unsafe { AtomicI32::from_ptr(&raw mut (*header).totarc) }
}

/// Memory for a table of arcs, all zero: a part of the buffer while there is room, else other memory; null if there is none. Also looks
/// at the kernel's counters, because the runtime is seldom called. Called below mcount.
///
/// Counts in other memory reach the buffer at the end, and are lost if the process is killed.
pub(crate) fn map_arcs(length: usize) -> *mut c_void {
    look_if_due();
    if let Some((start, size)) = buffer() {
        // SAFETY: a buffer of that size.
        let ((arcs, room), totarc) = unsafe { (room(start.cast(), size), totarc(start.cast())) };
        let add = |taken: i32| i32::try_from(length).ok().and_then(|more| taken.checked_add(more));
        let taken = totarc.fetch_update(SeqCst, SeqCst, |taken| add(taken).filter(|all| *all as usize <= room));
        if let Ok(taken) = taken {
            // SAFETY: inside the room, as just checked.
            return unsafe { arcs.byte_add(taken as usize).cast() };
        }
    }
    if length < LARGE { take_reserved(length) } else { map(length) }
}

/// Runs `reset`, which empties buffer and tables in the child of a fork. Then the header again says how many bytes the tables take, which
/// stay where they are; or 0, with which the kernel writes no file, if children leave nothing.
pub(crate) fn after_fork_in_child(reset: impl FnOnce()) {
    let header = buffer().map(|(start, _)| start.cast());
    // SAFETY: the start of a buffer.
    let before = header.map(|header| unsafe { totarc(header) }.load(SeqCst));
    reset();
    if let (Some(header), Some(before)) = (header, before) {
        let taken = if children_leave(Children::None) { 0 } else { before };
        // SAFETY: as above.
        unsafe { totarc(header) }.store(taken, SeqCst);
    }
}

/// Puts the sums of all threads in the place of the tables, and 65,535 in counters that wrapped. If not all fit, the most frequent ones stay, and one line says the rest.
///
/// # Safety
///
/// `header` must be the start of a buffer of `length` bytes that `arcs` are not in, and no thread may count any more.
pub(super) unsafe fn put(header: *mut GmonHdr, length: usize, arcs: &[RawArc]) {
    // SAFETY: the caller's promise, here and below.
    let (start, size) = unsafe { room(header, length) };
    bins::fill_overflowed();
    let room = size / size_of::<RawArc>();
    let least = least_of_most_frequent(arcs, room);
    let more = arcs.iter().filter(|arc| arc.raw_count > least).count();
    // Of the arcs with exactly that count, so many.
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
        // SAFETY: at most as many arcs as there is room for are kept.
        unsafe { start.add(kept).write(RawArc { ..*arc }) };
        kept += 1;
    }
    if kept == 0 {
        // Without arcs the kernel would write no file: an arc of zeros keeps the samples.
        // SAFETY: there is room for an arc.
        unsafe { ptr::write_bytes(start, 0, 1) };
        kept = 1;
    }
    // SAFETY: as above.
    unsafe { totarc(header) }.store((kept * size_of::<RawArc>()) as i32, SeqCst);
    if lost_arcs > 0 {
        say_count(b"", lost_calls, b" calls are not in the file: the file has only room for the most frequent arcs");
    }
}

/// The least count such that all arcs with a higher count fit in `room`.
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
