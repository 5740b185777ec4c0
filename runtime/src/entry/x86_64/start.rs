//! `_start`, by the contract of glibc's `__libc_start_main`, and what else a `crt1.o` must define.

use core::arch::{global_asm, naked_asm};

use crate::start::{RTLD_FINI, begin, finish};

/// The entry point of the program.
///
/// `__libc_start_main(main, argc, argv, init = 0, fini = 0, rtld_fini, stack_end)` registers rtld_fini before anything
/// else, so it is the last thing that runs at exit. We hand it [`finish`] in its place, which calls the real one and
/// then writes the profile: destructors are profiled too.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn _start() -> ! {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_undefined rip",
        "    endbr64",
        "    xor     ebp, ebp", // the outermost frame
        "    mov     [rip + {rtld_fini}], rdx",
        "    lea     r9, [rip + {finish}]",
        "    pop     rsi",      // argc
        "    mov     rdx, rsp", // argv
        "    and     rsp, -16",
        "    push    rax", // keeps the stack aligned
        "    push    rsp", // stack_end
        "    xor     r8d, r8d",
        "    xor     ecx, ecx",
        "    mov     rdi, qword ptr [rip + main@GOTPCREL]",
        "    call    __libc_start_main@PLT",
        "    hlt", // never reached
        ".cfi_endproc",
        rtld_fini = sym RTLD_FINI,
        finish = sym finish,
    )
}

// The C library runs .preinit_array before any constructor, so those are profiled as well.
global_asm!(
    ".pushsection .preinit_array,\"aw\",@preinit_array",
    ".balign 8",
    "    .quad {begin}",
    ".popsection",
    begin = sym begin,
);

// What else the C library's own crt1.o has: the start of the data, for old garbage collectors; the mark of the current
// stdio; and, for static programs that are not position independent, the relocation that they do not need (grcrt1.o
// leaves this last one to the C library).
global_asm!(
    ".pushsection .data,\"aw\",@progbits",
    ".balign 8",
    ".globl __data_start",
    ".weak data_start",
    "__data_start:",
    "data_start:",
    "    .quad 0",
    ".popsection",
    ".pushsection .rodata,\"a\",@progbits",
    ".balign 4",
    ".globl _IO_stdin_used",
    ".type _IO_stdin_used, @object",
    ".size _IO_stdin_used, 4",
    "_IO_stdin_used:",
    "    .long 0x20001",
    ".popsection",
    ".pushsection .text._dl_relocate_static_pie,\"ax\",@progbits",
    ".globl _dl_relocate_static_pie",
    ".hidden _dl_relocate_static_pie",
    ".type _dl_relocate_static_pie, @function",
    "_dl_relocate_static_pie:",
    "    endbr64",
    "    ret",
    ".size _dl_relocate_static_pie, . - _dl_relocate_static_pie",
    ".popsection",
);
