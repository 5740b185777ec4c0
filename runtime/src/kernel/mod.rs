//! OpenBSD's six-argument `profil`, and its implementation on each system.
//!
//! All modules above are the same on all systems; on OpenBSD this is the system call: see `openbsd`.
//! `profil(buf, buflen, samplesize, offset, scale, dirfd)` passes one buffer with the layout of the file: a
//! `struct gmonhdr`, `samplesize` bytes of 16-bit bins, and room for arcs. From then on the kernel counts in the bins.
//! When the process ends, [`terminate`] stores the buffer as the file, and behind the buffer the arcs for which the
//! buffer had no room.
//!
//! OpenBSD's kernel does not keep counts outside the program's text. [`terminate`] gets these counts separately, for
//! the files beside the file.

mod buffer;
mod fork;
mod profil;
#[cfg_attr(target_os = "linux", path = "linux/mod.rs")]
#[cfg_attr(target_os = "freebsd", path = "freebsd/mod.rs")]
#[cfg_attr(target_os = "openbsd", path = "openbsd/mod.rs")]
pub(crate) mod system;
mod termination;

pub use buffer::{buffer, take_buffer};
pub use fork::after_fork_in_child;
pub use profil::{NO_BUFFER, RuntimesProfil, accept};
pub(crate) use profil::{is_kernels, profil};
pub use system::profil_clock;
pub(crate) use system::{
    Clock, HIGHEST_RATE, Sampler, Wish, arcs_grain, choose as choose_sampler, collect, count_stored, is_wall, map_arcs,
    profrate, say_start_failure, settle_for_good, to_be_blocked,
};
#[cfg(not(test))]
pub(crate) use system::{RATE_OTHERWISE, SAMPLER_NAMES};
pub use termination::{store_memory, store_nothing};
#[allow(unused_imports, reason = "only the runtime copies its profile")]
pub(crate) use termination::{terminate, write_copy};
