//! What a tick becomes: a count in a bin, or a count of an address outside the program's text; and a count of the tick's
//! calling context.

pub(crate) mod bins;
pub(crate) mod contexts;
pub(crate) mod outside_text;
pub mod scale;

use core::ffi::c_void;

/// Counts ticks at the code that a signal interrupted at `pc`. `context` is the third argument of the signal's handler, which
/// calls this function.
pub(crate) fn count(pc: usize, ticks: u32, context: *const c_void) {
    if contexts::are_kept() {
        contexts::count(context, || bins::count(pc, ticks));
    } else {
        bins::count(pc, ticks);
    }
}

/// Counts ticks of which only the pc is known.
pub(crate) fn count_without_stack(pc: usize, ticks: u32) {
    contexts::count_without_stack(bins::count(pc, ticks));
}

/// Counts ticks at a pc that belong to a time when ticks were counted, even if that time is over.
pub(crate) fn count_late(pc: usize, ticks: u32) {
    contexts::count_without_stack(bins::count_late(pc, ticks));
}
