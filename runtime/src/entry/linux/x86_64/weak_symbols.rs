//! Weak symbols of the C libraries.

use core::arch::naked_asm;

/// The address of the C library's `__sigaction`; 0 in a static program that does not use `__sigaction`, and if the
/// library does not export it.
#[unsafe(naked)]
pub(in super::super) extern "C" fn sigaction_address() -> usize {
    naked_asm!(".weak   __sigaction", "    mov     rax, qword ptr [rip + __sigaction@GOTPCREL]", "    ret",)
}

/// The address of `__bsd_signal`, which a static program has if it calls glibc's `siginterrupt`; otherwise 0.
#[unsafe(naked)]
pub(in super::super) extern "C" fn bsd_signal_address() -> usize {
    naked_asm!(".weak   __bsd_signal", "    mov     rax, qword ptr [rip + __bsd_signal@GOTPCREL]", "    ret",)
}

/// The address of `__get_handler_set`, which static programs with musl have if they have `__sigaction`; otherwise 0.
#[unsafe(naked)]
pub(in super::super) extern "C" fn handler_set_address() -> usize {
    naked_asm!(".weak   __get_handler_set", "    mov     rax, qword ptr [rip + __get_handler_set@GOTPCREL]", "    ret",)
}

/// The address of the `sigaction` that the program calls: the runtime's, unless another definition took its place.
#[unsafe(naked)]
pub(in super::super) extern "C" fn programs_sigaction_address() -> usize {
    naked_asm!("mov     rax, qword ptr [rip + sigaction@GOTPCREL]", "    ret",)
}
