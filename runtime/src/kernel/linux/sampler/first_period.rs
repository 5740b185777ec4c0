//! The first period of threads that the kernel's ring samples.
//!
//! The kernel takes the first sample of a thread when the thread has run for a whole period, so a thread that lives for
//! less is never sampled, and each other thread lacks half a sample on average. The kernel knows no other phase for the
//! events of later threads. So a timer of the thread samples its first half period: at the first tick of the kernel
//! that meets the thread, if that tick comes early enough.

use core::ffi::c_void;
use core::sync::atomic::Ordering::SeqCst;

use super::clock::Clock;
use super::mark::{OF_FIRST_PERIOD, value};
use super::phase::turn_of;
use super::producer::has_ring;
use super::rate::{kernel_tick, period};
use crate::os::{SAMPLING_SIGNAL, SignalSet, TimeOf, Timer, contains};
use crate::samples::{self, bins};
use crate::unwind::Stack;

/// Gives this thread, whose number is `thread`, a timer for its first half period, if a sample is due then. A thread
/// that blocks the signal has none: it may wait for a signal 60 of the program. May be called below mcount.
pub(super) fn begin(clock: &Clock, thread: i32, blocked: SignalSet) {
    if !bins::is_counting() || contains(blocked, SAMPLING_SIGNAL) || samples_of(thread) == 0 {
        return;
    }
    // Without a timer, the ring samples the thread all the same.
    if let Ok(timer) = Timer::for_this_thread(TimeOf::ThisThread, thread, value(OF_FIRST_PERIOD)) {
        clock.timer.store(timer.0, SeqCst);
        if let Some(now) = TimeOf::ThisThread.of(thread) {
            clock.account.start(now, 0, period() as u64);
            let _ = timer.set(1, 0);
        }
    }
}

/// Counts the samples that are due in the first half period of the thread with this clock, at `pc`: the kernel noticed
/// its timer.
pub(super) fn notice(clock: &Clock, pc: usize, context: *const c_void) {
    let thread = clock.thread.load(SeqCst);
    let passed = TimeOf::ThisThread.of(thread).and_then(|now| clock.account.passed(now));
    if has_ring() && passed.is_some_and(|passed| passed < period() as u64 / 2) {
        samples::count(pc, samples_of(thread), Stack::Interrupted(context));
    }
}

/// The samples for the thread with this number.
fn samples_of(thread: i32) -> u32 {
    samples(turn_of(thread), period(), kernel_tick())
}

/// The samples for which one tick of the kernel stands: on average the length of a tick over the period. `turn` is a
/// part of 2^32.
fn samples(turn: u32, period: i64, kernel_tick: i64) -> u32 {
    let whole = ((kernel_tick << 8) / period.max(1)) << 24;
    u32::try_from((whole + i64::from(turn)) >> 32).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_of_the_kernel_stands_for_its_length() {
        const KERNEL_TICK: i64 = 4_000_000;
        for rate in [100, 250, 300, 1000, 1500, 5000, 10_000] {
            const THREADS: u32 = 10_000;
            let all = (0..THREADS)
                .map(|thread| samples(thread * (u32::MAX / THREADS), 1_000_000_000 / i64::from(rate), KERNEL_TICK));
            let sum: u32 = all.sum();
            let expected = f64::from(rate) * KERNEL_TICK as f64 * 1e-9;
            let found = f64::from(sum) / f64::from(THREADS);
            assert!((found - expected).abs() < 0.01 * expected, "{rate}: {found}, not {expected}");
        }
        assert_eq!([0, u32::MAX].map(|turn| samples(turn, 1_000_000, KERNEL_TICK)), [4, 4]);
        assert_eq!([0, u32::MAX].map(|turn| samples(turn, 10_000_000, KERNEL_TICK)), [0, 1]);
    }
}
