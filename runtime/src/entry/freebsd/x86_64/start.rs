//! `_start`, by the contract of FreeBSD's kernel and of `__libc_start1`.

use core::arch::naked_asm;

use super::super::start::CLEANUP;

/// The entry point of the program. rdi is the address of argc, followed by argv and the environment. rsi is the address
/// of the dynamic linker's cleanup function, which must be called at exit; 0 in a static program.
///
/// `__libc_start1(argc, argv, env, cleanup, main)` registers `cleanup` in a dynamic program. FreeBSD 13 and older have
/// no `__libc_start1`; the linker reports an undefined symbol.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn _start() -> ! {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_undefined rip",
        "    endbr64",
        "    xor     ebp, ebp", // the outermost frame
        "    mov     [rip + {cleanup}], rsi",
        "    mov     rcx, rsi",
        "    movsxd  rax, dword ptr [rdi]",
        "    lea     rsi, [rdi + 8]",           // argv
        "    lea     rdx, [rdi + 8*rax + 16]",  // env
        "    mov     edi, eax",                 // argc
        "    lea     r8, [rip + {main}]",
        "    and     rsp, -16",
        "    call    __libc_start1@PLT",
        "    hlt", // never reached
        ".cfi_endproc",
        cleanup = sym CLEANUP,
        main = sym main_of_the_program,
    )
}

/// Jumps to the program's `main`. `main` may be in a shared library; its address in this code would need a text
/// relocation.
#[unsafe(naked)]
unsafe extern "C" fn main_of_the_program() {
    naked_asm!(".cfi_startproc", "    endbr64", "    jmp     main@PLT", ".cfi_endproc",)
}
