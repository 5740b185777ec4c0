//! `mcount` and `__fentry__`, which compiled code calls at the start of every function.
//!
//! The common path searches the thread's own table: no lock, no call, no vector register. At entry every argument
//! register is live, and also rax (the number of vector arguments of a variadic call) and r10 (the static chain of a
//! nested function). Only r11 is free.
//!
//! The common path fits in one aligned cache line, so a processor fetches the path at once. Instruction fetch limits
//! programs with many small functions: on SQLite, a path of two cache lines costs twice as much as the same work in one
//! cache line. To save bytes, the hash and the slot's index have 32 bits, and keys are loaded twice. (`__fentry__` is
//! two bytes longer.) There is no endbr64, because most systems require it only of objects that claim to have it. Where
//! a system requires it ([`NEEDS_ENDBR`]), `__fentry__` begins with endbr64, and compilers call `mcount` by another
//! name.
//!
//! One instruction increments the count, so a signal handler between any two instructions cannot lose a count, and the
//! handler's own calls are counted too.

use core::arch::{global_asm, naked_asm};

use crate::arch::FACTOR;
use crate::control::{RECORDED_BIAS, RECORDING, RECORDING_AS_RUN};
use crate::mcount::miss;
use crate::os::{IS_TEXT_READABLE, NEEDS_ENDBR};
use crate::ownership::OWN_WORD;

/// The address of the entry where the search begins, in rax, for the hash in eax.
#[cfg(not(feature = "preload"))]
macro_rules! home {
    () => {
        concat!(
            "    and     eax, dword ptr fs:[gmon_thread@tpoff]\n", // the mask before the base: see arch::set_table
            "    lea     eax, [rax + 2*rax]\n",
            "    add     rax, qword ptr fs:[gmon_thread@tpoff + 8]\n",
        )
    };
}

/// As above, in a shared object, where the distance of the block from the thread pointer is in memory. r11 loses selfpc
/// meanwhile, which is above the word that was pushed.
#[cfg(feature = "preload")]
macro_rules! home {
    () => {
        concat!(
            "    mov     r11, [rip + gmon_thread@gottpoff]\n",
            "    and     eax, dword ptr fs:[r11]\n",
            "    lea     eax, [rax + 2*rax]\n",
            "    add     rax, qword ptr fs:[r11 + 8]\n",
            "    mov     r11, [rsp + 8]\n",
        )
    };
}

/// As [`home`], for the hash in r11d and the address in r11.
#[cfg(not(feature = "preload"))]
macro_rules! home_of_live {
    () => {
        concat!(
            "    and     r11d, dword ptr fs:[gmon_thread@tpoff]\n",
            "    lea     r11d, [r11 + 2*r11]\n",
            "    add     r11, qword ptr fs:[gmon_thread@tpoff + 8]\n",
        )
    };
}

/// As above, in a shared object. The red zone keeps rdx.
#[cfg(feature = "preload")]
macro_rules! home_of_live {
    () => {
        concat!(
            "    mov     [rsp - 24], rdx\n",
            "    mov     rdx, [rip + gmon_thread@gottpoff]\n",
            "    and     r11d, dword ptr fs:[rdx]\n",
            "    lea     r11d, [r11 + 2*r11]\n",
            "    add     r11, qword ptr fs:[rdx + 8]\n",
            "    mov     rdx, [rsp - 24]\n",
        )
    };
}

