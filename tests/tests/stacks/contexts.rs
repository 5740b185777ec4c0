//! Calling contexts: programs know the inclusive costs of their functions, and the profiles of the runs must have the
//! same.
#![cfg(target_os = "linux")]

mod by_hand;
mod callers;
mod clocks;
#[cfg(target_arch = "x86_64")]
mod instants;
mod leaves;
mod links;
mod live;
#[allow(dead_code, reason = "a benchmark uses the rest")]
mod reports;
mod ring;
mod run;
mod soak;
