//! `execve`: the interval timer of `GMON_HZ` does not go on in the other program.

use core::ffi::{c_char, c_int};

use crate::kernel::system::{start, stop_before_exec};
use crate::os::{execute, set_errno};
use crate::ownership;

/// `int execve(const char *path, char *const argv[], char *const envp[])`. libc's other functions that execute a program do not come
/// by here.
#[unsafe(no_mangle)]
unsafe extern "C" fn execve(
    path: *const c_char,
    arguments: *const *const c_char,
    environment: *const *const c_char,
) -> c_int {
    // The child of a vfork has its parent's memory, and no timer.
    let has_stopped = ownership::is_ours() && stop_before_exec();
    // SAFETY: the caller's promise.
    let error = unsafe { execute(path, arguments, environment) };
    if has_stopped {
        let _ = start();
    }
    set_errno(error);
    -1
}
