//! Symbols that the linker defines (GNU ld, gold and lld), and those of `runtime/merge.ld`.

use core::ffi::c_void;
use core::ops::Range;

#[cfg(all(feature = "start", not(test)))]
use crate::arch::fini_address;

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
/// GNU ld and mold place the runtime's section behind the program's `.text`. Then the text ends with four bytes of the
/// runtime's code, which are the place of all samples in the runtime: a bin for each four bytes would take most of the
/// file of a small program.
pub(crate) fn text() -> (usize, usize) {
    let (start, end) = ((&raw const __executable_start).addr(), (&raw const etext).addr());
    (start, if is_last(end) { own_code().start + 4 } else { end })
}

/// Whether nothing but `.fini` follows the runtime's section before the end of the text. Other linkers have more code
/// there, and so have programs with sections of their own.
#[cfg(all(feature = "start", not(test)))]
fn is_last(end: usize) -> bool {
    /// More than the instructions of `.fini` take.
    const FINI: usize = 32;
    // The section ends with a word behind the code.
    let next = own_code().end + 4;
    end == next || fini_address() == next && end.wrapping_sub(next) <= FINI
}

#[cfg(not(all(feature = "start", not(test))))]
fn is_last(_end: usize) -> bool {
    false
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
