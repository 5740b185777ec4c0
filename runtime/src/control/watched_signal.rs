//! A signal by which the user asks the runtime for something.

use core::ffi::c_int;
use core::sync::atomic::{AtomicI32, Ordering::Relaxed};

use super::environment::Variable;
use crate::message::say_error;
use crate::os::{Handler, catch_signal};
#[cfg(all(feature = "start", not(test)))]
use crate::os::{is_not_handled, uncatch_signal};

/// The signal that a variable names; 0 for none.
pub(super) struct WatchedSignal {
    signal: AtomicI32,
    variable: Variable,
    handler: Handler,
}

impl WatchedSignal {
    pub(super) const fn new(variable: Variable, handler: Handler) -> WatchedSignal {
        WatchedSignal { signal: AtomicI32::new(0), variable, handler }
    }

    /// Installs the handler.
    pub(super) fn watch(&self, signal: c_int) {
        match catch_signal(signal, self.handler) {
            Ok(()) => self.signal.store(signal, Relaxed),
            Err(error) => say_error(&[self.variable.name(), b" sigaction"], error),
        }
    }

    /// Restores the signal's default action, because a seccomp filter is about to forbid the return from its handler.
    #[cfg(all(feature = "start", not(test)))]
    pub(super) fn unwatch(&self) {
        let signal = self.signal.load(Relaxed);
        if signal != 0 {
            uncatch_signal(signal, self.handler);
        }
    }

    /// Undoes [`WatchedSignal::unwatch`].
    #[cfg(all(feature = "start", not(test)))]
    pub(super) fn watch_again(&self) {
        let signal = self.signal.load(Relaxed);
        if signal != 0 && is_not_handled(signal) {
            self.watch(signal);
        }
    }
}
