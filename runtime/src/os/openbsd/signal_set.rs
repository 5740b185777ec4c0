//! Sets of 32 signals.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A set of signals: `sigset_t`. System calls take and return a set by value.
#[derive(Clone, Copy, PartialEq)]
#[repr(transparent)]
pub struct SignalSet(pub(super) u32);

/// The set without signals.
pub(crate) const NO_SIGNALS: SignalSet = SignalSet(0);
pub(super) const EVERY_SIGNAL: SignalSet = SignalSet(u32::MAX);

/// Returns the set of one signal.
pub(super) fn only(signal: c_int) -> SignalSet {
    with_signal(NO_SIGNALS, signal)
}

/// Returns `signals` with `signal` added.
pub(crate) fn with_signal(signals: SignalSet, signal: c_int) -> SignalSet {
    SignalSet(signals.0 | 1 << ((signal - 1) & 31))
}

/// Returns `signals` without `signal`.
pub(crate) fn without_signal(signals: SignalSet, signal: c_int) -> SignalSet {
    SignalSet(signals.0 & !(1 << ((signal - 1) & 31)))
}

/// Returns whether `signal` is in `signals`.
pub(crate) fn contains(signals: SignalSet, signal: c_int) -> bool {
    signals.0 & 1 << ((signal - 1) & 31) != 0
}

/// A set of signals that several threads may read and write. If all its bytes are 0, the set is empty.
pub(crate) struct SavedSignals(AtomicU32);

impl SavedSignals {
    pub(crate) const fn none() -> SavedSignals {
        SavedSignals(AtomicU32::new(0))
    }

    pub(crate) fn save(&self, signals: SignalSet) {
        self.0.store(signals.0, Relaxed);
    }

    pub(crate) fn saved(&self) -> SignalSet {
        SignalSet(self.0.load(Relaxed))
    }
}
