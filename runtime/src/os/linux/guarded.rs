//! Accesses memory of the program that may be unmapped or read-only: the access fails instead of ending the process.
//! Async-signal-safe.
//!
//! The kernel makes the access: `process_vm_readv` and `process_vm_writev` on the own process use the page tables and
//! report EFAULT. If the kernel does not have these calls or forbids them, a futex operation without effect finds out
//! whether a word is accessible, and an ordinary access follows; memory that is unmapped between the two ends the
//! process.

use core::sync::atomic::{AtomicBool, AtomicI32, Ordering::Relaxed};

use super::machine::{numbers, profil_numbers};
use super::maps::transfer;
use super::{Errno, PAGE, call, process_id};

use crate::state::Inherited;

const FUTEX_PRIVATE: usize = 128;
const FUTEX_WAIT: usize = FUTEX_PRIVATE;
const FUTEX_WAKE_OP: usize = 5 | FUTEX_PRIVATE;
/// `FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0)`: adds 0.
const FUTEX_OP_ADD_NOTHING: usize = 1 << 28;
const FUTEX_WORD: usize = size_of::<u32>();

/// Set once the kernel has refused these calls.
static DIRECT: Inherited<AtomicBool> = Inherited::new("the child has the same kernel", AtomicBool::new(false));
/// A futex on which nobody waits.
static NOBODY: Inherited<AtomicI32> = Inherited::new("never changes", AtomicI32::new(0));

/// Reads `bytes.len()` bytes from `address`.
///
/// # Errors
///
/// EFAULT if some bytes are missing; a part may have been read.
pub fn read(address: usize, bytes: &mut [u8]) -> Result<(), Errno> {
    if !DIRECT.load(Relaxed) {
        match transfer(numbers::PROCESS_VM_READV, process_id(), bytes.as_ptr().addr(), address, bytes.len()) {
            Err(Errno::ENOSYS | Errno::EPERM) => DIRECT.store(true, Relaxed),
            result => return result,
        }
    }
    each_word(address, bytes.len(), is_readable)?;
    let source: *const u8 = core::ptr::with_exposed_provenance(address);
    for (index, byte) in bytes.iter_mut().enumerate() {
        // SAFETY: the kernel has just read the word that contains the byte. Other writers write plain integers.
        *byte = unsafe { source.add(index).read_volatile() };
    }
    Ok(())
}

/// Writes `bytes` to `address`.
///
/// # Errors
///
/// EFAULT if some bytes are not writable; a part may have been written.
pub fn write(address: usize, bytes: &[u8]) -> Result<(), Errno> {
    if !DIRECT.load(Relaxed) {
        match transfer(profil_numbers::PROCESS_VM_WRITEV, process_id(), bytes.as_ptr().addr(), address, bytes.len()) {
            Err(Errno::ENOSYS | Errno::EPERM) => DIRECT.store(true, Relaxed),
            result => return result,
        }
    }
    each_word(address, bytes.len(), is_writable)?;
    let place: *mut u8 = core::ptr::with_exposed_provenance_mut(address);
    for (index, byte) in bytes.iter().enumerate() {
        // SAFETY: the kernel has just written the word that contains the byte, and the caller promises that it may be
        // changed.
        unsafe { place.add(index).write_volatile(*byte) };
    }
    Ok(())
}

/// Whether all `length` bytes from `address` on are writable. The check touches each page and changes nothing, not
/// even for a moment.
pub fn can_be_written(address: usize, length: usize) -> bool {
    let Some(last) = length.checked_sub(1).map(|more| address.checked_add(more)) else { return true };
    let Some(last) = last else { return false };
    let first = address & !(PAGE - 1);
    (first..=last).step_by(PAGE).all(|page| is_writable(page.max(address) & !(FUTEX_WORD - 1)))
}

