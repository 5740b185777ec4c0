//! Processes and threads.

use core::mem::MaybeUninit;

use super::{Errno, call, numbers};

const CLOCK_PROCESS_CPUTIME_ID: usize = 2;
const SECOND: u64 = 1_000_000_000;

/// This process.
pub(crate) fn process_id() -> i32 {
    known_process_id().unwrap_or(0)
}

/// This process. The kernel lets every process know.
pub(crate) fn known_process_id() -> Option<i32> {
    // SAFETY: takes no argument.
    unsafe { call(numbers::GETPID, []) }.ok().map(|id| id as i32)
}

/// Whether the process got other rights than its user has when it was executed.
pub(crate) fn has_other_rights() -> bool {
    // SAFETY: takes no argument and cannot fail.
    let answer = unsafe { call(numbers::ISSETUGID, []) };
    answer != Ok(0)
}

/// Waits for a millisecond.
pub fn a_moment() {
    wait(SECOND / 1000);
}

/// Waits for so many nanoseconds, or until a signal comes.
fn wait(nanoseconds: u64) {
    let time = [nanoseconds / SECOND, nanoseconds % SECOND];
    // SAFETY: the kernel reads a struct timespec.
    let _ = unsafe { call(numbers::NANOSLEEP, [(&raw const time).addr(), 0]) };
}

/// The CPU time of the process so far, in nanoseconds. Called below mcount.
pub(crate) fn process_time() -> Option<u64> {
    let mut time = MaybeUninit::<[u64; 2]>::uninit();
    let start: *const u64 = time.as_mut_ptr().cast();
    // SAFETY: the kernel writes a struct timespec.
    unsafe { call(numbers::CLOCK_GETTIME, [CLOCK_PROCESS_CPUTIME_ID, start.addr()]) }.ok()?;
    // SAFETY: the kernel has written both words. Reads are word by word, because code below mcount must not use vector registers.
    let (seconds, nanoseconds) = unsafe { (start.read_volatile(), start.add(1).read_volatile()) };
    Some(seconds.wrapping_mul(SECOND).wrapping_add(nanoseconds))
}

/// Lets other threads run.
pub(crate) fn give_way() {
    // SAFETY: takes no argument.
    let _ = unsafe { call(numbers::SCHED_YIELD, []) };
}

/// The user whose rights the process has.
pub(crate) fn effective_user() -> u32 {
    // SAFETY: takes no argument and cannot fail.
    unsafe { call(numbers::GETEUID, []) }.unwrap_or(0) as u32
}

/// This thread, in the kernel's numbering. Below mcount.
pub fn thread_id() -> i32 {
    // SAFETY: takes no argument.
    unsafe { call(numbers::GETTHRID, []) }.map_or(UNKNOWN_THREAD, |id| id as i32)
}

/// The number of no thread.
pub(crate) const UNKNOWN_THREAD: i32 = -1;

/// Whether no thread of this process has the number any more.
pub(crate) fn thread_is_gone(id: i32) -> bool {
    // SAFETY: signal 0 is sent to nobody; the kernel only looks whether the thread is there.
    let result = unsafe { call(numbers::THRKILL, [id as usize, 0, 0]) };
    result == Err(Errno::ESRCH)
}

/// What a thread has to do before it makes system calls of the runtime's: nothing here.
pub(crate) fn enter_thread() {}

/// Ends the process.
pub(crate) fn exit_process(status: i32) -> ! {
    loop {
        // SAFETY: it does not return.
        let _ = unsafe { call(numbers::EXIT, [status as usize]) };
    }
}
