//! Gives each thread its timer, or all threads the process's timer.

use core::sync::atomic::Ordering::{Relaxed, SeqCst};

use super::clock::{Clock, time};
use super::mark::{OF_THREAD, value};
use super::process;
use super::producer::{HAS_TIMERS, PROCESS, PRODUCER, THREAD_REFUSED, THREADS};
use crate::os::{Errno, Timer};
use crate::samples::bins;

impl Clock {
    /// Gives this thread, whose number is `thread`, a timer in place of the clock's old timer, whose thread is gone.
    /// Below mcount.
    pub(crate) fn attach(&self, thread: i32) {
        let old = self.timer.swap(Clock::NONE, SeqCst);
        if old != Clock::NONE {
            Timer(old).delete();
        }
        if PRODUCER.load(SeqCst) != THREADS {
            return;
        }
        self.account.reset();
        self.thread.store(thread, SeqCst);
        match Timer::for_this_thread(time(), thread, value(OF_THREAD)) {
            Ok(timer) => {
                self.timer.store(timer.0, SeqCst);
                HAS_TIMERS.store(true, Relaxed);
                // Whoever goes on counting just now looks at the clocks after that: one of us sees the other.
                self.run(bins::is_counting());
            }
            Err(error) => fall_back(error),
        }
    }
}

/// Starts the process's timer because a thread could not have a timer of its own. From then on what threads' own timers send is not
/// counted. Below mcount: `report` says later what happened.
#[cold]
fn fall_back(error: Errno) {
    THREAD_REFUSED.store(error.0, Relaxed);
    if PRODUCER.swap(PROCESS, SeqCst) != PROCESS && bins::is_counting() && process::start().is_err() {
        // The threads that have timers are sampled all the same.
        PRODUCER.store(THREADS, SeqCst);
    }
}
