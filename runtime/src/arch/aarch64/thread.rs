//! Access to the thread-local block, of which `arch/block.rs` has the layout, as the executable's own TLS (local-exec): the
//! start-up object is only ever linked into executables.

use core::arch::asm;
use core::ffi::c_void;

/// The third word of the block: what [`set_record`] stored, null before.
#[inline]
pub(crate) fn record() -> *mut c_void {
    let record;
    // SAFETY: reads an aligned word of this thread's own TLS, which exists as long as the thread runs.
    unsafe {
        asm!(
            "mrs {0}, tpidr_el0",
            "add {0}, {0}, #:tprel_hi12:gmon_thread, lsl #12",
            "add {0}, {0}, #:tprel_lo12_nc:gmon_thread",
            "ldr {0}, [{0}, #16]",
            out(reg) record,
            options(nostack, preserves_flags, readonly),
        );
    }
    record
}

/// Stores the third word of the block.
#[inline]
pub(crate) fn set_record(record: *mut c_void) {
    // SAFETY: writes an aligned word of this thread's own TLS.
    unsafe {
        asm!(
            "mrs {block}, tpidr_el0",
            "add {block}, {block}, #:tprel_hi12:gmon_thread, lsl #12",
            "add {block}, {block}, #:tprel_lo12_nc:gmon_thread",
            "str {record}, [{block}, #16]",
            block = out(reg) _,
            record = in(reg) record,
            options(nostack, preserves_flags),
        );
    }
}

/// Makes the table whose first entry is at `base` and which has `mask / 8 + 1` home slots the one that mcount uses.
///
/// With signals blocked: a handler's mcount would find a mask that is too small for its table, which is sound, but might
/// set another table. mcount itself loads the mask before the base, so that a handler which grows the table in between
/// leaves it with one too small as well. (A thread sees its own reads and writes in the order of the instructions,
/// whatever other processors see.)
///
/// # Safety
///
/// `base` must be the entries of a table of `mask / 8 + 1` home slots that stays mapped.
#[inline]
pub(crate) unsafe fn set_table(base: *mut c_void, mask: usize) {
    // SAFETY: writes aligned words of this thread's own TLS, in this order; the caller vouches for the table.
    unsafe {
        asm!(
            "mrs {block}, tpidr_el0",
            "add {block}, {block}, #:tprel_hi12:gmon_thread, lsl #12",
            "add {block}, {block}, #:tprel_lo12_nc:gmon_thread",
            "str xzr, [{block}]",
            "str {base}, [{block}, #8]",
            "str {mask}, [{block}]",
            block = out(reg) _,
            base = in(reg) base,
            mask = in(reg) mask,
            options(nostack, preserves_flags),
        );
    }
}
