//! What this part of libgmon.a does at the start and at the end of a program that has it.

use core::arch::global_asm;
use core::ffi::c_int;

use super::{engine, openbsd};

unsafe extern "C" {
    fn pthread_atfork(prepare: extern "C" fn(), parent: extern "C" fn(), child: extern "C" fn()) -> c_int;
}

// Before the program's own constructors, and behind its own destructors: they run backwards.
global_asm!(
    ".pushsection .init_array.00000,\"aw\",%init_array",
    ".balign 8",
    "    .quad {begin}",
    ".popsection",
    ".pushsection .fini_array.00000,\"aw\",%fini_array",
    ".balign 8",
    "    .quad {end}",
    ".popsection",
    begin = sym begin,
    end = sym end,
);

/// A profile goes on in the child of a fork, which has no timer of its parent's. Without memory to remember that, it does
/// not.
unsafe extern "C" fn begin() {
    // SAFETY: the C library is up.
    unsafe { pthread_atfork(nothing, nothing, after_fork_in_child) };
}

extern "C" fn nothing() {}

extern "C" fn after_fork_in_child() {
    engine::after_fork_in_child();
    gmon_runtime::kernel::after_fork_in_child(false);
}

unsafe extern "C" fn end() {
    openbsd::store();
}
