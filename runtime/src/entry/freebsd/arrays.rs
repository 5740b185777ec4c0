//! Entries in the arrays of functions that run before and after all other functions of the program.
//!
//! Functions in `.preinit_array` run before all constructors: the dynamic linker calls them before `_start`, and libc
//! calls them in a static program. The function with the lowest priority number in `.init_array` runs first; the
//! function with the lowest number in `.fini_array` runs last.

use core::arch::global_asm;

use super::start::{begin, begin_in_libc, finish_static};

global_asm!(
    ".pushsection .preinit_array,\"aw\",@preinit_array",
    ".balign 8",
    "    .quad {begin}",
    ".popsection",
    ".pushsection .init_array.00000,\"aw\",@init_array",
    ".balign 8",
    "    .quad {begin_in_libc}",
    ".popsection",
    ".pushsection .fini_array.00000,\"aw\",@fini_array",
    ".balign 8",
    "    .quad {finish}",
    ".popsection",
    begin = sym begin,
    begin_in_libc = sym begin_in_libc,
    finish = sym finish_static,
);
