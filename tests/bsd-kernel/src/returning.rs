//! The return from system calls: results, the carry flag, and the registers that a call overwrites.
//!
//! Source: FreeBSD's sys/amd64/amd64/vm_machdep.c (`cpu_set_syscall_retval`), sys/amd64/amd64/exception.S
//! (`fast_syscall_common`; of 2018 for the zeroes). Seen on FreeBSD 15.1 (amd64): the runtime's own calls.

use nix::errno::Errno;

use crate::error::Error;
use crate::kernel::{Kernel, Outcome, Reply, State, ThreadId};
use crate::task::Registers;

/// The carry flag.
pub const CARRY: u64 = 1;
/// The value of rcx and r11 after a call. Programs must not rely on these registers.
const LOST: u64 = 0xdead_dead_dead_dead;
/// The length of `syscall`.
pub const INSTRUCTION: u64 = 2;

/// Overwrites the registers that a system call does not preserve.
pub fn lose(registers: &mut Registers, zeroes: bool) {
    (registers.rcx, registers.r11) = (LOST, LOST);
    if zeroes {
        (registers.r8, registers.r9, registers.r10) = (0, 0, 0);
    }
}

impl Kernel {
    /// Ends a system call of a stopped thread.
    pub fn return_from_call(&mut self, id: ThreadId, outcome: Outcome) {
        let zeroes = self.personality.zeroes_registers;
        let thread = self.thread(id);
        let registers = &mut thread.registers;
        let (carry, rax, rdx) = match outcome {
            Ok(Reply::Value(value)) => (0, value, registers.rdx),
            Ok(Reply::Pair(first, second)) => (0, first, second),
            Ok(Reply::Wait(wait)) => {
                (thread.state, thread.is_woken, thread.is_owed) = (State::Waiting(wait), false, false);
                return;
            }
            Ok(Reply::Switched) => {
                thread.state = State::Ready;
                return;
            }
            Err(error) => (CARRY, error.number(), registers.rdx),
        };
        (registers.rax, registers.rdx) = (rax, rdx);
        registers.eflags = registers.eflags & !CARRY | carry;
        lose(registers, zeroes);
        thread.state = State::Ready;
    }

    /// Ends a system call that a signal interrupts: the call restarts after the handler, or fails with EINTR.
    pub fn interrupt_call(&mut self, id: ThreadId, is_restarted: bool) {
        if is_restarted {
            let thread = self.thread(id);
            // rax still has the call's number, because the tracer sets results only when a call ends.
            thread.registers.rip -= INSTRUCTION;
            thread.state = State::Ready;
        } else {
            self.return_from_call(id, Err(Error::System(Errno::EINTR)));
        }
    }
}
