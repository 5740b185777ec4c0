//! Files that gprof reads and writes: images, profiles, side files, sums, exports, JSON. Hostile files need little time
//! and memory.
#![allow(clippy::unwrap_used, reason = "a test fails loudly")]

mod ci_jobs;
mod clients;
mod clusters;
mod debug_packages;
mod difference;
mod exports;
mod foreign_images;
mod foreign_profiles;
mod habits;
mod hostile_images;
mod images;
mod json;
mod limits;
mod machines;
mod other_systems;
mod outputs;
mod repeat;
mod side_files;
mod small;
mod sums;
