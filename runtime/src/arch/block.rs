//! The thread-local block: where this thread's table is.
//!
//! Stable Rust has no `#[thread_local]`, so the block is laid out here, in the assembler's words that all machines share.

use core::arch::global_asm;

// Three words:
//   gmon_thread + 0   mask: what is left of an arc's hash under it, times three, is the distance of its home from the base
//   gmon_thread + 8   base: its first entry
//   gmon_thread + 16  record: what else is known of the thread; null until its first call is recorded
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
    ".size gmon_thread, 24",
    "gmon_thread:",
    "    .quad 0",
    "    .quad gmon_no_table",
    "    .quad 0",
    ".popsection",
);
