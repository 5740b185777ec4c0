//! The value that the runtime's timers send with their signal: an address inside an array of the runtime, which tells
//! the signals from the program's.

use crate::state::Inherited;

static VALUES: Inherited<[u8; 4]> = Inherited::new("never changes", [0; 4]);

/// The kind of a thread's timer.
pub(super) const OF_THREAD: usize = 0;
/// The kind of the process's timer.
pub(super) const OF_PROCESS: usize = 1;
/// The kind of the timer that has the rings read.
pub(super) const OF_RING: usize = 2;
/// The kind of a timer for the first period of a thread that the ring samples.
pub(super) const OF_FIRST_PERIOD: usize = 3;

/// Whether a timer of the runtime sends this value.
pub(super) fn is_mark(found: usize) -> bool {
    found.wrapping_sub(value(OF_THREAD)) < VALUES.len()
}

/// The value that timers of a kind send.
pub(super) fn value(of: usize) -> usize {
    (&raw const VALUES).addr() + of
}
