//! Names as GNU's tools spell them, and hostile names: time and memory stay in proportion.

mod common;
mod hostile;
mod memory;
mod names;
