//! Produces ticks: says where the program is, at every expiry of a timer. [`bins`] counts them.
//!
//! Each thread has a timer of its own over its own CPU time, so that equal threads get equal shares; where the system
//! refuses those, the process's one timer serves. All of them send SIGPROF.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{
    AtomicBool, AtomicI32,
    Ordering::{Relaxed, SeqCst},
};

use super::bins;
use crate::arch;
use crate::message::say_error;
use crate::system::{Errno, Period, SignalInfo, Timer, catch_signal, set_process_timer};

/// Samples for each second of CPU time.
pub(crate) const PROFRATE: u32 = 100;

/// For the threads' timers, which count nanoseconds; the process's, which counts microseconds; and for standing still.
static THREAD_PERIOD: Period = Period::of(1_000_000_000 / PROFRATE as i64);
static PROCESS_PERIOD: Period = Period::of(1_000_000 / PROFRATE as i64);
static NEVER: Period = Period::of(0);

/// Set once threads cannot have timers of their own and the process's timer runs instead.
static PROCESS_TIMER: AtomicBool = AtomicBool::new(false);
/// Why; 0 if they can.
static REFUSED: AtomicI32 = AtomicI32::new(0);

/// Set once the handler is in place.
static CAUGHT: AtomicBool = AtomicBool::new(false);

/// Produces ticks from now on, in all threads that have a [`Clock`] and in those to come.
pub(super) fn start() -> Result<(), Errno> {
    if !CAUGHT.swap(true, SeqCst) {
        catch_signal(on_expiry)?;
    }
    if PROCESS_TIMER.load(Relaxed) {
        set_process_timer(&PROCESS_PERIOD)?;
    }
    Ok(())
}

/// Stops. Timers of threads may go on; what they send is not counted.
pub(super) fn stop() {
    if PROCESS_TIMER.load(Relaxed) {
        let _ = set_process_timer(&NEVER);
    }
}

/// Starts the process's timer if it is the one in use: a child has none.
pub(super) fn after_fork_in_child() {
    if PROCESS_TIMER.load(Relaxed) && bins::is_counting() {
        let _ = set_process_timer(&PROCESS_PERIOD);
    }
}

/// The handler of SIGPROF.
unsafe extern "C" fn on_expiry(_signal: c_int, info: *const SignalInfo, context: *const c_void) {
    // SAFETY: the kernel calls the handler as it was installed, with SA_SIGINFO: both pointers are good.
    let (pc, info) = unsafe { (arch::interrupted_pc(context), &*info) };
    if PROCESS_TIMER.load(Relaxed) && info.is_from_timer() {
        return; // a thread that got a timer of its own before there were no more; the process's counts for it as well
    }
    bins::count(pc, info.expiries());
}

/// One thread's timer.
pub(crate) struct Clock(AtomicI32);

impl Clock {
    const NONE: i32 = -1;

    /// No timer yet.
    pub(crate) fn reset(&self) {
        self.0.store(Clock::NONE, Relaxed);
    }

    /// Gives this thread a timer in place of the one that the clock had: that was of a thread which is gone. Below
    /// mcount.
    pub(crate) fn attach(&self) {
        let old = self.0.swap(Clock::NONE, Relaxed);
        if old != Clock::NONE {
            Timer(old).delete();
        }
        if PROCESS_TIMER.load(Relaxed) {
            return;
        }
        match Timer::for_this_thread().and_then(|timer| timer.set(&THREAD_PERIOD).map(|()| timer)) {
            Ok(timer) => self.0.store(timer.0, Relaxed),
            Err(error) => fall_back(error),
        }
    }

    /// Lets the thread's timer run, or not.
    pub(crate) fn run(&self, on: bool) {
        let timer = self.0.load(Relaxed);
        if timer != Clock::NONE {
            // A timer that cannot be set is one whose thread is gone.
            let _ = Timer(timer).set(if on { &THREAD_PERIOD } else { &NEVER });
        }
    }
}

/// Starts the process's timer because a thread could not have its own. From then on what threads' own timers send is not
/// counted. Below mcount: what happened is said later, by
/// [`report`].
#[cold]
fn fall_back(error: Errno) {
    REFUSED.store(error.0, Relaxed);
    if !PROCESS_TIMER.swap(true, SeqCst) && bins::is_counting() {
        let _ = set_process_timer(&PROCESS_PERIOD);
    }
}

/// Says it if threads could not have timers of their own.
pub(super) fn report() {
    let error = REFUSED.swap(0, Relaxed);
    if error != 0 {
        say_error(&[b"no timer for each thread, used the process's one: shares of threads are rough"], Errno(error));
    }
}
