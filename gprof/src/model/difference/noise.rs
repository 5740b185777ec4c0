//! How large a change must be so that chance does not explain it.
//!
//! If a program is compared with itself, at most one of 1,000 comparisons may have a change that is no noise, whatever
//! the number of functions. So each change is tested at the level 1/1,000 divided by the number of changes
//! (Bonferroni's correction). Šidák's correction needs independent changes, and inclusive times depend on each other.

use super::change::Change;

/// The numbers of standard errors for 1, 2, 4, 8, … changes: for 2ⁿ changes, the quantile of the standard normal
/// distribution at 1 − 1/2000/2ⁿ, rounded up. Half of the level is for growth, and half for the opposite.
const LIMITS: [f64; 34] = [
    3.291, 3.481, 3.663, 3.837, 4.004, 4.165, 4.320, 4.471, 4.617, 4.759, 4.897, 5.031, 5.163, 5.291, 5.416, 5.539,
    5.659, 5.777, 5.893, 6.006, 6.117, 6.227, 6.335, 6.441, 6.545, 6.648, 6.749, 6.849, 6.948, 7.045, 7.141, 7.235,
    7.329, 7.421,
];

/// Sets the number of standard errors below which these changes are noise, and returns it.
pub(super) fn set_limit(changes: Vec<&mut Change>) -> f64 {
    let limit = limit(changes.iter().filter(|change| change.is_tested()).count());
    changes.into_iter().for_each(|change| change.limit = limit);
    limit
}

/// Returns the number of standard errors below which a change is noise, if so many changes are tested. Between two
/// entries of the table, the greater one counts.
fn limit(changes: usize) -> f64 {
    let power = changes.checked_next_power_of_two().unwrap_or(1 << (usize::BITS - 1)).trailing_zeros() as usize;
    LIMITS[power.min(LIMITS.len() - 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The part of the standard normal distribution beyond a value: the integral of the density by Simpson's rule.
    fn beyond(value: f64) -> f64 {
        const STEPS: u32 = 4000;
        let width = 10.0 / f64::from(STEPS);
        let density = |at: u32| (-(value + width * f64::from(at)).powi(2) / 2.0).exp() / std::f64::consts::TAU.sqrt();
        let weight = |at: u32| match at {
            0 | STEPS => 1.0,
            _ if at % 2 == 1 => 4.0,
            _ => 2.0,
        };
        (0..=STEPS).map(|at| weight(at) * density(at)).sum::<f64>() * width / 3.0
    }

    #[test]
    fn the_table_has_quantiles_of_the_normal_distribution() {
        assert!((beyond(0.0) - 0.5).abs() < 1e-12 && (beyond(1.0) - 0.158_655_253_931_457).abs() < 1e-12);
        for (power, limit) in LIMITS.iter().enumerate() {
            let level = 1e-3 / 2.0 / 2.0_f64.powi(power as i32);
            assert!(beyond(*limit) <= level && beyond(limit - 0.001) > level, "2^{power}: {limit}");
        }
    }

    #[test]
    fn numbers_between_two_entries_have_the_greater_one() {
        assert_eq!([0, 1, 2, 3, 4, 5, 8, 9].map(limit), [0, 0, 1, 2, 2, 3, 3, 4].map(|at: usize| LIMITS[at]));
        assert_eq!([1 << 33, (1 << 33) + 1, usize::MAX].map(limit), [7.421; 3]);
    }
}
