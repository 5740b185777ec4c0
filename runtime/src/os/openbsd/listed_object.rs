//! The dynamic linker's list of what is loaded (`dl_iterate_phdr`).

use core::ffi::{c_char, c_void};

/// An object of the list: `struct dl_phdr_info` (`link.h`). The system has no counts of objects that were added and removed.
#[repr(C)]
pub(crate) struct ListedObject {
    pub(crate) bias: usize,
    pub(crate) name: *const c_char,
    pub(crate) segments: *const c_void,
    pub(crate) segments_number: u16,
    pub(crate) added: u64,
    pub(crate) removed: u64,
}
