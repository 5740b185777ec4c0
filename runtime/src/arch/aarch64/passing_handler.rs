//! A signal handler that passes signals on.

/// Defines `$name`, a signal handler that calls `$handler` with its three arguments. If the result is not 0, it is the
/// address of another handler, to which `$name` jumps as if the kernel had called that handler.
#[allow(unused_macros, reason = "only Linux shares a signal with the program")]
macro_rules! passing_handler {
    ($name:ident, $handler:ident) => {
        #[unsafe(naked)]
        pub(super) unsafe extern "C" fn $name(signal: c_int, info: *const SignalInfo, context: *const c_void) {
            core::arch::naked_asm!(
                ".cfi_startproc",
                "stp     x29, x30, [sp, #-48]!",
                ".cfi_def_cfa_offset 48",
                ".cfi_offset x29, -48",
                ".cfi_offset x30, -40",
                "mov     x29, sp",
                "stp     x0, x1, [sp, #16]",
                "str     x2, [sp, #32]",
                "bl      {handler}",
                "mov     x16, x0",
                "ldp     x0, x1, [sp, #16]",
                "ldr     x2, [sp, #32]",
                "ldp     x29, x30, [sp], #48",
                ".cfi_restore x29",
                ".cfi_restore x30",
                ".cfi_def_cfa_offset 0",
                "cbz     x16, 2f",
                "br      x16",
                "2:  ret",
                ".cfi_endproc",
                handler = sym $handler,
            )
        }
    };
}
pub(crate) use passing_handler;
