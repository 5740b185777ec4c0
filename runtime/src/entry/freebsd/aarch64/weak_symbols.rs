//! Symbols of the C libraries that need not be there.

use core::arch::naked_asm;

/// The address of libthr's `fork` in a static program that is linked with libthr; else 0.
#[unsafe(naked)]
pub(in super::super) extern "C" fn thread_fork_address() -> usize {
    naked_asm!(
        ".weak   __thr_fork",
        "    adrp    x0, :got:__thr_fork",
        "    ldr     x0, [x0, :got_lo12:__thr_fork]",
        "    ret",
    )
}
