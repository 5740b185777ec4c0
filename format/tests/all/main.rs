//! The crate as its users see it: all forms of profiles, side files, hostile files, and limits of memory.
#![allow(clippy::unwrap_used, reason = "a test fails loudly")]

mod accumulate;
mod api;
mod bsd;
mod common;
mod conformance;
mod counting;
mod detect;
mod detect_claims;
mod detect_hints;
mod detect_reader;
mod errors;
mod gnu;
mod histogram;
mod hostile;
mod illumos;
mod layout;
mod object_list;
mod old_forms;
mod profile;
mod round_trip;
mod serde;
mod side;
mod side_file;
mod side_file_dump;
mod side_file_generated;
mod side_file_hostile;
mod side_file_live;
mod side_file_on_demand;
mod side_file_parts;
mod side_file_sizes;
mod side_file_sums;
mod streaming;
mod streaming_limits;
mod suite;
mod tagged;
