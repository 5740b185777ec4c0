//! Lists the encodings that a file may have.

use alloc::vec::Vec;

use super::Detection;
use super::evidence::Evidence;
use crate::decode::Result;
use crate::{Encoding, Error, HintKind, Hints, Order, Word};

const WORDS: [Word; 2] = [Word::W64, Word::W32];
pub(crate) const ORDERS: [Order; 2] = [Order::Little, Order::Big];

/// The encodings of a form that match the hints, more likely ones first.
pub(crate) fn candidates(hints: &Hints) -> impl Iterator<Item = (Word, Order)> + use<> {
    let (word, order) = (hints.word(), hints.order());
    let pairs = WORDS.into_iter().flat_map(|word| ORDERS.into_iter().map(move |order| (word, order)));
    pairs.filter(move |pair| word.is_none_or(|word| word == pair.0) && order.is_none_or(|order| order == pair.1))
}

/// Whether some writer makes this many bins for this many bytes of code: a bin is never smaller than half a byte, and
/// bins above 4096 bytes would be useless.
pub(crate) fn is_plausible(bins: u64, span: u64) -> bool {
    bins != 0 && bins <= span.saturating_mul(2) && span <= bins.saturating_mul(4096)
}

/// Whether some call of `profil` makes this many bins for this many bytes of code. A scale is a 16-bit fraction of at
/// least 2, with which a bin has 65536 bytes, or all code has one bin.
pub(crate) fn is_possible(bins: u64, span: u64) -> bool {
    let is_dense_enough = bins == 1 || span <= bins.saturating_mul(1 << 16);
    bins != 0 && bins <= span.saturating_mul(2) && is_dense_enough
}

/// Keeps the encodings that fit better, if there are any.
pub(crate) fn keep_if_any<Fit>(fits: &mut Vec<(Encoding, Fit)>, is_better: impl Fn(&Fit) -> bool) {
    if fits.iter().any(|(_, fit)| is_better(fit)) {
        fits.retain(|(_, fit)| is_better(fit));
    }
}

/// The one encoding that fits. An error if there are several: each has another meaning. `None` if there are none.
pub(crate) fn one<Fit>(
    fits: &[(Encoding, Fit)],
    hints: &Hints,
    evidence: impl Fn(&Encoding, &Fit) -> Vec<Evidence>,
) -> Option<Result<Detection>> {
    let (first, others) = fits.split_first()?;
    if others.is_empty() {
        let (encoding, fit) = first;
        return Some(Ok(Detection::new(*encoding, evidence(encoding, fit))));
    }
    let differ = |is_other: &dyn Fn(&Encoding) -> bool| others.iter().any(|(other, _)| is_other(other));
    let hint = if hints.word().is_none() && differ(&|other| other.word() != first.0.word()) {
        HintKind::Word
    } else if differ(&|other| other.order != first.0.order) {
        HintKind::Order
    } else {
        HintKind::Form
    };
    Some(Err(Error::Ambiguous { candidates: fits.iter().map(|(encoding, _)| *encoding).collect(), hint }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_and_code_fit_within_limits() {
        let none = [(0, 0), (0, 8), (8, 0), (17, 8)];
        assert!(none.iter().all(|(bins, span)| !is_plausible(*bins, *span) && !is_possible(*bins, *span)));
        assert!(is_plausible(16, 8) && is_possible(16, 8));
        assert!(is_plausible(2, 2 * 4096) && !is_plausible(2, 2 * 4096 + 1));
        assert!(is_possible(2, 2 << 16) && !is_possible(2, (2 << 16) + 1));
        assert!(is_possible(1, 1 << 40));
    }
}
