//! `profil` as other systems have it: programs that were written for it, linked with libgmon.a.
//!
//! The programs (tests/programs/profil) have a function for each thing that they can try, and tests have the functions'
//! names. Ticks are made by programs that send themselves the timer's signal, so that it is known how many come and where; the clock
//! is asked only where it is what is tested. docs/profil.md lists what the manual pages say and which test shows it.
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