/// Searches the table. The first argument is code that comes first; the other two are the locations of frompc before
/// and after the code pushes one word. An entry is (frompc, selfpc, count), 24 bytes; the last entry of a table is
/// always empty, so the search ends.
macro_rules! lookup {
    ($first:literal, $frompc_pushed:literal, $frompc:literal) => {
        lookup!(
            $first,
            "    mov     r11, [rsp]\n", // selfpc: mcount's return address
            "",
            home!(),
            $frompc_pushed,
            $frompc,
            "    mov     rcx, [rsp]\n",
            "",
        )
    };
    // As above; the code that makes r11 selfpc, before rax is pushed and after; the code for the home; the code that
    // makes rcx selfpc, which may change rax; and code before each return.
    (
        $first:literal,
        $selfpc:expr,
        $selfpc_pushed:expr,
        $home:expr,
        $frompc_pushed:literal,
        $frompc:literal,
        $selfpc_late:expr,
        $leave:expr $(,)?
    ) => {
        concat!(
            ".p2align 6\n",
            ".cfi_startproc\n",
            $first,
            // `as_run` is all ones while calls are recorded with run-time addresses, otherwise 0. The comparison uses
            // ebp because the instruction is short: no value is below 0, and if ebp is itself all ones, the slow path
            // decides.
            "    cmp     ebp, [rip + {as_run}]\n",
            "    jae     4f\n",
            "5:\n",
            $selfpc,
            "    push    rax\n",
            ".cfi_adjust_cfa_offset 8\n",
            $selfpc_pushed,
            "    imul    eax, ",
            $frompc_pushed,
            ", {factor}\n",
            "    add     eax, r11d\n",
            $home,
            "    cmp     [rax + 8], r11\n",
            "    jne     2f\n",
            "    mov     r11, ",
            $frompc_pushed,
            "\n",
            "    cmp     [rax], r11\n",
            "    jne     2f\n",
            "    inc     qword ptr [rax + 16]\n",
            "    pop     rax\n",
            ".cfi_adjust_cfa_offset -8\n",
            "3:\n",
            $leave,
            "    ret\n",
            // The first slot has another arc. From here on, frompc is in rax and selfpc in rcx. The old values of rax
            // and rcx are in the red zone, which signal handlers do not change.
            ".cfi_adjust_cfa_offset 8\n",
            "2:  mov     r11, rax\n",
            "    pop     rax\n",
            ".cfi_adjust_cfa_offset -8\n",
            "    mov     [rsp - 8], rax\n",
            "    mov     [rsp - 16], rcx\n",
            $selfpc_late,
            "    mov     rax, ",
            $frompc,
            "\n",
            "7:  cmp     qword ptr [r11 + 8], 0\n",
            "    lea     r11, [r11 + 24]\n",
            "    je      {miss}\n",
            "1:  cmp     [r11 + 8], rcx\n",
            "    jne     7b\n",
            "    cmp     [r11], rax\n",
            "    jne     7b\n",
            "    inc     qword ptr [r11 + 16]\n",
            "    mov     rax, [rsp - 8]\n",
            "    mov     rcx, [rsp - 16]\n",
            $leave,
            "    ret\n",
            // Before start-up has finished there may be no TLS yet (resolvers of indirect functions run that early).
            "4:  cmp     dword ptr [rip + {recording}], 1\n", // 0: no, 1: yes, 2: at link-time addresses
            "    jb      3b\n",
            "    je      5b\n",
            // The table is the live file of another process if this memory is a copy; such a call is not counted.
            "    mov     r11, [rip + {own}]\n",
            "    cmp     dword ptr [r11], 0\n",
            "    je      3b\n",
            "    mov     [rsp - 8], rax\n",
            "    mov     [rsp - 16], rcx\n",
            $selfpc_late,
            "    mov     rax, ",
            $frompc,
            "\n",
            "    sub     rax, [rip + {bias}]\n",
            "    sub     rcx, [rip + {bias}]\n",
            "    imul    r11d, eax, {factor}\n",
            "    add     r11d, ecx\n",
            home_of_live!(),
            "    jmp     1b\n",
            ".cfi_endproc\n",
        )
    };
}

/// Records the call of the function that calls this after its prologue: gcc's `-pg`, clang's `-pg`.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn mcount() {
    naked_asm!(
        // The prologue has set up the frame, which has the caller's return address.
        lookup!("", "[rbp + 8]", "[rbp + 8]"),
        as_run = sym RECORDING_AS_RUN,
        factor = const FACTOR,
        recording = sym RECORDING,
        bias = sym RECORDED_BIAS,
        own = sym OWN_WORD,
        miss = sym mcount_miss,
    )
}

