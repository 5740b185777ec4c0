//! Memory.

use core::ffi::c_void;
use core::ptr;

use super::constants::{MAP_UNDUMPED, RLIMIT_MEMORY};
use super::limits::limit;
use super::{Errno, Fd, call, numbers};
use crate::arch::LARGEST_PAGE;
use crate::os::reserve::Reserve;
use crate::state::Inherited;

/// The size of a page.
pub(crate) const PAGE: usize = 4096;

/// The child of a `fork` gets zeros.
const INHERIT_ZERO: usize = 3;
const MAP_SHARED: usize = 1;
const MAP_FIXED: usize = 0x10;
const PROT_READ_WRITE: usize = 1 | 2;
/// MAP_PRIVATE | MAP_ANON.
const PRIVATE: usize = 0x2 | 0x1000;

/// The bytes of address space reserved at start-up, enough for most programs' tables.
const RESERVE: usize = (2 << 20) - LARGEST_PAGE;
/// The bytes reserved before the program gives up rights; the program may not be able to map memory afterwards.
const RESERVE_FOR_GOOD: usize = 64 << 20;
/// The reserve takes at most 1/64 of the limit of memory.
const PART_OF_LIMIT: u64 = 64;

static OURS: Inherited<Reserve> = Inherited::new("the child has the reserves as its parent has", Reserve::none());

fn refill(size: usize) -> bool {
    let memory = map_as(size, PRIVATE | MAP_UNDUMPED);
    if !memory.is_null() {
        let _ = OURS.replace(memory, size);
    }
    !memory.is_null()
}

/// Reserves address space for [`take_reserved`], at start-up. Only touched pages use memory, and core dumps leave the
/// pages out. Reserves nothing if the limit of memory is low, to leave the space to the program.
pub(crate) fn reserve() {
    if limit(RLIMIT_MEMORY).is_some_and(|limit| limit.now / PART_OF_LIMIT >= RESERVE as u64) {
        let _ = refill(RESERVE);
    }
}

/// Reserves more address space, because the program may not be able to map memory later.
pub(crate) fn reserve_for_good() {
    let is_wanted = !OURS.is_closed() && !OURS.has_half_of(RESERVE_FOR_GOOD);
    if is_wanted && !refill(RESERVE_FOR_GOOD) {
        let _ = refill(RESERVE);
    }
}

/// Allocates whole pages from the reserve, all zero, or maps new memory if the reserve is used up; null if both fail.
/// Async-signal-safe.
pub(crate) fn take_reserved(length: usize) -> *mut c_void {
    let taken = OURS.take(length, LARGEST_PAGE);
    if taken.is_null() { map_now(length) } else { taken }
}

/// Maps a word that becomes 0 in any child with a copy of the memory. The caller sets the word to 1 in this process.
/// Returns null if the kernel cannot do this.
pub(crate) fn map_own_word() -> *mut c_void {
    let memory = map_now(LARGEST_PAGE);
    if memory.is_null() {
        return memory;
    }
    // SAFETY: the memory was just mapped.
    if unsafe { zero_in_copies(memory, LARGEST_PAGE) } {
        return memory;
    }
    // SAFETY: the memory was just mapped, and no code uses it.
    unsafe { unmap(memory, LARGEST_PAGE) };
    ptr::null_mut()
}

/// Makes the kernel set memory to zero in any child with a copy of the memory. Returns false if the kernel cannot do
/// this.
///
/// # Safety
///
/// `memory` must be whole pages, whose contents no child needs.
#[inline(always)]
pub(crate) unsafe fn zero_in_copies(memory: *mut c_void, length: usize) -> bool {
    // SAFETY: the call does not change the memory of this process, and the caller guarantees that no child needs the
    // contents.
    unsafe { call(numbers::MINHERIT, [memory.addr(), length, INHERIT_ZERO]) }.is_ok()
}

/// Maps new memory, all zero, or allocates from the reserve if mapping fails; null if both fail. Async-signal-safe.
pub fn map(length: usize) -> *mut c_void {
    let memory = map_now(length);
    if memory.is_null() { OURS.take(length, LARGEST_PAGE) } else { memory }
}

fn map_now(length: usize) -> *mut c_void {
    map_as(length, PRIVATE)
}

fn map_as(length: usize, flags: usize) -> *mut c_void {
    // SAFETY: an anonymous mapping at an address that the kernel chooses changes no existing memory.
    let result = unsafe { call(numbers::MMAP, [0, length, PROT_READ_WRITE, flags, usize::MAX, 0]) };
    result.map_or(ptr::null_mut(), ptr::with_exposed_provenance_mut)
}

/// Maps a part of a file as shared memory: a write to the memory changes the file at once.
pub(crate) fn map_file(file: Fd, offset: usize, length: usize) -> Result<*mut c_void, Errno> {
    let arguments = [0, length, PROT_READ_WRITE, MAP_SHARED, file.0 as usize, offset];
    // SAFETY: a mapping at an address that the kernel chooses changes no existing memory.
    unsafe { call(numbers::MMAP, arguments) }.map(ptr::with_exposed_provenance_mut)
}

/// Replaces shared memory with private memory at the same address, all zero. Returns false if the kernel has no memory.
///
/// # Safety
///
/// `memory` must be whole pages of one [`map_file`], and no code may rely on the contents.
pub(crate) unsafe fn replace(memory: *mut c_void, length: usize) -> bool {
    let arguments = [memory.addr(), length, PROT_READ_WRITE, PRIVATE | MAP_FIXED, usize::MAX, 0];
    // SAFETY: the call replaces only this memory, and the caller guarantees that no code relies on the contents.
    unsafe { call(numbers::MMAP, arguments) }.is_ok()
}

/// Sets memory to zero and frees its whole pages.
///
/// # Safety
///
/// `memory` must be a part of one [`map`], and no code may rely on the contents.
pub unsafe fn clear(memory: *mut c_void, length: usize) {
    let start = memory.addr();
    let first = start.next_multiple_of(PAGE) - start;
    let pages = length.saturating_sub(first) / PAGE * PAGE;
    // Tables in the buffer of a profile begin and end within pages. A new mapping replaces whole pages, because
    // MADV_FREE would keep the contents until memory is short.
    // SAFETY: the caller guarantees that no code relies on the contents.
    unsafe {
        if pages == 0 || !replace(memory.byte_add(first), pages) {
            ptr::write_bytes(memory.cast::<u8>(), 0, length);
            return;
        }
        ptr::write_bytes(memory.cast::<u8>(), 0, first);
        ptr::write_bytes(memory.byte_add(first + pages).cast::<u8>(), 0, length - first - pages);
    }
}

/// Unmaps memory.
///
/// # Safety
///
/// `memory` and `length` must be from one [`map`] or [`map_file`], and no code may use the memory afterwards.
pub unsafe fn unmap(memory: *mut c_void, length: usize) {
    // SAFETY: the caller guarantees that no code uses the memory. After an error, the memory only stays mapped.
    let _ = unsafe { call(numbers::MUNMAP, [memory.addr(), length]) };
}
