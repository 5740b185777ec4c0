//! Many addresses of one signal handler.

/// Defines a function `$name` at whose address, and each 8 bytes behind that, 16 in all, the handler `$handler` is called:
/// which of them the kernel has for a signal says something about the signal.
macro_rules! handler_entries {
    ($name:ident, $handler:path) => {
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                ".rept   16",
                ".balign 8",
                "jmp     {handler}",
                ".endr",
                handler = sym $handler,
            )
        }
    };
}
pub(crate) use handler_entries;
