//! Symbols of the C libraries that may be undefined.

use core::arch::naked_asm;

/// Returns the address of libthr's `fork` in a static program that is linked with libthr; otherwise 0.
#[unsafe(naked)]
pub(in super::super) extern "C" fn thread_fork_address() -> usize {
    naked_asm!(
        ".weak   __thr_fork",
        "    adrp    x0, :got:__thr_fork",
        "    ldr     x0, [x0, :got_lo12:__thr_fork]",
        "    ret",
    )
}
