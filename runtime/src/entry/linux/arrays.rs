//! The arrays of functions that the C library calls, and the other symbols of its own crt1.o. They are the same on
//! all 64-bit architectures.

use core::arch::global_asm;

use super::start::{begin, begin_late, finish_early};

// glibc runs .preinit_array before any constructor, so constructors are profiled. Other C libraries have only
// .init_array and .fini_array. Linkers sort entries by number; .fini_array is run backwards, so the lowest number is
// first in one and last in the other.
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

// The other symbols of the C library's crt1.o: the start of the data, for old garbage collectors, and the mark of the
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
