//! Finds the next definition of a name by the dynamic linker.

use core::ffi::{CStr, c_char, c_void};
use core::mem;

use crate::arch;

/// `RTLD_NEXT`: the next definition after the program's own.
const NEXT: usize = usize::MAX;

type Lookup = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;

/// The address of the next definition of a name after the program's own; 0 if there is none, and in a static program.
#[inline(never)]
pub(crate) fn next_definition(name: &CStr) -> usize {
    // SAFETY: null, or `dlsym`, which has this type.
    let lookup: Option<Lookup> = unsafe { mem::transmute(arch::dlsym_address()) };
    // SAFETY: the name ends with a NUL.
    lookup.map_or(0, |lookup| unsafe { lookup(NEXT as *mut c_void, name.as_ptr()) }.addr())
}
