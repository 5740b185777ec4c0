//! The arrays of functions that are called before and after all others of the program.
//!
//! `.preinit_array` is run before any constructor: by the dynamic linker before `_start`, and by libc in a static program. What has
//! the lowest number in `.init_array` is run first, and what has the lowest number in `.fini_array` last.

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
