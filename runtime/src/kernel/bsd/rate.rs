//! How often samples are taken.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::state::Inherited;

/// Samples each second of the interval timer, if the user does not say.
pub(super) const DEFAULT_RATE: u32 = 100;

/// Samples for each second of CPU time.
static RATE: Inherited<AtomicU32> =
    Inherited::new("what the user asked for, and what the system has", AtomicU32::new(DEFAULT_RATE));

/// Sets the samples for each second.
pub(super) fn set(rate: u32) {
    RATE.store(rate, Relaxed);
}

/// Samples in each second.
pub(crate) fn profrate() -> u32 {
    RATE.load(Relaxed)
}
