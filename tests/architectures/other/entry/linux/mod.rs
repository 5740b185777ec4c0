//! The items that the runtime needs of an architecture in `entry/linux/`. `tests/tests/house/architectures.rs` compiles
//! this file; nothing runs it.
#![cfg(feature = "start")]

use super::seccomp::{NUMBERS, SPECIAL, failed, make, special};
use super::start::{NOT_RELOCATED, NOT_RELOCATED_LENGTH, RTLD_FINI, finish};

/// What the functions of an architecture use.
#[unsafe(no_mangle)]
extern "C" fn _start() {
    let _ = (NUMBERS, &SPECIAL, &NOT_RELOCATED, NOT_RELOCATED_LENGTH, &RTLD_FINI);
    let _ = (failed as *const (), make as *const (), special as *const (), finish as *const ());
}

pub(super) extern "C" fn sigaction_address() -> usize {
    0
}

pub(super) extern "C" fn bsd_signal_address() -> usize {
    0
}

pub(super) extern "C" fn handler_set_address() -> usize {
    0
}

pub(super) extern "C" fn programs_sigaction_address() -> usize {
    0
}
