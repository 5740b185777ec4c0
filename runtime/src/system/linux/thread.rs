//! Processes and threads.

use super::{Errno, call};
use crate::arch::numbers;

/// This process.
pub(crate) fn process_id() -> i32 {
    // SAFETY: takes no argument and cannot fail.
    unsafe { call(numbers::GETPID, []) }.unwrap_or(0) as i32
}

/// Waits for a millisecond.
pub(crate) fn a_moment() {
    static MILLISECOND: [i64; 2] = [0, 1_000_000];
    // SAFETY: the kernel reads a struct timespec. To be woken early does no harm.
    let _ = unsafe { call(numbers::NANOSLEEP, [(&raw const MILLISECOND).addr(), 0]) };
}

/// The user whose rights the process has.
pub(crate) fn effective_user() -> u32 {
    // SAFETY: takes no argument and cannot fail.
    unsafe { call(numbers::GETEUID, []) }.unwrap_or(0) as u32
}

/// This thread, in the kernel's numbering.
pub(crate) fn thread_id() -> i32 {
    // SAFETY: takes no argument and cannot fail.
    unsafe { call(numbers::GETTID, []) }.unwrap_or(0) as i32
}

/// Ends the process.
pub(crate) fn exit_process(status: i32) -> ! {
    loop {
        // SAFETY: it does not return.
        let _ = unsafe { call(numbers::EXIT_GROUP, [status as usize]) };
    }
}

/// Whether no thread of this process has the number any more.
pub(crate) fn thread_is_gone(id: i32) -> bool {
    // SAFETY: signal 0 is sent to nobody; the kernel only looks whether the thread is there.
    let result = unsafe { call(numbers::TGKILL, [process_id() as usize, id as usize, 0]) };
    result == Err(Errno::ESRCH)
}
