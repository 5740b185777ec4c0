//! The runtime, linked into real programs: the counts that the programs make themselves must be in their profiles.
#![allow(clippy::unwrap_used, reason = "a test fails loudly")]

mod by_hand;
mod by_thread;
mod children;
mod contexts;
mod corners;
mod counts;
mod disassembly;
mod dispositions;
mod endings;
mod extremes;
mod files;
mod filters;
mod gmon_run;
mod identity;
mod live;
mod lives;
mod messages;
mod mismatch;
mod objects;
mod objects_closed;
mod objects_outside;
mod objects_read;
mod own_code;
mod places;
mod prefixes;
mod privileges;
mod replaced;
mod samples;
mod sampling;
mod sandboxes;
mod side_files;
mod snapshots;
mod start;
mod support;
mod walks;
