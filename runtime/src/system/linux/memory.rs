//! Memory.

use core::ffi::c_void;
use core::ptr;

use super::{Errno, Fd, call};
use crate::arch::numbers;

/// The unit of memory where the kernel has the smallest; elsewhere it is a multiple, up to [`LARGEST_PAGE`](super::LARGEST_PAGE).
pub(crate) const PAGE: usize = 4096;

const MADV_DONTNEED: usize = 4;
const MAP_SHARED: usize = 1;
const MAP_FIXED: usize = 0x10;
const PROT_READ_WRITE: usize = 1 | 2;
/// MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE: what is never touched costs no memory, nor the promise of any.
const PRIVATE_UNRESERVED: usize = 0x2 | 0x20 | 0x4000;

/// New memory, all zero; null when there is none. Async-signal-safe.
pub(crate) fn map(length: usize) -> *mut c_void {
    // SAFETY: an anonymous mapping at an address of the kernel's choice touches nothing that exists.
    let result = unsafe { call(numbers::MMAP, [0, length, PROT_READ_WRITE, PRIVATE_UNRESERVED, usize::MAX, 0]) };
    match result {
        Ok(address) => ptr::with_exposed_provenance_mut(address),
        Err(_) => ptr::null_mut(),
    }
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
    let arguments = [memory.addr(), length, PROT_READ_WRITE, PRIVATE_UNRESERVED | MAP_FIXED, usize::MAX, 0];
    // SAFETY: only that memory is replaced, by the caller's promise.
    unsafe { call(numbers::MMAP, arguments) }.is_ok()
}

/// Makes memory zero again, which frees its pages.
///
/// # Safety
///
/// `memory` must be whole pages of one [`map`], and nobody may count on what is in it.
pub(crate) unsafe fn clear(memory: *mut c_void, length: usize) {
    // SAFETY: the caller's promise. It cannot fail for such memory.
    let _ = unsafe { call(numbers::MADVISE, [memory.addr(), length, MADV_DONTNEED]) };
}

/// Gives memory back.
///
/// # Safety
///
/// `memory` and `length` must be those of one [`map`] or [`map_file`], and nobody may use the memory any more.
pub(crate) unsafe fn unmap(memory: *mut c_void, length: usize) {
    // SAFETY: the caller's promise. Failure would only leave the memory mapped.
    let _ = unsafe { call(numbers::MUNMAP, [memory.addr(), length]) };
}
