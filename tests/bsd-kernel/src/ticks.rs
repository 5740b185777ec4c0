//! Ticks of the profiling clock, which a program requests at a code address.

use crate::kernel::{Kernel, Outcome, Reply, State, ThreadId, Wait};
use crate::profil::Charged;
use crate::record::Kind;
use crate::returning::INSTRUCTION;
use crate::signal::{Info, SIGPROF, SIGVTALRM, code};

/// The interval timers that count CPU time, and their signals.
const SIGNALS: [u32; 2] = [SIGVTALRM, SIGPROF];

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

    /// Performs one tick on all processors at once, except for the profile: advances the time and checks the interval timers.
    fn tick(&mut self, id: ThreadId) {
        self.thread(id).ticks += 1;
        self.process_of(id).ticks += self.processors;
        let microseconds = self.clock.interval_tick();
        for _ in 0..self.clock.tick() * self.processors {
            for (timer, signal) in SIGNALS.into_iter().enumerate() {
                if self.process_of(id).intervals[timer].count_down(microseconds) {
                    let process = self.thread(id).process;
                    let info = Info { signal, code: code::KERNEL, ..Info::default() };
                    self.post_to_process(process, Some(id), info);
                }
            }
        }
        self.expire_timers();
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

    /// Serves the call for ticks: charges `count` ticks at the address of the call. If a tick starts a handler or wakes another thread,
    /// the remaining ticks wait until the handler returns or the thread waits again.
    ///
    /// # Errors
    ///
    /// None.
    pub fn give_ticks(&mut self, id: ThreadId, count: u64) -> Outcome {
        let pc = self.thread(id).registers.rip - INSTRUCTION;
        self.thread(id).is_owed = false;
        if count > 0 && self.threads.values().any(|other| other.is_owed) {
            return Ok(Reply::Wait(Wait::Turn));
        }
        let left = self.tick_until_event(id, count);
        // No thread looks at the profile between these ticks, so the profile needs one update.
        self.charge(id, pc, (count - left) * self.processors);
        if left == 0 {
            return Ok(Reply::Value(0));
        }
        self.thread(id).registers.rdi = left;
        if self.deliverable(id).is_none() {
            return Ok(Reply::Wait(Wait::Turn));
        }
        // The handler runs first; the call is made again when the handler returns.
        self.interrupt_call(id, true);
        Ok(Reply::Switched)
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
