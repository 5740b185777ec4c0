//! The thread-local block, which has the address of this thread's table.
//!
//! Stable Rust has no `#[thread_local]`, so the block is defined here in assembler directives that all architectures
//! share.

use core::arch::global_asm;
use core::ffi::c_void;
use core::ptr;

use super::machine::{set_word, set_word_once, word};

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

/// The offset of the record's address in the block.
const RECORD: usize = 16;
/// The offset of 1 + the number of seccomp filters.
const FILTERS: usize = 24;
/// The offset of 1 + the index of the thread's entry.
const ENTRY: usize = 32;

/// The address of this thread's record, which [`publish_record`] stored; null before.
#[inline]
pub(crate) fn record() -> *mut c_void {
    ptr::with_exposed_provenance_mut(word::<RECORD>())
}

/// Stores the address of this thread's record if the thread has none. The result is false if a signal handler stored an
/// address first.
#[inline]
pub(crate) fn publish_record(record: *mut c_void) -> bool {
    set_word_once::<RECORD>(record.expose_provenance())
}

/// The number of seccomp filters that the program had installed when this thread made its first call; the highest
/// number before the first call.
pub(crate) fn filters_before() -> usize {
    word::<FILTERS>().wrapping_sub(1)
}

/// Sets the number of seccomp filters.
pub(crate) fn set_filters_before(filters: usize) {
    set_word::<FILTERS>(filters + 1);
}

/// The index of this thread's entry in the list of threads; `None` if the thread has none.
pub(crate) fn entry_index() -> Option<usize> {
    word::<ENTRY>().checked_sub(1)
}

/// Sets the index of this thread's entry in the list of threads.
pub(crate) fn set_entry_index(index: Option<usize>) {
    set_word::<ENTRY>(index.map_or(0, |index| index + 1));
}
