//! The list of loaded objects (`dl_iterate_phdr`).

use core::ffi::{c_char, c_void};

/// An object in the list: `struct dl_phdr_info` (`link.h`). OpenBSD's structure ends before `added`. The modules above
/// need the last two fields to compile; the linker drops this code, because the runtime reads no list on OpenBSD, where
/// profiled programs are static.
#[repr(C)]
pub(crate) struct ListedObject {
    pub(crate) bias: usize,
    pub(crate) name: *const c_char,
    pub(crate) segments: *const c_void,
    pub(crate) segments_number: u16,
    pub(crate) added: u64,
    pub(crate) removed: u64,
}
