//! `execvp`, `execvpe` and `execvP`: search for a program in directories, as FreeBSD's libc does.

use core::ffi::{CStr, c_char, c_int};

use super::environment;
use super::exec::{Strings, without_timer};
use crate::control::strings;
use crate::os::{Errno, Executable, Fd, Identity, execute, map, unmap};
use crate::text::Text;

/// The longest path with its NUL (`MAXPATHLEN`).
const LONGEST: usize = 1024;
const SHELL: &CStr = c"/bin/sh";
/// The directories if the environment has no `PATH` (`_PATH_DEFPATH`).
const DEFAULT_PATH: &CStr = c"/sbin:/bin:/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin";
const STANDARD_ERROR: Fd = Fd(2);

/// `int execvp(const char *file, char *const argv[])`.
#[unsafe(no_mangle)]
unsafe extern "C" fn execvp(name: *const c_char, arguments: Strings) -> c_int {
    // SAFETY: the caller passes valid arguments for execvp.
    unsafe { search_path(name, arguments, environment()) }
}

/// `int execvpe(const char *file, char *const argv[], char *const envp[])`. `PATH` is the program's, not the one in
/// `envp`.
#[unsafe(no_mangle)]
unsafe extern "C" fn execvpe(name: *const c_char, arguments: Strings, variables: Strings) -> c_int {
    // SAFETY: the caller passes valid arguments for execvpe.
    unsafe { search_path(name, arguments, variables) }
}

/// Executes the first program with the name in the program's `PATH`.
///
/// # Safety
///
/// As for [`execute`].
pub(super) unsafe fn search_path(name: *const c_char, arguments: Strings, variables: Strings) -> c_int {
    // SAFETY: the program does not change its environment during the call, as for `getenv`.
    let path = unsafe { strings(environment()) }.find_map(|variable| variable.to_bytes().strip_prefix(b"PATH="));
    // SAFETY: the caller's promise.
    without_timer(|| unsafe { search(name, path.unwrap_or(DEFAULT_PATH.to_bytes()), arguments, variables) })
}

/// `int execvP(const char *file, const char *search_path, char *const argv[])`.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "C's name")]
unsafe extern "C" fn execvP(name: *const c_char, path: *const c_char, arguments: Strings) -> c_int {
    // A name with a slash needs no directories, so the pointer may be null. An entry that no file can have finds
    // nothing.
    // SAFETY: a pointer that is not null leads to a string.
    let path = if path.is_null() { c"/dev/null" } else { unsafe { CStr::from_ptr(path) } };
    // SAFETY: the caller passes valid arguments for execvP.
    without_timer(|| unsafe { search(name, path.to_bytes(), arguments, environment()) })
}

/// What a failed attempt says about the search.
enum Failed {
    /// Continue in the next directory.
    NotHere,
    /// Continue in the next directory. If no directory has the program, the error is EACCES.
    NotPermitted,
    /// End the search with this error.
    Finally(Errno),
}

/// Executes the first program with the name in the directories. Returns only if that fails.
///
/// # Safety
///
/// As for [`execute`].
unsafe fn search(name: *const c_char, path: &[u8], arguments: Strings, variables: Strings) -> Errno {
    // SAFETY: the caller guarantees that the name ends with a NUL.
    let name_bytes = unsafe { CStr::from_ptr(name) }.to_bytes();
    let mut is_permitted = true;
    let mut end = |failed| match failed {
        Failed::NotHere => None,
        Failed::NotPermitted => {
            is_permitted = false;
            None
        }
        Failed::Finally(error) => Some(error),
    };
    if name_bytes.is_empty() {
        return Errno::ENOENT;
    }
    if name_bytes.contains(&b'/') {
        // SAFETY: the caller's promise.
        if let Some(error) = end(unsafe { attempt(name, arguments, variables) }) {
            return error;
        }
    } else {
        for directory in path.split(|byte| *byte == b':') {
            let mut candidate = Text::<LONGEST>::new();
            // An empty entry is the current directory.
            let directory = if directory.is_empty() { b"." } else { directory };
            [directory, b"/", name_bytes].into_iter().for_each(|part| candidate.push(part));
            let Some(candidate) = candidate.as_c_str() else {
                say_too_long(directory);
                continue;
            };
            // SAFETY: the caller's promise.
            if let Some(error) = end(unsafe { attempt(candidate.as_ptr(), arguments, variables) }) {
                return error;
            }
        }
    }
    if is_permitted { Errno::ENOENT } else { Errno::EACCES }
}

/// Executes the program at a path, or the shell if the file is a script without interpreter.
///
/// # Safety
///
/// As for [`execute`].
unsafe fn attempt(path: *const c_char, arguments: Strings, variables: Strings) -> Failed {
    // SAFETY: the caller's promise.
    let error = unsafe { execute(Executable::Path(path), arguments, variables) };
    match error {
        Errno::E2BIG | Errno::ENOMEM | Errno::ETXTBSY => Failed::Finally(error),
        Errno::ELOOP | Errno::ENAMETOOLONG | Errno::ENOENT | Errno::ENOTDIR => Failed::NotHere,
        // SAFETY: the caller's promise.
        Errno::ENOEXEC => Failed::Finally(unsafe { execute_shell(path, arguments, variables) }),
        // The directory is not accessible.
        _ if Identity::of(path) == Identity::NONE => Failed::NotHere,
        Errno::EACCES => Failed::NotPermitted,
        error => Failed::Finally(error),
    }
}

/// Executes the shell with the path and the arguments after the first. The shell gets the program's first argument as
/// its name, as with libc of FreeBSD 13 and later, or `sh` if there are no arguments.
///
/// # Safety
///
/// As for [`execute`].
unsafe fn execute_shell(path: *const c_char, arguments: Strings, variables: Strings) -> Errno {
    // SAFETY: the caller guarantees that the array ends with a null pointer.
    let number = unsafe { strings(arguments) }.count();
    let size = (number + 3) * size_of::<*const c_char>();
    let array: *mut *const c_char = map(size).cast();
    if array.is_null() {
        return Errno::ENOMEM;
    }
    // SAFETY: the new array, all null, has room for two pointers, the arguments after the first, and a null pointer.
    unsafe {
        array.write(if number > 0 { *arguments } else { c"sh".as_ptr() });
        array.add(1).write(path);
        for argument in 1..number {
            array.add(argument + 1).write(*arguments.add(argument));
        }
        let error = execute(Executable::Path(SHELL.as_ptr()), array.cast_const(), variables);
        unmap(array.cast(), size);
        error
    }
}

/// Prints libc's message.
fn say_too_long(directory: &[u8]) {
    for part in [b"execvP: ", directory, b": path too long\n"] {
        let _ = STANDARD_ERROR.write_all(part);
    }
}
