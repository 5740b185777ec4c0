//! POSIX timers, the interval timer, and clocks.

use core::ffi::c_int;
use core::mem::MaybeUninit;

use super::machine::numbers;
use super::signal::SAMPLING_SIGNAL;
use super::{Errno, call};

const CLOCK_REALTIME: usize = 0;
const CLOCK_MONOTONIC: usize = 1;
const CLOCK_PROCESS_CPUTIME_ID: usize = 2;
const CLOCK_THREAD_CPUTIME_ID: usize = 3;
const CLOCK_MONOTONIC_COARSE: usize = 6;
const ITIMER_PROF: usize = 2;
const SIGEV_SIGNAL: u64 = 0;
const SIGEV_THREAD_ID: u64 = 4;

/// The units in a second.
const NANOSECONDS: i64 = 1_000_000_000;
const MICROSECONDS: i64 = 1_000_000;

/// `struct sigevent`: a value, the signal and the kind of notification, the thread, and unused words.
type SignalEvent = [u64; 8];

/// `struct itimerspec` and `struct itimerval`: the period and the time to the first expiry, each in seconds and a
/// fraction, which is in nanoseconds in the former and in microseconds in the latter.
type Setting = [i64; 4];

/// Writes a setting. The writes are volatile, word by word, because below mcount no vector register may be used, and
/// the compiler would use one.
fn fill(setting: &mut MaybeUninit<Setting>, every: (i64, i64), first: (i64, i64)) {
    let words: *mut i64 = setting.as_mut_ptr().cast();
    // SAFETY: the four words of the structure.
    unsafe {
        words.write_volatile(every.0);
        words.add(1).write_volatile(every.1);
        words.add(2).write_volatile(first.0);
        words.add(3).write_volatile(first.1);
    }
}

/// The clock of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeOf {
    /// The CPU time of the thread.
    ThisThread,
    /// Wall-clock time.
    World,
}

impl TimeOf {
    /// The time of the clock in nanoseconds; the CPU time is that of the thread with this number. `None` if there is
    /// no such thread, or a seccomp filter hides the time.
    pub(crate) fn of(self, thread: i32) -> Option<u64> {
        // The kernel's number of a CPU-time clock: the inverted thread number, then 1 for a thread, and 2 for the
        // scheduler's time.
        let clock = if self == TimeOf::World { CLOCK_MONOTONIC } else { (!thread << 3 | 0b110) as usize };
        clock_time(clock).ok()
    }
}

/// A POSIX timer. The timer exists until the process ends or executes another program; the child of a fork does not
/// have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timer(pub(crate) i32);

impl Timer {
    /// Creates a stopped timer that sends the sampling signal with this value to this thread, whose number is
    /// `thread`.
    pub(crate) fn for_this_thread(time: TimeOf, thread: i32, value: usize) -> Result<Timer, Errno> {
        let clock = if time == TimeOf::World { CLOCK_MONOTONIC } else { CLOCK_THREAD_CPUTIME_ID };
        Timer::create(clock, SIGEV_THREAD_ID, SAMPLING_SIGNAL, thread as u64, value)
    }

    /// Creates a stopped timer of the process's CPU time that sends `signal` with this value to the process.
    pub(crate) fn for_process(signal: c_int, value: usize) -> Result<Timer, Errno> {
        Timer::create(CLOCK_PROCESS_CPUTIME_ID, SIGEV_SIGNAL, signal, 0, value)
    }

