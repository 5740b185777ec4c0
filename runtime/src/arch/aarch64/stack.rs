//! Calls a function on another stack.

use core::arch::naked_asm;
use core::ffi::c_void;

/// Calls `function` with `data` on the stack that ends at `top`, and returns on the caller's stack.
///
/// # Safety
///
/// `top` must be a multiple of 16 and the end of memory that nobody else uses during the call, large enough for
/// `function`; `data` must be the argument that `function` expects.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn call_on_stack(
    top: *mut c_void,
    function: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
) {
    naked_asm!(
        ".cfi_startproc",
        "stp     x29, x30, [sp, #-16]!", // save the caller's frame pointer and the return address
        ".cfi_def_cfa_offset 16",
        ".cfi_offset x29, -16",
        ".cfi_offset x30, -8",
        "mov     x29, sp",
        ".cfi_def_cfa_register x29",
        "mov     sp, x0", // top
        "mov     x0, x2", // data, as the argument
        "blr     x1",     // function
        "mov     sp, x29",
        "ldp     x29, x30, [sp], #16",
        ".cfi_def_cfa sp, 0",
        "ret",
        ".cfi_endproc",
    )
}
