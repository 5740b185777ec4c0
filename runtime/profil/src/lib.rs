//! `profil` as other systems have it, for programs that call it themselves: the same call in five dialects.
//!
//! It has been called with four arguments and with six, for a buffer and for a list of them, since 1975. Each dialect is a
//! file that says what its arguments mean: where bins begin, how wide they are, what becomes of a full one. What they
//! share is below: `kernel::profil_clock` makes ticks, `engine` hands them to the one `profile` of the process. docs/profil.md has the
//! manual pages' sentences and the tests of each.
//!
//! This is a part of libgmon.a for itself, and needs nothing of the runtime that records calls: its timer and its signal are
//! its own, so that both may be at work.

#![cfg_attr(not(test), no_std)]
#![warn(clippy::indexing_slicing, clippy::expect_used, clippy::panic)]

mod aix;
mod attach;
mod bsd;
mod engine;
mod illumos;
mod openbsd;
mod profile;
mod rules;

pub use aix::gmon_profil_aix;
pub use bsd::{gmon_profil_bsd, host};
pub use illumos::{gmon_pcsample, gmon_profil_illumos};
pub use openbsd::gmon_profil_openbsd;

/// Tries a relation for every scale from 0 to 65536 at distances around the borders of bins, and at some far ones.
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

/// The compiler wants one; nothing reaches it, and a test of the linked objects shows that it is gone from them.
#[cfg(not(test))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
