//! The profiling runtime behind `cc -pg`: the start-up objects, `mcount`, `moncontrol` and the sampler.
//!
//! The modules, from the ground up; each uses only those before it:
//!
//! * `text`, bounded text; `arch`, what only assembly can say;
//! * `system`, the operating system's own calls; `message`, one line on standard error;
//! * `scale`, which bin a program counter counts in; `program`, the program's text and notes;
//! * `kernel`, OpenBSD's six-argument `profil` and what stands behind it on each system;
//! * `arcs`, a table of arcs that one thread writes; `threads`, every thread's tables;
//! * `environment`, what the user asked for;
//! * `buffer`, *the* buffer: header, samples and arcs in the layout of the file; `gather`, what all threads counted;
//! * `control`, starting and stopping; `unloading`, objects that are closed;
//! * `profil`, the calls of other systems, for programs of their own: a part of libgmon.a for itself;
//! * `snapshot`, the file while the program goes on; `ending`, the ends that pass `exit` by; `sandbox`, filters of system
//!   calls; `dispositions`, what the program is told of signals, and `masks`, of which are blocked; `start`, the C start-up
//!   contract; `entry`, where compiled code comes in.
//!
//! Nothing here panics, calls an allocator or takes a lock. Below `mcount` and in the signal handler nothing calls the C
//! library, and below `mcount` nothing uses a vector register.
#![cfg_attr(not(test), no_std)]
#![warn(clippy::indexing_slicing, clippy::expect_used, clippy::panic)]
// Only the start-up code reads the environment, and a test has a start of its own.
#![cfg_attr(any(test, not(feature = "start")), allow(dead_code, unused_imports))]

mod arch;
#[cfg(any(test, feature = "start", not(feature = "profil")))]
mod arcs;
#[cfg(any(test, feature = "start", not(feature = "profil")))]
mod buffer;
#[cfg(any(test, feature = "start", not(feature = "profil")))]
mod control;
#[cfg(all(feature = "start", not(test)))]
mod dispositions;
#[cfg(all(feature = "start", not(test)))]
mod ending;
#[cfg(any(test, feature = "start", not(feature = "profil")))]
mod entry;
#[cfg(any(test, feature = "start", not(feature = "profil")))]
mod environment;
#[cfg(any(test, feature = "start", not(feature = "profil")))]
mod gather;
mod kernel;
#[cfg(all(feature = "start", not(test)))]
mod masks;
mod message;
#[cfg(any(test, feature = "profil"))]
mod profil;
mod program;
#[cfg(all(feature = "start", not(test)))]
mod sandbox;
mod scale;
#[cfg(any(test, feature = "start", not(feature = "profil")))]
mod snapshot;
#[cfg(all(any(feature = "start", not(feature = "profil")), not(test)))]
mod start;
mod system;
mod text;
#[cfg(any(test, feature = "start", not(feature = "profil")))]
mod threads;
#[cfg(all(feature = "start", not(test)))]
mod unloading;

/// The compiler wants one; nothing reaches it, and a test of the linked objects shows that it is gone from them.
#[cfg(not(test))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
