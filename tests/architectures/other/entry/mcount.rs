//! The items that the runtime needs of an architecture in `entry/mcount/`. `tests/tests/house/architectures.rs`
//! compiles this file; nothing runs it.

use crate::arch::FACTOR;
use crate::control::{RECORDED_BIAS, RECORDING, RECORDING_AS_RUN};
use crate::mcount::miss;
use crate::ownership::OWN_WORD;

/// What the function of an architecture reads.
#[unsafe(no_mangle)]
extern "C" fn mcount() {
    let _ = (FACTOR, &RECORDED_BIAS, &RECORDING, &RECORDING_AS_RUN, &OWN_WORD);
    // SAFETY: nothing runs this.
    unsafe { miss(0, 0) };
}

#[allow(dead_code, reason = "not all systems change code")]
pub(super) fn counter() -> usize {
    0
}
