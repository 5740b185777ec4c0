//! Times that tail calls leave in doubt.

use super::number::Fixed;
use crate::sink::json::Record;

/// Returns the mark of an inclusive time that a tail call leaves in doubt, with the least and the longest time that are
/// possible.
pub(crate) fn text((least, most): (f64, f64)) -> String {
    format!("(?) {:.2} to {:.2}", Fixed(least + 0.0), Fixed(most + 0.0))
}

/// Returns the least and the longest inclusive time, if tail calls leave a doubt.
pub(crate) fn range<'a>(range: Option<(f64, f64)>) -> Record<'a> {
    range
        .map_or_else(Vec::new, |(least, most)| vec![("inclusive_least", least.into()), ("inclusive_most", most.into())])
}
