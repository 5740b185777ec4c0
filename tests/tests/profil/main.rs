//! `profil` in the versions of other systems: programs that were written for it, linked with libgmon.a.
//!
//! The programs (tests/programs/profil) have a function for each thing that they can try, and tests have the functions'
//! names. The programs send themselves the timer's signal to make ticks, so the tests know their number and place; only
//! tests of the clock use it. docs/profil.md lists the statements of the manual pages and the tests that show them.
#![allow(clippy::unwrap_used, reason = "a test fails loudly")]

/// Tests that each run the trial of their name in a program.
macro_rules! trials {
    ($program:expr; $($name:ident)*) => {
        $(#[test]
        fn $name() {
            $crate::support::try_one($program, &[stringify!($name)]);
        })*
    };
}

mod aix;
mod bsd;
mod elsewhere;
mod engine;
mod illumos;
mod openbsd;
mod pages;
mod support;
mod together;
