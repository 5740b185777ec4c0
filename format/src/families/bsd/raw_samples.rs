//! Looks at the bytes of samples for counters that the header does not tell.

use crate::decode::cursor::{u16_of, u64_of};
use crate::older_rust::arrays;
use crate::{Counter, CounterWidth, Order};

/// The largest count in a floating-point number that is exact.
const MOST: f64 = 9_007_199_254_740_992.0;

/// Looks for samples that are floating-point numbers of 64 bits: at least two groups of eight bytes are not 0, and each
/// of these is a whole number above 0.
///
/// FreeBSD's `gprof -s` has its sums in such numbers, and writes the first bytes of them in place of counters.
pub(super) struct Floating {
    order: Order,
    /// The number of groups that are not 0.
    found: u64,
    /// All groups may be floating-point numbers.
    all: bool,
}

impl Floating {
    pub(super) fn new(order: Order) -> Floating {
        Floating { order, found: 0, all: true }
    }

    /// Looks at a piece of the samples. All pieces but the last one have whole groups. Returns whether the next piece
    /// can make a difference.
    pub(super) fn see(&mut self, samples: &[u8]) -> bool {
        let order = self.order;
        let mut hit = arrays(samples).map(|group| u64_of(group, order)).filter(|bits| *bits != 0);
        self.all &= hit.all(|bits| {
            let value = f64::from_bits(bits);
            self.found = self.found.saturating_add(1);
            (1.0..=MOST).contains(&value) && (value as u64) as f64 == value
        });
        self.all
    }

    /// Whether the samples look like floating-point numbers.
    pub(super) fn is_likely(&self) -> bool {
        self.all && self.found >= 2
    }
}

/// The lowest count in 64 bits that no program reaches: a timer of one gigahertz needs more than three days for it.
const IMPOSSIBLE: u64 = 1 << 48;

/// Compares samples in counters of a type with the same bytes in 16-bit counters.
pub(super) struct WideCounts {
    counter: Counter,
    order: Order,
    /// Both readings have different times.
    pub(super) differ: bool,
    /// A counter of the type has a count that no program reaches.
    pub(super) impossible: bool,
}

impl WideCounts {
    pub(super) fn new(counter: Counter, order: Order) -> WideCounts {
        WideCounts { counter, order, differ: false, impossible: false }
    }

    /// Looks at a piece of the samples. All pieces but the last one have whole groups of eight bytes. Returns whether
    /// the next piece can make a difference.
    pub(super) fn see(&mut self, samples: &[u8]) -> bool {
        let order = self.order;
        match (self.counter.width, self.counter.signed) {
            (CounterWidth::Bits16, false) => {}
            (CounterWidth::Bits16, true) => {
                self.differ |= arrays(samples).any(|sample| u16_of(sample, order) > i16::MAX as u16);
            }
            (CounterWidth::Bits8 | CounterWidth::Bits32, _) => self.differ |= samples.iter().any(|byte| *byte != 0),
            (CounterWidth::Bits64, signed) => {
                for bits in arrays(samples).map(|group| u64_of(group, order)).filter(|bits| *bits != 0) {
                    let count = if signed { (bits as i64).unsigned_abs() } else { bits };
                    self.differ = true;
                    self.impossible |= count >= IMPOSSIBLE;
                }
            }
        }
        !self.impossible
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn bytes(values: &[f64], order: Order) -> Vec<u8> {
        let bytes = |value: &f64| match order {
            Order::Little => value.to_le_bytes(),
            Order::Big => value.to_be_bytes(),
        };
        values.iter().flat_map(bytes).collect()
    }

    fn are_floating(samples: &[u8], order: Order) -> bool {
        let (mut whole, mut pieces) = (Floating::new(order), Floating::new(order));
        whole.see(samples);
        let _ = samples.chunks(16).all(|piece| pieces.see(piece));
        assert_eq!(whole.is_likely(), pieces.is_likely());
        whole.is_likely()
    }

    #[test]
    fn whole_numbers_are_counts() {
        for order in [Order::Little, Order::Big] {
            let sums = bytes(&[0.0, 5.0, 0.0, 12.0, 70_000.0], order);
            assert!(are_floating(&sums, order));
            assert!(are_floating(&sums[..sums.len() - 3], order), "the last number is cut");
            assert!(!are_floating(&bytes(&[0.0, 5.0], order), order), "one number may be chance");
            for other in [0.5, 1.5, 1e17, -1.0, 1e300, f64::NAN, f64::INFINITY] {
                assert!(!are_floating(&bytes(&[5.0, 6.0, other], order), order), "{other}");
            }
        }
        assert!(!are_floating(&[0; 64], Order::Little));
        let counters: Vec<u8> = (0..64_u16).flat_map(u16::to_le_bytes).collect();
        assert!(!are_floating(&counters, Order::Little));
    }
}
