//! What this part of libgmon.a does at the start and at the end of a program.

use core::arch::global_asm;
use core::ffi::c_int;

use super::{engine, openbsd};

unsafe extern "C" {
    fn pthread_atfork(prepare: extern "C" fn(), parent: extern "C" fn(), child: extern "C" fn()) -> c_int;
}

// Before the program's own constructors, and after its own destructors, which run backwards.
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

/// A profile continues in the child of a fork, which does not have its parent's timer. Without memory for the fork
/// handler, the profile does not continue.
unsafe extern "C" fn begin() {
    // SAFETY: the C library is initialized.
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
