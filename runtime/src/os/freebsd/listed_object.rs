//! The dynamic linker's list of what is loaded (`dl_iterate_phdr`).

use core::ffi::{c_char, c_void};

/// An object of the list: the start of `struct dl_phdr_info` (`link.h`).
#[repr(C)]
pub(crate) struct ListedObject {
    pub(crate) bias: usize,
    pub(crate) name: *const c_char,
    pub(crate) segments: *const c_void,
    pub(crate) segments_number: u16,
    /// How many objects were ever put in, and how many taken out.
    pub(crate) added: u64,
    pub(crate) removed: u64,
}
