//! Symbols that the linker defines (GNU ld, gold and lld).

use core::ffi::c_void;

// Defined by the linker.
unsafe extern "C" {
    static __ehdr_start: c_void;
    static __executable_start: c_void;
    static etext: c_void;
}

/// The run-time addresses of the program's first byte and of the end of its text.
pub(crate) fn text() -> (usize, usize) {
    ((&raw const __executable_start).addr(), (&raw const etext).addr())
}

/// The address of the program's ELF header, which is loaded with the first segment.
pub(crate) fn headers() -> *const c_void {
    &raw const __ehdr_start
}
