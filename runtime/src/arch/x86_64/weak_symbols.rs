//! Weak symbols, which may be undefined.

use core::arch::naked_asm;

/// The address of the C library's `dlsym`; 0 in a static program that does not use `dlsym`.
#[unsafe(naked)]
pub(crate) extern "C" fn dlsym_address() -> usize {
    naked_asm!(".weak   dlsym", "    mov     rax, qword ptr [rip + dlsym@GOTPCREL]", "    ret",)
}

/// The address of the section `.fini`; 0 in a program that has none.
#[cfg(all(feature = "start", not(feature = "preload")))]
#[unsafe(naked)]
pub(crate) extern "C" fn fini_address() -> usize {
    naked_asm!(".weak   _fini", "    mov     rax, qword ptr [rip + _fini@GOTPCREL]", "    ret",)
}