/// Records the call of the function that calls this as its first instruction: `-mfentry`.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn __fentry__() {
    naked_asm!(
        // There is no frame yet: the caller's return address is above mcount's.
        lookup!(".if {needs_endbr}\n    endbr64\n.endif\n", "[rsp + 16]", "[rsp + 8]"),
        needs_endbr = const NEEDS_ENDBR as u32,
        as_run = sym RECORDING_AS_RUN,
        factor = const FACTOR,
        recording = sym RECORDING,
        bias = sym RECORDED_BIAS,
        own = sym OWN_WORD,
        miss = sym fentry_miss,
    )
}

/// Saves the registers that a C function may change, calls [`miss`], and restores the registers.
macro_rules! save_and_miss {
    () => {
        concat!(
            "    mov     rbp, rsp\n",
            ".cfi_def_cfa_register rbp\n",
            "    push    rdx\n",
            "    push    rsi\n",
            "    push    rdi\n",
            "    push    r8\n",
            "    push    r9\n",
            "    push    r10\n",
            "    and     rsp, -16\n", // compilers may call mcount with rsp off by 8
            "    cld\n",
            "    mov     rdi, rax\n",
            "    mov     rsi, rcx\n",
            "    call    {miss}\n",
            "    mov     rdx, [rbp - 8]\n",
            "    mov     rsi, [rbp - 16]\n",
            "    mov     rdi, [rbp - 24]\n",
            "    mov     r8, [rbp - 32]\n",
            "    mov     r9, [rbp - 40]\n",
            "    mov     r10, [rbp - 48]\n",
            "    mov     rsp, rbp\n",
            ".cfi_def_cfa_register rsp\n",
        )
    };
}

/// As [`home`], for [`called`], where selfpc is not on the stack. The red zone keeps selfpc.
#[cfg(feature = "preload")]
macro_rules! home_of_called {
    () => {
        concat!(
            "    mov     [rsp - 32], r11\n",
            "    mov     r11, [rip + gmon_thread@gottpoff]\n",
            "    and     eax, dword ptr fs:[r11]\n",
            "    lea     eax, [rax + 2*rax]\n",
            "    add     rax, qword ptr fs:[r11 + 8]\n",
            "    mov     r11, [rsp - 32]\n",
        )
    };
}

#[cfg(not(feature = "preload"))]
macro_rules! home_of_called {
    () => {
        home!()
    };
}

/// Records the call of a function whose calls are counted on demand. A thunk calls this: see
/// [`crate::arch::entry_room`]. The return address points to the thunk's jump, whose target is selfpc.
///
/// r11 is not free here: a compiler that knows the called function may use r11 across the call. The red zone has its
/// value at rsp - 32.
#[unsafe(naked)]
unsafe extern "C" fn called() {
    naked_asm!(
        lookup!(
            "    mov     [rsp - 32], r11\n",
            "",
            concat!(
                "    mov     r11, [rsp + 8]\n",
                "    movsxd  rax, dword ptr [r11 + 1]\n",
                "    lea     r11, [r11 + rax + 5]\n",
            ),
            home_of_called!(),
            "[rsp + 16]",
            "[rsp + 8]",
            concat!(
                "    mov     rcx, [rsp]\n",
                "    movsxd  rax, dword ptr [rcx + 1]\n",
                "    lea     rcx, [rcx + rax + 5]\n",
            ),
            "    mov     r11, [rsp - 32]\n",
        ),
        as_run = sym RECORDING_AS_RUN,
        factor = const FACTOR,
        recording = sym RECORDING,
        bias = sym RECORDED_BIAS,
        own = sym OWN_WORD,
        miss = sym called_miss,
    )
}

