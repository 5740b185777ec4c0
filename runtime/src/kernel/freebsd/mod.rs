//! FreeBSD: the kernel's `profil` of four arguments samples all threads; a thread of ours reads its counters before they run over.
pub mod profil_clock;
mod sampler;

use super::buffer::KernelsProfil;
use crate::file::Form;

/// The form of the file, unless the user says: libc's, or FreeBSD's with counters of 32 bits where a bin ran over.
pub(crate) fn form(has_overflowed: bool) -> Form {
    if has_overflowed { Form::FreeBsd } else { Form::Bsd }
}

/// What is said of a rate that is none.
#[cfg(not(test))]
pub(crate) const RATE_OTHERWISE: &[u8] = b": using the rate of profil";

/// The names of the samplers, as `GMON_SAMPLER` has them.
#[cfg(not(test))]
pub(crate) const SAMPLER_NAMES: &[u8] = b"profil and itimer";

pub(crate) use sampler::{
    Clock, HIGHEST_RATE, Sampler, Wish, after_fork_in_child, choose, collect, discard, profrate, report,
    settle_for_good, start, stop, stop_before_exec, to_be_blocked,
};

/// The kernel has no `profil` of six arguments.
pub(crate) const KERNELS_PROFIL: Option<KernelsProfil> = None;

pub(crate) use crate::file::{arcs_grain, map_arcs};
