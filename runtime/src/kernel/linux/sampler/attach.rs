//! Gives each thread a timer, or all threads the process's timer.

use core::sync::atomic::Ordering::{Relaxed, SeqCst};

use super::clock::{Clock, time};
use super::mark::{OF_THREAD, value};
use super::producer::{HAS_TIMERS, PROCESS, PRODUCER, RING, THREAD_REFUSED, THREADS, tell};
use super::{first_period, process, ring};
use crate::os::{Errno, SignalSet, Timer};
use crate::samples::bins;

impl Clock {
    /// Gives this thread, whose number is `thread`, a timer that replaces the clock's old timer, whose thread has
    /// ended. The thread will block the signals `blocked`. May be called below mcount.
    pub(crate) fn attach(&self, thread: i32, blocked: SignalSet) {
        let old = self.timer.swap(Clock::NONE, SeqCst);
        if old != Clock::NONE {
            Timer(old).delete();
        }
        self.account.reset();
        self.thread.store(thread, SeqCst);
        match PRODUCER.load(SeqCst) {
            THREADS => {}
            RING => {
                ring::prepare_stack();
                return first_period::begin(self, thread, blocked);
            }
            _ => return,
        }
        match Timer::for_this_thread(time(), thread, value(OF_THREAD)) {
            Ok(timer) => {
                self.timer.store(timer.0, SeqCst);
                HAS_TIMERS.store(true, Relaxed);
                // A thread that resumes counting at this moment looks at all clocks afterwards: one of both threads
                // starts the timer.
                self.run(bins::is_counting());
            }
            Err(error) => fall_back(error),
        }
    }
}

/// Starts the process's timer because a thread could not get a timer of its own. From then on, signals of the
/// threads' timers are not counted. May be called below mcount: `report` reports the failure later.
#[cold]
fn fall_back(error: Errno) {
    THREAD_REFUSED.store(error.0, Relaxed);
    if PRODUCER.swap(PROCESS, SeqCst) != PROCESS && bins::is_counting() && process::start().is_err() {
        // Threads with timers are still sampled.
        PRODUCER.store(THREADS, SeqCst);
    }
    tell();
}
