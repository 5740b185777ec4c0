//! What produces the ticks, and what was refused.

use core::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering::SeqCst};

use super::ring;
use crate::file::{self, Sampled};
use crate::ownership::is_ours;
use crate::state::Inherited;

/// What produces the ticks: one of the following.
pub(super) static PRODUCER: Inherited<AtomicU32> = Inherited::new(
    "the child is sampled as its parent is; without rings of its own it says so",
    AtomicU32::new(THREADS),
);
/// A timer for each thread.
pub(super) const THREADS: u32 = 0;
/// The process's timer.
pub(super) const PROCESS: u32 = 1;
/// The kernel's ring.
pub(super) const RING: u32 = 2;
/// Nothing, for the rest of the process.
pub(super) const NOTHING: u32 = 3;

/// Whether any thread got a timer.
pub(super) static HAS_TIMERS: Inherited<AtomicBool> =
    Inherited::new("what was refused serves no better in the child, which says so", AtomicBool::new(false));
/// The error of a timer for a thread, and of a ring for the child of a fork; 0 for none.
pub(super) static THREAD_REFUSED: Inherited<AtomicI32> =
    Inherited::new("what was refused serves no better in the child, which says so", AtomicI32::new(0));
pub(super) static RING_REFUSED: Inherited<AtomicI32> =
    Inherited::new("what was refused serves no better in the child, which says so", AtomicI32::new(0));

/// Says in the side file what produces the ticks.
pub(super) fn tell() {
    file::set_sampler(match PRODUCER.load(SeqCst) {
        RING if ring::is_blind_to_kernel() => Sampled::ByBlindRing,
        RING => Sampled::ByRing,
        PROCESS => Sampled::ByProcess,
        THREADS => Sampled::ByThread,
        _ => return,
    });
}

/// Whether there are rings to read. A child that was made without the C library's fork has no rings of its own.
pub(super) fn has_ring() -> bool {
    PRODUCER.load(SeqCst) == RING && is_ours()
}
