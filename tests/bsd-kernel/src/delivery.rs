//! Delivers signals: calls handlers, ends processes, restores the state for sigreturn.

use crate::kernel::{Interrupted, Kernel, State, ThreadId, Wait};
use crate::record::Kind;
use crate::signal::{Action, Info, SA_NODEFER, SA_RESETHAND, SA_RESTART, SIGKILL};
use crate::task::FloatingPoint;

/// The image that FXSAVE stores.
#[must_use]
pub fn fxsave(registers: &FloatingPoint) -> [u8; 512] {
    let mut bytes = Vec::with_capacity(512);
    for half in [registers.cwd, registers.swd, registers.ftw, registers.fop] {
        bytes.extend(half.to_le_bytes());
    }
    bytes.extend(registers.rip.to_le_bytes());
    bytes.extend(registers.rdp.to_le_bytes());
    let words = [registers.mxcsr, registers.mxcr_mask];
    for word in words.iter().chain(&registers.st_space).chain(&registers.xmm_space) {
        bytes.extend(word.to_le_bytes());
    }
    bytes.resize(512, 0);
    bytes.try_into().expect("512 bytes")
}

/// Puts an image of FXSAVE into registers.
fn fxrstor(bytes: &[u8], registers: &mut FloatingPoint) {
    let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    let word = |at: usize| u32::from(half(at)) | u32::from(half(at + 2)) << 16;
    let double = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
    (registers.cwd, registers.swd, registers.ftw, registers.fop) = (half(0), half(2), half(4), half(6));
    (registers.rip, registers.rdp) = (double(8), double(16));
    (registers.mxcsr, registers.mxcr_mask) = (word(24), word(28));
    for (index, place) in registers.st_space.iter_mut().enumerate() {
        *place = word(32 + 4 * index);
    }
    for (index, place) in registers.xmm_space.iter_mut().enumerate() {
        *place = word(160 + 4 * index);
    }
}

impl Kernel {
    /// Delivers all signals that a stopped thread does not block. A thread in a system call leaves the call for a handler.
    pub fn deliver(&mut self, id: ThreadId) {
        while let Some(info) = self.threads.contains_key(&id).then(|| self.deliverable(id)).flatten() {
            let action = self.process_of(id).actions[info.signal as usize];
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
        let action = self.process_of(id).actions[info.signal as usize];
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
            floating_point: &fxsave(&thread.task.floating_point()),
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
            self.process_of(id).actions[info.signal as usize] = Action::default();
        }
        self.note(id, Kind::Signal, &format!("signal {} to thread {id} at pc {interrupted:#x}", info.signal));
    }

    /// Restores the state in a context.
    pub fn return_from_handler(&mut self, id: ThreadId, context: &[u8]) {
        let personality = self.personality;
        let thread = self.thread(id);
        let restored = (personality.restore)(context, &thread.registers);
        let mut floating_point = thread.task.floating_point();
        fxrstor(&restored.floating_point, &mut floating_point);
        thread.task.set_floating_point(floating_point);
        thread.registers = restored.registers;
        thread.mask = restored.mask.blockable();
        thread.is_owed = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_of_fxsave_is_what_the_registers_were() {
        // SAFETY: the structure has only integers, for which zero is valid.
        let mut registers: FloatingPoint = unsafe { std::mem::zeroed() };
        (registers.cwd, registers.fop, registers.rdp, registers.mxcsr) = (0x37f, 7, 0x1234_5678_9abc, 0x1f80);
        (registers.st_space[31], registers.xmm_space[63]) = (31, 63);
        let bytes = fxsave(&registers);
        assert_eq!((bytes[0], bytes[24], bytes[156], bytes[412]), (0x7f, 0x80, 31, 63));
        // SAFETY: as above.
        let mut back: FloatingPoint = unsafe { std::mem::zeroed() };
        fxrstor(&bytes, &mut back);
        assert_eq!(fxsave(&back), bytes);
    }
}
