//! Timers.

use core::ffi::c_int;
use core::mem::MaybeUninit;
use core::ptr;
use core::sync::atomic::{AtomicI64, Ordering::Relaxed};

use super::signal::SAMPLING_SIGNAL;
use super::{Errno, call};
use crate::arch::numbers;

const CLOCK_MONOTONIC: usize = 1;
const CLOCK_PROCESS_CPUTIME_ID: usize = 2;
const CLOCK_THREAD_CPUTIME_ID: usize = 3;
const CLOCK_MONOTONIC_COARSE: usize = 6;
const ITIMER_PROF: usize = 2;
const SIGEV_SIGNAL: u64 = 0;
const SIGEV_THREAD_ID: u64 = 4;

const NANOSECONDS: i64 = 1_000_000_000;

/// `struct sigevent`: a value, the signal and the way of notification, the thread, and nothing for us in the rest.
type SignalEvent = [u64; 8];

/// `struct itimerspec` and `struct itimerval`: the period, then the time to the first expiry, each in seconds and in a
/// part of one, which is in nanoseconds in the one and in microseconds in the other.
///
/// Made beforehand, in a static: a structure put together below mcount would go through a vector register.
#[repr(C)]
pub(crate) struct Period {
    every: [AtomicI64; 2],
    first: [AtomicI64; 2],
}

impl Period {
    /// A timer with this period stands still.
    pub(crate) const fn never() -> Period {
        Period { every: [AtomicI64::new(0), AtomicI64::new(0)], first: [AtomicI64::new(0), AtomicI64::new(0)] }
    }

    /// The period of a [`Timer`].
    pub(crate) fn set_nanoseconds(&self, nanoseconds: i64) {
        self.set(nanoseconds / NANOSECONDS, nanoseconds % NANOSECONDS);
    }

    /// The period of the process's interval timer, in whole microseconds.
    pub(crate) fn set_microseconds_of(&self, nanoseconds: i64) {
        self.set(nanoseconds / NANOSECONDS, nanoseconds % NANOSECONDS / 1000);
    }

    fn set(&self, seconds: i64, part: i64) {
        for [whole, fraction] in [&self.every, &self.first] {
            whole.store(seconds, Relaxed);
            fraction.store(part, Relaxed);
        }
    }

    /// Whether a timer with the one period expires as often as one with the other.
    fn is_as_long_as(&self, other: &Period) -> bool {
        let ([seconds, part], [other_seconds, other_part]) = (&self.every, &other.every);
        seconds.load(Relaxed) == other_seconds.load(Relaxed) && part.load(Relaxed) == other_part.load(Relaxed)
    }
}

/// What a timer runs by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeOf {
    /// The CPU time of the thread.
    ThisThread,
    /// The world's.
    World,
}

/// A POSIX timer. The process has it until it ends or executes another program; the child of a fork does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timer(pub(crate) i32);

impl Timer {
    /// A timer, not running yet, that sends the sampling signal with this value to this thread, whose number is `thread`.
    pub(crate) fn for_this_thread(time: TimeOf, thread: i32, value: usize) -> Result<Timer, Errno> {
        let clock = if time == TimeOf::World { CLOCK_MONOTONIC } else { CLOCK_THREAD_CPUTIME_ID };
        Timer::create(clock, SIGEV_THREAD_ID, thread as u64, value)
    }

    /// A timer over the process's CPU time, not running yet, that sends the sampling signal with this value to the process.
    pub(crate) fn for_process(value: usize) -> Result<Timer, Errno> {
        Timer::create(CLOCK_PROCESS_CPUTIME_ID, SIGEV_SIGNAL, 0, value)
    }

    fn create(clock: usize, notify: u64, thread: u64, value: usize) -> Result<Timer, Errno> {
        let mut event = MaybeUninit::<SignalEvent>::uninit();
        let words: *mut u64 = event.as_mut_ptr().cast();
        // SAFETY: inside the structure, whose words are all written. Volatile, word by word: this runs below mcount,
        // where no vector register may be used, and the compiler would take one to clear the whole.
        unsafe {
            words.write_volatile(value as u64);
            words.add(1).write_volatile(SAMPLING_SIGNAL as u64 | notify << 32);
            words.add(2).write_volatile(thread);
            for word in 3..8 {
                words.add(word).write_volatile(0);
            }
        }
        let mut id: c_int = 0;
        let arguments = [clock, event.as_ptr().addr(), (&raw mut id).addr()];
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

/// Sets the process's one interval timer of CPU time (`ITIMER_PROF`), which sends SIGPROF to whichever thread runs. It
/// goes on in a program that the process executes.
pub(crate) fn set_interval_timer(period: &'static Period) -> Result<(), Errno> {
    // SAFETY: the kernel reads the structure.
    unsafe { call(numbers::SETITIMER, [ITIMER_PROF, ptr::from_ref(period).addr(), 0]) }.map(|_| ())
}

/// Whether the process's interval timer has this period. Below mcount.
pub(crate) fn interval_timer_has(period: &'static Period) -> bool {
    let mut found = MaybeUninit::<Period>::uninit();
    // SAFETY: the kernel writes the structure.
    let known = unsafe { call(numbers::GETITIMER, [ITIMER_PROF, found.as_mut_ptr().addr()]) };
    // SAFETY: written if the call went well.
    known.is_ok() && unsafe { found.assume_init_ref() }.is_as_long_as(period)
}

/// How often each second the kernel looks at timers of CPU time (CONFIG_HZ), which is how often they can expire.
pub(crate) fn ticks_per_second() -> u32 {
    let mut resolution = MaybeUninit::<[i64; 2]>::uninit();
    // SAFETY: the kernel writes a struct timespec, for which there is room.
    let known = unsafe { call(numbers::CLOCK_GETRES, [CLOCK_MONOTONIC_COARSE, resolution.as_mut_ptr().addr()]) };
    // The coarse clocks go on from tick to tick. A kernel that does not know them has the rate of old.
    const OF_OLD: u32 = 100;
    // SAFETY: written if the call went well.
    match known.map(|_| unsafe { resolution.assume_init() }) {
        Ok([0, tick]) if tick > 0 => {
            u32::try_from((NANOSECONDS + tick / 2) / tick).map_or(OF_OLD, |ticks| ticks.max(1))
        }
        _ => OF_OLD,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_has_whole_seconds_and_the_rest() {
        static PERIOD: Period = Period::never();
        let parts = || [&PERIOD.every, &PERIOD.first].map(|[whole, part]| (whole.load(Relaxed), part.load(Relaxed)));
        PERIOD.set_nanoseconds(10_000_000);
        assert_eq!(parts(), [(0, 10_000_000); 2]);
        PERIOD.set_nanoseconds(NANOSECONDS);
        assert_eq!(parts(), [(1, 0); 2]);
        PERIOD.set_microseconds_of(NANOSECONDS / 3);
        assert_eq!(parts(), [(0, 333_333); 2]);
    }

    #[test]
    fn the_kernels_tick_is_one_of_those_that_kernels_are_built_with() {
        assert!((24..=1200).contains(&ticks_per_second()), "{}", ticks_per_second());
    }
}
