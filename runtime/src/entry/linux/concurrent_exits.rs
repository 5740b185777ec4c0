//! Several threads in `exit` or `quick_exit` at once: no thread ends the process before the profile is complete.
//!
//! glibc before version 2.41 lets any number of threads into `exit`. Each thread takes functions from the list of
//! `atexit`. A thread that finds the list empty ends the process, even while another thread is still in `finish`, which
//! is the last function of the list, and writes the profile. So the list must not become empty before the profile is
//! complete. This module adds functions that run even later than `finish`. Each of them writes the profile, as `_exit`
//! does, or waits for the thread that writes the profile. The list of `quick_exit` gets such functions too. In static
//! programs and with musl, a thread that ends the process calls our `_exit`, or waits for a lock of the C library.

use core::ffi::{c_int, c_void};
use core::ptr;

use crate::control::{_mcleanup, is_unfinished};

/// The number of our functions in each list. glibc removes a function from the list and calls the function, which then
/// adds itself to the list again. So the list becomes empty only if at least so many threads are between these two
/// steps at the same moment. glibc has room for 32 functions before it allocates memory.
const FUNCTIONS: usize = 8;

unsafe extern "C" {
    fn __cxa_atexit(function: extern "C" fn(*mut c_void), argument: *mut c_void, object: *mut c_void) -> c_int;
    fn at_quick_exit(function: extern "C" fn()) -> c_int;
}

/// Adds the functions to both lists. Call this before the C library has registered `finish`: the functions then run
/// later.
pub(super) fn keep_lists_filled() {
    for _ in 0..FUNCTIONS {
        add_to_exit();
        add_to_quick_exit();
    }
}

fn add_to_exit() {
    // SAFETY: the C library is initialized; the function belongs to no object that could be closed.
    unsafe { __cxa_atexit(in_exit, ptr::null_mut(), ptr::null_mut()) };
}

fn add_to_quick_exit() {
    // SAFETY: as above.
    unsafe { at_quick_exit(in_quick_exit) };
}

extern "C" fn in_exit(_argument: *mut c_void) {
    finish_after(add_to_exit);
}

extern "C" fn in_quick_exit() {
    finish_after(add_to_quick_exit);
}

/// Puts the function of a list back for the next thread, then completes the profile.
fn finish_after(put_back: impl FnOnce()) {
    if is_unfinished() {
        put_back();
        _mcleanup();
    }
}