    fn create(clock: usize, notify: u64, signal: c_int, thread: u64, value: usize) -> Result<Timer, Errno> {
        let mut event = MaybeUninit::<SignalEvent>::uninit();
        let words: *mut u64 = event.as_mut_ptr().cast();
        // SAFETY: inside the structure, whose words are all written. Volatile, word by word: this runs below mcount,
        // where no vector register may be used, and the compiler would use one to clear the whole.
        unsafe {
            words.write_volatile(value as u64);
            words.add(1).write_volatile(signal as u64 | notify << 32);
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

    /// Makes the timer expire after `first` nanoseconds and then every `every` nanoseconds. If both are 0, the timer
    /// is stopped.
    pub(crate) fn set(self, first: i64, every: i64) -> Result<(), Errno> {
        let seconds = |time: i64| (time / NANOSECONDS, time % NANOSECONDS);
        let mut setting = MaybeUninit::uninit();
        fill(&mut setting, seconds(every), seconds(first));
        // SAFETY: the kernel reads the structure.
        unsafe { call(numbers::TIMER_SETTIME, [self.0 as usize, 0, setting.as_ptr().addr(), 0]) }.map(|_| ())
    }

    /// Whether the timer is stopped. The kernel stops the timer of a thread's CPU time when the thread ends, even if
    /// another thread later has the same number. False if a seccomp filter hides the answer.
    pub(crate) fn is_stopped(self) -> bool {
        let mut found = MaybeUninit::<Setting>::uninit();
        let words: *mut i64 = found.as_mut_ptr().cast();
        // SAFETY: the kernel writes the structure; its last two words are read only after the call succeeded.
        unsafe {
            call(numbers::TIMER_GETTIME, [self.0 as usize, words.addr()]).is_ok()
                && words.add(2).read_volatile() | words.add(3).read_volatile() == 0
        }
    }

    pub(crate) fn delete(self) {
        // SAFETY: no pointers. An invalid identifier has no effect.
        let _ = unsafe { call(numbers::TIMER_DELETE, [self.0 as usize]) };
    }
}

/// Makes the process's interval timer of CPU time (`ITIMER_PROF`) expire every `every` microseconds; 0 stops the
/// timer. The timer sends SIGPROF to the thread that runs, and survives an exec.
pub(crate) fn set_interval_timer(every: i64) -> Result<(), Errno> {
    let seconds = (every / MICROSECONDS, every % MICROSECONDS);
    let mut setting = MaybeUninit::uninit();
    fill(&mut setting, seconds, seconds);
    // SAFETY: the kernel reads the structure.
    unsafe { call(numbers::SETITIMER, [ITIMER_PROF, setting.as_ptr().addr(), 0]) }.map(|_| ())
}

/// The period of the process's interval timer in microseconds; 0 if the timer is stopped. May be called below mcount.
pub(crate) fn interval_timer() -> i64 {
    let mut found = MaybeUninit::<Setting>::uninit();
    let words: *mut i64 = found.as_mut_ptr().cast();
    // SAFETY: the kernel writes the structure, of which two words are read if the call succeeded.
    unsafe {
        match call(numbers::GETITIMER, [ITIMER_PROF, words.addr()]) {
            Ok(_) => words.read_volatile().saturating_mul(MICROSECONDS).saturating_add(words.add(1).read_volatile()),
            Err(_) => 0,
        }
    }
}

/// The CPU time that the process has used, in nanoseconds; `None` if a seccomp filter hides the time.
pub(crate) fn process_time() -> Option<u64> {
    clock_time(CLOCK_PROCESS_CPUTIME_ID).ok()
}

/// The CPU time that this thread has used, in nanoseconds; 0 if a seccomp filter hides the time.
#[cfg(any(test, feature = "runtime"))]
pub(crate) fn thread_time() -> u64 {
    clock_time(CLOCK_THREAD_CPUTIME_ID).unwrap_or(0)
}

/// The time since a moment in the past in nanoseconds, by a clock that nobody can set; 0 if a seccomp filter hides the
/// time.
#[cfg(any(test, feature = "runtime"))]
pub(crate) fn steady_time() -> u64 {
    const CLOCK_MONOTONIC: usize = 1;
    clock_time(CLOCK_MONOTONIC).unwrap_or(0)
}

/// The time since 1970 in nanoseconds; 0 if a seccomp filter hides the time.
pub(crate) fn unix_time() -> u64 {
    clock_time(CLOCK_REALTIME).unwrap_or(0)
}

/// The time of a clock in nanoseconds. Volatile, as in [`fill`].
fn clock_time(clock: usize) -> Result<u64, Errno> {
    let mut time = MaybeUninit::<[i64; 2]>::uninit();
    let words: *mut i64 = time.as_mut_ptr().cast();
    // SAFETY: the kernel writes a struct timespec, whose two words are read if the call succeeded.
    let [seconds, nanoseconds] = unsafe {
        call(numbers::CLOCK_GETTIME, [clock, words.addr()])?;
        [words.read_volatile(), words.add(1).read_volatile()]
    };
    Ok(seconds.saturating_mul(NANOSECONDS).saturating_add(nanoseconds) as u64)
}

/// How often per second the kernel checks timers of CPU time (CONFIG_HZ), which is the highest rate of expiries.
pub(crate) fn ticks_per_second() -> u32 {
    let mut resolution = MaybeUninit::<[i64; 2]>::uninit();
    // SAFETY: the kernel writes a struct timespec, for which there is room.
    let known = unsafe { call(numbers::CLOCK_GETRES, [CLOCK_MONOTONIC_COARSE, resolution.as_mut_ptr().addr()]) };
    // The coarse clocks advance from tick to tick. A kernel without them has the traditional rate.
    const OF_OLD: u32 = 100;
    // SAFETY: written if the call succeeded.
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
    fn the_kernels_tick_is_one_of_those_that_kernels_are_built_with() {
        assert!((24..=1200).contains(&ticks_per_second()), "{}", ticks_per_second());
    }
}
