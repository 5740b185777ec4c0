//! Lists the encodings that a file may have.

use crate::{Hints, Order, Word};

const WORDS: [Word; 2] = [Word::W64, Word::W32];
pub(super) const ORDERS: [Order; 2] = [Order::Little, Order::Big];

/// The encodings of a form that match the hints, more likely ones first.
pub(super) fn candidates(hints: &Hints) -> impl Iterator<Item = (Word, Order)> + use<> {
    let Hints { word, order, .. } = *hints;
    let pairs = WORDS.into_iter().flat_map(|word| ORDERS.into_iter().map(move |order| (word, order)));
    pairs.filter(move |pair| word.is_none_or(|word| word == pair.0) && order.is_none_or(|order| order == pair.1))
}
