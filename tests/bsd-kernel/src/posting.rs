//! Sends signals: to a process, where the kernel chooses the thread, or to one thread.
//!
//! Source: FreeBSD's sys/kern/kern_sig.c (`sigtd`, `tdsendsignal`). Seen on FreeBSD 15.1 (amd64): signals of profiled
//! programs.

use crate::kernel::{Kernel, ProcessId, ThreadId};
use crate::signal::{Info, SIGCHLD, SIGKILL};

impl Kernel {
    /// Sends a signal to a process. If the signal's cause is a running thread, `current` is that thread. `current` gets
    /// the signal unless `current` blocks the signal; otherwise any thread that does not block the signal gets it.
    pub fn post_to_process(&mut self, process: ProcessId, current: Option<ThreadId>, info: Info) {
        let Some(target) = self.processes.get_mut(&process) else {
            return;
        };
        let is_dropped = target.action(info.signal).is_ignored(info.signal);
        let is_pending = target.pending.iter().any(|other| other.signal == info.signal);
        if (is_dropped && info.signal != SIGCHLD) || is_pending {
            return;
        }
        let threads = self.threads_of(process);
        let takes = |id: &&ThreadId| !self.threads[id].mask.has(info.signal) || info.signal == SIGKILL;
        let chosen = current.as_ref().filter(|id| threads.contains(id)).filter(takes);
        if let Some(thread) = chosen.or_else(|| threads.iter().find(takes)).copied() {
            self.post_to_thread(thread, info);
        } else if let Some(target) = self.processes.get_mut(&process) {
            target.pending.push(info);
        }
    }

    /// Sends a signal to a thread. Has no effect if the signal is already pending for the thread.
    pub fn post_to_thread(&mut self, thread: ThreadId, info: Info) {
        let is_ignored = self.process_of(thread).action(info.signal).is_ignored(info.signal);
        let thread = self.thread(thread);
        // sigwait also accepts ignored signals, if the thread blocks the signals.
        let is_dropped = is_ignored && !thread.mask.has(info.signal);
        if !is_dropped && thread.pending.iter().all(|other| other.signal != info.signal) {
            thread.pending.push(info);
        }
    }

    /// Returns the next pending signal that a thread does not block. The signal stays pending.
    #[must_use]
    pub fn deliverable(&self, thread: ThreadId) -> Option<Info> {
        let thread = &self.threads[&thread];
        let of_process = &self.processes[&thread.process].pending;
        let is_open = |info: &&Info| !thread.mask.has(info.signal) || info.signal == SIGKILL;
        thread.pending.iter().chain(of_process).find(is_open).copied()
    }

    /// Takes a pending signal of a set.
    pub fn take_pending(&mut self, thread: ThreadId, is_wanted: impl Fn(u32) -> bool) -> Option<Info> {
        let own = &mut self.thread(thread).pending;
        if let Some(at) = own.iter().position(|info| is_wanted(info.signal)) {
            return Some(own.remove(at));
        }
        let shared = &mut self.process_of(thread).pending;
        let at = shared.iter().position(|info| is_wanted(info.signal))?;
        Some(shared.remove(at))
    }
}
