//! Timers.

use core::ffi::c_int;
use core::mem::MaybeUninit;
use core::ptr;

use super::signal::SIGPROF;
use super::{Errno, call, thread_id};
use crate::arch::numbers;

const CLOCK_THREAD_CPUTIME_ID: usize = 3;
const ITIMER_PROF: usize = 2;
const SIGEV_THREAD_ID: u64 = 4;

/// `struct sigevent`: a value, the signal and the way of notification, the thread, and nothing for us in the rest.
type SignalEvent = [u64; 8];

/// `struct itimerspec` and `struct itimerval`: the period, then the time to the first expiry. The parts of a second are
/// nanoseconds in the one and microseconds in the other.
#[repr(C)]
pub(crate) struct Period {
    every: [i64; 2],
    first: [i64; 2],
}

impl Period {
    /// So many nanoseconds or microseconds, as the timer wants; 0 is never. Made beforehand, in a static: a structure
    /// put together below mcount would go through a vector register.
    pub(crate) const fn of(fraction: i64) -> Period {
        Period { every: [0, fraction], first: [0, fraction] }
    }
}

/// A timer over one thread's CPU time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timer(pub(crate) i32);

impl Timer {
    /// A timer, not running yet, that sends SIGPROF to this thread.
    pub(crate) fn for_this_thread() -> Result<Timer, Errno> {
        let mut event = MaybeUninit::<SignalEvent>::uninit();
        let words: *mut u64 = event.as_mut_ptr().cast();
        // SAFETY: inside the structure, whose words are all written. Volatile, word by word: this runs below mcount,
        // where no vector register may be used, and the compiler would take one to clear the whole.
        unsafe {
            words.write_volatile(0);
            words.add(1).write_volatile(SIGPROF as u64 | SIGEV_THREAD_ID << 32);
            words.add(2).write_volatile(thread_id() as u64);
            for word in 3..8 {
                words.add(word).write_volatile(0);
            }
        }
        let mut id: c_int = 0;
        let arguments = [CLOCK_THREAD_CPUTIME_ID, event.as_ptr().addr(), (&raw mut id).addr()];
        // SAFETY: the kernel reads the event and writes the identifier, an int.
        unsafe { call(numbers::TIMER_CREATE, arguments) }?;
        Ok(Timer(id))
    }

    /// Lets the timer expire each period from now on.
    pub(crate) fn set(self, period: &'static Period) -> Result<(), Errno> {
        // SAFETY: the kernel reads the structure.
        unsafe { call(numbers::TIMER_SETTIME, [self.0 as usize, 0, ptr::from_ref(period).addr(), 0]) }.map(|_| ())
    }

    pub(crate) fn delete(self) {
        // SAFETY: no pointers. An identifier that is not one changes nothing.
        let _ = unsafe { call(numbers::TIMER_DELETE, [self.0 as usize]) };
    }
}

/// Sets the process's one timer of CPU time (`ITIMER_PROF`), which sends SIGPROF to whichever thread runs.
pub(crate) fn set_process_timer(period: &'static Period) -> Result<(), Errno> {
    // SAFETY: the kernel reads the structure.
    unsafe { call(numbers::SETITIMER, [ITIMER_PROF, ptr::from_ref(period).addr(), 0]) }.map(|_| ())
}
