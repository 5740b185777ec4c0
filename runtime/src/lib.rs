//! The profiling runtime behind `cc -pg`: the start-up objects, `mcount`, `moncontrol` and the sampler.
//!
//! The modules, from the ground up; each uses only those before it:
//!
//! * `text`, bounded text; `arch`, what only assembly can say;
//! * `os`, the operating system's own calls; `message`, one line on standard error;
//! * `per_process`, what a forked child begins anew; `ownership`, which process the profile is of;
//! * `samples`, what a tick becomes; `objects`, what is loaded where;
//! * `file`, names, forms and writing;
//! * `kernel`, OpenBSD's six-argument `profil` and what stands behind it on each system;
//! * `mcount`, every thread's tables of arcs;
//! * `control`, starting and stopping: the buffer, the environment, what all threads counted;
//! * `process`, exits, signals and `dlclose`;
//! * `entry`, the C start-up contract, and where compiled code comes in.
//!
//! The last four are the runtime. All others are a library as well, for the calls of other systems (the crate gmon-profil): what is public
//! is for those.
//!
//! Nothing here panics, calls an allocator or takes a lock. Below `mcount` and in the signal handler nothing calls the C
//! library, and below `mcount` nothing uses a vector register.
#![cfg_attr(not(test), no_std)]
// The documentation is of use with private items alone.
#![allow(rustdoc::private_intra_doc_links)]
#![warn(clippy::indexing_slicing, clippy::expect_used, clippy::panic)]
// Only the start-up objects have everything; a test has a start of its own.
#![cfg_attr(any(test, not(feature = "start")), allow(dead_code, unused_imports))]

mod arch;
#[cfg(any(test, feature = "runtime"))]
mod control;
#[cfg(any(test, feature = "runtime"))]
mod entry;
#[doc(hidden)]
pub mod file;
#[doc(hidden)]
pub mod kernel;
#[cfg(any(test, feature = "runtime"))]
mod mcount;
mod message;
#[doc(hidden)]
pub mod objects;
#[doc(hidden)]
pub mod os;
#[doc(hidden)]
pub mod ownership;
mod per_process;
#[cfg(all(feature = "start", not(test)))]
mod process;
#[doc(hidden)]
pub mod samples;
#[doc(hidden)]
pub mod text;

/// The compiler wants one; nothing reaches it, and a test of the linked objects shows that it is gone from them.
#[cfg(all(feature = "runtime", not(test)))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
