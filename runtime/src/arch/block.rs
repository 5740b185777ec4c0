//! The thread-local block, which has the address of this thread's table.
//!
//! Stable Rust has no `#[thread_local]`, so the block is defined here in assembler directives that all architectures
//! share.

use core::arch::global_asm;

use super::machine::{fifth_word, fourth_word, set_fifth_word, set_fourth_word};

// Five words:
// gmon_thread + 0   mask: (hash & mask) * 3 is the distance in bytes of an arc's home from the first entry
// gmon_thread + 8   base: the address of the first entry
// gmon_thread + 16  the address of the thread's record; 0 before the first call
// gmon_thread + 24  1 + the number of seccomp filters that the program had installed by the first call; 0 before the
//                   first call
// gmon_thread + 32  1 + the index of the thread's entry in the list of threads; 0 if the thread has none
// A thread starts with a table of one empty entry that all threads share and nobody writes. So mcount needs no test
// for a missing table: the first search misses.
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
    ".size gmon_thread, 40",
    "gmon_thread:",
    "    .quad 0",
    "    .quad gmon_no_table",
    "    .quad 0",
    "    .quad 0",
    "    .quad 0",
    ".popsection",
);

/// The number of seccomp filters that the program had installed when this thread made its first call; the highest
/// number before the first call.
pub(crate) fn filters_before() -> usize {
    fourth_word().wrapping_sub(1)
}

/// Sets the number of seccomp filters.
pub(crate) fn set_filters_before(filters: usize) {
    set_fourth_word(filters + 1);
}

/// The index of this thread's entry in the list of threads; `None` if the thread has none.
pub(crate) fn entry_index() -> Option<usize> {
    fifth_word().checked_sub(1)
}

/// Sets the index of this thread's entry in the list of threads.
pub(crate) fn set_entry_index(index: Option<usize>) {
    set_fifth_word(index.map_or(0, |index| index + 1));
}
