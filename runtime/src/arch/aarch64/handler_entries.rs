//! Several addresses of one signal handler.

/// Defines a function `$name`. A call of any of 16 addresses, 8 bytes apart, from the start of `$name` on calls the
/// handler `$handler`. The address that is set for a signal encodes flags of the signal.
macro_rules! handler_entries {
    ($name:ident, $handler:path) => {
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                ".rept   16",
                ".balign 8",
                "b       {handler}",
                ".endr",
                handler = sym $handler,
            )
        }
    };
}
pub(crate) use handler_entries;
