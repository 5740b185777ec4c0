//! Floats with a total order.

use std::cmp::Ordering;

/// A float with a total order, for sorting: both zeros are equal, and NaN comes last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ordered(pub f64);

impl Ord for Ordered {
    fn cmp(&self, other: &Ordered) -> Ordering {
        // Adding zero turns a negative zero into a positive zero.
        (self.0 + 0.0).total_cmp(&(other.0 + 0.0))
    }
}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Ordered) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ordered {
    fn eq(&self, other: &Ordered) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ordered {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_are_equal() {
        assert_eq!(Ordered(0.0), Ordered(-0.0));
        assert!(Ordered(1.0) < Ordered(2.0));
    }

    #[test]
    fn other_numbers_differ() {
        assert_eq!(Ordered(-0.0), Ordered(0.0));
        assert!(Ordered(1.0) != Ordered(2.0) && Ordered(f64::NAN) > Ordered(f64::INFINITY));
    }
}
