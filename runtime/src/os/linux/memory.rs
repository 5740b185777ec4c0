//! Memory: mapping, clearing, and the reserve.

use core::ffi::c_void;
use core::ptr;

use super::limits::limit;
use super::machine::numbers;
use super::{Errno, Fd, call};
use crate::arch::LARGEST_PAGE;
use crate::os::reserve::Reserve;
use crate::state::Inherited;

/// The smallest page size of kernels. Other kernels use a multiple, up to [`LARGEST_PAGE`].
pub(crate) const PAGE: usize = 4096;

const MADV_DONTNEED: usize = 4;
const MADV_NOHUGEPAGE: usize = 15;
const MADV_DONTDUMP: usize = 16;
const MADV_WIPEONFORK: usize = 18;
const MADV_POPULATE_READ: usize = 22;
pub(crate) const RLIMIT_AS: usize = 9;
const MAP_SHARED: usize = 1;
const MAP_FIXED: usize = 0x10;
const PROT_READ: usize = 1;
const PROT_READ_WRITE: usize = 1 | 2;
const PROT_READ_EXECUTE: usize = 1 | 4;
const PROT_ALL: usize = 1 | 2 | 4;
/// Fails if the addresses are in use. Kernels before 4.17 ignore the flag, and may choose another address.
const MAP_FIXED_NOREPLACE: usize = 0x10_0000;
/// MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE: untouched pages take no memory and no commitment.
const PRIVATE_UNRESERVED: usize = 0x2 | 0x20 | 0x4000;

/// The address space that is reserved at start-up: enough for the tables of most programs, and less than a huge page.
const RESERVE: usize = (2 << 20) - LARGEST_PAGE;
/// The address space for what is mapped at start-up, which is reserved in one call with [`RESERVE`].
const AT_START: usize = 5 << 20;
/// The address space that is reserved before a seccomp filter is installed, behind which there may be no more.
const RESERVE_BEHIND_FILTER: usize = 64 << 20;
/// The reserve takes at most this part of the limit of address space.
const PART_OF_LIMIT: u64 = 64;

static OURS: Inherited<Reserve> = Inherited::new("the child has the reserves as its parent has", Reserve::none());
/// What [`map`] takes first: one system call instead of one for each table.
static FOR_START: Inherited<Reserve> = Inherited::new("the child has the reserves as its parent has", Reserve::none());

/// Reserves address space for [`take_reserved`] and for the tables that are mapped at start-up. Only touched pages take
/// memory, and none of the former is in a core dump. There is no reserve if the process's limit is low, because the
/// program needs the address space. Called at start-up.
pub(crate) fn reserve() {
    if limit(RLIMIT_AS).is_some_and(|limit| limit.now / PART_OF_LIMIT >= RESERVE as u64) {
        let memory = refill(RESERVE, AT_START);
        if !memory.is_null() {
            // The mapping is longer than a huge page, of which most tables touch a few small pages.
            // SAFETY: fresh memory.
            let _ = unsafe { call(numbers::MADVISE, [memory.addr(), RESERVE + AT_START, MADV_NOHUGEPAGE]) };
            // SAFETY: the mapping has that many bytes behind the reserve.
            let _ = FOR_START.replace(unsafe { memory.byte_add(RESERVE) }, AT_START);
        }
    }
}

/// Reserves more address space, because the program is about to install a seccomp filter.
pub(crate) fn reserve_for_good() {
    let is_wanted = !OURS.is_closed() && !OURS.has_half_of(RESERVE_BEHIND_FILTER);
    if is_wanted && refill(RESERVE_BEHIND_FILTER, 0).is_null() {
        let _ = refill(RESERVE, 0);
    }
}

/// Unmaps the rest of the reserves for good, because the program will have all its memory locked, touched or not.
pub(crate) fn unreserve() {
    [&*OURS, &FOR_START].into_iter().for_each(unmap_rest);
}

fn unmap_rest(reserve: &Reserve) {
    let (left, length) = reserve.close();
    let unused = left.checked_next_multiple_of(LARGEST_PAGE).unwrap_or(0);
    let length = (left.saturating_add(length)).saturating_sub(unused);
    if left != 0 && length > 0 {
        // SAFETY: whole pages of the reserve, which nobody has taken.
        unsafe { unmap(ptr::with_exposed_provenance_mut(unused), length) };
    }
}

/// Makes the pages of some memory present, as reading each of them would. A page that nothing has touched still takes
/// no memory. The result says whether all pages could be read; kernels before 5.14 do nothing. Async-signal-safe.
pub(crate) fn make_present(address: usize, length: usize) -> bool {
    let start = address & !(PAGE - 1);
    // SAFETY: the content of the memory does not change, whatever memory it is.
    unsafe { call(numbers::MADVISE, [start, address.wrapping_add(length).wrapping_sub(start), MADV_POPULATE_READ]) }
        .is_ok()
}

/// Fills the reserve with new memory of this size, which is followed by `more` bytes for the caller. The result is the
/// address; null if there is no memory.
fn refill(size: usize, more: usize) -> *mut c_void {
    let memory = map_now(size + more);
    if !memory.is_null() {
        // SAFETY: fresh memory. Older kernels include it in their dumps.
        let _ = unsafe { call(numbers::MADVISE, [memory.addr(), size, MADV_DONTDUMP]) };
        let _ = OURS.replace(memory, size);
    }
    memory
}

/// Takes whole pages of the reserve, all zero, or maps new memory if the reserve is used up; null if there is none.
/// Async-signal-safe.
pub(crate) fn take_reserved(length: usize) -> *mut c_void {
    let taken = OURS.take(length, LARGEST_PAGE);
    if taken.is_null() { map_now(length) } else { taken }
}

