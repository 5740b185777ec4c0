//! The name by which compilers for OpenBSD call `mcount`.

use core::arch::naked_asm;

/// `mcount`, with the first instruction that processors with indirect branch tracking require of functions that are called by
/// their addresses.
///
/// A function of its own, because `mcount` fills its cache line: a call executes two instructions more than on other systems.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn __mcount() {
    naked_asm!(".p2align 4", ".cfi_startproc", "    endbr64", "    jmp     mcount", ".cfi_endproc")
}
