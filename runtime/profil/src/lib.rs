//! `profil` in the dialects of other systems, for programs that call it themselves: one call in five dialects.
//!
//! Since 1975 the call has had four arguments and six, for a buffer and for a list of buffers. Each dialect is a file
//! that defines the meaning of the arguments: where bins begin, how wide bins are, and what happens to a full bin.
//! The shared parts are `kernel::profil_clock`, which produces ticks, and `engine`, which passes them to the one
//! `profile` of the process. docs/profil.md has the sentences of the manual pages and the tests of each sentence.
//!
//! This crate is a member of libgmon.a that needs nothing of the runtime that records calls: it has its own timer and
//! its own signal, so both may be active at once.

#![cfg_attr(not(test), no_std)]
#![warn(clippy::indexing_slicing, clippy::expect_used, clippy::panic)]

mod aix;
mod attach;
mod bsd;
mod engine;
#[cfg(not(target_os = "freebsd"))]
mod host;
mod illumos;
mod openbsd;
mod profile;
mod rules;

pub use aix::gmon_profil_aix;
pub use bsd::gmon_profil_bsd;
#[cfg(not(target_os = "freebsd"))]
pub use host::host;
pub use illumos::{gmon_pcsample, gmon_profil_illumos};
pub use openbsd::gmon_profil_openbsd;

/// Checks a relation for every scale from 0 to 65536, at distances around the borders of bins and at some far
/// distances.
#[cfg(test)]
fn for_every_scale(check: impl Fn(u32, usize)) {
    for scale in 0..=65536_u32 {
        let width = 131_072_usize.checked_div(scale as usize).unwrap_or(0);
        for border in [0, width, 2 * width, 3 * width, 7 * width, 1000 * width] {
            for distance in border.saturating_sub(2)..=border + 2 {
                check(scale, distance);
            }
        }
        for distance in [0xfffe, 0xffff, 0x1_0000, 0x1_0001, 0x7fff_ffff_0000, usize::MAX >> 1] {
            check(scale, distance);
        }
    }
}

/// The compiler requires a panic handler. No code reaches the handler, and a test of the linked objects proves that
/// it is not in them.
#[cfg(all(feature = "object", not(test)))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
