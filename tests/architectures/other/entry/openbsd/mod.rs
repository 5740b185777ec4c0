//! The items that the runtime needs of an architecture in `entry/openbsd/`. `tests/tests/house/architectures.rs`
//! compiles this file; nothing runs it.
#![cfg(feature = "start")]

use super::start::start;

/// What the functions of an architecture use.
#[unsafe(no_mangle)]
extern "C" fn __start() {
    let _ = start as *const ();
}
