//! The handler of the timers' signal, and the threads that the signal comes to though they block all signals.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{
    AtomicBool,
    Ordering::{Relaxed, SeqCst},
};

use super::mark::{OF_PROCESS, OF_RING, OF_THREAD, value};
use super::producer::{PROCESS, PRODUCER, has_ring};
use super::rate::is_wall;
use super::{clock, ring};
use crate::os::{
    Errno, SAMPLING_SIGNAL, SignalInfo, catch_signal, interrupted_pc, is_caught_by, let_signal_wait, uncatch_signal,
    without_signal,
};
use crate::per_process::PER_PROCESS;
use crate::samples::bins;

/// Set once the handler is in place.
static CAUGHT: AtomicBool = AtomicBool::new(false);

/// Puts the handler in place and does `prepare` before, unless both were done earlier.
pub(super) fn put_in_place(prepare: impl FnOnce()) -> Result<(), Errno> {
    if CAUGHT.swap(true, SeqCst) {
        return Ok(());
    }
    prepare();
    catch_signal(SAMPLING_SIGNAL, on_expiry)
}

/// Takes the handler away, and with the handler the signals that wait in any thread.
pub(super) fn take_away() {
    uncatch_signal(SAMPLING_SIGNAL, on_expiry);
    CAUGHT.store(false, SeqCst);
}

/// Whether the program has put a handler of its own in the place of ours.
pub(super) fn is_replaced() -> bool {
    CAUGHT.load(SeqCst) && !is_caught_by(SAMPLING_SIGNAL, on_expiry)
}

/// The handler of the timers' signal.
pub(super) unsafe extern "C" fn on_expiry(signal: c_int, info: *const SignalInfo, context: *const c_void) {
    // SAFETY: the kernel calls the handler as it was installed, with SA_SIGINFO: both pointers are good.
    let (pc, info) = unsafe { (interrupted_pc(context), &*info) };
    if let Some(found) = info.timer_value() {
        if found == value(OF_RING) {
            if has_ring() {
                ring::read();
            }
            return;
        }
        // A thread may have got a timer of its own before there were no more; the process's counts for it as well.
        let of = if PRODUCER.load(Relaxed) == PROCESS { OF_PROCESS } else { OF_THREAD };
        if found != value(of) {
            return;
        }
        // Also while nothing is counted: an account that runs all the same must not owe what passes then.
        let expiries = info.expiries();
        let ticks = if of == OF_PROCESS {
            PER_PROCESS.process_account.notice(expiries, pc)
        } else {
            clock::notice(expiries, pc)
        };
        bins::count(pc, ticks);
        return;
    } else if info.is_sent() {
        // SAFETY: as above, and these are the handler's arguments.
        let waits = unsafe { let_signal_wait(signal, info, context.cast_mut(), is_let_in) };
        if waits {
            return;
        }
    }
    bins::count(pc, info.expiries());
}

/// HUP INT USR1 USR2 ALRM CHLD URG IO: those of the standard signals that threads which want no signals block. (Those that an
/// instruction raises, and those that stop, they may leave.)
const STANDARD: u64 = 0b11 | 1 << 9 | 1 << 11 | 1 << 13 | 1 << 16 | 1 << 22 | 1 << 28;

/// Whether a set has, ours aside, these and all of the signals from 48 to 62: they are blocked together or not at all.
/// (Emulators take the highest ones.) One that has just a few, or only real-time signals, may mean ours.
fn has_everything(signals: u64) -> bool {
    const HIGH: u64 = 0x7fff << 47;
    signals | 1 << (SAMPLING_SIGNAL - 1) | !(HIGH | STANDARD) == u64::MAX
}

/// Whether our signal is let in where a thread blocks these signals: one that wants no signals is sampled all the same.
fn is_let_in(signals: u64) -> bool {
    // By the world's time samples come to sleeping threads too, and those that block everything do not know EINTR. Without our
    // start-up code nobody hides from the program what the kernel blocks.
    cfg!(feature = "start")
        && has_everything(signals)
        && CAUGHT.load(Relaxed)
        && !is_wall()
        && is_caught_by(SAMPLING_SIGNAL, on_expiry)
}

/// What the kernel is to block where a thread blocks these signals.
pub(crate) fn to_be_blocked(signals: u64) -> u64 {
    if is_let_in(signals) { without_signal(signals, SAMPLING_SIGNAL) } else { signals }
}

/// What a thread is told to have blocked where the kernel blocks these signals.
pub(crate) fn blocked_as_told(signals: u64) -> u64 {
    if is_let_in(signals) { signals | 1 << (SAMPLING_SIGNAL - 1) } else { signals }
}
