//! `execve`: stops the interval timer of `GMON_HZ`, which would keep running in the new program.

use core::arch::global_asm;
use core::ffi::{c_char, c_int};

use super::dynamic::libcs_execve;
use crate::kernel::system::{start, stop_before_exec};
use crate::os::{execute, set_errno};
use crate::ownership;

/// `int execve(const char *path, char *const argv[], char *const envp[])`. libc's other functions that execute a
/// program do not call this function.
#[unsafe(no_mangle)]
unsafe extern "C" fn gmon_execve(
    path: *const c_char,
    arguments: *const *const c_char,
    environment: *const *const c_char,
) -> c_int {
    if let Some(execve) = libcs_execve() {
        // SAFETY: the caller passes valid arguments for execve.
        return unsafe { execve(path, arguments, environment) };
    }
    // The child of a vfork, which has a copy of the parent's memory, has no timer.
    let has_stopped = ownership::is_ours() && stop_before_exec();
    // SAFETY: the caller passes valid arguments for execve.
    let error = unsafe { execute(path, arguments, environment) };
    if has_stopped {
        let _ = start();
    }
    set_errno(error);
    -1
}

// Weak, because a program may define its own function of this name.
global_asm!(".weak execve", ".type execve, %function", ".set execve, gmon_execve");
