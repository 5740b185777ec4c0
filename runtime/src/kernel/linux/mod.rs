//! Linux has no `profil`: timers of the runtime or the kernel's sample rings replace it.
pub mod profil_clock;
mod sampler;

use super::buffer::KernelsProfil;
use crate::file::Form;
use crate::message::say_error;
use crate::os::Errno;
use crate::state::reset_list;

reset_list! { sampler, sampler::account, sampler::process, sampler::ring }

/// The default form of the file: the buffer as it is, or the GNU form if a bin has overflowed.
pub(crate) fn form(has_overflowed: bool) -> Form {
    // Most of a large program has no samples.
    #[cfg(feature = "preload")]
    let (form, form_with_overflows) = (Form::GnuParts, Form::GnuParts);
    #[cfg(not(feature = "preload"))]
    let (form, form_with_overflows) = (Form::OpenBsd, Form::Gnu);
    if has_overflowed { form_with_overflows } else { form }
}

/// Prints that the first call of `profil` failed.
#[inline(always)]
pub(crate) fn say_start_failure(error: Errno) {
    say_error(&[b"not profiling: profil"], error);
}

/// The end of the message for an invalid rate.
#[cfg(not(test))]
pub(crate) const RATE_OTHERWISE: &[u8] = b": using 100";

/// The values of `GMON_SAMPLER`, for a message.
#[cfg(not(test))]
pub(crate) const SAMPLER_NAMES: &[u8] = b"perf, timer or itimer";

pub(crate) use sampler::{
    Clock, HIGHEST_RATE, Sampler, Wish, after_fork_in_child, blocked_as_told, can_end_by_signal, can_sample, choose,
    collect, count_stored, discard, go_on_again, is_wall, profrate, report, settle_for_good, start, stop,
    stop_for_good, to_be_blocked,
};

/// The kernel has no `profil` of six arguments.
pub(crate) const KERNELS_PROFIL: Option<KernelsProfil> = None;

pub(crate) use crate::file::{arcs_grain, map_arcs};
