//! The dynamic linker's list of loaded objects (`dl_iterate_phdr`).

use core::ffi::{c_char, c_void};

/// A loaded object: the start of `struct dl_phdr_info` (`link.h`).
#[repr(C)]
pub(crate) struct ListedObject {
    pub(crate) bias: usize,
    pub(crate) name: *const c_char,
    pub(crate) segments: *const c_void,
    pub(crate) segments_number: u16,
    /// The number of objects that the linker has ever loaded, and the number that the linker has unloaded.
    pub(crate) added: u64,
    pub(crate) removed: u64,
}
