//! Memory.

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{
    AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use super::limits::{DATA, limit};
use super::{Errno, Fd, call, numbers};
use crate::arch::LARGEST_PAGE;

/// The unit of memory.
pub(crate) const PAGE: usize = 4096;

/// Zeros in the child of a fork.
const INHERIT_ZERO: usize = 3;
const MAP_SHARED: usize = 1;
const MAP_FIXED: usize = 0x10;
const PROT_READ_WRITE: usize = 1 | 2;
/// MAP_PRIVATE | MAP_ANON.
const PRIVATE: usize = 0x2 | 0x1000;
/// Leaves the memory out of core dumps.
const MAP_CONCEAL: usize = 0x8000;

/// How much address space is reserved at start-up: as much as most programs' tables need.
const RESERVE: usize = (2 << 20) - LARGEST_PAGE;
/// How much there is before the program gives up its rights, behind which there may be no more.
const RESERVE_FOR_GOOD: usize = 64 << 20;
/// Which part of the limit of memory the reserve may take.
const PART_OF_LIMIT: u64 = 64;

/// Memory that was mapped beforehand, and is handed out from one end: without a system call, and to whichever thread asks.
pub(crate) struct Reserve {
    /// The first byte that is free, and the one behind the last. Those of a new piece are set with the reserve empty.
    next: AtomicUsize,
    end: AtomicUsize,
}

static OURS: Reserve = Reserve::none();

impl Reserve {
    pub(crate) const fn none() -> Reserve {
        Reserve { next: AtomicUsize::new(0), end: AtomicUsize::new(0) }
    }

    /// `length` bytes, rounded up to `grain`, all zero; null when there are not so many. Async-signal-safe.
    pub(crate) fn take(&self, length: usize, grain: usize) -> *mut c_void {
        let length = length.next_multiple_of(grain);
        let taken = self.next.fetch_update(SeqCst, SeqCst, |next| {
            // The end is never below a place that was found: it is lowered to 0 only with `next` at the top.
            let behind = next.checked_add(length)?;
            (next != 0 && behind <= self.end.load(SeqCst)).then_some(behind)
        });
        taken.map_or(ptr::null_mut(), ptr::with_exposed_provenance_mut)
    }

    /// Whether at least half of `size` bytes is left.
    pub(crate) fn has_half_of(&self, size: usize) -> bool {
        self.end.load(SeqCst).saturating_sub(self.next.load(SeqCst)) >= size / 2
    }

    /// Puts another piece in the place of what is left, which is returned as (address, length).
    pub(crate) fn replace(&self, memory: *mut c_void, length: usize) -> (usize, usize) {
        // Whoever takes meanwhile finds nothing.
        let next = self.next.swap(usize::MAX, SeqCst);
        let end = self.end.swap(0, SeqCst);
        self.end.store(memory.addr() + length, SeqCst);
        self.next.store(memory.expose_provenance(), SeqCst);
        (next, end.saturating_sub(next))
    }

    fn refill(&self, size: usize) -> bool {
        let memory = map_as(size, PRIVATE | MAP_CONCEAL);
        if !memory.is_null() {
            let _ = self.replace(memory, size);
        }
        !memory.is_null()
    }
}

/// Reserves address space for what [`take_reserved`] hands out. Only touched pages cost memory; none is in a core dump. Not
/// where the process may not have much: the program shall have that. At start-up.
pub(crate) fn reserve() {
    if limit(DATA).is_some_and(|limit| limit.now / PART_OF_LIMIT >= RESERVE as u64) {
        let _ = OURS.refill(RESERVE);
    }
}

/// Reserves more, because there may be none later.
pub(crate) fn reserve_for_good() {
    let is_wanted = OURS.next.load(Relaxed) != usize::MAX && !OURS.has_half_of(RESERVE_FOR_GOOD);
    if is_wanted && !OURS.refill(RESERVE_FOR_GOOD) {
        let _ = OURS.refill(RESERVE);
    }
}

/// Memory of the reserve, whole pages, all zero, or new memory where that is used up; null when there is none. Async-signal-safe.
pub(crate) fn take_reserved(length: usize) -> *mut c_void {
    let taken = OURS.take(length, LARGEST_PAGE);
    if taken.is_null() { map_now(length) } else { taken }
}

/// A word of memory that is 1 in this process and 0 in a child with a copy of the memory, however that was made; null where the kernel does
/// not do that.
pub(crate) fn map_own_word() -> *mut c_void {
    let memory = map_now(LARGEST_PAGE);
    if memory.is_null() {
        return memory;
    }
    // SAFETY: fresh memory.
    match unsafe { call(numbers::MINHERIT, [memory.addr(), LARGEST_PAGE, INHERIT_ZERO]) } {
        Ok(_) => memory,
        Err(_) => {
            // SAFETY: mapped just now, and nobody has it.
            unsafe { unmap(memory, LARGEST_PAGE) };
            ptr::null_mut()
        }
    }
}

/// New memory, all zero; null when there is none. Async-signal-safe.
pub fn map(length: usize) -> *mut c_void {
    let memory = map_now(length);
    if memory.is_null() { OURS.take(length, LARGEST_PAGE) } else { memory }
}

fn map_now(length: usize) -> *mut c_void {
    map_as(length, PRIVATE)
}

fn map_as(length: usize, flags: usize) -> *mut c_void {
    // SAFETY: an anonymous mapping at an address of the kernel's choice touches nothing that exists.
    let result = unsafe { call(numbers::MMAP, [0, length, PROT_READ_WRITE, flags, usize::MAX, 0]) };
    result.map_or(ptr::null_mut(), ptr::with_exposed_provenance_mut)
}

/// A part of a file as memory: what is written there is in the file at once.
pub(crate) fn map_file(file: Fd, offset: usize, length: usize) -> Result<*mut c_void, Errno> {
    let arguments = [0, length, PROT_READ_WRITE, MAP_SHARED, file.0 as usize, offset];
    // SAFETY: a mapping at an address of the kernel's choice touches nothing that exists.
    unsafe { call(numbers::MMAP, arguments) }.map(ptr::with_exposed_provenance_mut)
}

/// Puts memory of this process's own, all zero, in the place of memory that it shares: whoever has its address does not
/// notice. Where there is none, the process cannot go on as it was asked to, and false is returned.
///
/// # Safety
///
/// `memory` must be whole pages of one [`map_file`], and nobody may count on what is in it.
pub(crate) unsafe fn replace(memory: *mut c_void, length: usize) -> bool {
    let arguments = [memory.addr(), length, PROT_READ_WRITE, PRIVATE | MAP_FIXED, usize::MAX, 0];
    // SAFETY: only that memory is replaced, by the caller's promise.
    unsafe { call(numbers::MMAP, arguments) }.is_ok()
}

/// Makes memory zero again, which frees its whole pages.
///
/// # Safety
///
/// `memory` must be a part of one [`map`], and nobody may count on what is in it.
pub unsafe fn clear(memory: *mut c_void, length: usize) {
    let start = memory.addr();
    let first = start.next_multiple_of(PAGE) - start;
    let pages = length.saturating_sub(first) / PAGE * PAGE;
    // Tables are in the buffer of the profile, where they begin and end within pages.
    // SAFETY: the caller's promise. A new mapping takes the place of whole pages.
    unsafe {
        if pages == 0 || !replace(memory.byte_add(first), pages) {
            ptr::write_bytes(memory.cast::<u8>(), 0, length);
            return;
        }
        ptr::write_bytes(memory.cast::<u8>(), 0, first);
        ptr::write_bytes(memory.byte_add(first + pages).cast::<u8>(), 0, length - first - pages);
    }
}

/// Gives memory back.
///
/// # Safety
///
/// `memory` and `length` must be those of one [`map`] or [`map_file`], and nobody may use the memory any more.
pub unsafe fn unmap(memory: *mut c_void, length: usize) {
    // SAFETY: the caller's promise. Failure would only leave the memory mapped.
    let _ = unsafe { call(numbers::MUNMAP, [memory.addr(), length]) };
}
