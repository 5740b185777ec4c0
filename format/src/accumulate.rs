//! Adds up profiles.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use crate::distinct::{Crowded, Distinct};
use crate::histograms::Histograms;
use crate::{Arc, Block, Error, Part, Profile};

/// The sum of any number of profiles of one program.
///
/// Arcs with the same pair of addresses become one arc, and so do basic blocks of one address. Histograms of the same
/// address range are added bin by bin; histograms of disjoint ranges are kept side by side. Sums have 64 bits; a larger
/// sum is an error. Memory grows with the code that the profiles cover, not with the number of profiles.
///
/// A program that adds up any number of files:
///
/// ```no_run
#[doc = include_str!("../examples/sum.rs")]
/// ```
#[derive(Clone, Debug, Default)]
pub struct Accumulator {
    histograms: Histograms,
    arcs: Counts<Arc>,
    blocks: Counts<Block>,
}

impl Accumulator {
    /// Makes an empty sum.
    #[must_use]
    pub fn new() -> Accumulator {
        Accumulator::default()
    }

    /// Adds a profile. The order of the calls and the list of images are properties of one run: the sum has neither.
    ///
    /// The sum keeps the histograms of the profile, which may be large, without copying them, so the method takes the
    /// profile itself. [`side_file::Accumulator::add`](crate::side_file::Accumulator::add) borrows, because a sum of
    /// side files keeps no part of a file as it is.
    ///
    /// # Errors
    ///
    /// When histograms overlap without having the same range, when they differ in dimension, abbreviation, rate or
    /// bin size (by more than a millionth of two code bytes), or when histograms of one range have different numbers
    /// of bins. When a sum of counts does not fit a `u64`, or an `i64` if one of the histograms is signed. After an
    /// error, the sum is the same as before.
    ///
    /// With negative bins, the order can decide whether a sum fits: `i64::MAX`, 1, and -1 fit in the order `i64::MAX`,
    /// -1, 1 only. Sums without an error are the same in any order.
    pub fn add(&mut self, profile: Profile) -> Result<(), Error> {
        let Profile { histograms, arcs, blocks, .. } = profile;
        self.histograms.check_alike(&histograms)?;
        let known = self.arcs.list.len();
        self.arcs.add(&arcs)?;
        if let Err(error) = self.blocks.add(&blocks) {
            self.arcs.remove(&arcs, known);
            return Err(error);
        }
        for histogram in histograms.finish() {
            self.histograms.add_alike(histogram)?;
        }
        Ok(())
    }

    /// Returns the sum of the profiles that were added, sorted by address: the sum does not depend on the order in
    /// which the profiles were added.
    #[must_use]
    pub fn finish(self) -> Profile {
        let mut sum = self.finish_in_order();
        sum.histograms.sort();
        sum.arcs.sort_unstable();
        sum.blocks.sort_unstable();
        sum
    }

    /// Returns the sum of the profiles that were added, with the histograms, arcs, and blocks in the order of their
    /// first appearance.
    #[must_use]
    pub fn finish_in_order(self) -> Profile {
        let (histograms, arcs, blocks) = (self.histograms, self.arcs.list, self.blocks.list);
        Profile { histograms, arcs, blocks, ..Profile::default() }
    }
}

/// An item with a count: an arc, or a basic block.
pub(crate) trait Counted: Copy {
    /// The key of the item.
    type Key: Ord + Copy;

    fn key(&self) -> Self::Key;
    /// The key as two words.
    fn words(&self) -> (u64, u64);
    fn count(&mut self) -> &mut u64;
    fn overflow(&self) -> Error;
    /// The error for a count that is lower in a later profile.
    fn lower(&self, later: u64) -> Error;
}

impl Counted for Arc {
    type Key = (u64, u64);

    fn key(&self) -> (u64, u64) {
        (self.frompc, self.selfpc)
    }

    fn words(&self) -> (u64, u64) {
        self.key()
    }

    fn count(&mut self) -> &mut u64 {
        &mut self.count
    }

    fn overflow(&self) -> Error {
        Error::ArcOverflow { frompc: self.frompc, selfpc: self.selfpc }
    }

    fn lower(&self, later: u64) -> Error {
        let (earlier, later) = (self.count.into(), later.into());
        Error::Lower { part: Part::Calls, address: self.selfpc, earlier, later }
    }
}

impl Counted for Block {
    type Key = u64;

    fn key(&self) -> u64 {
        self.addr
    }

    fn words(&self) -> (u64, u64) {
        (self.addr, 0)
    }

    fn count(&mut self) -> &mut u64 {
        &mut self.count
    }

    fn overflow(&self) -> Error {
        Error::BlockOverflow { addr: self.addr }
    }

    fn lower(&self, later: u64) -> Error {
        let (earlier, later) = (self.count.into(), later.into());
        Error::Lower { part: Part::Blocks, address: self.addr, earlier, later }
    }
}

/// Counts of different items, in the order of their first appearance.
#[derive(Clone, Debug)]
struct Counts<T: Counted> {
    list: Vec<T>,
    /// The indexes of items in `list`; built for the second profile.
    index: BTreeMap<T::Key, usize>,
}

