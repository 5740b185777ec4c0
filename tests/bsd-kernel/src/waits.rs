//! Ends the waits of threads whose event happened, and advances the time when all threads wait.

use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::descriptors::Open;
use crate::error::Error;
use crate::kernel::{Kernel, Outcome, Process, Reply, State, ThreadId, Wait};
use crate::signal::{Info, SIGCHLD, code};

/// Reads from a descriptor if the read does not block.
///
/// # Errors
///
/// As read(2); EAGAIN if there is nothing to read yet.
pub fn read_now(open: &Open, length: usize) -> Result<Vec<u8>, Errno> {
    let Open::File(file) = open else {
        return Err(Errno::EOPNOTSUPP);
    };
    let mut polled = [PollFd::new(file.as_fd(), PollFlags::POLLIN)];
    if poll(&mut polled, PollTimeout::ZERO)? == 0 {
        return Err(Errno::EAGAIN);
    }
    let mut bytes = vec![0; length.min(1 << 20)];
    let read = nix::unistd::read(file, &mut bytes)?;
    bytes.truncate(read);
    Ok(bytes)
}

impl Kernel {
    /// Returns the result of a thread's wait, if the wait ended.
    fn result(&mut self, id: ThreadId) -> Option<Outcome> {
        let thread = &self.threads[&id];
        let State::Waiting(wait) = &thread.state else {
            return None;
        };
        let (task, now) = (thread.task, self.clock.now());
        match wait {
            Wait::Child { which, status, is_clone } => {
                let (which, status, process) = ((*which, *is_clone), *status, thread.process);
                self.reap(process, which, status, task).transpose()
            }
            Wait::Word { .. } if thread.is_woken => Some(Ok(Reply::Value(0))),
            Wait::Word { deadline: Some(deadline), .. } if *deadline <= now => Some(Err(Errno::ETIMEDOUT.into())),
            Wait::Time(deadline) if *deadline <= now => Some(Ok(Reply::Value(0))),
            Wait::AnyOf { set, number, info, deadline } => {
                let (set, number, place, is_over) =
                    (*set, *number, *info, deadline.is_some_and(|deadline| deadline <= now));
                let Some(info) = self.take_pending(id, |signal| set.has(signal)) else {
                    return is_over.then_some(Err(Errno::EAGAIN.into()));
                };
                let siginfo = (self.personality.siginfo)(&info);
                let told = if place == 0 { Ok(()) } else { task.write(place, &siginfo) };
                let told = told.and_then(|()| match number {
                    0 => Ok(u64::from(info.signal)),
                    place => task.write(place, &info.signal.to_le_bytes()).map(|()| 0),
                });
                Some(told.map(Reply::Value).map_err(Error::from))
            }
            Wait::Readable { open, buffer, length } => match read_now(open, *length) {
                Err(Errno::EAGAIN) => None,
                read => {
                    let written = read.and_then(|bytes| task.write(*buffer, &bytes).map(|()| bytes.len() as u64));
                    Some(written.map(Reply::Value).map_err(Error::from))
                }
            },
            Wait::Turn if self.threads.values().all(|other| other.id == id || !other.is_owed) => {
                // The thread repeats the call for the remaining ticks.
                self.interrupt_call(id, true);
                None
            }
            Wait::Vfork(_) | Wait::Word { .. } | Wait::Time(_) | Wait::Signal | Wait::Turn => None,
        }
    }

    /// Reaps a child that ended. `None` if the caller has children and none of the children ended. A wait for any child
    /// does not find a child with an open process descriptor, and only a wait for clones finds a child with another
    /// exit signal than SIGCHLD.
    ///
    /// Source: FreeBSD's sys/kern/kern_exit.c (`proc_to_reap`). Not seen on a real kernel.
    ///
    /// # Errors
    ///
    /// ECHILD without such a child, EFAULT when the status cannot be written.
    pub fn reap(
        &mut self,
        parent: u32,
        (which, is_clone): (i64, bool),
        status: u64,
        task: crate::task::Task,
    ) -> Result<Option<Reply>, Error> {
        let is_wanted = |id: u32, exit_signal: u32| {
            let is_named = if which <= 0 { !self.is_described(id) } else { which == i64::from(id) };
            is_named && is_clone == (exit_signal != SIGCHLD)
        };
        let found =
            self.ended.iter().position(|ended| ended.parent == parent && is_wanted(ended.id, ended.exit_signal));
        let is_child = |child: &Process| child.parent == parent && is_wanted(child.id, child.exit_signal);
        let has_child = self.processes.values().any(is_child);
        if let Some(at) = found {
            let ended = self.ended.remove(at);
            if status != 0 {
                task.write(status, &ended.status.to_le_bytes())?;
            }
            return Ok(Some(Reply::Value(u64::from(ended.id))));
        }
        if has_child { Ok(None) } else { Err(Errno::ECHILD.into()) }
    }

    /// Ends all waits that can end.
    pub fn end_waits(&mut self) {
        let waiting = |state: &State| matches!(state, State::Waiting(_));
        let threads: Vec<_> =
            self.threads.values().filter(|thread| waiting(&thread.state)).map(|thread| thread.id).collect();
        for id in threads {
            if let Some(outcome) = self.result(id) {
                self.return_from_call(id, outcome);
            }
        }
    }

    /// Sends the signals of timers that expired.
    pub fn expire_timers(&mut self) -> bool {
        let now = self.clock.now();
        let mut sent = Vec::new();
        for process in self.processes.values_mut() {
            for (timer, state) in &mut process.timers {
                if state.expire(now) > 0 && state.signal != 0 {
                    let info = Info {
                        signal: state.signal,
                        code: code::TIMER,
                        value: state.value,
                        timer: *timer,
                        ..Info::default()
                    };
                    sent.push((process.id, state.thread, info));
                }
            }
        }
        for (process, thread, info) in &sent {
            if *thread == 0 {
                self.post_to_process(*process, None, *info);
            } else if self.threads.contains_key(thread) {
                self.post_to_thread(*thread, *info);
            }
        }
        !sent.is_empty()
    }

    /// Returns the time of the next timer expiry or timeout.
    fn next_event(&self) -> Option<u64> {
        let waits = self.threads.values().filter_map(|thread| match &thread.state {
            State::Waiting(Wait::Time(deadline)) => Some(*deadline),
            State::Waiting(Wait::Word { deadline, .. } | Wait::AnyOf { deadline, .. }) => *deadline,
            _ => None,
        });
        let timers = self.processes.values().flat_map(|process| process.timers.values());
        waits.chain(timers.filter(|timer| timer.signal != 0).filter_map(|timer| timer.deadline)).min()
    }

    /// Advances the time to the next timer expiry or timeout. Returns false if there is none.
    pub fn pass_time(&mut self) -> bool {
        let Some(next) = self.next_event() else {
            return false;
        };
        self.clock.pass(next.saturating_sub(self.clock.now()));
        self.expire_timers();
        true
    }
}
