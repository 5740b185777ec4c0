//! Signal frames of FreeBSD amd64: the trampoline, siginfo and ucontext.
//!
//! Source: sys/amd64/amd64/exec_machdep.c (`sendsig`, `sys_sigreturn`), sys/amd64/amd64/sigtramp.S,
//! sys/x86/include/ucontext.h. Seen on FreeBSD 15.1 (amd64): handlers of profiled programs read the context and return.

use nix::errno::Errno;

use crate::kernel::{Frame, Interrupted, Restored};
use crate::returning::lose;
use crate::signal::{Info, SA_ONSTACK, SA_SIGINFO, SignalSet};
use crate::task::{KERNEL_PAGE, Registers, Task};

/// Calls the handler whose address is on top of the stack, then sigreturn with the context above.
pub(super) const TRAMPOLINE: &[u8] = &[
    0xff, 0x14, 0x24, // call *(%rsp)
    0x48, 0x8d, 0x7c, 0x24, 0x10, // lea 16(%rsp), %rdi
    0x6a, 0x00, // push $0
    0x48, 0xc7, 0xc0, 0xa1, 0x01, 0x00, 0x00, // mov $417, %rax
    0x0f, 0x05, // syscall
    0xf4, // hlt
];

/// The size of a ucontext.
const CONTEXT: usize = 880;
const SIGINFO: usize = 80;
/// The offsets in a frame of the context, the siginfo, and the part of XSAVE's area behind FXSAVE's image. The
/// handler's address is at 0.
const CONTEXT_AT: usize = 16;
const SIGINFO_AT: usize = CONTEXT_AT + CONTEXT;
const EXTENDED_AT: usize = SIGINFO_AT + SIGINFO;
/// The offsets in a context: FXSAVE's image, and the address and the length of the rest of XSAVE's area.
const FLOATING_POINT_AT: usize = 240;
const EXTENDED_POINTER: usize = 768;
const EXTENDED_LENGTH: usize = 776;
/// The size of FXSAVE's image.
const FXSAVE: usize = 512;
/// The offset of the flags, and the flag of contexts with the rest of XSAVE's area.
const FLAGS: usize = 160;
const MC_HASFPXSTATE: u32 = 4;
/// The size of the red zone: the bytes below the stack pointer that code may use.
const RED_ZONE: u64 = 128;

/// The offset of each general register in a context.
type Place = (usize, fn(&mut Registers) -> &mut u64);
const PLACES: [Place; 18] = [
    (24, |registers| &mut registers.rdi),
    (32, |registers| &mut registers.rsi),
    (40, |registers| &mut registers.rdx),
    (48, |registers| &mut registers.rcx),
    (56, |registers| &mut registers.r8),
    (64, |registers| &mut registers.r9),
    (72, |registers| &mut registers.rax),
    (80, |registers| &mut registers.rbx),
    (88, |registers| &mut registers.rbp),
    (96, |registers| &mut registers.r10),
    (104, |registers| &mut registers.r11),
    (112, |registers| &mut registers.r12),
    (120, |registers| &mut registers.r13),
    (128, |registers| &mut registers.r14),
    (136, |registers| &mut registers.r15),
    (176, |registers| &mut registers.rip),
    (192, |registers| &mut registers.eflags),
    (200, |registers| &mut registers.rsp),
];
/// FreeBSD's selectors of user code and data.
const SELECTORS: [(usize, u64); 2] = [(184, 0x43), (208, 0x3b)];
/// The flags that a program may change.
const USER_FLAGS: u64 = 0xcd5;
const DIRECTION: u64 = 0x400;

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}

fn context(interrupted: &Interrupted, extended_at: u64) -> [u8; CONTEXT] {
    let mut bytes = [0; CONTEXT];
    let mut registers = *interrupted.registers;
    put(&mut bytes, 0, &interrupted.mask.0.to_le_bytes());
    let is_on_alternate = interrupted.alternate.holds(registers.rsp);
    bytes[16] = u8::from(is_on_alternate);
    for (at, register) in PLACES {
        put(&mut bytes, at, &register(&mut registers).to_le_bytes());
    }
    for (at, selector) in SELECTORS {
        put(&mut bytes, at, &selector.to_le_bytes());
    }
    put(&mut bytes, 152, &interrupted.info.address.to_le_bytes());
    // mc_len, then the format and the owner of the SSE registers.
    put(&mut bytes, 216, &800u64.to_le_bytes());
    put(&mut bytes, 224, &0x10002u64.to_le_bytes());
    put(&mut bytes, 232, &0x20001u64.to_le_bytes());
    let (basic, extended) = interrupted.floating_point.split_at(FXSAVE);
    put(&mut bytes, FLOATING_POINT_AT, basic);
    if !extended.is_empty() {
        put(&mut bytes, FLAGS, &MC_HASFPXSTATE.to_le_bytes());
        put(&mut bytes, EXTENDED_POINTER, &extended_at.to_le_bytes());
        put(&mut bytes, EXTENDED_LENGTH, &(extended.len() as u64).to_le_bytes());
    }
    put(&mut bytes, 752, &registers.fs_base.to_le_bytes());
    put(&mut bytes, 760, &registers.gs_base.to_le_bytes());
    // uc_stack.
    put(&mut bytes, 824, &interrupted.alternate.base.to_le_bytes());
    put(&mut bytes, 832, &interrupted.alternate.size.to_le_bytes());
    bytes[840] = if interrupted.alternate.size == 0 { 4 } else { u8::from(is_on_alternate) };
    bytes
}

