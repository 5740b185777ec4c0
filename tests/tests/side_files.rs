//! Side files: what they say is in the reports, however it was written.
#![allow(clippy::unwrap_used, reason = "the helpers of a test fail as loudly as it does")]

#[path = "side_files/differential.rs"]
mod differential;
#[path = "side_files/faults.rs"]
mod faults;
#[path = "side_files/made.rs"]
mod made;
#[path = "side_files/stacks.rs"]
mod stacks;
