//! Access to the thread-local block, whose layout is in `arch/block.rs`. The block is in the executable's own TLS
//! (local-exec), because the start-up objects are only linked into executables.

use core::arch::asm;
use core::ffi::c_void;

/// The word at `OFFSET` in the block.
#[inline]
pub(crate) fn word<const OFFSET: usize>() -> usize {
    let word;
    // SAFETY: reads an aligned word of this thread's own TLS, which exists as long as the thread runs.
    unsafe {
        asm!(
            "mrs {0}, tpidr_el0",
            "add {0}, {0}, #:tprel_hi12:gmon_thread, lsl #12",
            "add {0}, {0}, #:tprel_lo12_nc:gmon_thread",
            "ldr {0}, [{0}, #{offset}]",
            out(reg) word,
            offset = const OFFSET,
            options(nostack, preserves_flags, readonly),
        );
    }
    word
}

/// Stores the word at `OFFSET` in the block.
#[inline]
pub(crate) fn set_word<const OFFSET: usize>(word: usize) {
    // SAFETY: writes an aligned word of this thread's own TLS.
    unsafe {
        asm!(
            "mrs {block}, tpidr_el0",
            "add {block}, {block}, #:tprel_hi12:gmon_thread, lsl #12",
            "add {block}, {block}, #:tprel_lo12_nc:gmon_thread",
            "str {word}, [{block}, #{offset}]",
            block = out(reg) _,
            word = in(reg) word,
            offset = const OFFSET,
            options(nostack, preserves_flags),
        );
    }
}

/// Stores the word at `OFFSET` in the block if the word is 0. The result is false if the word is another number; a
/// signal handler may have stored the number.
#[inline]
pub(crate) fn set_word_once<const OFFSET: usize>(word: usize) -> bool {
    let found: usize;
    // SAFETY: writes an aligned word of this thread's own TLS. The store fails if a signal came in between; the load
    // and the store are then repeated.
    unsafe {
        asm!(
            "mrs {block}, tpidr_el0",
            "add {block}, {block}, #:tprel_hi12:gmon_thread, lsl #12",
            "add {block}, {block}, #:tprel_lo12_nc:gmon_thread",
            "add {block}, {block}, #{offset}",
            "2: ldxr {found}, [{block}]",
            "cbnz {found}, 3f",
            "stxr {failed:w}, {word}, [{block}]",
            "cbnz {failed:w}, 2b",
            "3: clrex",
            block = out(reg) _,
            found = out(reg) found,
            failed = out(reg) _,
            word = in(reg) word,
            offset = const OFFSET,
            options(nostack, preserves_flags),
        );
    }
    found == 0
}

/// Makes the table with the first entry at `base` and `mask / 8 + 1` home slots the table that mcount uses.
///
/// Call this with signals blocked: a handler's mcount would find a mask that is too small for the table, which is
/// sound, but the handler might set another table. mcount loads the mask before the base, so a handler that grows the
/// table between the two loads also leaves mcount with a mask that is too small. (A thread sees its own reads and
/// writes in program order, whatever other processors see.)
///
/// # Safety
///
/// `base` must be the entries of a table of `mask / 8 + 1` home slots that stays mapped.
#[inline]
pub(crate) unsafe fn set_table(base: *mut c_void, mask: usize) {
    // SAFETY: writes aligned words of this thread's own TLS, in this order; the caller vouches for the table.
    unsafe {
        asm!(
            "mrs {block}, tpidr_el0",
            "add {block}, {block}, #:tprel_hi12:gmon_thread, lsl #12",
            "add {block}, {block}, #:tprel_lo12_nc:gmon_thread",
            "str xzr, [{block}]",
            "str {base}, [{block}, #8]",
            "str {mask}, [{block}]",
            block = out(reg) _,
            base = in(reg) base,
            mask = in(reg) mask,
            options(nostack, preserves_flags),
        );
    }
}
