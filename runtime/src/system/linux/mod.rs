//! Linux. Raw system calls, never the C library's: they set no errno, are no cancellation points, and may be made below
//! mcount and in a signal handler.

#[cfg(any(test, feature = "start", not(feature = "profil")))]
mod bpf;
mod disposition;
mod errno;
mod file;
// Only the start-up objects see filters being installed.
#[cfg_attr(any(test, feature = "start", not(feature = "profil")), path = "filter.rs")]
#[cfg_attr(not(any(test, feature = "start", not(feature = "profil"))), path = "no_filter.rs")]
mod filter;
#[cfg(any(test, feature = "profil"))]
mod guarded;
mod maps;
mod memory;
mod perf;
mod signal;
mod thread;
#[cfg(any(test, feature = "profil"))]
mod ticks;
mod timer;

pub(crate) use crate::arch::LARGEST_PAGE;
#[cfg(all(feature = "start", not(test)))]
pub(crate) use disposition::{Action, disguise, disguised, reveal, set_action_raw, set_doors, stand_in};
pub(crate) use errno::Errno;
#[cfg(any(test, feature = "start", not(feature = "profil")))]
pub(crate) use file::file_mask;
pub(crate) use file::{CURRENT, Fd, Identity, Status, WRITING_FLAGS, push_link};
#[cfg(any(test, feature = "start", not(feature = "profil")))]
pub(crate) use filter::{Expected, Wanted, expect, filters};
#[cfg(any(test, feature = "profil"))]
pub(crate) use guarded::{can_be_written, read, write};
pub(crate) use maps::{Mapping, MapsRoom, OwnMemory, for_each_mapping};
pub(crate) use memory::{
    PAGE, Reserve, clear, map, map_file, map_own_word, replace, reserve, reserve_for_good, take_reserved, unmap,
    unreserve,
};
pub(crate) use perf::{SampleMemory, sample_on};
pub(crate) use signal::{
    FATAL_SIGNALS, SA_RESTART, SAMPLING_SIGNAL, SIG_BLOCK, SIG_DFL, SIG_UNBLOCK, SIGPIPE, SIGPROF, SIGXFSZ, SignalInfo,
    block_signals, catch_signal, change_mask, contains, default_action, is_caught_by, is_free_for_use, is_not_handled,
    let_signal_end, let_signal_wait, on_fatal_signal, pending_signals, set_blocked_signals, signal_named, take_signal,
    try_to_block_signals, uncatch_signal, without_signal,
};
#[cfg(any(test, feature = "profil"))]
pub(crate) use signal::{Handler, PROFIL_SIGNAL};
pub(crate) use thread::{
    UNKNOWN_THREAD, a_moment, effective_user, exit_process, give_way, known_process_id, process_id, system_release,
    thread_id, thread_is_gone,
};
#[cfg(any(test, feature = "profil"))]
pub(crate) use ticks::{NextHandler, threads_number};
pub(crate) use timer::{TimeOf, Timer, interval_timer, process_time, set_interval_timer, ticks_per_second};

use crate::arch;

/// Turns the kernel's return value into a result.
fn checked(result: isize) -> Result<usize, Errno> {
    if result < 0 { Err(Errno(-result as i32)) } else { Ok(result as usize) }
}

/// Makes a system call of up to six arguments, unless a filter that the program has installed would refuse it: see [`filter`].
///
/// # Safety
///
/// As for [`arch::syscall`]: what the call does to memory must be sound.
#[inline(always)]
unsafe fn call<const N: usize>(number: usize, arguments: [usize; N]) -> Result<usize, Errno> {
    let argument = |index| arguments.get(index).copied().unwrap_or(0);
    let [a, b, c, d, e] = [argument(0), argument(1), argument(2), argument(3), argument(4)];
    // SAFETY: the caller's promise; the arguments that were not given are not looked at.
    checked(unsafe {
        if N > 5 { call_of_six(number, a, b, c, d, e, argument(5)) } else { call_of_five(number, a, b, c, d, e) }
    })
}

/// # Safety
///
/// As for [`call`]. One function for nearly all calls, because a call of a function is shorter than the system call itself.
#[inline(never)]
unsafe fn call_of_five(number: usize, a: usize, b: usize, c: usize, d: usize, e: usize) -> isize {
    // SAFETY: the caller's promise.
    unsafe { call_of_six(number, a, b, c, d, e, 0) }
}

/// # Safety
///
/// As for [`call`].
#[inline(never)]
unsafe fn call_of_six(number: usize, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> isize {
    match filter::refusal(number, a, b, c, d, e, f) {
        0 => {
            // SAFETY: the caller's promise.
            unsafe { arch::syscall(number, [a, b, c, d, e, f]) }
        }
        error => -(error as isize),
    }
}