/// Checks `is_so` for each aligned word that contains some of the bytes; EFAULT if one check fails.
fn each_word(address: usize, length: usize, is_so: impl Fn(usize) -> bool) -> Result<(), Errno> {
    let end = address.checked_add(length).ok_or(Errno::EFAULT)?;
    let mut word = address & !(FUTEX_WORD - 1);
    while word < end {
        if !is_so(word) {
            return Err(Errno::EFAULT);
        }
        word += FUTEX_WORD;
    }
    Ok(())
}

/// Adds 0 to an aligned word, atomically.
fn is_writable(word: usize) -> bool {
    let arguments = [NOBODY.as_ptr().addr(), FUTEX_WAKE_OP, 1, 1, word, FUTEX_OP_ADD_NOTHING];
    // SAFETY: the word does not change, and nobody waits on either futex.
    unsafe { call(profil_numbers::FUTEX, arguments) }.is_ok()
}

/// Waits for zero time, if the word is 0.
fn is_readable(word: usize) -> bool {
    static NO_TIME: Inherited<[i64; 2]> = Inherited::new("never changes", [0, 0]);
    let arguments = [word, FUTEX_WAIT, 0, (&raw const NO_TIME).addr(), 0, 0];
    // SAFETY: the kernel reads the word and a struct timespec.
    let result = unsafe { call(profil_numbers::FUTEX, arguments) };
    result != Err(Errno::EFAULT)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::os::{map, unmap};

    const PRIVATE_ANONYMOUS_FIXED: usize = 0x2 | 0x20 | 0x10;

    /// Runs a test for both methods, one after the other; tests share the switch.
    fn both_ways(test: impl Fn()) {
        static ALONE: Mutex<()> = Mutex::new(());
        let _alone = ALONE.lock();
        for direct in [false, true] {
            DIRECT.store(direct, Relaxed);
            test();
        }
        DIRECT.store(false, Relaxed);
    }

    #[test]
    fn what_is_there_is_read_and_written_at_any_address() {
        both_ways(|| {
            let mut memory = [0_u8; 24];
            for offset in 0..9 {
                let address = memory.as_mut_ptr().expose_provenance() + offset;
                write(address, &[offset as u8, 7, 9]).unwrap();
                let mut found = [0; 3];
                read(address, &mut found).unwrap();
                assert_eq!(found, [offset as u8, 7, 9]);
                assert!(can_be_written(address, 3));
            }
            assert!(read(memory.as_ptr().addr(), &mut []).is_ok() && can_be_written(0, 0));
        });
    }

    #[test]
    fn what_is_not_there_is_a_bad_address() {
        both_ways(|| {
            let memory = map(2 * PAGE).expose_provenance();
            let edge = memory + PAGE;
            // The second page stays mapped without access, so that no other test can get memory there.
            let no_access = [edge, PAGE, 0, PRIVATE_ANONYMOUS_FIXED, usize::MAX, 0];
            // SAFETY: the second of two pages, which nobody uses.
            unsafe { call(numbers::MMAP, no_access) }.unwrap();
            for bad in [0, 4096, edge, edge - 1, usize::MAX - 3, usize::MAX] {
                assert_eq!(read(bad, &mut [0; 2]), Err(Errno::EFAULT), "{bad:#x}");
                assert_eq!(write(bad, &[0; 2]), Err(Errno::EFAULT), "{bad:#x}");
                assert!(!can_be_written(bad, 2), "{bad:#x}");
            }
            assert!(can_be_written(memory, PAGE) && !can_be_written(memory, PAGE + 1));
            assert!(!can_be_written(memory, usize::MAX));
            // SAFETY: both pages, which nobody uses any more.
            unsafe { unmap(core::ptr::with_exposed_provenance_mut(memory), 2 * PAGE) };
        });
    }

    #[test]
    fn what_is_only_for_reading_is_not_written() {
        static CONSTANT: [u8; 8] = *b"constant";
        both_ways(|| {
            let address = CONSTANT.as_ptr().expose_provenance();
            let mut found = [0; 8];
            read(address, &mut found).unwrap();
            assert_eq!(found, CONSTANT);
            assert_eq!(write(address, b"X"), Err(Errno::EFAULT));
            assert!(!can_be_written(address, 1));
        });
    }
}
