//! `_start`, by the contract of glibc's `__libc_start_main` and musl's, and the relocation of static programs.

use core::arch::{global_asm, naked_asm};

use super::super::start::{NOT_RELOCATED, NOT_RELOCATED_LENGTH, RTLD_FINI, finish};
use crate::os::numbers;

/// The entry point of the program.
///
/// `__libc_start_main(main, argc, argv, init = 0, fini = 0, rtld_fini, stack_end)` registers rtld_fini before anything
/// else, so it is the last thing that runs at exit. We hand it [`finish`] in its place, which calls the real one and
/// then writes the profile: destructors are profiled too. musl's has the same arguments and looks only at the first
/// three.
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

/// The program's `main`, wherever that is. Its address would have to be taken from the global offset table, in which a
/// static PIE has no addresses yet when it starts.
#[unsafe(naked)]
unsafe extern "C" fn main_of_the_program() {
    naked_asm!(".cfi_startproc", "    endbr64", "    jmp     main@PLT", ".cfi_endproc",)
}

// The relocation that a static program which is not position independent does not need; grcrt1.o leaves it to the C
// library. A static PIE that got this one is not relocated and could only crash: it says why, in plain instructions, as
// nothing else works yet.
global_asm!(
    ".pushsection .text._dl_relocate_static_pie,\"ax\",@progbits",
    ".globl _dl_relocate_static_pie",
    ".hidden _dl_relocate_static_pie",
    ".type _dl_relocate_static_pie, @function",
    "_dl_relocate_static_pie:",
    "    endbr64",
    "    lea     rax, [rip + __ehdr_start]",
    "    cmp     word ptr [rax + 16], 3", // ET_DYN: it may be loaded anywhere
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
