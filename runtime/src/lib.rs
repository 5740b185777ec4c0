//! The profiling runtime behind `cc -pg`: the start-up objects, `mcount`, `moncontrol` and the sampler.
//!
//! The modules, from the ground up. Each module uses only modules before it:
//!
//! * `state`: what a forked child resets, and what a child inherits
//! * `text`: bounded text; `arch`: what only assembly can do
//! * `os`: the operating system's calls; `message`: one line on standard error
//! * `unwind`: walks the stack of an interrupted thread
//! * `memory`: memory in which a process counts; `ownership`: which process owns the profile
//! * `samples`: what a tick becomes; `objects`: which object is loaded where
//! * `file`: names, forms and writing of the files
//! * `kernel`: OpenBSD's six-argument `profil`, and its implementation on each system
//! * `mcount`: every thread's tables of arcs
//! * `control`: starting and stopping, the buffer, the environment, the merged counts of all threads
//! * `process`: exits, signals and `dlclose`
//! * `entry`: the C start-up contract, and the functions that compiled code calls
//!
//! The last four modules are the runtime. All others are also a library for the `profil` of other systems (the crate
//! gmon-profil); public items are for that crate.
//!
//! Nothing here panics, calls an allocator or takes a lock. Code below `mcount` and in the signal handler does not
//! call the C library, and code below `mcount` uses no vector register.
#![cfg_attr(not(test), no_std)]
// The documentation is useful only with private items.
#![allow(rustdoc::private_intra_doc_links)]
#![warn(clippy::indexing_slicing, clippy::expect_used, clippy::panic)]
// Only the start-up objects contain everything; a test program has its own start-up code.
#![cfg_attr(any(test, not(feature = "start")), allow(dead_code, unused_imports))]

mod arch;
mod closures;
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
mod memory;
mod message;
#[doc(hidden)]
pub mod objects;
#[doc(hidden)]
pub mod os;
#[doc(hidden)]
pub mod ownership;
#[cfg(all(feature = "start", not(test)))]
mod process;
#[doc(hidden)]
pub mod samples;
mod state;
#[doc(hidden)]
pub mod text;
#[doc(hidden)]
pub mod unwind;

/// The compiler requires a panic handler. No code reaches the handler, and a test of the linked objects proves that
/// it is not in them.
#[cfg(all(feature = "runtime", not(test)))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
