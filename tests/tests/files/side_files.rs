//! Side files: what they say is in the reports, however it was written.

mod conservation;
mod differential;
mod extract;
mod faults;
mod made;
mod on_demand;
mod stacks;
mod sums;
mod threads;
