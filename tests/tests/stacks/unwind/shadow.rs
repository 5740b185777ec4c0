//! The true chain of callers of a program, from its calls, returns, and signals.

use gmon_unwind::Frame;

use crate::unwind::tracee::{Registers, Tracee};

/// What an instruction does to the chain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Call,
    /// The system call that ends a signal handler.
    SignalReturn,
    Other,
}

#[derive(Clone, Copy)]
enum Entry {
    /// A return address in this slot of the stack.
    Call { slot: u64, pc: usize },
    /// A signal interrupted the code here.
    Signal { pc: usize },
}

/// The callers of the code that runs now, the outermost first.
#[derive(Default)]
pub(crate) struct Shadow(Vec<Entry>);

impl Shadow {
    /// The chain, the innermost frame first.
    pub(crate) fn chain(&self, pc: u64) -> Vec<Frame> {
        let callers = self.0.iter().rev().map(|entry| match *entry {
            Entry::Call { pc, .. } => Frame { pc, is_exact: false },
            Entry::Signal { pc } => Frame { pc, is_exact: true },
        });
        std::iter::once(Frame { pc: pc as usize, is_exact: true }).chain(callers).collect()
    }

    /// An instruction of this kind ran.
    pub(crate) fn ran(&mut self, kind: Kind, before: &Registers, tracee: &Tracee) {
        let now = tracee.registers();
        if kind == Kind::Call && now.rsp == before.rsp - 8 {
            self.push_return(tracee);
        }
        if kind == Kind::SignalReturn {
            while let Some(Entry::Call { .. }) = self.0.pop() {}
        }
        // A return, longjmp, or an exception removed the slots below the stack pointer.
        while matches!(self.0.last(), Some(Entry::Call { slot, .. }) if *slot < now.rsp) {
            self.0.pop();
        }
    }

    /// A handler was entered.
    pub(crate) fn signal(&mut self, before: &Registers, tracee: &Tracee) {
        self.0.push(Entry::Signal { pc: before.rip as usize });
        self.push_return(tracee);
    }

    fn push_return(&mut self, tracee: &Tracee) {
        let slot = tracee.registers().rsp;
        let pc = usize::from_ne_bytes(tracee.bytes(slot as usize));
        self.0.push(Entry::Call { slot, pc });
    }
}

/// Decodes the instruction at the program counter.
pub(crate) fn kind(tracee: &Tracee) -> Kind {
    let registers = tracee.registers();
    let code: [u8; 15] = tracee.bytes(registers.rip as usize);
    let is_prefix = |byte: &u8| matches!(byte, 0x66 | 0x67 | 0x2e | 0x3e | 0xf2 | 0xf3 | 0x40..=0x4f);
    let prefixes = code.iter().take_while(|byte| is_prefix(byte)).count();
    match code[prefixes..] {
        [0xe8, ..] => Kind::Call,
        [0xff, mode, ..] if mode & 0x38 == 0x10 => Kind::Call,
        [0x0f, 0x05, ..] if registers.rax == libc::SYS_rt_sigreturn as u64 => Kind::SignalReturn,
        _ => Kind::Other,
    }
}
