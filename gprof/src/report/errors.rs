//! Standard errors as reports show them.

use crate::analysis::Clock;
use crate::report::number::Fixed;

/// The width of a standard error, with a sign in front that it has in every row.
pub(super) const WIDTH: usize = 7;

/// A standard error, given in samples, as it stands behind a time. Nothing when there is none.
pub(super) fn text(samples: f64, clock: &Clock) -> String {
    if samples == 0.0 { String::new() } else { format!("±{:.2}", Fixed(samples / clock.rate)) }
}
