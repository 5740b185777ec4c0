//! Weak symbols, which may be undefined.

use core::arch::naked_asm;

/// The address of the C library's `dlsym`; 0 in a static program that does not use `dlsym`.
#[unsafe(naked)]
pub(crate) extern "C" fn dlsym_address() -> usize {
    naked_asm!(".weak   dlsym", "    adrp    x0, :got:dlsym", "    ldr     x0, [x0, :got_lo12:dlsym]", "    ret",)
}

/// The address of the section `.fini`; 0 in a program that has none.
#[cfg(all(feature = "start", not(feature = "preload")))]
#[unsafe(naked)]
pub(crate) extern "C" fn fini_address() -> usize {
    naked_asm!(".weak   _fini", "    adrp    x0, :got:_fini", "    ldr     x0, [x0, :got_lo12:_fini]", "    ret",)
}
