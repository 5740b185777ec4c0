//! Accesses memory of the program that may be unmapped or read-only: the access fails instead of ending the process.
//! Async-signal-safe.
//!
//! The kernel makes each access, by a pipe that exists only for this access: the program may close all descriptors at
//! any time.

use super::own_memory::OwnMemory;
use super::{Errno, PAGE};

/// Reads `bytes.len()` bytes from `address`.
///
/// # Errors
///
/// EFAULT if some bytes cannot be read; the error of pipe2(2).
pub fn read(address: usize, bytes: &mut [u8]) -> Result<(), Errno> {
    with_memory(|memory| if memory.fill(address, bytes) { Ok(()) } else { Err(Errno::EFAULT) })
}

/// Writes `bytes` to `address`.
///
/// # Errors
///
/// EFAULT if some bytes cannot be written; the error of pipe2(2).
pub fn write(address: usize, bytes: &[u8]) -> Result<(), Errno> {
    // SAFETY: the address is in memory that the program gave to a call of `profil` for this purpose.
    with_memory(|memory| unsafe { memory.copy(bytes.as_ptr().addr(), address, bytes.len()) })
}

/// Returns whether all `length` bytes from `address` on can be written. The function copies one byte of each page to
/// its own place; a change of this byte by another thread at this moment can be lost.
pub fn can_be_written(address: usize, length: usize) -> bool {
    let Some(last) = length.checked_sub(1).map(|more| address.checked_add(more)) else { return true };
    let Some(last) = last else { return false };
    let copy_all = |memory: &OwnMemory| {
        let mut pages = (address & !(PAGE - 1)..=last).step_by(PAGE).map(|page| page.max(address));
        // SAFETY: the byte is copied to its own place.
        pages.try_for_each(|byte| unsafe { memory.copy(byte, byte, 1) })
    };
    with_memory(copy_all).is_ok()
}

fn with_memory<T>(access: impl FnOnce(&OwnMemory) -> Result<T, Errno>) -> Result<T, Errno> {
    let memory = OwnMemory::open()?;
    let result = access(&memory);
    memory.close();
    result
}
