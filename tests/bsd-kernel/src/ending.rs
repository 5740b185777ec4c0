//! The end of threads and processes.
//!
//! Source: FreeBSD's sys/kern/kern_exit.c (`exit1`), sys/kern/kern_thr.c (`kern_thr_exit`), sys/kern/sys_procdesc.c
//! (`procdesc_close`). Seen on FreeBSD 15.1 (amd64): the end of profiled programs; not process descriptors.

use crate::kernel::{Ended, FIRST_PROCESS, INIT, Kernel, ProcessId, Reply, State, ThreadId, Wait};
use crate::record::Kind;
use crate::signal::{Info, SIGKILL, code};

/// `si_code` of SIGCHLD: the child called exit.
const CLD_EXITED: i32 = 1;
/// `si_code` of SIGCHLD: a signal ended the child.
const CLD_KILLED: i32 = 2;

impl Kernel {
    /// Ends a thread. The thread's pending signals become pending for the process.
    pub fn end_thread(&mut self, id: ThreadId) {
        if let Some(thread) = self.threads.remove(&id) {
            thread.task.kill();
            for info in thread.pending {
                self.post_to_process(thread.process, None, info);
            }
        }
    }

    /// Ends a process with a status in the format of wait4(2).
    pub fn end_process(&mut self, id: ProcessId, status: i32) {
        (self.personality.end)(self, id);
        for thread in self.threads_of(id) {
            self.threads.remove(&thread).expect("a thread of the process").task.kill();
        }
        let Some(process) = self.processes.remove(&id) else {
            return;
        };
        self.record.note(Kind::Process, id, &format!("ended with status {status:#x}"));
        if id == FIRST_PROCESS {
            self.status = Some(status);
        }
        self.release_vfork_parent(id);
        self.ended.retain(|ended| ended.parent != id);
        for child in self.processes.values_mut().filter(|child| child.parent == id) {
            child.parent = INIT;
        }
        if self.processes.contains_key(&process.parent) {
            let exit_signal = process.exit_signal;
            self.ended.push(Ended { id, parent: process.parent, status, exit_signal });
            let why = if status & 0x7f == 0 { CLD_EXITED } else { CLD_KILLED };
            let info = Info { signal: exit_signal, code: why, process: id, status, ..Info::default() };
            if exit_signal != 0 && !self.is_described(id) {
                self.post_to_process(process.parent, None, info);
            }
        }
    }

    /// Returns whether a process descriptor of a process is open.
    #[must_use]
    pub fn is_described(&self, id: ProcessId) -> bool {
        self.described.iter().any(|described| described.id == id && described.open.strong_count() > 0)
    }

    /// Ends the processes whose last process descriptor is closed.
    pub fn end_undescribed(&mut self) {
        while let Some(at) = self.described.iter().position(|described| described.open.strong_count() == 0) {
            let described = self.described.remove(at);
            self.ended.retain(|ended| ended.id != described.id);
            if let Some(process) = self.processes.get_mut(&described.id) {
                process.parent = INIT;
                if !described.is_daemon {
                    self.end_by_signal(described.id, SIGKILL);
                }
            }
        }
    }

    /// Resumes the parent of a vfork child.
    pub fn release_vfork_parent(&mut self, child: ProcessId) {
        let is_parent = |state: &State| matches!(state, State::Waiting(Wait::Vfork(of)) if *of == child);
        let waiting = self.threads.values().find(|thread| is_parent(&thread.state)).map(|thread| thread.id);
        if let Some(parent) = waiting {
            self.return_from_call(parent, Ok(Reply::Value(u64::from(child))));
        }
    }

    /// Ends a process by a signal.
    pub fn end_by_signal(&mut self, id: ProcessId, signal: u32) {
        self.record.note(Kind::Signal, id, &format!("signal {signal} ends the process"));
        self.end_process(id, signal as i32);
    }

    /// Sends a signal on behalf of a process. `thread` names the only thread that may get the signal.
    pub fn send_from(&mut self, sender: ProcessId, process: ProcessId, thread: Option<ThreadId>, signal: u32) {
        let why = if thread.is_some() { code::THREAD } else { code::USER };
        let info = Info { signal, code: why, process: sender, ..Info::default() };
        match thread {
            Some(thread) => self.post_to_thread(thread, info),
            None => self.post_to_process(process, None, info),
        }
    }
}
