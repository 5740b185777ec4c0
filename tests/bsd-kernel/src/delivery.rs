//! Delivers signals: calls handlers, ends processes, restores the state for sigreturn.
//!
//! Source: FreeBSD's sys/kern/kern_sig.c (`issignal`, `postsig`), sys/kern/subr_trap.c (`ast_sig`). Seen on FreeBSD
//! 15.1 (amd64): signals of profiled programs.

use nix::errno::Errno;

use crate::kernel::{Interrupted, Kernel, State, ThreadId, Wait};
use crate::record::Kind;
use crate::signal::{Action, Info, SA_NODEFER, SA_RESETHAND, SA_RESTART, SIGKILL};

impl Kernel {
    /// Delivers all signals that a stopped thread does not block. A thread in a system call leaves the call for a
    /// handler.
    pub fn deliver(&mut self, id: ThreadId) {
        while let Some(info) = self.threads.contains_key(&id).then(|| self.deliverable(id)).flatten() {
            let action = self.process_of(id).action(info.signal);
            let is_uninterruptible = matches!(self.thread(id).state, State::Waiting(Wait::Vfork(_) | Wait::Turn));
            if is_uninterruptible && info.signal != SIGKILL {
                return;
            }
            let _ = self.take_pending(id, |signal| signal == info.signal);
            if info.signal != SIGKILL && action.is_ignored(info.signal) {
                continue;
            }
            if info.signal == SIGKILL || !action.is_caught() {
                let process = self.thread(id).process;
                return self.end_by_signal(process, info.signal);
            }
            if let State::Waiting(wait) = &self.thread(id).state {
                // Waits for a time or for signals end; other calls restart if the handler has SA_RESTART.
                let can_restart = !matches!(
                    wait,
                    Wait::Time(_) | Wait::Signal | Wait::AnyOf { .. } | Wait::Word { deadline: Some(_), .. }
                );
                self.interrupt_call(id, can_restart && action.flags & SA_RESTART != 0);
            }
            self.call_handler(id, info, action);
        }
    }

    /// Delivers a fault, which a thread cannot block or ignore.
    pub fn deliver_fault(&mut self, id: ThreadId, info: Info) {
        let action = self.process_of(id).action(info.signal);
        if self.thread(id).mask.has(info.signal) || !action.is_caught() {
            let rip = self.thread(id).registers.rip;
            self.note(id, Kind::Signal, &format!("fault at pc {rip:#x}, address {:#x}", info.address));
            let process = self.thread(id).process;
            self.end_by_signal(process, info.signal);
        } else {
            self.call_handler(id, info, action);
        }
    }

    /// Makes a stopped thread enter a handler.
    fn call_handler(&mut self, id: ThreadId, info: Info, action: Action) {
        let personality = self.personality;
        let thread = self.thread(id);
        let mask = thread.suspended_mask.take().unwrap_or(thread.mask);
        let frame = (personality.frame)(&Interrupted {
            registers: &thread.registers,
            floating_point: &thread.task.floating_point(),
            mask,
            info,
            action,
            alternate: thread.alternate,
        });
        if thread.task.write(frame.address, &frame.bytes).is_err() {
            let process = thread.process;
            self.note(id, Kind::Signal, &format!("no room for a signal frame at {:#x}", frame.address));
            // Both systems send SIGILL if the stack has no room for the frame.
            return self.end_by_signal(process, 4);
        }
        let interrupted = thread.registers.rip;
        thread.registers = frame.registers;
        thread.mask.0 |= action.mask.blockable().0;
        if action.flags & SA_NODEFER == 0 {
            thread.mask = thread.mask.with(info.signal);
        }
        if action.flags & SA_RESETHAND != 0 {
            self.process_of(id).set_action(info.signal, Action::default());
        }
        self.note(id, Kind::Signal, &format!("signal {} to thread {id} at pc {interrupted:#x}", info.signal));
    }

    /// Restores the state in the context at an address.
    ///
    /// # Errors
    ///
    /// EFAULT if the program cannot read the context.
    pub fn return_from_handler(&mut self, id: ThreadId, context: u64) -> Result<(), Errno> {
        let personality = self.personality;
        let thread = self.thread(id);
        let restored = (personality.restore)(thread.task, context, &thread.registers)?;
        thread.task.set_floating_point(&restored.floating_point);
        thread.registers = restored.registers;
        thread.mask = restored.mask.blockable();
        thread.is_owed = false;
        Ok(())
    }
}
