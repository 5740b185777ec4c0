//! Functions that libc calls by their addresses. Processors with indirect branch tracking require endbr64 as the first
//! instruction of such functions, which the compiler does not write.

use core::arch::naked_asm;

use super::super::fork::after_fork_in_child;
use crate::control::{_mcleanup, after_fork_in_parent, before_fork as prepare};

macro_rules! called_by_address {
    ($($(#[$about:meta])* $name:ident => $function:path;)*) => {
        $(
            $(#[$about])*
            #[unsafe(naked)]
            pub(in super::super) unsafe extern "C" fn $name() {
                naked_asm!(".cfi_startproc", "    endbr64", "    jmp     {}", ".cfi_endproc", sym $function)
            }
        )*
    };
}

called_by_address! {
    /// Ends profiling.
    at_end => _mcleanup;
    /// Runs before a fork.
    before_fork => prepare;
    /// Runs after a fork in the parent.
    in_parent => after_fork_in_parent;
    /// Runs after a fork in the child.
    in_child => after_fork_in_child;
}
