//! gprof.
