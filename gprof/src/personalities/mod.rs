//! What other gprofs do in ways of their own: GNU's sums, and the gprof of the BSDs.

pub mod bsd;
pub mod gnu_sum;
