//! `_mcount`, which compiled code calls at the start of every function.
//!
//! The common path searches the thread's own table: no lock, no call, no vector register. Compilers call the function
//! by the C calling convention, so x0 to x17 are free; the registers from x9 on are sufficient.
//!
//! A pair of exclusive instructions increments the count. Returning from an exception clears the mark that the first
//! instruction sets, so the second instruction fails if a handler ran in between, and the code repeats both: no count
//! is lost, neither this one nor those of the handler. The pair does not order anything between processors; each thread
//! has its own table.

use core::arch::{global_asm, naked_asm};

use super::system::machine::miss;
use crate::arch::FACTOR;
use crate::control::{RECORDED_BIAS, RECORDING, RECORDING_AS_RUN};
use crate::ownership::OWN_WORD;

/// Makes x13 the address of the thread's block.
#[cfg(not(feature = "preload"))]
macro_rules! block {
    () => {
        concat!(
            "    mrs     x13, tpidr_el0\n",
            "    add     x13, x13, #:tprel_hi12:gmon_thread, lsl #12\n",
            "    add     x13, x13, #:tprel_lo12_nc:gmon_thread\n",
        )
    };
}

/// As above, in a shared object, where the distance of the block from the thread pointer is in memory.
#[cfg(feature = "preload")]
macro_rules! block {
    () => {
        concat!(
            "    adrp    x13, :gottprel:gmon_thread\n",
            "    ldr     x13, [x13, #:gottprel_lo12:gmon_thread]\n",
            "    mrs     x14, tpidr_el0\n",
            "    add     x13, x13, x14\n",
        )
    };
}

/// Records the call of the function that calls this after its prologue: gcc's `-pg`, clang's `-pg`.
///
/// gcc passes frompc in x0; older versions of clang pass nothing. Both set up a frame record before the call, and
/// refuse to omit it when they profile: x29 points to the record, and its second word is the profiled function's
/// return address. The address may be signed; xpaclri, a no-op without signatures, removes the signature, but only in
/// x30.
///
/// An entry is (frompc, selfpc, count), 24 bytes; the last entry of a table is always empty, so the search ends.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn mcount() {
    naked_asm!(
        ".p2align 6",
        ".cfi_startproc",
        "    hint    #34", // bti c
        // Before start-up has finished there may be no TLS yet (resolvers of indirect functions run that early).
        "    adrp    x9, {as_run}",
        "    ldr     w9, [x9, :lo12:{as_run}]", // not 0 while calls are recorded with run-time addresses
        "    cbz     w9, 4f",
        "7:  mov     x10, x30", // selfpc: mcount's return address
        ".cfi_register x30, x10",
        "    ldr     x30, [x29, #8]", // frompc: the return address of the profiled function
        "    hint    #7",             // xpaclri
        "    mov     x11, x30",
        "    mov     x30, x10",
        ".cfi_restore x30",
        "5:  mov     w12, #{factor_low}",
        "    movk    w12, #{factor_high}, lsl #16",
        "    madd    w12, w11, w12, w10",
        block!(),
        "    ldr     w14, [x13]", // the mask before the base: see arch::set_table
        "    and     w12, w12, w14",
        "    ldr     x14, [x13, #8]",
        "    add     x12, x12, x12, lsl #1",
        "    add     x12, x14, x12",
        "1:  ldp     x13, x14, [x12]",
        "    cmp     x14, x10",
        "    ccmp    x13, x11, #0, eq",
        "    b.ne    2f",
        "    add     x12, x12, #16",
        "6:  ldxr    x13, [x12]",
        "    add     x13, x13, #1",
        "    stxr    w14, x13, [x12]",
        "    cbnz    w14, 6b", // a signal came in between
        "3:  ret",
        "2:  add     x12, x12, #24",
        "    cbnz    x14, 1b",
        "    mov     x0, x11",
        "    mov     x1, x10",
        "    b       {miss}", // `miss` returns to the profiled function
        "4:  adrp    x9, {recording}",
        "    ldr     w9, [x9, :lo12:{recording}]", // 0: no, 1: yes, 2: at link-time addresses
        "    cbz     w9, 3b",
        "    cmp     w9, #1",
        "    b.eq    7b",
        // The table is the live file of another process if this memory is a copy; such a call is not counted.
        "    adrp    x9, {own}",
        "    ldr     x9, [x9, :lo12:{own}]",
        "    ldr     w9, [x9]",
        "    cbz     w9, 3b",
        "    mov     x10, x30",
        ".cfi_register x30, x10",
        "    ldr     x30, [x29, #8]",
        "    hint    #7",
        "    mov     x11, x30",
        "    mov     x30, x10",
        ".cfi_restore x30",
        "    adrp    x12, {bias}",
        "    ldr     x12, [x12, :lo12:{bias}]",
        "    sub     x11, x11, x12",
        "    sub     x10, x10, x12",
        "    b       5b",
        ".cfi_endproc",
        as_run = sym RECORDING_AS_RUN,
        recording = sym RECORDING,
        factor_low = const FACTOR & 0xffff,
        factor_high = const FACTOR >> 16,
        miss = sym miss,
        bias = sym RECORDED_BIAS,
        own = sym OWN_WORD,
    )
}

