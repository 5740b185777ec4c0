//! `__mcount`, the function that compilers for OpenBSD call at the start of every function.

use core::arch::naked_asm;

/// Executes `endbr64`, which processors with indirect branch tracking require at the start of functions that are called
/// by their addresses, and jumps to `mcount`.
///
/// This is a separate function because `mcount` fills its cache line. Each recorded call therefore executes two more
/// instructions than on other systems.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn __mcount() {
    naked_asm!(".p2align 4", ".cfi_startproc", "    endbr64", "    jmp     mcount", ".cfi_endproc")
}
