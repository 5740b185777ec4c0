//! What the C library finds by itself: the arrays of functions that it calls, and what else its own crt1.o has. The same
//! on all machines of 64 bits.

use core::arch::global_asm;

use super::start::{begin, begin_late, finish_early};

// glibc runs .preinit_array before any constructor, so those are profiled as well. Other C libraries have only
// .init_array and .fini_array: linkers put what has a lower number first in both, and the latter is run backwards.
global_asm!(
    ".pushsection .preinit_array,\"aw\",@preinit_array",
    ".balign 8",
    "    .quad {begin}",
    ".popsection",
    ".pushsection .init_array.00000,\"aw\",@init_array",
    ".balign 8",
    "    .quad {begin_late}",
    ".popsection",
    ".pushsection .fini_array.00000,\"aw\",@fini_array",
    ".balign 8",
    "    .quad {finish_early}",
    ".popsection",
    begin = sym begin,
    begin_late = sym begin_late,
    finish_early = sym finish_early,
);

// What else the C library's own crt1.o has: the start of the data, for old garbage collectors, and the mark of the
// current stdio.
global_asm!(
    ".pushsection .data,\"aw\",@progbits",
    ".balign 8",
    ".globl __data_start",
    ".weak data_start",
    "__data_start:",
    "data_start:",
    "    .quad 0",
    ".popsection",
    ".pushsection .rodata,\"a\",@progbits",
    ".balign 4",
    ".globl _IO_stdin_used",
    ".type _IO_stdin_used, @object",
    ".size _IO_stdin_used, 4",
    "_IO_stdin_used:",
    "    .long 0x20001",
    ".popsection",
);
