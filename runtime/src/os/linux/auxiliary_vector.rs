//! The values that the kernel passes to a program at its start (`getauxval`).

use core::ffi::{CStr, c_char, c_ulong};

const AT_EXECFN: c_ulong = 31;
const AT_SYSINFO_EHDR: c_ulong = 33;

unsafe extern "C" {
    fn getauxval(kind: c_ulong) -> c_ulong;
}

/// The path by which the program was executed; empty if it is not known. Call this after the C library is
/// initialized.
pub fn executed_path() -> &'static CStr {
    // SAFETY: the caller's promise.
    let path = unsafe { getauxval(AT_EXECFN) } as usize;
    let path: *const c_char = core::ptr::with_exposed_provenance(path);
    // SAFETY: null, or a string that the kernel has stored for the life of the process.
    if path.is_null() { c"" } else { unsafe { CStr::from_ptr(path) } }
}

/// The address of the kernel's object (vDSO); 0 if there is none. Call this after the C library is initialized.
pub(crate) fn vdso() -> usize {
    // SAFETY: the caller's promise.
    unsafe { getauxval(AT_SYSINFO_EHDR) as usize }
}
