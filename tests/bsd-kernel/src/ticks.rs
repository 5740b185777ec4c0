//! Ticks of the profiling clock, which a program requests at a code address.

use crate::kernel::{Kernel, Outcome, Reply, State, ThreadId, Wait};
use crate::profil::Charged;
use crate::record::Kind;
use crate::returning::INSTRUCTION;
use crate::signal::{Info, SIGPROF, SIGVTALRM, code};

/// The interval timers that count CPU time, and their signals.
const SIGNALS: [u32; 2] = [SIGVTALRM, SIGPROF];

/// The mode in which ticks find a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The thread runs its own code.
    User,
    /// The thread is in a system call.
    System,
}

impl Kernel {
    /// Charges ticks to a thread's profile, as if the ticks had interrupted the thread at the pc.
    pub fn charge(&mut self, id: ThreadId, pc: u64, ticks: u64) {
        if ticks == 0 {
            return;
        }
        let task = self.task(id);
        let read = |address| task.read(address, 2).ok().map(|bytes| u16::from_le_bytes([bytes[0], bytes[1]]));
        let write = |address, count: u16| task.write(address, &count.to_le_bytes()).ok();
        if let Charged::Fault(counter) = self.process_of(id).profil.charge(pc, ticks, read, write) {
            self.note(id, Kind::Profil, &format!("stopped: the counter at {counter:#x} cannot be written"));
        }
    }

    /// Performs one tick on all processors at once, except for the profile: advances the time and checks the interval
    /// timers.
    fn tick(&mut self, id: ThreadId) {
        let interval_ticks = self.pass_tick(id);
        for _ in 0..interval_ticks * self.processors {
            self.count_down(id, 1);
        }
        self.expire_timers();
    }

    /// Advances the time by a tick. Returns the number of ticks of the interval-timer clock meanwhile.
    fn pass_tick(&mut self, id: ThreadId) -> u64 {
        self.thread(id).ticks += 1;
        self.process_of(id).ticks += self.processors;
        self.clock.tick()
    }

    /// Charges ticks of the interval-timer clock, which come at one time, to the interval timers.
    fn count_down(&mut self, id: ThreadId, interval_ticks: u64) {
        let (microseconds, reload) = (interval_ticks * self.clock.interval_tick(), self.personality.reload);
        for (timer, signal) in SIGNALS.into_iter().enumerate() {
            if self.process_of(id).intervals[timer].count_down(microseconds, reload) {
                let process = self.thread(id).process;
                let info = Info { signal, code: code::KERNEL, ..Info::default() };
                self.post_to_process(process, Some(id), info);
            }
        }
    }

    /// Serves the call for late ticks: `count` ticks interrupt the thread at the address of the call, and the
    /// interval-timer clock reports their time only once, at the end.
    ///
    /// # Errors
    ///
    /// None.
    pub fn give_late_ticks(&mut self, id: ThreadId, count: u64) -> Outcome {
        let interval_ticks: u64 = (0..count).map(|_| self.pass_tick(id)).sum();
        self.count_down(id, interval_ticks);
        self.expire_timers();
        self.charge(id, self.threads[&id].registers.rip - INSTRUCTION, count);
        Ok(Reply::Value(0))
    }

    /// Returns the threads, except one, that a tick woke.
    fn woken_by_now(&self, id: ThreadId) -> Vec<ThreadId> {
        let now = self.clock.now();
        let is_woken = |state: &State| match state {
            State::Waiting(Wait::Time(deadline)) => *deadline <= now,
            State::Waiting(Wait::Word { deadline, .. } | Wait::AnyOf { deadline, .. }) => {
                deadline.is_some_and(|deadline| deadline <= now)
            }
            _ => false,
        };
        let others = self.threads.values().filter(|other| other.id != id);
        others
            .filter(|other| match &other.state {
                State::Waiting(Wait::AnyOf { set, .. }) if other.pending.iter().any(|info| set.has(info.signal)) => {
                    true
                }
                state => is_woken(state) || self.deliverable(other.id).is_some(),
            })
            .map(|other| other.id)
            .collect()
    }

    /// Serves the call for ticks: charges `count` ticks at the address of the call. If a tick starts a handler or wakes
    /// another thread, the remaining ticks wait until the handler returns or the thread waits again.
    ///
    /// # Errors
    ///
    /// None.
    pub fn give_ticks(&mut self, id: ThreadId, count: u64, mode: Mode) -> Outcome {
        let after = self.thread(id).registers.rip;
        self.thread(id).is_owed = false;
        if count > 0 && self.threads.values().any(|other| other.is_owed) {
            return Ok(Reply::Wait(Wait::Turn));
        }
        let left = self.tick_until_event(id, count);
        // No thread looks at the profile between these ticks, so the profile needs one update.
        match mode {
            Mode::User => self.charge(id, after - INSTRUCTION, (count - left) * self.processors),
            Mode::System => {
                self.process_of(id).system_ticks += (count - left) * self.processors;
                self.thread(id).system_ticks += count - left;
            }
        }
        let has_handler = self.deliverable(id).is_some();
        if left == 0 || has_handler {
            self.charge_system_time(id, after);
        }
        if left == 0 {
            return Ok(Reply::Value(0));
        }
        self.thread(id).registers.rdi = left;
        if !has_handler {
            return Ok(Reply::Wait(Wait::Turn));
        }
        // The handler runs first; the call is made again when the handler returns.
        self.interrupt_call(id, true);
        Ok(Reply::Switched)
    }

    /// Charges the system time of a call that returns: the ticks of the statistics clock, each as long as several ticks
    /// of the profiling clock, at one time and modulo 65,536.
    ///
    /// Source: sys/kern/subr_trap.c (`userret`), sys/kern/kern_clock.c (`statclock`), sys/kern/subr_prof.c
    /// (`addupc_task`). Seen on FreeBSD 15.1 (amd64).
    fn charge_system_time(&mut self, id: ThreadId, pc: u64) {
        let rates = self.personality.rates;
        let ratio = rates.profhz / rates.stathz;
        let ticks = std::mem::take(&mut self.thread(id).system_ticks) / ratio * ratio;
        self.charge(id, pc, ticks);
    }

    /// Performs ticks until a tick starts a handler or wakes another thread. Returns the number of remaining ticks.
    fn tick_until_event(&mut self, id: ThreadId, count: u64) -> u64 {
        for left in (0..count).rev() {
            self.tick(id);
            let woken = self.woken_by_now(id);
            for other in &woken {
                self.thread(*other).is_owed = true;
            }
            if !woken.is_empty() || self.deliverable(id).is_some() {
                return left;
            }
        }
        0
    }
}
