//! Sets of 128 signals.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A set of signals: `sigset_t`. The first word has the lowest signals. The set has two 64-bit words, which the
/// compiler passes in integer registers, because code below mcount must not use vector registers.
#[derive(Clone, Copy, PartialEq)]
#[repr(C)]
pub struct SignalSet {
    low: u64,
    high: u64,
}

/// The empty set.
pub(crate) const NO_SIGNALS: SignalSet = SignalSet { low: 0, high: 0 };
pub(super) const EVERY_SIGNAL: SignalSet = SignalSet { low: u64::MAX, high: u64::MAX };

impl SignalSet {
    /// Reads a set word by word.
    ///
    /// # Safety
    ///
    /// `from` must point to an initialized set.
    pub(super) unsafe fn read(from: *const SignalSet) -> SignalSet {
        // SAFETY: the caller guarantees that the set is initialized.
        unsafe {
            SignalSet { low: (&raw const (*from).low).read_volatile(), high: (&raw const (*from).high).read_volatile() }
        }
    }
}

/// Returns the set of one signal.
pub(super) fn only(signal: c_int) -> SignalSet {
    with_signal(NO_SIGNALS, signal)
}

/// Returns the set with one more signal.
pub(crate) fn with_signal(signals: SignalSet, signal: c_int) -> SignalSet {
    let bit = 1 << ((signal - 1) & 63);
    if signal <= 64 {
        SignalSet { low: signals.low | bit, ..signals }
    } else {
        SignalSet { high: signals.high | bit, ..signals }
    }
}

/// Returns the set without a signal.
pub(crate) fn without_signal(signals: SignalSet, signal: c_int) -> SignalSet {
    let bit = 1 << ((signal - 1) & 63);
    if signal <= 64 {
        SignalSet { low: signals.low & !bit, ..signals }
    } else {
        SignalSet { high: signals.high & !bit, ..signals }
    }
}

/// Returns whether a signal is in a set.
pub(crate) fn contains(signals: SignalSet, signal: c_int) -> bool {
    let word = if signal <= 64 { signals.low } else { signals.high };
    word & 1 << ((signal - 1) & 63) != 0
}

/// A stored set of signals with atomic words. Zero words are the empty set.
pub(crate) struct SavedSignals([AtomicU64; 2]);

impl SavedSignals {
    pub(crate) const fn none() -> SavedSignals {
        SavedSignals([AtomicU64::new(0), AtomicU64::new(0)])
    }

    pub(crate) fn save(&self, signals: SignalSet) {
        let [low, high] = &self.0;
        low.store(signals.low, Relaxed);
        high.store(signals.high, Relaxed);
    }

    pub(crate) fn saved(&self) -> SignalSet {
        let [low, high] = &self.0;
        SignalSet { low: low.load(Relaxed), high: high.load(Relaxed) }
    }
}
