//! Properties of the reader for any profile and any table of functions, and its public library.
#![allow(clippy::unwrap_used, reason = "a test fails loudly")]

mod bounds;
mod browser;
mod causes;
mod common;
mod conservation;
mod difference;
mod estimates;
mod exports;
mod flames;
mod goldens;
mod knots;
mod library;
mod lines;
mod measured;
mod messages;
mod noise;
mod numbers;
mod on_demand;
mod outside;
mod page;
mod pictures;
mod simulation;
mod stacks;
mod totals;
