//! The thread-local block: where this thread's table is.
//!
//! Stable Rust has no `#[thread_local]`, so the block is laid out here, in the assembler's words that all machines share.

use core::arch::global_asm;

use super::machine::{fourth_word, set_fourth_word};

// Four words:
//   gmon_thread + 0   mask: what is left of an arc's hash under it, times three, is the distance of its home from the base
//   gmon_thread + 8   base: its first entry
//   gmon_thread + 16  record: what else is known of the thread; null until its first call is recorded
//   gmon_thread + 24  one more than the number of filters of system calls that the program had installed by then; 0 until then
// A thread begins with a table of one empty slot, which every thread shares and nobody writes: mcount needs no test for
// "no table yet", its first lookup simply misses.
global_asm!(
    ".pushsection .rodata,\"a\",@progbits",
    ".balign 8",
    "gmon_no_table:",
    "    .quad 0, 0, 0",
    ".popsection",
    ".pushsection .tdata,\"awT\",@progbits",
    ".balign 8",
    ".hidden gmon_thread",
    ".globl gmon_thread",
    ".type gmon_thread, @object",
    ".size gmon_thread, 32",
    "gmon_thread:",
    "    .quad 0",
    "    .quad gmon_no_table",
    "    .quad 0",
    "    .quad 0",
    ".popsection",
);

/// How many filters of system calls the program had installed when this thread made its first call; the highest number if it
/// has made none.
pub(crate) fn filters_before() -> usize {
    fourth_word().wrapping_sub(1)
}

/// Says how many that are.
pub(crate) fn set_filters_before(filters: usize) {
    set_fourth_word(filters + 1);
}
