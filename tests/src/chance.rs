//! A limit for numbers that chance decides, such as numbers of samples.

/// How many standard deviations a number may be from its expected value.
///
/// A normally distributed number is farther away with a chance of 1 in 10^11. The tests compare fewer than a hundred
/// such numbers, so one of 10^9 runs of all tests fails by chance. Tests compute the standard deviation from the number
/// of samples.
pub const DEVIATIONS: f64 = 6.8;
