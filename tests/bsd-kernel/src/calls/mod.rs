//! The system calls that both systems have, grouped by subject. Handlers take the arguments as numbers, in order.

pub mod descriptor_calls;
pub mod exec;
pub mod fork;
pub mod mapping;
pub mod paths;
pub mod place;
pub mod process_calls;
pub mod signal_calls;
pub mod test_calls;
pub mod timers;
