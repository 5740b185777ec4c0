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
        "push    rbp", // save the caller's frame pointer
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov     rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "mov     rsp, rdi", // top
        "mov     rdi, rdx", // data, as the argument
        "call    rsi",      // function
        "mov     rsp, rbp",
        "pop     rbp",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
    )
}
