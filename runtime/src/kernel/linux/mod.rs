//! Linux has no `profil`: timers of its own or the kernel's ring of samples take its place.
pub mod profil_clock;
mod sampler;

use crate::file::Form;

/// The form of the file, unless the user says: the buffer as it is, or the GNU form where a bin ran over.
pub(crate) fn form(has_overflowed: bool) -> Form {
    if has_overflowed { Form::Gnu } else { Form::OpenBsd }
}

/// What is said of a rate that is none.
#[cfg(not(test))]
pub(crate) const RATE_OTHERWISE: &[u8] = b": using 100";

/// The names of the samplers, as `GMON_SAMPLER` has them.
#[cfg(not(test))]
pub(crate) const SAMPLER_NAMES: &[u8] = b"perf, timer and itimer";

pub(crate) use sampler::{
    Clock, HIGHEST_RATE, Sampler, Wish, after_fork_in_child, blocked_as_told, can_end_by_signal, can_sample, choose,
    collect, discard, go_on_again, profrate, report, settle_for_good, start, stop, stop_for_good, to_be_blocked,
};
