//! The thread that reads the kernel's counters before they run over.
//!
//! A thread, because nothing else comes in time and leaves the program alone: a timer's signal would interrupt system calls of the
//! program, and the only timer of CPU time, `ITIMER_PROF`, is the program's own and goes on in the program that it executes. The
//! C library does not know the thread: it has no thread-local storage, calls nothing of the program's, and blocks all signals.

use core::ffi::c_void;
use core::sync::atomic::{
    AtomicBool, AtomicI32, AtomicU64,
    Ordering::{Relaxed, SeqCst},
};

use super::counters::{self, MOST};
use super::rate::profrate;
use crate::message::say_error;
use crate::os::{
    Errno, block_signals, end_thread, map, process_time, processors, set_blocked_signals, start_thread, unmap, wait,
};

/// Set once the thread was started.
static IS_STARTED: AtomicBool = AtomicBool::new(false);
/// Set when the thread is to end.
static IS_OVER: AtomicBool = AtomicBool::new(false);
/// Why there is no such thread; 0 if there is one.
static REFUSED: AtomicI32 = AtomicI32::new(0);
/// The thread's stack, which the child of a fork uses again.
static STACK: AtomicU64 = AtomicU64::new(0);
const STACK_SIZE: usize = 64 << 10;

const SECOND: u64 = 1_000_000_000;
/// The shortest and the longest time from one look to the next, in nanoseconds.
const SHORTEST: u64 = SECOND / 200;
const LONGEST: u64 = SECOND;

/// Starts the thread. Without the thread, counters that run over lose 65,536 ticks each time: [`report`] says that.
/// Only the first call in a process does anything.
pub(super) fn start() {
    if IS_STARTED.swap(true, SeqCst) {
        return;
    }
    let mut stack: *mut c_void = core::ptr::with_exposed_provenance_mut(STACK.load(SeqCst) as usize);
    if stack.is_null() {
        stack = map(STACK_SIZE);
    }
    if stack.is_null() {
        REFUSED.store(Errno::ENOMEM.0, SeqCst);
        return;
    }
    STACK.store(stack.expose_provenance() as u64, SeqCst);
    let blocked = block_signals();
    // SAFETY: memory of our own; `run` keeps to what such a thread may do.
    let started = unsafe { start_thread(run, stack, STACK_SIZE) };
    set_blocked_signals(blocked);
    match started {
        Ok(()) => REFUSED.store(0, SeqCst),
        Err(error) => {
            REFUSED.store(error.0, SeqCst);
            STACK.store(0, SeqCst);
            // SAFETY: mapped above, and there is no thread that uses it.
            unsafe { unmap(stack, STACK_SIZE) };
        }
    }
}

/// Has the thread end.
pub(super) fn end() {
    IS_OVER.store(true, SeqCst);
}

/// The child of a fork has no such thread, and gets a thread of its own when it samples.
pub(super) fn after_fork_in_child() {
    IS_OVER.store(false, SeqCst);
    IS_STARTED.store(false, SeqCst);
}

/// Nanoseconds of CPU time in which one counter cannot get more ticks than a reading can tell, with half to spare.
fn safe_time() -> u64 {
    u64::from(MOST) * SECOND / u64::from(profrate().max(1)) / 2
}

/// What the thread does: it looks so often that all processors together cannot spend the time between two readings, which half of
/// the safe time is left for.
unsafe extern "C" fn run(_: *mut c_void) {
    let most = safe_time() / 2;
    let pause = (most / u64::from(processors().max(1))).clamp(SHORTEST, LONGEST);
    let mut read_at = process_time().unwrap_or(0);
    while !IS_OVER.load(Relaxed) {
        wait(pause);
        let now = process_time().unwrap_or(u64::MAX);
        if now.saturating_sub(read_at) >= most / 2 {
            counters::collect();
            read_at = now;
        }
    }
    end_thread()
}

/// Says that ticks may be lost, if there was no thread for long enough.
pub(super) fn report() {
    let refused = REFUSED.load(SeqCst);
    if refused != 0 && process_time().is_some_and(|time| time > safe_time()) {
        say_error(&[b"samples may be missing: cannot start a thread that reads the kernel's counters"], Errno(refused));
    }
}