/// Returns the latest piece to the reserve; an earlier piece stays taken.
pub(super) fn give_back_reserved(memory: *mut c_void, length: usize) {
    if !memory.is_null() {
        // SAFETY: only the caller has that memory. The next owner finds it all zero.
        unsafe { ptr::write_bytes(memory.cast::<u8>(), 0, length) };
        OURS.give_back(memory, length.next_multiple_of(LARGEST_PAGE));
    }
}

/// Maps a word that the kernel sets to 0 in every child with a copy of the memory, however the child was made; null
/// if the kernel does not support that.
pub(crate) fn map_own_word() -> *mut c_void {
    let memory = map(LARGEST_PAGE);
    if memory.is_null() {
        return memory;
    }
    // SAFETY: fresh memory, whole pages.
    match unsafe { call(numbers::MADVISE, [memory.addr(), LARGEST_PAGE, MADV_WIPEONFORK]) } {
        Ok(_) => memory,
        Err(_) => {
            // SAFETY: mapped above, and nobody has the address.
            unsafe { unmap(memory, LARGEST_PAGE) };
            ptr::null_mut()
        }
    }
}

/// Maps new memory, all zero; null if there is none. Async-signal-safe.
pub fn map(length: usize) -> *mut c_void {
    let reserved = FOR_START.take(length, LARGEST_PAGE);
    let memory = if reserved.is_null() { map_now(length) } else { reserved };
    // If a filter refuses the call, memory that was reserved for that case.
    if memory.is_null() { OURS.take(length, LARGEST_PAGE) } else { memory }
}

fn map_now(length: usize) -> *mut c_void {
    // SAFETY: an anonymous mapping at an address of the kernel's choice affects no existing memory.
    let result = unsafe { call(numbers::MMAP, [0, length, PROT_READ_WRITE, PRIVATE_UNRESERVED, usize::MAX, 0]) };
    match result {
        Ok(address) => ptr::with_exposed_provenance_mut(address),
        Err(_) => ptr::null_mut(),
    }
}

/// Maps new memory, all zero, at an address; false if the memory there is in use.
pub(crate) fn map_at(address: usize, length: usize) -> bool {
    let arguments = [address, length, PROT_READ_WRITE, PRIVATE_UNRESERVED | MAP_FIXED_NOREPLACE, usize::MAX, 0];
    // SAFETY: no existing memory is affected.
    match unsafe { call(numbers::MMAP, arguments) } {
        Ok(found) if found == address => true,
        Ok(other) => {
            // SAFETY: mapped above, and nobody has the address.
            unsafe { unmap(ptr::with_exposed_provenance_mut(other), length) };
            false
        }
        Err(_) => false,
    }
}

/// What may be done with memory that contains code.
#[derive(Clone, Copy)]
pub(super) enum Access {
    /// The code may be executed.
    Executable,
    /// The code may be executed and changed.
    ExecutableAndWritable,
    /// The memory may only be read.
    Readable,
}

/// Changes what may be done with whole pages of memory.
///
/// # Safety
///
/// Whoever uses the memory meanwhile must need no more than both accesses permit.
pub(super) unsafe fn protect(address: usize, length: usize, access: Access) -> Result<(), Errno> {
    let rights = match access {
        Access::Executable => PROT_READ_EXECUTE,
        Access::ExecutableAndWritable => PROT_ALL,
        Access::Readable => PROT_READ,
    };
    // SAFETY: the caller's promise.
    unsafe { call(numbers::MPROTECT, [address, length, rights]) }.map(|_| ())
}

/// Maps a part of a file: a write to the memory is a write to the file.
pub(crate) fn map_file(file: Fd, offset: usize, length: usize) -> Result<*mut c_void, Errno> {
    let arguments = [0, length, PROT_READ_WRITE, MAP_SHARED, file.0 as usize, offset];
    // SAFETY: a mapping at an address of the kernel's choice affects no existing memory.
    unsafe { call(numbers::MMAP, arguments) }.map(ptr::with_exposed_provenance_mut)
}

/// Replaces shared memory by private memory of zeros at the same address, which other users of the address do not
/// notice. If there is no memory, the process cannot continue as intended, and the result is false.
///
/// # Safety
///
/// `memory` must be whole pages of one [`map_file`], and nobody may rely on its contents.
pub(crate) unsafe fn replace(memory: *mut c_void, length: usize) -> bool {
    let arguments = [memory.addr(), length, PROT_READ_WRITE, PRIVATE_UNRESERVED | MAP_FIXED, usize::MAX, 0];
    // SAFETY: only that memory is replaced, by the caller's promise.
    unsafe { call(numbers::MMAP, arguments) }.is_ok()
}

/// Clears memory, which frees its pages.
///
/// # Safety
///
/// `memory` must be whole pages of one [`map`], and nobody may rely on its contents.
pub unsafe fn clear(memory: *mut c_void, length: usize) {
    // SAFETY: the caller's promise.
    if unsafe { call(numbers::MADVISE, [memory.addr(), length, MADV_DONTNEED]) }.is_err() {
        // A filter refuses the call, which otherwise cannot fail for such memory.
        // SAFETY: as above.
        unsafe { ptr::write_bytes(memory.cast::<u8>(), 0, length) };
    }
}

/// Unmaps memory.
///
/// # Safety
///
/// `memory` and `length` must be those of one [`map`] or [`map_file`], and nobody may use the memory any more.
pub unsafe fn unmap(memory: *mut c_void, length: usize) {
    // SAFETY: the caller's promise. Failure would only leave the memory mapped.
    let _ = unsafe { call(numbers::MUNMAP, [memory.addr(), length]) };
}
