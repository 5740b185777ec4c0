//! `execve` and its relatives: they stop the interval timer of `GMON_HZ`, which would keep running in the new program
//! and end that program with SIGPROF.
//!
//! libc's functions that execute a program call `_execve`, which is also defined here. In a dynamic program, libc's
//! calls of its own functions may not reach this definition, so this module and its neighbors define all functions of
//! the family.

use core::ffi::{c_char, c_int};

use super::environment;
use crate::kernel::system::{start, stop_before_exec};
use crate::os::{Errno, Executable, execute, set_errno};
use crate::ownership;

/// An array of strings that ends with a null pointer.
pub(super) type Strings = *const *const c_char;

/// Stops the interval timer while `run` tries to execute a program, and returns -1 if `run` fails.
pub(super) fn without_timer(run: impl FnOnce() -> Errno) -> c_int {
    // The child of a vfork shares the parent's memory and has no timer.
    let has_stopped = ownership::is_ours() && stop_before_exec();
    let error = run();
    if has_stopped {
        let _ = start();
    }
    set_errno(error);
    -1
}

/// Executes the program at a path, as `execve` does. The functions of this family call this function and not each other
/// by their C names, because the program may define functions of these names that call the others.
///
/// # Safety
///
/// As for [`execute`].
pub(super) unsafe fn execute_path(path: *const c_char, arguments: Strings, variables: Strings) -> c_int {
    // SAFETY: the caller's promise.
    without_timer(|| unsafe { execute(Executable::Path(path), arguments, variables) })
}

/// `int execve(const char *path, char *const argv[], char *const envp[])`.
#[unsafe(no_mangle)]
unsafe extern "C" fn execve(path: *const c_char, arguments: Strings, variables: Strings) -> c_int {
    // SAFETY: the caller passes valid arguments for execve.
    unsafe { execute_path(path, arguments, variables) }
}

/// libc's internal name for [`execve`].
#[unsafe(no_mangle)]
unsafe extern "C" fn _execve(path: *const c_char, arguments: Strings, variables: Strings) -> c_int {
    // SAFETY: as for `execve`.
    unsafe { execute_path(path, arguments, variables) }
}

/// `int fexecve(int fd, char *const argv[], char *const envp[])`.
#[unsafe(no_mangle)]
unsafe extern "C" fn fexecve(descriptor: c_int, arguments: Strings, variables: Strings) -> c_int {
    // SAFETY: the caller passes valid arguments for fexecve.
    without_timer(|| unsafe { execute(Executable::Descriptor(descriptor), arguments, variables) })
}

/// `int execv(const char *path, char *const argv[])`.
#[unsafe(no_mangle)]
unsafe extern "C" fn execv(path: *const c_char, arguments: Strings) -> c_int {
    // SAFETY: the caller passes valid arguments for execv.
    unsafe { execute_path(path, arguments, environment()) }
}
