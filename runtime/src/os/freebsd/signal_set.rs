//! Sets of 128 signals.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A set of signals, the lowest ones in the first word: `sigset_t`. Two words of 64 bits, which the compiler passes in
/// registers: below mcount no vector register may be used.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct SignalSet {
    low: u64,
    high: u64,
}

/// The set without signals.
pub(crate) const NO_SIGNALS: SignalSet = SignalSet { low: 0, high: 0 };
pub(super) const EVERY_SIGNAL: SignalSet = SignalSet { low: u64::MAX, high: u64::MAX };

impl SignalSet {
    /// Reads a set word by word.
    ///
    /// # Safety
    ///
    /// There must be a set.
    pub(super) unsafe fn read(from: *const SignalSet) -> SignalSet {
        // SAFETY: the caller's promise.
        unsafe {
            SignalSet { low: (&raw const (*from).low).read_volatile(), high: (&raw const (*from).high).read_volatile() }
        }
    }
}

/// The set of one signal.
pub(super) fn only(signal: c_int) -> SignalSet {
    with_signal(NO_SIGNALS, signal)
}

/// A set with one more signal.
pub(crate) fn with_signal(signals: SignalSet, signal: c_int) -> SignalSet {
    let bit = 1 << ((signal - 1) & 63);
    if signal <= 64 {
        SignalSet { low: signals.low | bit, ..signals }
    } else {
        SignalSet { high: signals.high | bit, ..signals }
    }
}

/// Whether a signal is in a set.
pub(crate) fn contains(signals: SignalSet, signal: c_int) -> bool {
    let word = if signal <= 64 { signals.low } else { signals.high };
    word & 1 << ((signal - 1) & 63) != 0
}

/// A place for a set of signals. All zero, no signal is in the set.
pub(crate) struct SavedSignals([AtomicU64; 2]);

impl SavedSignals {
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
