//! OpenBSD 7.8 and later. The kernel counts samples in the runtime's buffer, and writes the buffer as the file when the
//! process ends.
//!
//! If `totarc` in the buffer's header is not 0, the kernel writes the file however the process ends, even by SIGKILL.
//! The tables in which threads count calls are therefore parts of the buffer ([`arcs`]), and `totarc` always covers all
//! these tables. A killed process loses no calls, calls cost no more than on other systems, and the process needs no
//! timer and no signal. The alternative, to copy the most frequent arcs into the buffer at intervals, would lose the
//! calls of the last interval and would need a timer.
#[path = "../freebsd/profil_clock.rs"]
pub mod profil_clock;

mod arcs;
mod header;
mod sampler;
pub(crate) mod snapshot;

use super::buffer::KernelsProfil;
use crate::file::Form;
use crate::message::say_error;
use crate::os::Errno;
use crate::state::reset_list;

reset_list! { sampler::interval }

/// The system call `profil`, which replaces the implementation in user space.
pub(crate) const KERNELS_PROFIL: Option<KernelsProfil> =
    Some(KernelsProfil { call: sampler::profil, put_arcs: arcs::put, open_snapshot: snapshot::open });

/// The form of files that the runtime writes itself.
pub(crate) fn form(_has_overflowed: bool) -> Form {
    Form::OpenBsd
}

/// Prints that the first call of `profil` failed.
pub(crate) fn say_start_failure(error: Errno) {
    say_error(&[b"not profiling: profil"], error);
}

pub(crate) use arcs::{after_fork_in_child as keep_arcs_after_fork, arcs_grain, map_arcs};
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
