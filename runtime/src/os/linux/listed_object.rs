//! Entries of the dynamic linker's list of loaded objects (`dl_iterate_phdr`).

use core::ffi::{c_char, c_void};

/// The start of `struct dl_phdr_info`.
#[repr(C)]
pub(crate) struct ListedObject {
    pub(crate) bias: usize,
    pub(crate) name: *const c_char,
    pub(crate) segments: *const c_void,
    pub(crate) segments_number: u16,
    /// The number of objects that were ever added, and the number that were removed.
    pub(crate) added: u64,
    pub(crate) removed: u64,
}
