//! The runtime, linked into real programs: what they count themselves must be in their profiles.
#![allow(clippy::unwrap_used, reason = "a test fails loudly")]

mod corners;
mod counts;
mod endings;
mod extremes;
mod files;
mod identity;
mod live;
mod mismatch;
mod objects;
mod objects_outside;
mod objects_read;
mod places;
mod samples;
mod sampling;
mod snapshots;
mod support;
