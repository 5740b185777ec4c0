//! Samples into the buffer: the kernel's `profil`, or the process's interval timer if the user asks for another rate.

#[path = "../../bsd/choice.rs"]
mod choice;
#[path = "../../bsd/differences.rs"]
mod differences;
#[path = "../../bsd/interval.rs"]
pub(super) mod interval;
mod overflows;
#[path = "../../bsd/rate.rs"]
mod rate;

use core::ffi::c_void;
use core::ptr;

use gmon::layout::GmonHdr;

pub(crate) use choice::{HIGHEST_RATE, Sampler, Wish};
#[cfg(not(test))]
pub(crate) use choice::{RATE_OTHERWISE, SAMPLER_NAMES};
pub(crate) use overflows::{look, look_if_due};
pub(crate) use rate::profrate;

use super::{header, snapshot};
use crate::message::say_count;
use crate::os::{self, Errno, SignalSet, give_way};
use crate::samples::bins;
use choice::is_itimer;

/// The per-thread state of the sampler. Empty, because both samplers sample all threads.
pub(crate) struct Clock;

impl Clock {
    pub(crate) fn reset(&self) {}

    /// Looks at the kernel's counters at a thread's first call, because the runtime is seldom called.
    pub(crate) fn attach(&self, _thread: i32, _blocked: SignalSet) {
        look_if_due();
    }

    pub(crate) fn run(&self, _on: bool) {}
    pub(crate) fn settle(&self, _is_last: bool) {}
}

/// Chooses the sampler and the rate, and prints a message if the user's request is not possible.
pub(crate) fn choose(wish: &Wish) {
    choice::choose(wish, b"OpenBSD");
}

/// Makes the system call, which also tells the kernel which file to write. Stops the kernel's sampling again if the
/// interval timer samples.
///
/// # Safety
///
/// As for [`os::profil`].
pub(super) unsafe fn profil(
    buffer: *mut c_void,
    length: usize,
    samples_size: usize,
    offset: usize,
    scale: u32,
    directory: i32,
) -> Result<(), Errno> {
    let is_first = !bins::has_started();
    if is_first {
        snapshot::remember_user();
    }
    // SAFETY: the caller's promise.
    unsafe { os::profil(buffer, length, samples_size, offset, scale, directory) }?;
    if scale == 0 {
        if is_itimer() {
            interval::stop(profrate());
        }
        bins::stop();
        overflows::stop();
        return Ok(());
    }
    if is_first {
        // SAFETY: the buffer begins with a header. The runtime's buffer, which comes first, is whole pages.
        unsafe { header::clear_in_children(buffer.cast()) };
    }
    // The bins are in the file, where counters end at 65,535.
    bins::are_file();
    // SAFETY: by the caller's promise, the samples are behind the header.
    unsafe {
        let samples = buffer.byte_add(size_of::<GmonHdr>());
        bins::start(samples, samples_size, offset, scale);
        if is_itimer() {
            os::profil(ptr::null_mut(), 0, 0, 0, 0, -1)?;
            return interval::start(profrate());
        }
        overflows::start(samples.cast(), samples_size);
    }
    Ok(())
}

/// Looks at the kernel's counters, before their sum is reported or a file is written.
pub(crate) fn collect() {
    look(|| {
        give_way();
        true
    });
}

/// Prints a message if samples are missing.
pub(crate) fn report() {
    if is_itimer() {
        say_count(b"", bins::full_bins() as u64, b" counters reached 65,535, the most that the file can hold");
    } else {
        overflows::report(profrate());
    }
    interval::report();
}

/// Resets the child of a `fork`, which the kernel samples as it sampled the parent. The child does not inherit the
/// interval timer, and gmon does not start the timer: only `execve` stops the timer, not `execv` or `execvp`, and
/// SIGPROF would end the executed program.
pub(crate) fn after_fork_in_child() {
    overflows::after_fork_in_child();
}

/// Stops the interval timer before `execve`, because the timer would keep running in the new program. Returns whether
/// the timer ran.
pub(crate) fn stop_before_exec() -> bool {
    let runs = is_itimer() && interval::runs(profrate());
    if runs {
        interval::stop(profrate());
        interval::discard_pending();
    }
    runs
}

/// Starts the interval timer again after a failed `execve`. Otherwise [`profil`] starts sampling.
pub(crate) fn start() -> Result<(), Errno> {
    if is_itimer() { interval::start(profrate()) } else { Ok(()) }
}

/// [`profil`] stops sampling.
pub(crate) fn stop() {}

/// Does nothing: [`collect`] does all.
pub(crate) fn settle_for_good() {}

/// Does nothing: the kernel stores no samples with stacks.
pub(crate) fn count_stored() {}

/// Does nothing: the kernel counts in the buffer itself.
pub(crate) fn discard() {}

/// Returns the set that the kernel must block when the program blocks `signals`. On OpenBSD the sets are equal.
pub(crate) fn to_be_blocked(signals: SignalSet) -> SignalSet {
    signals
}
