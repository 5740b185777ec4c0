//! Timers and the signal they send.

use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::ptr;

use super::{Errno, call, thread_id};
use crate::arch::{self, numbers};

const CLOCK_THREAD_CPUTIME_ID: usize = 3;
const ITIMER_PROF: usize = 2;
const SIGEV_THREAD_ID: u64 = 4;
const SIGPROF: usize = 27;
const SI_TIMER: i32 = -2;
const SA_SIGINFO: usize = 4;
const SA_RESTORER: usize = 0x0400_0000;
const SA_ONSTACK: usize = 0x0800_0000;
const SA_RESTART: usize = 0x1000_0000;

/// `struct sigaction` as the kernel has it (the C library's differs).
#[repr(C)]
struct SignalAction {
    handler: Handler,
    flags: usize,
    restorer: unsafe extern "C" fn(),
    mask: u64,
}

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

/// The start of `siginfo_t`.
#[repr(C)]
pub(crate) struct SignalInfo {
    signal: i32,
    error: i32,
    code: i32,
    padding: i32,
    timer: i32,
    overrun: i32,
}

impl SignalInfo {
    /// How many expiries the signal stands for: a timer whose signal was not delivered in time sends no second one.
    pub(crate) fn expiries(&self) -> u32 {
        if self.code == SI_TIMER { 1 + self.overrun.max(0) as u32 } else { 1 }
    }
}

/// A handler of SIGPROF.
pub(crate) type Handler = unsafe extern "C" fn(c_int, *const SignalInfo, *const c_void);

/// Makes `handler` the process's handler of SIGPROF.
pub(crate) fn catch_signal(handler: Handler) -> Result<(), Errno> {
    let action = SignalAction {
        handler,
        // On the alternate stack where the thread has one: its own may be too small.
        flags: SA_SIGINFO | SA_RESTART | SA_ONSTACK | SA_RESTORER,
        restorer: arch::signal_return,
        mask: 0,
    };
    // SAFETY: the kernel reads the structure, and a set of signals is 8 bytes long.
    unsafe { call(numbers::RT_SIGACTION, [SIGPROF, (&raw const action).addr(), 0, size_of::<u64>()]) }.map(|_| ())
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
