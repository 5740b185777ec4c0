//! Standard errors as reports show them.

use crate::report::number::Fixed;

/// The width of a standard error, with a sign in front that it has in every row.
pub(super) const WIDTH: usize = 7;

/// A standard error, as it stands behind a time. Nothing when there is none.
pub(super) fn text(error: f64) -> String {
    if error == 0.0 { String::new() } else { format!("±{:.2}", Fixed(error)) }
}
