//! The thread that reads the kernel's counters before they wrap.
//!
//! Only a thread can read the counters in time without disturbing the program: a timer's signal would interrupt system
//! calls of the program, and the only timer of CPU time, `ITIMER_PROF`, belongs to the program and keeps running across
//! `execve`. The C library does not know the thread: the thread has no thread-local variables, calls no function of the
//! program, and blocks all signals. At the end of the process, the thread writes the profile, which calls a few
//! functions of libc that move and compare bytes.

use core::ffi::{c_int, c_void};
use core::hint::black_box;
use core::sync::atomic::{
    AtomicBool, AtomicI32, AtomicU64,
    Ordering::{Relaxed, SeqCst},
};

use super::counters::{self, MOST};
use crate::file::is_live;
use crate::message::{say, say_error};
use crate::os::{
    Errno, block_signals, end_thread, exit_process, is_only_thread, map, process_time, processors, set_blocked_signals,
    start_thread, unmap, wait,
};
use crate::state::Inherited;

unsafe extern "C" {
    /// The end of the profile, by the name for programs: the function is above this module.
    safe fn _mcleanup();
}

/// Set once the thread was started.
static IS_STARTED: Inherited<AtomicBool> =
    Inherited::new("set where the child starts a thread of its own", AtomicBool::new(false));
/// Set to make the thread end.
static IS_OVER: Inherited<AtomicBool> =
    Inherited::new("set where the child starts a thread of its own", AtomicBool::new(false));
/// The error number if the thread could not be started; otherwise 0.
static REFUSED: Inherited<AtomicI32> =
    Inherited::new("set where the child starts a thread of its own", AtomicI32::new(0));
/// The address of the thread's stack. The thread in the child of a `fork` uses the same address.
static STACK: Inherited<AtomicU64> =
    Inherited::new("set where the child starts a thread of its own", AtomicU64::new(0));
const STACK_SIZE: usize = 64 << 10;

const SECOND: u64 = 1_000_000_000;
/// The shortest sleep of the thread, and the longest sleep if the samples are a live file, in nanoseconds.
const SHORTEST: u64 = SECOND / 200;
const LONGEST_LIVE: u64 = SECOND;
/// The thread does not read the counters if the process has used less than this part of [`safe_time`] since the last
/// reading.
const IDLE_PART: u64 = 8;

/// Starts the thread. Without the thread, a counter loses 65,536 ticks each time it wraps; [`report`] then prints a
/// message. Only the first call in a process has an effect.
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
    bind_early();
    let blocked = block_signals();
    // SAFETY: the stack was mapped for this thread alone; `run` never returns, uses no TLS, and calls only the
    // functions of the C library that `bind_early` has called.
    let started = unsafe { start_thread(run, stack, STACK_SIZE) };
    set_blocked_signals(blocked);
    match started {
        Ok(()) => REFUSED.store(0, SeqCst),
        Err(error) => {
            REFUSED.store(error.0, SeqCst);
            STACK.store(0, SeqCst);
            // SAFETY: the stack was mapped above, and no thread uses the stack.
            unsafe { unmap(stack, STACK_SIZE) };
        }
    }
}

/// Calls each function of the C library that the writing of the profile calls. At the first call in a dynamic program,
/// the dynamic linker looks for the function and takes a lock, and libthr would ask for the thread, which it does not
/// know.
fn bind_early() {
    unsafe extern "C" {
        fn memcpy(to: *mut u8, from: *const u8, length: usize) -> *mut u8;
        fn memmove(to: *mut u8, from: *const u8, length: usize) -> *mut u8;
        fn memset(to: *mut u8, byte: c_int, length: usize) -> *mut u8;
        fn bcmp(one: *const u8, other: *const u8, length: usize) -> c_int;
        fn strlen(text: *const u8) -> usize;
    }
    let (mut to, from) = (0_u8, 0_u8);
    let (to, from, length) = black_box((&raw mut to, &raw const from, 1));
    // SAFETY: one byte, which is an empty string.
    unsafe {
        memcpy(to, from, length);
        memmove(to, from, length);
        memset(to, 0, length);
        black_box((bcmp(to, from, length), strlen(from)));
    }
}

/// Makes the thread end.
pub(super) fn end() {
    IS_OVER.store(true, SeqCst);
}

/// Records in the child of a `fork` that the thread does not exist. [`start`] starts a new thread.
pub(super) fn after_fork_in_child() {
    IS_OVER.store(false, SeqCst);
    IS_STARTED.store(false, SeqCst);
}

/// Half of the CPU time, in nanoseconds, in which one counter can reach [`MOST`].
fn safe_time() -> u64 {
    counters::time_of(MOST) / 2
}

/// The thread's function: reads the counters often enough. The thread sleeps so briefly that even if all processors
/// work for the process, the process uses no more than the safe time between two readings. The other half of the time
/// in which a counter can wrap is for wake-ups that come late.
///
/// The thread ends the process once all threads of the program have ended: without this thread, `thr_exit` of the last
/// thread would return to the program, but the kernel counts this thread as one that is left.
unsafe extern "C" fn run(_: *mut c_void) {
    let safe = safe_time();
    let processors = u64::from(processors().max(1));
    let (mut read_at, mut used) = (process_time(), 0);
    while !IS_OVER.load(Relaxed) {
        let longest = if is_live() { LONGEST_LIVE } else { safe };
        wait((safe.saturating_sub(used) / processors).clamp(SHORTEST, longest.max(SHORTEST)));
        if is_only_thread() {
            _mcleanup();
            exit_process(0);
        }
        let now = process_time();
        used = now.zip(read_at).map_or(safe, |(now, then)| now.saturating_sub(then));
        if used >= safe / IDLE_PART {
            counters::collect();
            (read_at, used) = (now, 0);
        }
    }
    end_thread()
}

/// Prints that ticks may be lost, if the thread could not be started and the process ran long enough for a counter to
/// wrap, or if one system call may have used more ticks than a counter holds.
pub(super) fn report() {
    if counters::may_miss_charge() {
        say(&[b"samples may be missing: a system call may have used more CPU time than a counter holds"]);
    }
    let refused = REFUSED.load(SeqCst);
    if refused != 0 && process_time().is_some_and(|time| time > safe_time()) {
        say_error(&[b"samples may be missing: cannot start a thread that reads the kernel's counters"], Errno(refused));
    }
}
