//! `execve`: stops the interval timer of `GMON_HZ`, which would keep running in the new program.

use core::ffi::{c_char, c_int};

use crate::kernel::system::{start, stop_before_exec};
use crate::os::{execute, set_errno};
use crate::ownership;

/// `int execve(const char *path, char *const argv[], char *const envp[])`. libc's other functions that execute a program do not call
/// this function.
#[unsafe(no_mangle)]
unsafe extern "C" fn execve(
    path: *const c_char,
    arguments: *const *const c_char,
    environment: *const *const c_char,
) -> c_int {
    // The child of a vfork shares the parent's memory and has no timer.
    let has_stopped = ownership::is_ours() && stop_before_exec();
    // SAFETY: the caller passes valid arguments for execve.
    let error = unsafe { execute(path, arguments, environment) };
    if has_stopped {
        let _ = start();
    }
    set_errno(error);
    -1
}
