//! The handler of the timers' signal, and the rule that keeps this signal unblocked in threads that block all
//! signals.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{
    AtomicBool,
    Ordering::{Relaxed, SeqCst},
};

use super::mark::{OF_FIRST_PERIOD, OF_PROCESS, OF_RING, OF_THREAD, is_mark, value};
use super::producer::{PROCESS, PRODUCER, has_ring};
use super::rate::is_wall;
use super::{account, clock, first_period, ring};
use crate::arch::passing_handler;
use crate::os::{
    Errno, SAMPLING_SIGNAL, SignalInfo, catch_signal, interrupted_pc, is_caught_by, is_programs, leave_to_program,
    let_signal_wait, programs_handler, uncatch_signal, without_signal,
};
use crate::samples::{self, requests};
use crate::state::Inherited;
use crate::unwind::Stack;

/// Whether the handler is installed.
static CAUGHT: Inherited<AtomicBool> = Inherited::new("the child inherits the handler", AtomicBool::new(false));

/// Calls `prepare` and installs the handler, unless that was done before.
pub(super) fn put_in_place(prepare: impl FnOnce()) -> Result<(), Errno> {
    if CAUGHT.swap(true, SeqCst) {
        return Ok(());
    }
    prepare();
    catch_signal(SAMPLING_SIGNAL, pass_on_expiry)
}

/// Removes the handler, and discards pending signals in all threads.
pub(super) fn take_away() {
    uncatch_signal(SAMPLING_SIGNAL, pass_on_expiry);
    leave_to_program();
    CAUGHT.store(false, SeqCst);
}

/// Whether the program has installed a handler of its own.
pub(super) fn is_replaced() -> bool {
    CAUGHT.load(SeqCst) && !is_caught_by(SAMPLING_SIGNAL, pass_on_expiry)
}

passing_handler!(pass_on_expiry, on_expiry);

/// Handles the timers' signal, and SIGPROF where the interval timer serves. The result is the address of the program's
/// handler, to which [`pass_on_expiry`] passes a signal that is not the runtime's; 0 for none.
pub(super) unsafe extern "C" fn on_expiry(signal: c_int, info: *const SignalInfo, context: *const c_void) -> usize {
    // SAFETY: the kernel calls the handler as it was installed, with SA_SIGINFO: both pointers are valid.
    let (pc, info) = unsafe { (interrupted_pc(context), &*info) };
    if let Some(found) = info.timer_value().filter(|found| is_mark(*found)) {
        if found == value(OF_RING) {
            if has_ring() {
                ring::read(context);
            }
            requests::tick(pc, 0);
            return 0;
        }
        if found == value(OF_FIRST_PERIOD) {
            if let Some(clock) = clock::own() {
                first_period::notice(clock, pc, context);
            }
            return 0;
        }
        // A thread may have got a timer before a later thread was refused one; then the process's timer counts for
        // the thread.
        let of = if PRODUCER.load(Relaxed) == PROCESS { OF_PROCESS } else { OF_THREAD };
        if found != value(of) {
            return 0;
        }
        // Also while nothing is counted: an account that still runs must not owe this time later.
        let expiries = info.expiries();
        let ticks =
            if of == OF_PROCESS { account::OF_PROCESS.notice(expiries, pc) } else { clock::notice(expiries, pc) };
        samples::count(pc, ticks, Stack::Interrupted(context));
        requests::tick(pc, ticks);
        return 0;
    }
    if signal == SAMPLING_SIGNAL {
        if info.is_of_other_process() && requests::hear() {
            return 0;
        }
        // SAFETY: as above, and these are the handler's arguments.
        if unsafe { let_signal_wait(signal, info, context.cast_mut(), is_let_in) } {
            return 0;
        }
        if is_programs() {
            // SAFETY: as above.
            return unsafe { programs_handler(context.cast_mut()) };
        }
    }
    // A timer of the program takes no samples.
    if info.timer_value().is_none() {
        samples::count(pc, 1, Stack::Interrupted(context));
    }
    0
}

/// HUP INT USR1 USR2 ALRM CHLD URG IO: the standard signals that a thread blocks which wants no signals. (Such a
/// thread may leave signals unblocked that instructions raise, or that stop the process.)
const STANDARD: u64 = 0b11 | 1 << 9 | 1 << 11 | 1 << 13 | 1 << 16 | 1 << 22 | 1 << 28;

/// Whether a set contains, apart from the sampling signal, [`STANDARD`] and all signals from 48 to 62. (Emulators use
/// the highest signals.) A set with a few signals, or with only real-time signals, may mean the sampling signal
/// itself.
fn has_everything(signals: u64) -> bool {
    const HIGH: u64 = 0x7fff << 47;
    signals | 1 << (SAMPLING_SIGNAL - 1) | !(HIGH | STANDARD) == u64::MAX
}

/// Whether the sampling signal stays unblocked in a thread that blocks these signals: a thread that wants no signals
/// is sampled all the same.
fn is_let_in(signals: u64) -> bool {
    // With wall-clock time, samples interrupt sleeping threads, and threads that block all signals do not expect
    // EINTR. Without the start-up object, nothing hides the kernel's mask from the program.
    cfg!(feature = "start")
        && has_everything(signals)
        && CAUGHT.load(Relaxed)
        && !is_wall()
        && is_caught_by(SAMPLING_SIGNAL, pass_on_expiry)
}

/// The signals that the kernel blocks for a thread that wants to block `signals`.
pub(crate) fn to_be_blocked(signals: u64) -> u64 {
    if is_let_in(signals) { without_signal(signals, SAMPLING_SIGNAL) } else { signals }
}

/// The signals that a thread is told to block if the kernel blocks `signals`.
pub(crate) fn blocked_as_told(signals: u64) -> u64 {
    if is_let_in(signals) { signals | 1 << (SAMPLING_SIGNAL - 1) } else { signals }
}
