//! Weak symbols of the C libraries.

use core::arch::naked_asm;

/// The address of the C library's `__sigaction`; 0 in a static program that does not use `__sigaction`, and if the
/// library does not export it.
#[unsafe(naked)]
pub(in super::super) extern "C" fn sigaction_address() -> usize {
    naked_asm!(
        ".weak   __sigaction",
        "    adrp    x0, :got:__sigaction",
        "    ldr     x0, [x0, :got_lo12:__sigaction]",
        "    ret",
    )
}

/// The address of `__bsd_signal`, which a static program has if it calls glibc's `siginterrupt`; otherwise 0.
#[unsafe(naked)]
pub(in super::super) extern "C" fn bsd_signal_address() -> usize {
    naked_asm!(
        ".weak   __bsd_signal",
        "    adrp    x0, :got:__bsd_signal",
        "    ldr     x0, [x0, :got_lo12:__bsd_signal]",
        "    ret",
    )
}

/// The address of `__get_handler_set`, which static programs with musl have if they have `__sigaction`; otherwise 0.
#[unsafe(naked)]
pub(in super::super) extern "C" fn handler_set_address() -> usize {
    naked_asm!(
        ".weak   __get_handler_set",
        "    adrp    x0, :got:__get_handler_set",
        "    ldr     x0, [x0, :got_lo12:__get_handler_set]",
        "    ret",
    )
}

/// The address of the `sigaction` that the program calls: the runtime's, unless another definition took its place.
#[unsafe(naked)]
pub(in super::super) extern "C" fn programs_sigaction_address() -> usize {
    naked_asm!("adrp    x0, :got:sigaction", "    ldr     x0, [x0, :got_lo12:sigaction]", "    ret",)
}