impl<T: Counted> Default for Counts<T> {
    fn default() -> Counts<T> {
        Counts { list: Vec::new(), index: BTreeMap::new() }
    }
}

impl<T: Counted> Counts<T> {
    /// Adds counts. After an error, nothing has changed.
    fn add(&mut self, more: &[T]) -> Result<(), Error> {
        if self.list.is_empty() {
            self.list = merged(more.to_vec())?;
            return Ok(());
        }
        if self.index.is_empty() {
            self.index = self.list.iter().enumerate().map(|(at, thing)| (thing.key(), at)).collect();
        }
        let known = self.list.len();
        // Profiles of one program have most items in the same order: the next item often follows the previous one in
        // the list.
        let mut next = 0;
        for (done, thing) in more.iter().enumerate() {
            let key = thing.key();
            let at = if self.list.get(next).is_some_and(|known| known.key() == key) {
                next
            } else {
                *self.index.entry(key).or_insert(self.list.len())
            };
            let added = match self.list.get_mut(at) {
                Some(sum) => increase(sum, *thing),
                None => {
                    self.list.push(*thing);
                    Ok(())
                }
            };
            if let Err(error) = added {
                self.remove(more.get(..done).unwrap_or_default(), known);
                return Err(error);
            }
            next = at.saturating_add(1);
        }
        Ok(())
    }

    /// Takes back what was added to a list that had `known` items.
    fn remove(&mut self, added: &[T], known: usize) {
        if known == 0 {
            *self = Counts::default();
            return;
        }
        for mut thing in added.iter().copied() {
            let at = self.index.get(&thing.key()).copied().filter(|at| *at < known);
            if let Some(sum) = at.and_then(|at| self.list.get_mut(at)) {
                *sum.count() = sum.count().saturating_sub(*thing.count());
            }
        }
        for thing in self.list.drain(known.min(self.list.len())..) {
            self.index.remove(&thing.key());
        }
    }
}

/// Merges items that occur more than once in a list.
pub(crate) fn merged<T: Counted>(mut list: Vec<T>) -> Result<Vec<T>, Error> {
    let mut distinct = Distinct::with_room(list.len());
    let mut kept = 0_usize;
    for at in 0..list.len() {
        let Some(thing) = list.get(at).copied() else { break };
        let is_equal = |place: usize| list.get(place).is_some_and(|known| known.key() == thing.key());
        match distinct.find_or_keep(thing.words(), kept, is_equal) {
            Ok(known) => {
                match (known, list.get_mut(known.unwrap_or(kept))) {
                    (Some(_), Some(known)) => increase(known, thing)?,
                    (None, Some(place)) => *place = thing,
                    (_, None) => {}
                }
                kept = kept.saturating_add(usize::from(known.is_none()));
            }
            Err(Crowded) => {
                list.drain(kept..at);
                return merged_by_sort(list);
            }
        }
    }
    list.truncate(kept);
    Ok(list)
}

/// Merges the items by sorting, which works for any list.
fn merged_by_sort<T: Counted>(mut list: Vec<T>) -> Result<Vec<T>, Error> {
    let mut order: Vec<(T::Key, usize)> = list.iter().enumerate().map(|(at, thing)| (thing.key(), at)).collect();
    order.sort_unstable();
    let mut is_repeated = vec![false; list.len()];
    for same in order.chunk_by(|(one, _), (other, _)| one == other) {
        let Some(((_, first), repeated)) = same.split_first() else { continue };
        for (_, at) in repeated {
            if let (Some(more), Some(flag)) = (list.get(*at).copied(), is_repeated.get_mut(*at)) {
                *flag = true;
                list.get_mut(*first).map_or(Ok(()), |known| increase(known, more))?;
            }
        }
    }
    let mut is_repeated = is_repeated.into_iter();
    list.retain(|_| is_repeated.next() != Some(true));
    Ok(list)
}

fn increase<T: Counted>(known: &mut T, mut more: T) -> Result<(), Error> {
    let overflow = known.overflow();
    *known.count() = known.count().checked_add(*more.count()).ok_or(overflow)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorting_keeps_the_order_of_the_first_appearances() {
        let arcs = [(5, 6, 1), (1, 2, 3), (5, 6, 10), (3, 4, 7), (1, 2, 4)];
        let list: Vec<Arc> = arcs.map(|(frompc, selfpc, count)| Arc::new(frompc, selfpc, count)).into();
        let expected = vec![Arc::new(5, 6, 11), Arc::new(1, 2, 7), Arc::new(3, 4, 7)];
        assert_eq!(merged_by_sort(list.clone()), Ok(expected.clone()));
        assert_eq!(merged(list), Ok(expected));
        let overflow = Error::ArcOverflow { frompc: 1, selfpc: 2 };
        assert_eq!(merged_by_sort(vec![Arc::new(1, 2, u64::MAX), Arc::new(1, 2, 1)]), Err(overflow));
    }
}
