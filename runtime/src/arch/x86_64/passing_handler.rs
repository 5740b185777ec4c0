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
                "push    rdi",
                ".cfi_def_cfa_offset 16",
                "push    rsi",
                ".cfi_def_cfa_offset 24",
                "push    rdx",
                ".cfi_def_cfa_offset 32",
                "call    {handler}",
                "pop     rdx",
                ".cfi_def_cfa_offset 24",
                "pop     rsi",
                ".cfi_def_cfa_offset 16",
                "pop     rdi",
                ".cfi_def_cfa_offset 8",
                "test    rax, rax",
                "je      2f",
                "jmp     rax",
                "2:  ret",
                ".cfi_endproc",
                handler = sym $handler,
            )
        }
    };
}
pub(crate) use passing_handler;
