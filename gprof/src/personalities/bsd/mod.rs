//! The gprof of the BSDs: its command line, how it reads and adds up profiles, its analysis, and its text.

pub mod arguments;
pub mod report;
pub mod text;
