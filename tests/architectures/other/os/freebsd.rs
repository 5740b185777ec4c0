//! The items that the runtime needs of an architecture in `os/freebsd/`. `tests/tests/house/architectures.rs` compiles
//! this file; nothing runs it.
#![allow(unused_variables, clippy::all)]

use core::ffi::c_void;

pub(super) unsafe fn syscall(number: usize, arguments: [usize; 6]) -> isize {
    loop {}
}

pub unsafe fn interrupted_pc(context: *const c_void) -> usize {
    loop {}
}
