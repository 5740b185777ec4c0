//! The house itself: the direction of dependencies in the sources, the boundaries between systems, and the manual
//! pages.
#![allow(clippy::unwrap_used, reason = "a test fails loudly")]

mod additions;
mod architectures;
mod columns;
mod contributing;
mod dialects;
mod examples;
mod manual;
mod readme;
mod scripts;
mod structure;
mod systems;
mod tutorial;
