//! Side files: what they say is in the reports, however it was written.
#![allow(clippy::unwrap_used, reason = "the helpers of a test fail as loudly as it does")]

#[path = "side_files/differential.rs"]
mod differential;
#[path = "side_files/extract.rs"]
mod extract;
#[path = "side_files/faults.rs"]
mod faults;
#[path = "side_files/made.rs"]
mod made;
#[path = "side_files/stacks.rs"]
mod stacks;
#[path = "side_files/sums.rs"]
mod sums;
#[path = "side_files/threads.rs"]
mod threads;