/// Lays out a siginfo.
pub(super) fn siginfo(info: &Info) -> Vec<u8> {
    let mut bytes = vec![0; SIGINFO];
    put(&mut bytes, 0, &info.signal.to_le_bytes());
    put(&mut bytes, 8, &info.code.to_le_bytes());
    put(&mut bytes, 12, &info.process.to_le_bytes());
    put(&mut bytes, 20, &info.status.to_le_bytes());
    put(&mut bytes, 24, &info.address.to_le_bytes());
    put(&mut bytes, 32, &info.value.to_le_bytes());
    put(&mut bytes, 40, &info.timer.to_le_bytes());
    bytes
}

/// Lays out a frame for a handler.
pub(super) fn frame(interrupted: &Interrupted) -> Frame {
    let stack = interrupted.alternate;
    let is_on_alternate = stack.holds(interrupted.registers.rsp);
    let switches = interrupted.action.flags & SA_ONSTACK != 0 && stack.size != 0 && !is_on_alternate;
    let top = if switches { stack.base + stack.size } else { interrupted.registers.rsp - RED_ZONE };
    let size = EXTENDED_AT + interrupted.floating_point.len() - FXSAVE;
    let address = (top - size as u64) & !15;
    let mut bytes = vec![0; size];
    put(&mut bytes, 0, &interrupted.action.handler.to_le_bytes());
    put(&mut bytes, CONTEXT_AT, &context(interrupted, address + EXTENDED_AT as u64));
    put(&mut bytes, SIGINFO_AT, &siginfo(&interrupted.info));
    put(&mut bytes, EXTENDED_AT, &interrupted.floating_point[FXSAVE..]);
    let mut registers = *interrupted.registers;
    registers.rdi = u64::from(interrupted.info.signal);
    registers.rsi = if interrupted.action.flags & SA_SIGINFO == 0 {
        interrupted.info.code as u64
    } else {
        address + SIGINFO_AT as u64
    };
    registers.rdx = address + CONTEXT_AT as u64;
    registers.rcx = interrupted.info.address;
    registers.rsp = address;
    registers.rip = KERNEL_PAGE;
    registers.eflags &= !DIRECTION;
    Frame { address, bytes, registers }
}

/// Reads the state that a context restores. Registers that are not in a context keep their values.
pub(super) fn restore(task: Task, address: u64, current: &Registers) -> Result<Restored, Errno> {
    let context = task.read(address, CONTEXT)?;
    let mut restored = restored(&context, current);
    let flags = u32::from_le_bytes(context[FLAGS..FLAGS + 4].try_into().expect("four bytes"));
    let extended = if flags & MC_HASFPXSTATE == 0 {
        task.floating_point().split_off(FXSAVE)
    } else {
        let length = long(&context, EXTENDED_LENGTH).min(MOST_EXTENDED);
        task.read(long(&context, EXTENDED_POINTER), length as usize)?
    };
    restored.floating_point.extend(extended);
    Ok(restored)
}

/// More than any processor's area of XSAVE.
const MOST_EXTENDED: u64 = 1 << 16;

fn long(context: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(context[at..at + 8].try_into().expect("eight bytes"))
}

fn restored(context: &[u8], current: &Registers) -> Restored {
    let mut registers = *current;
    // sigreturn overwrites registers that are not in a context.
    lose(&mut registers, true);
    for (at, register) in PLACES {
        *register(&mut registers) = long(context, at);
    }
    registers.eflags = registers.eflags & USER_FLAGS | 0x202;
    let mask = SignalSet(u128::from_le_bytes(context[..16].try_into().expect("sixteen bytes")));
    Restored { registers, floating_point: context[FLOATING_POINT_AT..FLOATING_POINT_AT + FXSAVE].to_vec(), mask }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::{Action, AlternateStack};

    #[test]
    fn a_context_brings_back_what_it_was_made_of() {
        // SAFETY: the structure has only integers, for which zero is valid.
        let mut registers: Registers = unsafe { std::mem::zeroed() };
        for (number, (_, register)) in (1u64..).zip(PLACES) {
            *register(&mut registers) = number << 40 | number;
        }
        (registers.eflags, registers.rsp) = (0x246, 0x7000_0000);
        let interrupted = Interrupted {
            registers: &registers,
            floating_point: &[7; 600],
            mask: SignalSet(5 | 1 << 127),
            info: Info { signal: 27, code: 9, ..Info::default() },
            action: Action { handler: 0x1234, flags: SA_SIGINFO, ..Action::default() },
            alternate: AlternateStack::default(),
        };
        let frame = frame(&interrupted);
        assert_eq!((frame.address % 16, frame.registers.rdi), (0, 27));
        assert!(frame.address + frame.bytes.len() as u64 <= registers.rsp - RED_ZONE);
        let restored = restored(&frame.bytes[CONTEXT_AT..], &frame.registers);
        assert_eq!(restored.mask, interrupted.mask);
        assert_eq!(restored.registers, registers);
        assert_eq!(restored.floating_point, [7; FXSAVE]);
        assert_eq!(&frame.bytes[EXTENDED_AT..], [7; 88]);
    }
}
