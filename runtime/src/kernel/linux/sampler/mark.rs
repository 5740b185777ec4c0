//! What our timers send with their signal, by which our signals are told from the program's: an address inside an array of ours.

static VALUES: [u8; 3] = [0; 3];

/// The timer of a thread.
pub(super) const OF_THREAD: usize = 0;
/// The timer of the process.
pub(super) const OF_PROCESS: usize = 1;
/// The timer that has the rings read.
pub(super) const OF_RING: usize = 2;

/// What the timers of that kind send.
pub(super) fn value(of: usize) -> usize {
    (&raw const VALUES).addr() + of
}
