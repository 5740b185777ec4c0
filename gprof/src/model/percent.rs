//! Percentages.

/// Returns the divisor for percentages of `total`. No time at all counts as one sample.
pub(crate) fn whole(total: f64) -> f64 {
    if total > 0.0 { total } else { 1.0 }
}