/// Records the call of a function whose calls are counted on demand. A thunk calls this: see
/// [`crate::arch::entry_room`]. x9 has the return address of the function, and x30 points to the thunk's branch, whose
/// target is selfpc. Of the other registers, x10 to x14 and x16 are free.
#[unsafe(naked)]
unsafe extern "C" fn called() {
    naked_asm!(
        ".p2align 6",
        ".cfi_startproc",
        ".cfi_register x30, x9",
        "    hint    #34", // bti c
        "    mov     x16, x30",
        "    adrp    x10, {as_run}",
        "    ldr     w10, [x10, :lo12:{as_run}]", // not 0 while calls are recorded with run-time addresses
        "    cbz     w10, 4f",
        "7:  mov     x30, x9",
        "    hint    #7", // xpaclri
        "    mov     x11, x30", // frompc
        "    ldr     w10, [x16]",
        "    sbfx    x10, x10, #0, #26",
        "    add     x10, x16, x10, lsl #2", // selfpc
        "5:  mov     w12, #{factor_low}",
        "    movk    w12, #{factor_high}, lsl #16",
        "    madd    w12, w11, w12, w10",
        block!(),
        "    ldr     w14, [x13]", // the mask before the base: see arch::set_table
        "    and     w12, w12, w14",
        "    ldr     x14, [x13, #8]",
        "    add     x12, x12, x12, lsl #1",
        "    add     x12, x14, x12",
        "1:  ldp     x13, x14, [x12]",
        "    cmp     x14, x10",
        "    ccmp    x13, x11, #0, eq",
        "    b.ne    2f",
        "    add     x12, x12, #16",
        "6:  ldxr    x13, [x12]",
        "    add     x13, x13, #1",
        "    stxr    w14, x13, [x12]",
        "    cbnz    w14, 6b", // a signal came in between
        "3:  mov     x30, x9",
        "    ret     x16",
        "2:  add     x12, x12, #24",
        "    cbnz    x14, 1b",
        // `miss` changes the registers that a C function may change.
        "    stp     x29, x9, [sp, #-128]!",
        ".cfi_adjust_cfa_offset 128",
        ".cfi_rel_offset x29, 0",
        ".cfi_rel_offset x30, 8",
        "    mov     x29, sp",
        "    stp     x0, x1, [sp, #16]",
        "    stp     x2, x3, [sp, #32]",
        "    stp     x4, x5, [sp, #48]",
        "    stp     x6, x7, [sp, #64]",
        "    stp     x8, x16, [sp, #80]",
        "    stp     x15, x17, [sp, #96]",
        "    str     x18, [sp, #112]",
        "    mov     x0, x11",
        "    mov     x1, x10",
        "    bl      {miss}",
        "    ldp     x0, x1, [sp, #16]",
        "    ldp     x2, x3, [sp, #32]",
        "    ldp     x4, x5, [sp, #48]",
        "    ldp     x6, x7, [sp, #64]",
        "    ldp     x8, x16, [sp, #80]",
        "    ldp     x15, x17, [sp, #96]",
        "    ldr     x18, [sp, #112]",
        "    ldp     x29, x9, [sp], #128",
        ".cfi_adjust_cfa_offset -128",
        ".cfi_restore x29",
        ".cfi_register x30, x9",
        "    b       3b",
        "4:  adrp    x10, {recording}",
        "    ldr     w10, [x10, :lo12:{recording}]", // 0: no, 1: yes, 2: at link-time addresses
        "    cbz     w10, 3b",
        "    cmp     w10, #1",
        "    b.eq    7b",
        // The table is the live file of another process if this memory is a copy; such a call is not counted.
        "    adrp    x10, {own}",
        "    ldr     x10, [x10, :lo12:{own}]",
        "    ldr     w10, [x10]",
        "    cbz     w10, 3b",
        "    mov     x30, x9",
        "    hint    #7",
        "    ldr     w10, [x16]",
        "    sbfx    x10, x10, #0, #26",
        "    add     x10, x16, x10, lsl #2",
        "    adrp    x12, {bias}",
        "    ldr     x12, [x12, :lo12:{bias}]",
        "    sub     x11, x30, x12",
        "    sub     x10, x10, x12",
        "    b       5b",
        ".cfi_endproc",
        as_run = sym RECORDING_AS_RUN,
        recording = sym RECORDING,
        factor_low = const FACTOR & 0xffff,
        factor_high = const FACTOR >> 16,
        miss = sym miss,
        bias = sym RECORDED_BIAS,
        own = sym OWN_WORD,
    )
}

/// The address of the code that thunks call.
#[allow(dead_code, reason = "not all systems change code")]
pub(super) fn counter() -> usize {
    called as unsafe extern "C" fn() as usize
}

// Compilers use this name; every gprof leaves the other name out of its reports.
global_asm!(".globl _mcount", ".type _mcount, @function", ".set _mcount, mcount");
