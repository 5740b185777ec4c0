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
                "    hint    #34", // bti c
                "    stp     x29, x30, [sp, #-80]!",
                ".cfi_def_cfa_offset 80",
                ".cfi_offset x29, -80",
                ".cfi_offset x30, -72",
                "    mov     x29, sp",
                "    str     x1, [sp, #24]",
                "    stp     x2, x3, [sp, #32]",
                "    stp     x4, x5, [sp, #48]",
                "    stp     x6, x7, [sp, #64]",
                "    add     x1, sp, #24",
                "    bl      {function}", // returns only if no program was executed
                "    ldp     x29, x30, [sp], #80",
                ".cfi_def_cfa_offset 0",
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
