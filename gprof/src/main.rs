//! gprof.
fn main() {}
