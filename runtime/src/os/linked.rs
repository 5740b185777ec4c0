//! Symbols that the linker defines (GNU ld, gold and lld), and those of `runtime/merge.ld`.

use core::ffi::c_void;
use core::ops::Range;

use crate::arch::FINI;

// Defined by the linker.
unsafe extern "C" {
    static __ehdr_start: c_void;
    static __executable_start: c_void;
    static etext: c_void;
}

#[cfg(all(feature = "start", not(test)))]
unsafe extern "C" {
    static gmon_text_start: c_void;
    static gmon_text_end: c_void;
}

/// The run-time addresses of the runtime's own code in a start-up object; none in a library.
#[inline]
pub(crate) fn own_code() -> Range<usize> {
    #[cfg(all(feature = "start", not(test)))]
    let own = (&raw const gmon_text_start).addr()..(&raw const gmon_text_end).addr();
    #[cfg(not(all(feature = "start", not(test))))]
    let own = 0..0;
    own
}

/// The run-time addresses of the program's first byte and of the end of the text that is sampled.
///
/// GNU ld and mold place the runtime's section behind the program's `.text`. Then the text ends with four bytes of the runtime's code,
/// which are the place of all samples in the runtime: a bin for each four bytes would take most of the file of a small program.
pub(crate) fn text() -> (usize, usize) {
    // Other linkers, and programs that have code in other sections, have more behind the runtime's code than `.fini`.
    let (start, end, own) = ((&raw const __executable_start).addr(), (&raw const etext).addr(), own_code());
    let is_last = !own.is_empty() && end.wrapping_sub(own.end) <= FINI;
    (start, if is_last { own.start + 4 } else { end })
}

/// The place at which a sample counts.
#[inline]
pub(crate) fn sampled(pc: usize) -> usize {
    let own = own_code();
    if own.contains(&pc) { own.start } else { pc }
}

/// The address of the program's ELF header, which is loaded with the first segment.
pub(crate) fn headers() -> *const c_void {
    &raw const __ehdr_start
}
