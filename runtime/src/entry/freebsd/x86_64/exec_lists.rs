//! `execl`, `execle` and `execlp`, whose arguments are a list.

use core::arch::naked_asm;

use super::super::exec_lists::{execute_list, execute_list_with_environment, search_list};

/// Defines a function whose first argument is a path, followed by the program's arguments up to a null pointer. The
/// function stores the arguments in registers below those on the stack, so all form one array, and passes the path and
/// the array to a function.
macro_rules! with_array {
    ($name:ident, $function:ident) => {
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name() {
            naked_asm!(
                ".cfi_startproc",
                "    endbr64",
                "    pop     r11", // the return address
                ".cfi_def_cfa_offset 0",
                ".cfi_register rip, r11",
                "    push    r9",
                ".cfi_adjust_cfa_offset 8",
                "    push    r8",
                ".cfi_adjust_cfa_offset 8",
                "    push    rcx",
                ".cfi_adjust_cfa_offset 8",
                "    push    rdx",
                ".cfi_adjust_cfa_offset 8",
                "    push    rsi",
                ".cfi_adjust_cfa_offset 8",
                "    mov     rsi, rsp",
                "    push    r11",
                ".cfi_def_cfa_offset 48",
                ".cfi_offset rip, -48",
                "    call    {function}", // returns only if no program was executed
                "    pop     r11",
                ".cfi_adjust_cfa_offset -8",
                ".cfi_register rip, r11",
                "    add     rsp, 32",
                ".cfi_adjust_cfa_offset -32",
                "    mov     [rsp], r11",
                ".cfi_offset rip, -8",
                "    ret",
                ".cfi_endproc",
                function = sym $function,
            )
        }
    };
}

with_array!(execl, execute_list);
with_array!(execle, execute_list_with_environment);
with_array!(execlp, search_list);
