//! The program's name.

use core::ffi::{CStr, c_char};

unsafe extern "C" {
    fn getprogname() -> *const c_char;
}

/// Returns the name by which the program was executed, without directories; empty if libc does not know the name. Call
/// this after libc is initialized. FreeBSD's kernel knows only the path of the file, in which symbolic links are
/// resolved.
pub fn executed_path() -> &'static CStr {
    // SAFETY: libc is initialized. libc keeps a string that lives as long as the process, unless the program changes
    // its own name.
    unsafe {
        let name = getprogname();
        if name.is_null() { c"" } else { CStr::from_ptr(name) }
    }
}