/// As [`mcount_miss`], for [`called`]: r11 is saved at rsp - 32.
#[unsafe(naked)]
unsafe extern "C" fn called_miss() {
    naked_asm!(
        ".cfi_startproc",
        "    sub     rsp, 32", // r11, a word without meaning, rcx, and rax become part of the frame
        ".cfi_adjust_cfa_offset 32",
        "    push    rbp",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_rel_offset rbp, 0",
        save_and_miss!(),
        "    pop     rbp",
        ".cfi_adjust_cfa_offset -8",
        ".cfi_restore rbp",
        "    pop     r11",
        ".cfi_adjust_cfa_offset -8",
        "    add     rsp, 8",
        ".cfi_adjust_cfa_offset -8",
        "    pop     rcx",
        ".cfi_adjust_cfa_offset -8",
        "    pop     rax",
        ".cfi_adjust_cfa_offset -8",
        "    ret",
        ".cfi_endproc",
        miss = sym miss,
    )
}

/// The address of the code that thunks call.
#[allow(dead_code, reason = "not all systems change code")]
pub(super) fn counter() -> usize {
    called as unsafe extern "C" fn() as usize
}

// Other systems and older compilers use this name.
global_asm!(".globl _mcount", ".type _mcount, @function", ".set _mcount, mcount");

/// Corrects frompc for nested functions, and jumps from `__fentry__` to [`mcount_miss`].
///
/// For a nested function, gcc pushes r10, the address of the enclosing function's frame, before the call of
/// `__fentry__`. The return address is then one word further up. Only the instructions before the call show whether
/// gcc pushed r10. If text may be execute-only, the code compares instead: for a nested function the word is r10 and an
/// address of the stack, and the callers of a static program are in its own text. The code checks this here and not
/// before every search: for a nested function, the search uses a stack address as frompc, and a stack address is never
/// in the table.
#[unsafe(naked)]
unsafe extern "C" fn fentry_miss() {
    naked_asm!(
        ".cfi_startproc",
        ".if {is_text_readable}",
        "    mov     r11, [rsp]", // selfpc as the program runs
        "    sub     r11, 6",
        "    cmp     word ptr [r11], 0x15ff", // call [rip + rel32], six bytes
        "    je      1f",
        "    cmp     word ptr [r11], 0xe867", // the instruction that linkers replace the call with
        "    je      1f",
        "    inc     r11", // call rel32, five bytes
        "1:  cmp     dword ptr [r11 - 4], 0xfa1e0ff3", // endbr64 may come before the call
        "    jne     2f",
        "    sub     r11, 4",
        "2:  cmp     word ptr [r11 - 2], 0x5241", // push r10
        "    jne     4f",
        "    mov     rax, [rsp + 16]",
        "    sub     rax, [rip + {bias}]", // 0 unless link-time addresses are recorded
        ".else",
        "    cmp     rax, r10", // what gcc pushes for a nested function
        "    jne     4f",
        "    lea     r11, [rip + __executable_start]",
        "    cmp     rax, r11",
        "    lea     r11, [rip + etext]", // changes no flags
        "    jb      3f",
        "    cmp     rax, r11",
        "    jb      4f",
        "3:  mov     rax, [rsp + 16]",
        "    cmp     rax, r11",
        "    jae     5f",
        "    lea     r11, [rip + __executable_start]",
        "    cmp     rax, r11",
        "    jae     4f",
        "5:  mov     rax, [rsp + 8]", // the caller is the kernel's code that calls signal handlers
        ".endif",
        "4:  jmp     {miss}",
        ".cfi_endproc",
        is_text_readable = const IS_TEXT_READABLE as u32,
        bias = sym RECORDED_BIAS,
        miss = sym mcount_miss,
    )
}

/// Calls [`miss`]. frompc is in rax and selfpc in rcx; the old values of rax and rcx are in the red zone at rsp - 8 and
/// rsp - 16.
///
/// Saves every integer register that a C function may change. The function does not save vector registers, because
/// no code reachable from `miss` uses vector registers; a test disassembles the object and proves this.
#[unsafe(naked)]
unsafe extern "C" fn mcount_miss() {
    naked_asm!(
        ".cfi_startproc",
        "    sub     rsp, 16", // the two saved values become part of the frame: rcx, then rax
        ".cfi_adjust_cfa_offset 16",
        "    push    rbp",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_rel_offset rbp, 0",
        save_and_miss!(),
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
