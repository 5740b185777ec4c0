//! `_start`, by the contract of `__libc_start_main` of glibc and musl, and the relocation of static programs.

use core::arch::{global_asm, naked_asm};

use super::super::start::{NOT_RELOCATED, NOT_RELOCATED_LENGTH, RTLD_FINI, finish};
use crate::os::numbers;

/// The entry point of the program.
///
/// `__libc_start_main(main, argc, argv, init = 0, fini = 0, rtld_fini, stack_end)` registers rtld_fini first, so
/// rtld_fini runs last at exit. `_start` passes [`finish`] instead, which calls the real function and then writes the
/// profile: destructors are profiled too. musl's function has the same arguments and uses only the first three.
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
        "    lea     rdi, [rip + {main}]",
        "    call    __libc_start_main@PLT",
        "    hlt", // never reached
        ".cfi_endproc",
        rtld_fini = sym RTLD_FINI,
        finish = sym finish,
        main = sym main_of_the_program,
    )
}

/// Jumps to the program's `main`. The address of `main` would have to come from the global offset table, which has no
/// addresses yet when a static PIE starts.
#[unsafe(naked)]
unsafe extern "C" fn main_of_the_program() {
    naked_asm!(".cfi_startproc", "    endbr64", "    jmp     main@PLT", ".cfi_endproc",)
}

// The relocation, which a static program at a fixed address does not need; grcrt1.o leaves the symbol to the C
// library. A static PIE with this definition is not relocated and could only crash, so the function writes a message,
// in plain instructions, because nothing else works yet.
global_asm!(
    ".pushsection .text._dl_relocate_static_pie,\"ax\",@progbits",
    ".globl _dl_relocate_static_pie",
    ".hidden _dl_relocate_static_pie",
    ".type _dl_relocate_static_pie, @function",
    "_dl_relocate_static_pie:",
    "    endbr64",
    "    lea     rax, [rip + __ehdr_start]",
    "    cmp     word ptr [rax + 16], 3", // ET_DYN: the program may be loaded anywhere
    "    je      1f",
    "    ret",
    "1:  mov     eax, {write}",
    "    mov     edi, 2",
    "    lea     rsi, [rip + {text}]",
    "    mov     edx, {length}",
    "    syscall",
    "    mov     eax, {exit_group}",
    "    mov     edi, 127",
    "    syscall",
    "    ud2", // never reached
    ".size _dl_relocate_static_pie, . - _dl_relocate_static_pie",
    ".popsection",
    write = const numbers::WRITE,
    text = sym NOT_RELOCATED,
    length = const NOT_RELOCATED_LENGTH,
    exit_group = const numbers::EXIT_GROUP,
);
