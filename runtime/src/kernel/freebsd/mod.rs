//! FreeBSD: the kernel's four-argument `profil` samples all threads; a reader thread reads the kernel's counters before
//! they wrap.
pub mod profil_clock;
mod sampler;

use super::buffer::{KernelsProfil, buffer};
use crate::file::Form;
use crate::message::say_error;
use crate::os::Errno;
use crate::state::reset_list;

reset_list! { sampler::interval }

/// The default form of the file: libc's, or FreeBSD's form with 32-bit counters if a bin exceeded 16 bits.
pub(crate) fn form(has_overflowed: bool) -> Form {
    if has_overflowed { Form::FreeBsd } else { Form::Bsd }
}

/// Prints that the first call of `profil` failed. The call captures the directory of the file before it stores the
/// buffer.
pub(crate) fn say_start_failure(error: Errno) {
    let is_directory = buffer().is_none() && error != Errno::EPERM;
    let what: &[u8] = if is_directory { b"cannot open the directory of the profile" } else { b"profil" };
    say_error(&[b"not profiling: ", what], error);
}

pub(crate) use sampler::{
    Clock, HIGHEST_RATE, Sampler, Wish, after_fork_in_child, choose, collect, count_stored, discard, profrate, report,
    settle_for_good, start, stop, stop_before_exec, to_be_blocked,
};
/// Whether samples are taken in wall-clock time, which this system cannot do.
pub(crate) fn is_wall() -> bool {
    false
}

#[cfg(not(test))]
pub(crate) use sampler::{RATE_OTHERWISE, SAMPLER_NAMES};

/// The kernel has no `profil` of six arguments.
pub(crate) const KERNELS_PROFIL: Option<KernelsProfil> = None;

pub(crate) use crate::file::{arcs_grain, map_arcs};
