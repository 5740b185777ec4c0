//! Linux. Raw system calls, never the C library's: they set no errno, are no cancellation points, and may be made below
//! mcount and in a signal handler.

mod errno;
mod file;
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
pub(crate) use errno::Errno;
pub(crate) use file::{CURRENT, Fd, Identity, Status, push_link};
#[cfg(any(test, feature = "profil"))]
pub(crate) use guarded::{can_be_written, read, write};
pub(crate) use maps::{Mapping, MapsRoom, OwnMemory, for_each_mapping};
pub(crate) use memory::{PAGE, clear, map, map_file, replace, unmap};
pub(crate) use perf::{SampleMemory, sample_on};
pub(crate) use signal::{
    FATAL_SIGNALS, SAMPLING_SIGNAL, SIGPROF, SignalInfo, block_signals, catch_signal, default_action, is_caught_by,
    is_free_for_use, is_not_handled, on_fatal_signal, send_to_this_thread, set_blocked_signals, signal_named,
    unblock_signal, without_signal,
};
#[cfg(any(test, feature = "profil"))]
pub(crate) use signal::{Handler, PROFIL_SIGNAL};
pub(crate) use thread::{
    a_moment, effective_user, exit_process, process_id, system_release, thread_id, thread_is_gone,
};
#[cfg(any(test, feature = "profil"))]
pub(crate) use ticks::{NextHandler, threads_number};
pub(crate) use timer::{TimeOf, Timer, interval_timer, process_time, set_interval_timer, ticks_per_second};

use crate::arch;

/// Turns the kernel's return value into a result.
fn checked(result: isize) -> Result<usize, Errno> {
    if result < 0 { Err(Errno(-result as i32)) } else { Ok(result as usize) }
}

/// Makes a system call of up to six arguments.
///
/// # Safety
///
/// As for [`arch::syscall`]: what the call does to memory must be sound.
#[inline]
unsafe fn call<const N: usize>(number: usize, arguments: [usize; N]) -> Result<usize, Errno> {
    let mut all = [0; 6];
    for (place, argument) in all.iter_mut().zip(arguments) {
        *place = argument;
    }
    // SAFETY: the caller's promise; the arguments that were not given are not looked at.
    checked(unsafe { arch::syscall(number, all) })
}
