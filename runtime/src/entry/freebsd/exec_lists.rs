//! The functions behind `execl`, `execle` and `execlp`, for which the architecture's code makes an array of the
//! arguments.

use core::ffi::{c_char, c_int};

use super::environment;
use super::exec::{Strings, execute_path};
use super::exec_search::search_path;

/// `execl(path, argument, ..., NULL)`.
pub(super) unsafe extern "C" fn execute_list(path: *const c_char, arguments: Strings) -> c_int {
    // SAFETY: the caller passes valid arguments for execl.
    unsafe { execute_path(path, arguments, environment()) }
}

/// `execle(path, argument, ..., NULL, environment)`.
pub(super) unsafe extern "C" fn execute_list_with_environment(path: *const c_char, arguments: Strings) -> c_int {
    let mut at = arguments;
    // SAFETY: the array ends with a null pointer, and the environment follows.
    unsafe {
        while !(*at).is_null() {
            at = at.add(1);
        }
        execute_path(path, arguments, (*at.add(1)).cast())
    }
}

/// `execlp(name, argument, ..., NULL)`.
pub(super) unsafe extern "C" fn search_list(name: *const c_char, arguments: Strings) -> c_int {
    // SAFETY: the caller passes valid arguments for execlp.
    unsafe { search_path(name, arguments, environment()) }
}
