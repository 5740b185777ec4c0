//! The handlers of the runtime that the program does not see: one for each signal, and several addresses of the
//! handler of fatal signals.

use core::ffi::c_int;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::state::Inherited;

/// The last signal.
pub(super) const SIGRTMAX: c_int = 64;

/// The runtime's handler of each signal, or the first of its entries; 0 for none.
static HIDDEN: Inherited<[AtomicUsize; SIGRTMAX as usize + 1]> =
    Inherited::new("the child inherits the handlers", [const { AtomicUsize::new(0) }; SIGRTMAX as usize + 1]);

/// The first of the 16 entries of the handler of fatal signals, which are 8 bytes apart. The entry that the kernel
/// has for a signal encodes flags that the program set.
static ENTRIES: Inherited<AtomicUsize> = Inherited::new("the child inherits the handlers", AtomicUsize::new(0));
pub(super) const ENTRY_SIZE: usize = 8;
const ENTRIES_NUMBER: usize = 16;

/// Hides the handler of a signal from the program.
pub(super) fn hide(signal: c_int, handler: usize) {
    if let Some(place) = HIDDEN.get(signal as usize) {
        place.store(handler, Relaxed);
    }
}

/// Sets the address of the first entry.
pub(crate) fn set_handler_entries(entries: usize) {
    ENTRIES.store(entries, Relaxed);
}

/// The number of the entry at an address, if there is one.
pub(super) fn entry_number(handler: usize) -> Option<usize> {
    let entries = ENTRIES.load(Relaxed);
    let distance = handler.wrapping_sub(entries);
    (entries != 0 && distance < ENTRIES_NUMBER * ENTRY_SIZE).then_some(distance / ENTRY_SIZE)
}

/// The runtime's handler of a signal; 0 for none.
pub(super) fn hidden(signal: c_int) -> usize {
    HIDDEN.get(signal as usize).map_or(0, |place| place.load(Relaxed))
}

/// Whether `handler` is the hidden handler of a signal. May be called below mcount.
pub(super) fn is_hidden(signal: c_int, handler: usize) -> bool {
    let hidden = hidden(signal);
    hidden != 0 && (handler == hidden || entry_number(handler).is_some())
}
