//! Access to the thread-local block, whose layout is in `arch/block.rs`. The block is in the TLS of a shared object
//! that is loaded at the start of the program (initial-exec): the dynamic linker stores the block's distance from the
//! thread pointer in the object's table of addresses.

use core::arch::asm;
use core::ffi::c_void;

/// The word at `OFFSET` in the block.
#[inline]
pub(crate) fn word<const OFFSET: usize>() -> usize {
    let word;
    // SAFETY: reads an aligned word of this thread's own TLS, which exists as long as the thread runs.
    unsafe {
        asm!(
            "mov {word}, qword ptr [rip + gmon_thread@gottpoff]",
            "mov {word}, qword ptr fs:[{word} + {offset}]",
            word = out(reg) word,
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
            "mov {block}, qword ptr [rip + gmon_thread@gottpoff]",
            "mov qword ptr fs:[{block} + {offset}], {word}",
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
    // SAFETY: writes an aligned word of this thread's own TLS. A signal cannot interrupt the one instruction, and no
    // other processor writes the word.
    unsafe {
        asm!(
            "mov {block}, qword ptr [rip + gmon_thread@gottpoff]",
            "cmpxchg qword ptr fs:[{block} + {offset}], {word}",
            block = out(reg) _,
            word = in(reg) word,
            offset = const OFFSET,
            inout("rax") 0_usize => found,
            options(nostack),
        );
    }
    found == 0
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
            "mov {block}, qword ptr [rip + gmon_thread@gottpoff]",
            "mov qword ptr fs:[{block}], 0",
            "mov qword ptr fs:[{block} + 8], {base}",
            "mov qword ptr fs:[{block}], {mask}",
            block = out(reg) _,
            base = in(reg) base,
            mask = in(reg) mask,
            options(nostack, preserves_flags),
        );
    }
}
