//! One timer for each thread, over the thread's own CPU time or over wall-clock time.

use core::ptr;
use core::sync::atomic::{AtomicI32, Ordering::SeqCst};

use super::account::Account;
use super::due::{settle, start_timer};
use super::phase::expiries;
use super::producer::{NOTHING, PRODUCER, RING, THREADS};
use super::rate::{is_wall, period};
use crate::os::{TimeOf, Timer};

/// One thread's timer.
pub(crate) struct Clock {
    pub(super) timer: AtomicI32,
    /// The kernel's number of the thread.
    pub(super) thread: AtomicI32,
    pub(super) account: Account,
}

impl Clock {
    pub(super) const NONE: i32 = -1;

    /// Forgets the timer.
    pub(crate) fn reset(&self) {
        self.timer.store(Clock::NONE, SeqCst);
        self.account.reset();
    }

    /// Starts or stops the thread's timer. Call this before samples are stopped, so that the ticks that are due are
    /// counted.
    pub(crate) fn run(&self, on: bool) {
        let timer = self.timer.load(SeqCst);
        // A timer beside the ring is for the first period only.
        if timer == Clock::NONE || PRODUCER.load(SeqCst) == RING {
            return;
        }
        let on = on && PRODUCER.load(SeqCst) != NOTHING;
        if !on && self.account.is_stopped() {
            return;
        }
        if on {
            // The timer of a thread that has ended cannot be set.
            let _ = start_timer(Timer(timer), &self.account, self.now(), expiries(self.thread.load(SeqCst)).first);
        } else {
            let now = self.time_to_settle();
            self.settle_at(now, false);
            // In this order, a handler of the first tick finds the account stopped, or its timer is stopped here.
            if let Some(now) = now {
                self.account.stop(now);
            }
            let _ = Timer(timer).set(0, 0);
        }
    }

    /// Sets the ticks after the first: see [`Expiries`](super::phase::Expiries). Called when the kernel has noticed the
    /// first expiry, at a tick of the kernel.
    #[inline(never)] // the handler's own frame must stay small
    fn set_later_ticks(&self) {
        let (number, timer) = (self.thread.load(SeqCst), Timer(self.timer.load(SeqCst)));
        let second = expiries(number).second;
        if second > 0
            && let Some(now) = TimeOf::ThisThread.of(number)
            && self.account.begin_series(now.wrapping_add(second as u64))
        {
            let _ = timer.set(second, period());
            // Another thread may have stopped the account and the timer before this thread has set the timer.
            if self.account.is_stopped() {
                let _ = timer.set(0, 0);
                // And started both again.
                if !self.account.is_stopped() {
                    let _ = timer.set(second, period());
                }
            }
        }
    }

    /// Counts the ticks that are due and that the kernel has not noticed yet. `is_last` says that no more ticks come.
    pub(crate) fn settle(&self, is_last: bool) {
        if self.timer.load(SeqCst) != Clock::NONE && !self.account.has_no_place() {
            self.settle_at(self.time_to_settle(), is_last);
        }
    }

    fn settle_at(&self, now: Option<u64>, is_last: bool) {
        if PRODUCER.load(SeqCst) == THREADS
            && let Some(now) = now
        {
            settle(&self.account, now, ptr::eq(self, own_clock()), is_last);
        }
    }

    /// The time of the timer's clock; `None` if no thread has the number of the thread.
    fn now(&self) -> Option<u64> {
        let thread = self.thread.load(SeqCst);
        let own = TimeOf::ThisThread.of(thread)?;
        if is_wall() { TimeOf::World.of(thread) } else { Some(own) }
    }

    /// The time of the running timer's clock; `None` if the thread has ended.
    ///
    /// The kernel may have given the number of an ended thread to a new thread, whose time is not the time of this
    /// clock. But the kernel stops the timer of a thread that has ended, and an account that runs has a timer that
    /// runs.
    fn time_to_settle(&self) -> Option<u64> {
        let is_own = ptr::eq(self, own_clock());
        self.now().filter(|_| is_own || self.account.is_stopped() || !Timer(self.timer.load(SeqCst)).is_stopped())
    }
}

/// The clock of the threads' timers.
pub(super) fn time() -> TimeOf {
    if is_wall() { TimeOf::World } else { TimeOf::ThisThread }
}

/// The number of ticks to count at `pc` after this number of expiries of this thread's timer.
pub(super) fn notice(expiries: u32, pc: usize) -> u32 {
    own().map_or(expiries, |clock| {
        let is_first = clock.account.has_no_place();
        let ticks = clock.account.notice(expiries, pc);
        if is_first && ticks == 1 {
            clock.set_later_ticks();
        }
        ticks
    })
}

/// This thread's clock, if the thread has a record.
pub(super) fn own() -> Option<&'static Clock> {
    // SAFETY: null, or a thread's clock, which is never freed.
    unsafe { own_clock().as_ref() }
}

/// This thread's clock, which is at the start of the thread's record (an assertion in `threads` ensures that); null
/// if there is no record.
#[cfg(any(test, feature = "runtime"))]
fn own_clock() -> *const Clock {
    crate::arch::record().cast()
}

/// As above, for builds in which threads have no records.
#[cfg(not(any(test, feature = "runtime")))]
fn own_clock() -> *const Clock {
    ptr::null()
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::os::thread_id;

    #[test]
    fn a_clock_does_not_take_the_time_of_a_thread_with_the_same_number() {
        const PERIOD: u64 = 1_000_000_000_000;
        let clock = thread::spawn(|| {
            let timer = Timer::for_this_thread(TimeOf::ThisThread, thread_id(), 0).unwrap();
            let clock =
                Clock { timer: AtomicI32::new(timer.0), thread: AtomicI32::new(thread_id()), account: Account::new() };
            assert!(timer.is_stopped());
            start_timer(timer, &clock.account, clock.now(), PERIOD as i64).unwrap();
            assert!(!timer.is_stopped() && clock.time_to_settle().is_some());
            clock
        });
        let clock = clock.join().unwrap();
        while clock.now().is_some() {
            thread::yield_now(); // the kernel may remove the thread a moment later
        }
        // As if the kernel had given the number of the ended thread to this thread.
        clock.thread.store(thread_id(), SeqCst);
        assert!(clock.now().is_some());
        assert_eq!(clock.time_to_settle(), None);
        Timer(clock.timer.load(SeqCst)).delete();
    }
}
