//! The items that the runtime needs of an architecture in `os/openbsd/`. `tests/tests/house/architectures.rs` compiles
//! this file; nothing runs it.
#![allow(unused_variables, clippy::all)]

use core::ffi::c_void;

pub(super) unsafe extern "C" fn syscall(
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
    number: usize,
) -> isize {
    loop {}
}

pub unsafe fn interrupted_pc(context: *const c_void) -> usize {
    loop {}
}
