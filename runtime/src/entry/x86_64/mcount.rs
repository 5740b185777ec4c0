//! `mcount` and `__fentry__`: what compiled code calls at the head of every function.
//!
//! The common path is a lookup in the thread's own table: no lock, no call, no vector register. At entry every argument
//! register is live, rax (the number of vector arguments of a variadic call) and r10 (the static chain of a nested
//! function) included; r11 alone is free. rax and rcx are kept in the red zone, which a signal handler leaves alone.
//!
//! The count is one `add` to memory, so a handler that runs between any two instructions here cannot lose it, and
//! neither can the calls it makes itself.

use core::arch::{global_asm, naked_asm};

use crate::arch::{FACTOR, MULTIPLIER, SHIFT};
use crate::control::{RECORDED_BIAS, RECORDING};
use crate::threads::miss;

/// The lookup, with frompc's place left open. An entry is (frompc, selfpc, count), 24 bytes; the last entry of a table
/// is always empty, so the search ends.
macro_rules! lookup {
    ($frompc:literal) => {
        concat!(
            ".p2align 6\n",
            ".cfi_startproc\n",
            "    endbr64\n",
            // Before start-up has finished there may be no TLS yet (resolvers of indirect functions run that early).
            "    cmp     dword ptr [rip + {recording}], 1\n", // 0: no, 1: yes, 2: at link-time addresses
            "    jb      3f\n",
            "    mov     [rsp - 8], rax\n",
            "    mov     [rsp - 16], rcx\n",
            "    mov     rax, ",
            $frompc,
            "\n",
            "    mov     rcx, [rsp]\n", // selfpc: our own return address
            "    ja      4f\n",         // the flags are still those of the comparison
            "5:  imul    r11, rax, {factor}\n",
            "    add     r11, rcx\n",
            "    imul    r11, [rip + {multiplier}]\n",
            "    shr     r11, {shift}\n",
            "    and     r11, qword ptr fs:[gmon_thread@tpoff]\n", // the mask before the base: see arch::set_table
            "    lea     r11, [r11 + 2*r11]\n",
            "    add     r11, qword ptr fs:[gmon_thread@tpoff + 8]\n",
            "1:  cmp     [r11 + 8], rcx\n",
            "    jne     2f\n",
            "    cmp     [r11], rax\n",
            "    jne     2f\n",
            "    add     qword ptr [r11 + 16], 1\n",
            "    mov     rax, [rsp - 8]\n",
            "    mov     rcx, [rsp - 16]\n",
            "3:  ret\n",
            "2:  cmp     qword ptr [r11 + 8], 0\n",
            "    lea     r11, [r11 + 24]\n",
            "    jne     1b\n",
            "    jmp     {miss}\n",
            "4:  sub     rax, [rip + {bias}]\n",
            "    sub     rcx, [rip + {bias}]\n",
            "    jmp     5b\n",
            ".cfi_endproc\n",
        )
    };
}

/// Records the call of the function that calls this after its prologue: gcc's `-pg`, clang's `-pg`.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn mcount() {
    naked_asm!(
        lookup!("[rbp + 8]"), // the prologue has set the frame up: our caller's return address
        recording = sym RECORDING,
        factor = const FACTOR,
        multiplier = sym MULTIPLIER,
        shift = const SHIFT,
        bias = sym RECORDED_BIAS,
        miss = sym mcount_miss,
    )
}

/// Records the call of the function that calls this as its first instruction: `-mfentry`.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn __fentry__() {
    naked_asm!(
        lookup!("[rsp + 8]"), // no frame yet: our caller's return address is above ours
        recording = sym RECORDING,
        factor = const FACTOR,
        multiplier = sym MULTIPLIER,
        shift = const SHIFT,
        bias = sym RECORDED_BIAS,
        miss = sym fentry_miss,
    )
}

// The name that other systems and older compilers use.
global_asm!(".globl _mcount", ".type _mcount, @function", ".set _mcount, mcount");

/// The way from `__fentry__` to [`mcount_miss`], which puts frompc right for nested functions.
///
/// gcc pushes r10, which has the address of the enclosing function's frame, before such a function's call of `__fentry__`:
/// the return address is then one word up. Only the code says so, and it is looked at here and not before every lookup:
/// what the lookup takes for frompc is an address on the stack, which is never in the table.
#[unsafe(naked)]
unsafe extern "C" fn fentry_miss() {
    naked_asm!(
        ".cfi_startproc",
        "    mov     r11, [rsp]", // selfpc as the program runs
        "    sub     r11, 6",
        "    cmp     word ptr [r11], 0x15ff", // call [rip + rel32], six bytes
        "    je      1f",
        "    cmp     word ptr [r11], 0xe867", // what linkers make of that
        "    je      1f",
        "    inc     r11", // call rel32, five bytes
        "1:  cmp     dword ptr [r11 - 4], 0xfa1e0ff3", // endbr64 may stand in between
        "    jne     2f",
        "    sub     r11, 4",
        "2:  cmp     word ptr [r11 - 2], 0x5241", // push r10
        "    jne     4f",
        "    mov     rax, [rsp + 16]",
        "    sub     rax, [rip + {bias}]", // 0 unless link-time addresses are recorded
        "4:  jmp     {miss}",
        ".cfi_endproc",
        bias = sym RECORDED_BIAS,
        miss = sym mcount_miss,
    )
}

/// The way to [`miss`]: frompc in rax, selfpc in rcx, their own values in the red zone at rsp - 8 and rsp - 16.
///
/// Saves every integer register that a function of the C convention may change. Vector registers are left alone, which
/// is right only as long as nothing reachable from `miss` uses one; a test disassembles the object and proves it.
#[unsafe(naked)]
unsafe extern "C" fn mcount_miss() {
    naked_asm!(
        ".cfi_startproc",
        "    sub     rsp, 16", // the two saved values become part of the frame: rcx, then rax
        ".cfi_adjust_cfa_offset 16",
        "    push    rbp",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_rel_offset rbp, 0",
        "    mov     rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "    push    rdx",
        "    push    rsi",
        "    push    rdi",
        "    push    r8",
        "    push    r9",
        "    push    r10",
        "    and     rsp, -16", // the compiler may call mcount with rsp 8 off
        "    cld",
        "    mov     rdi, rax",
        "    mov     rsi, rcx",
        "    call    {miss}",
        "    mov     rdx, [rbp - 8]",
        "    mov     rsi, [rbp - 16]",
        "    mov     rdi, [rbp - 24]",
        "    mov     r8, [rbp - 32]",
        "    mov     r9, [rbp - 40]",
        "    mov     r10, [rbp - 48]",
        "    mov     rsp, rbp",
        ".cfi_def_cfa_register rsp",
        "    pop     rbp",
        ".cfi_adjust_cfa_offset -8",
        ".cfi_restore rbp",
        "    pop     rcx",
        ".cfi_adjust_cfa_offset -8",
        "    pop     rax",
        ".cfi_adjust_cfa_offset -8",
        "    ret",
        ".cfi_endproc",
        miss = sym miss,
    )
}
