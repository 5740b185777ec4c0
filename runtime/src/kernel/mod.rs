//! OpenBSD's six-argument `profil`, and what stands behind it on each system.
//!
//! Everything above is the same on all systems; on OpenBSD this is the system call. `profil(buf, buflen, samplesize,
//! offset, scale, dirfd)` hands over one buffer in the layout of the file, a `struct gmonhdr`, `samplesize` bytes of
//! 16-bit bins and room for arcs; from then on the bins are counted up, and when the process ends, [`terminate`], the
//! buffer is stored as the file.

#[cfg_attr(target_os = "linux", path = "linux/mod.rs")]
mod behind;

pub(crate) use behind::{
    Clock, Form, HIGHEST_RATE, Naming, Output, Sampler, Wish, after_fork_in_child, arcs_grain, begin_live,
    choose_sampler, configure, is_live, is_ours, leave_live, let_in, map_arcs, profil, profrate, rebuffer, terminate,
};
#[cfg(any(test, feature = "profil"))]
pub(crate) use behind::{NO_BUFFER, accept, buffer, runtimes_profil, store_memory, store_nothing, take_buffer};
