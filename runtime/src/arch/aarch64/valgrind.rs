//! Detects valgrind.

use core::arch::asm;

use crate::state::Inherited;

/// Whether the program runs under valgrind. The function makes a client request, which is a no-op outside valgrind
/// and a documented interface of valgrind (`valgrind.h`).
#[inline]
pub(crate) fn is_in_valgrind() -> bool {
    // VG_USERREQ__RUNNING_ON_VALGRIND and its five arguments.
    static REQUEST: Inherited<[usize; 6]> = Inherited::new("never changes", [0x1001, 0, 0, 0, 0, 0]);
    let mut answer = 0_usize;
    // SAFETY: the rotations add up to 128 bits, and the `orr` is of a register with itself. valgrind reads the
    // request and sets x3.
    unsafe {
        asm!(
            "ror x12, x12, #3",
            "ror x12, x12, #13",
            "ror x12, x12, #51",
            "ror x12, x12, #61",
            "orr x10, x10, x10",
            in("x4") &raw const REQUEST,
            inout("x3") answer,
            options(nostack),
        );
    }
    answer != 0
}
