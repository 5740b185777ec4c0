//! Standard errors as reports show them.

use crate::reports::number::Fixed;

/// The width of a standard error, including its sign.
pub(crate) const WIDTH: usize = 7;

/// Returns the text of a standard error; empty if there is no error.
pub(crate) fn text(error: f64) -> String {
    if error == 0.0 { String::new() } else { format!("±{:.2}", Fixed(error)) }
}
