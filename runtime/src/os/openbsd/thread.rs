//! Processes and threads.

use core::mem::MaybeUninit;

use super::{Errno, call, numbers};

const CLOCK_REALTIME: usize = 0;
const CLOCK_PROCESS_CPUTIME_ID: usize = 2;
const SECOND: u64 = 1_000_000_000;

/// Returns this process's ID.
pub(crate) fn process_id() -> i32 {
    known_process_id().unwrap_or(0)
}

/// Returns this process's ID. The call works in every process.
pub(crate) fn known_process_id() -> Option<i32> {
    // SAFETY: no arguments.
    unsafe { call(numbers::GETPID, []) }.ok().map(|id| id as i32)
}

/// Returns whether the program was executed set-user-ID or set-group-ID.
pub(crate) fn has_other_rights() -> bool {
    // SAFETY: no arguments; the call cannot fail.
    let answer = unsafe { call(numbers::ISSETUGID, []) };
    answer != Ok(0)
}

/// Waits for a millisecond.
pub fn a_moment() {
    wait(SECOND / 1000);
}

/// Waits for a number of nanoseconds, or until a signal arrives.
fn wait(nanoseconds: u64) {
    let time = [nanoseconds / SECOND, nanoseconds % SECOND];
    // SAFETY: the kernel reads a struct timespec.
    let _ = unsafe { call(numbers::NANOSLEEP, [(&raw const time).addr(), 0]) };
}

/// Returns the CPU time that the process has used, in nanoseconds. Called below mcount.
pub(crate) fn process_time() -> Option<u64> {
    clock_time(CLOCK_PROCESS_CPUTIME_ID)
}

/// Returns the time since 1970 in nanoseconds, or 0 if the time is unknown.
pub(crate) fn unix_time() -> u64 {
    clock_time(CLOCK_REALTIME).unwrap_or(0)
}

fn clock_time(clock: usize) -> Option<u64> {
    let mut time = MaybeUninit::<[u64; 2]>::uninit();
    let start: *const u64 = time.as_mut_ptr().cast();
    // SAFETY: the kernel writes a struct timespec.
    unsafe { call(numbers::CLOCK_GETTIME, [clock, start.addr()]) }.ok()?;
    // SAFETY: the kernel has written both words. Reads are word by word, because code below mcount must not use vector
    // registers.
    let (seconds, nanoseconds) = unsafe { (start.read_volatile(), start.add(1).read_volatile()) };
    Some(seconds.wrapping_mul(SECOND).wrapping_add(nanoseconds))
}

/// Yields the processor to other threads.
pub(crate) fn give_way() {
    // SAFETY: no arguments.
    let _ = unsafe { call(numbers::SCHED_YIELD, []) };
}

/// Returns the effective user ID of the process.
pub(crate) fn effective_user() -> u32 {
    // SAFETY: no arguments; the call cannot fail.
    unsafe { call(numbers::GETEUID, []) }.unwrap_or(0) as u32
}

/// Returns the kernel's ID of this thread. Called below mcount.
pub fn thread_id() -> i32 {
    // SAFETY: no arguments.
    unsafe { call(numbers::GETTHRID, []) }.map_or(UNKNOWN_THREAD, |id| id as i32)
}

/// An ID that no thread has.
pub(crate) const UNKNOWN_THREAD: i32 = -1;

/// Returns whether no thread of this process has the ID.
pub(crate) fn thread_is_gone(id: i32) -> bool {
    // SAFETY: signal 0 is not delivered; the kernel only checks whether the thread exists.
    let result = unsafe { call(numbers::THRKILL, [id as usize, 0, 0]) };
    result == Err(Errno::ESRCH)
}

/// Prepares a thread for system calls of the runtime. Does nothing on OpenBSD.
pub(crate) fn enter_thread() {}

/// Ends the process.
pub(crate) fn exit_process(status: i32) -> ! {
    loop {
        // SAFETY: the call does not return.
        let _ = unsafe { call(numbers::EXIT, [status as usize]) };
    }
}
