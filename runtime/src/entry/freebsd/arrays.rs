//! The arrays of functions that are called before and after all others of the program.
//!
//! `.preinit_array` is run before any constructor: by the dynamic linker before `_start`, and by libc in a static program. What has
//! the lowest number in `.fini_array` is run last.

use core::arch::global_asm;

use super::start::{begin, finish_static};

global_asm!(
    ".pushsection .preinit_array,\"aw\",@preinit_array",
    ".balign 8",
    "    .quad {begin}",
    ".popsection",
    ".pushsection .fini_array.00000,\"aw\",@fini_array",
    ".balign 8",
    "    .quad {finish}",
    ".popsection",
    begin = sym begin,
    finish = sym finish_static,
);
