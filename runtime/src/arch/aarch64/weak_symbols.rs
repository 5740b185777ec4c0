//! Weak symbols, which may be undefined.

use core::arch::naked_asm;

/// The address of the C library's `dlsym`; 0 in a static program that does not use `dlsym`.
#[unsafe(naked)]
pub(crate) extern "C" fn dlsym_address() -> usize {
    naked_asm!(".weak   dlsym", "    adrp    x0, :got:dlsym", "    ldr     x0, [x0, :got_lo12:dlsym]", "    ret",)
}
