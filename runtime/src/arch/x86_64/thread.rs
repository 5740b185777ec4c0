//! Access to the thread-local block, whose layout is in `arch/block.rs`. The block is in the executable's own TLS
//! (local-exec), because the start-up objects are only linked into executables.

use core::arch::asm;
use core::ffi::c_void;

/// The third word of the block, which [`publish_record`] stored; null before.
#[inline]
pub(crate) fn record() -> *mut c_void {
    let record;
    // SAFETY: reads an aligned word of this thread's own TLS, which exists as long as the thread runs.
    unsafe {
        asm!("mov {}, qword ptr fs:[gmon_thread@tpoff + 16]", out(reg) record,
             options(nostack, preserves_flags, readonly));
    }
    record
}

/// Stores the third word of the block if the word is null. The result is false if a signal handler stored it first.
#[inline]
pub(crate) fn publish_record(record: *mut c_void) -> bool {
    let found: *mut c_void;
    // SAFETY: writes an aligned word of this thread's own TLS. A signal cannot interrupt the one instruction, and no
    // other processor writes the word.
    unsafe {
        asm!(
            "cmpxchg qword ptr fs:[gmon_thread@tpoff + 16], {record}",
            record = in(reg) record,
            inout("rax") core::ptr::null_mut::<c_void>() => found,
            options(nostack),
        );
    }
    found.is_null()
}

/// The fourth word of the block.
#[inline]
pub(crate) fn fourth_word() -> usize {
    let word;
    // SAFETY: reads an aligned word of this thread's own TLS.
    unsafe {
        asm!("mov {}, qword ptr fs:[gmon_thread@tpoff + 24]", out(reg) word,
             options(nostack, preserves_flags, readonly));
    }
    word
}

/// Stores the fourth word of the block.
#[inline]
pub(crate) fn set_fourth_word(word: usize) {
    // SAFETY: writes an aligned word of this thread's own TLS.
    unsafe {
        asm!("mov qword ptr fs:[gmon_thread@tpoff + 24], {}", in(reg) word, options(nostack, preserves_flags));
    }
}

/// The fifth word of the block.
#[inline]
pub(crate) fn fifth_word() -> usize {
    let word;
    // SAFETY: reads an aligned word of this thread's own TLS.
    unsafe {
        asm!("mov {}, qword ptr fs:[gmon_thread@tpoff + 32]", out(reg) word,
             options(nostack, preserves_flags, readonly));
    }
    word
}

/// Stores the fifth word of the block.
#[inline]
pub(crate) fn set_fifth_word(word: usize) {
    // SAFETY: writes an aligned word of this thread's own TLS.
    unsafe {
        asm!("mov qword ptr fs:[gmon_thread@tpoff + 32], {}", in(reg) word, options(nostack, preserves_flags));
    }
}

/// Makes the table with the first entry at `base` and `mask / 8 + 1` home slots the table that mcount uses.
///
/// Call this with signals blocked: a handler's mcount would find a mask that is too small for the table, which is
/// sound, but the handler might set another table. mcount loads the mask before the base, so a handler that grows the
/// table between the two loads also leaves mcount with a mask that is too small.
///
/// # Safety
///
/// `base` must be the entries of a table of `mask / 8 + 1` home slots that stays mapped.
#[inline]
pub(crate) unsafe fn set_table(base: *mut c_void, mask: usize) {
    // SAFETY: writes aligned words of this thread's own TLS, in this order; the caller vouches for the table.
    unsafe {
        asm!(
            "mov qword ptr fs:[gmon_thread@tpoff], 0",
            "mov qword ptr fs:[gmon_thread@tpoff + 8], {base}",
            "mov qword ptr fs:[gmon_thread@tpoff], {mask}",
            base = in(reg) base,
            mask = in(reg) mask,
            options(nostack, preserves_flags),
        );
    }
}
