//! Signal frames of OpenBSD amd64: the trampoline (`arch/amd64/amd64/locore.S`), siginfo (`sys/siginfo.h` 1.14,
//! 2024-02-21), sigcontext (`arch/amd64/include/signal.h` 1.9, 2016-05-10), and the frame (sendsig in
//! `arch/amd64/amd64/machdep.c`). Not seen on a real kernel.

use nix::errno::Errno;

use crate::kernel::{Frame, Interrupted, Restored};
use crate::signal::{Info, SA_ONSTACK, SA_SIGINFO, SIGSEGV, SignalSet, code};
use crate::task::{KERNEL_PAGE, Registers, Task};

/// Calls the handler in rax, then sigreturn with the context on top of the stack.
pub(super) const TRAMPOLINE: &[u8] = &[
    0xff, 0xd0, // call *%rax
    0x48, 0x89, 0xe7, // mov %rsp, %rdi
    0x48, 0xc7, 0xc0, 0x67, 0x00, 0x00, 0x00, // mov $103, %rax
    0x0f, 0x05, // syscall
    0xf4, // hlt
];
/// The pc after the trampoline's system call. OpenBSD allows sigreturn only there (`sys/syscall_mi.h` 1.37,
/// 2024-12-27).
pub(super) const SIGRETURN_PC: u64 = KERNEL_PAGE + 14;

/// The size of a sigcontext. In a frame, a siginfo and the x87 and vector registers follow.
const CONTEXT: usize = 232;
/// The offset of the cookie in a context.
pub(super) const COOKIE_AT: usize = 224;
pub(super) const PAGE: u64 = 4096;
const SIGINFO_AT: usize = 240;
const SIGINFO: usize = 136;
/// XSAVE needs areas at multiples of 64 bytes.
const FLOATING_POINT_AT: usize = 384;
const FLOATING_POINT_POINTER: usize = 208;
const MASK: usize = 220;
const RED_ZONE: u64 = 128;

type Place = (usize, fn(&mut Registers) -> &mut u64);
const PLACES: [Place; 18] = [
    (0, |registers| &mut registers.rdi),
    (8, |registers| &mut registers.rsi),
    (16, |registers| &mut registers.rdx),
    (24, |registers| &mut registers.rcx),
    (32, |registers| &mut registers.r8),
    (40, |registers| &mut registers.r9),
    (48, |registers| &mut registers.r10),
    (56, |registers| &mut registers.r11),
    (64, |registers| &mut registers.r12),
    (72, |registers| &mut registers.r13),
    (80, |registers| &mut registers.r14),
    (88, |registers| &mut registers.r15),
    (96, |registers| &mut registers.rbp),
    (104, |registers| &mut registers.rbx),
    (112, |registers| &mut registers.rax),
    (168, |registers| &mut registers.rip),
    (184, |registers| &mut registers.eflags),
    (192, |registers| &mut registers.rsp),
];
/// OpenBSD's selectors of user code and data.
const SELECTORS: [(usize, u64); 2] = [(176, 0x2b), (200, 0x23)];
const USER_FLAGS: u64 = 0xcd5;
const DIRECTION: u64 = 0x400;

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}

/// Lays out a siginfo.
pub(super) fn siginfo(info: &Info) -> Vec<u8> {
    let why = match info.code {
        code::USER | code::KERNEL => 0,
        code::THREAD => -1,
        code::TIMER => -3,
        other => other,
    };
    let mut bytes = vec![0; SIGINFO];
    put(&mut bytes, 0, &info.signal.to_le_bytes());
    put(&mut bytes, 4, &why.to_le_bytes());
    // The sender and the fault address share an offset.
    if [4, 5, 8, 10, SIGSEGV].contains(&info.signal) && info.process == 0 {
        put(&mut bytes, 16, &info.address.to_le_bytes());
    } else {
        put(&mut bytes, 16, &info.process.to_le_bytes());
        put(&mut bytes, 24, &info.value.to_le_bytes());
    }
    bytes
}

/// Lays out a frame for a handler.
pub(super) fn frame(interrupted: &Interrupted) -> Frame {
    let stack = interrupted.alternate;
    let mut registers = *interrupted.registers;
    let switches = interrupted.action.flags & SA_ONSTACK != 0 && stack.size != 0 && !stack.holds(registers.rsp);
    // Only the whole pages of an alternate stack are a stack for OpenBSD.
    let top = if switches { stack.end() & !(PAGE - 1) } else { registers.rsp - RED_ZONE };
    let size = FLOATING_POINT_AT + interrupted.floating_point.len();
    let address = (top - size as u64) & !63;
    let mut bytes = vec![0; size];
    for (at, register) in PLACES {
        put(&mut bytes, at, &register(&mut registers).to_le_bytes());
    }
    for (at, selector) in SELECTORS {
        put(&mut bytes, at, &selector.to_le_bytes());
    }
    put(&mut bytes, FLOATING_POINT_POINTER, &(address + FLOATING_POINT_AT as u64).to_le_bytes());
    put(&mut bytes, MASK, &(interrupted.mask.0 as u32).to_le_bytes());
    put(&mut bytes, COOKIE_AT, &cookie(address).to_le_bytes());
    put(&mut bytes, SIGINFO_AT, &siginfo(&interrupted.info));
    put(&mut bytes, FLOATING_POINT_AT, interrupted.floating_point);
    let has_siginfo = interrupted.action.flags & SA_SIGINFO != 0;
    registers.rdi = u64::from(interrupted.info.signal);
    registers.rsi = if has_siginfo { address + SIGINFO_AT as u64 } else { 0 };
    registers.rdx = address;
    registers.rax = interrupted.action.handler;
    registers.rsp = address;
    registers.rip = KERNEL_PAGE;
    registers.eflags &= !DIRECTION;
    Frame { address, bytes, registers }
}

/// Returns the cookie of a context at an address. On OpenBSD, the cookie also depends on a random number of the process
/// (`arch/amd64/amd64/machdep.c`; not seen on a real kernel).
pub(super) fn cookie(address: u64) -> u64 {
    const OF_PROCESS: u64 = 0x6f70_656e_6273_6421;
    address ^ OF_PROCESS
}

/// Reads the state that a context restores. If a handler set the pointer to the x87 and vector registers to 0, these
/// registers stay.
pub(super) fn restore(task: Task, address: u64, current: &Registers) -> Result<Restored, Errno> {
    let context = task.read(address, CONTEXT)?;
    let long = |at: usize| u64::from_le_bytes(context[at..at + 8].try_into().expect("eight bytes"));
    let mut registers = *current;
    for (at, register) in PLACES {
        *register(&mut registers) = long(at);
    }
    registers.eflags = registers.eflags & USER_FLAGS | 0x202;
    let kept = task.floating_point();
    let floating_point = match long(FLOATING_POINT_POINTER) {
        0 => kept,
        place => task.read(place, kept.len())?,
    };
    // The mask is the upper half of a word.
    let mask = SignalSet(u128::from((long(MASK - 4) >> 32) as u32));
    Ok(Restored { registers, floating_point, mask })
}
