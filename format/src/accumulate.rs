//! Adds up profiles.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use crate::distinct::{Crowded, Distinct};
use crate::{Arc, Block, Error, Histogram, Profile, Result};

/// The sum of any number of profiles of one program.
///
/// Arcs with the same pair of addresses become one arc, in the order of their first appearance, and so do basic
/// blocks. Histograms of the same address range are added bin by bin; histograms of disjoint ranges are kept side by
/// side. Sums have 64 bits; a larger sum is an error. Memory grows with the code that the profiles cover, not with
/// the number of profiles.
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

    /// Adds a profile.
    ///
    /// # Errors
    ///
    /// When histograms overlap without having the same range, when they differ in dimension, abbreviation, rate or
    /// bin size (by more than a millionth of two code bytes), or when histograms of one range have different numbers
    /// of bins. When a sum needs more than 64 bits, or 63 bits if one of the histograms is signed. After an error,
    /// the sum contains a part of the profile and must not be used.
    pub fn add(&mut self, profile: Profile) -> Result<()> {
        for histogram in profile.histograms {
            self.histograms.add(histogram)?;
        }
        self.arcs.add(profile.arcs)?;
        self.blocks.add(profile.blocks)
    }

    /// Returns the sum of the profiles that were added.
    #[must_use]
    pub fn finish(self) -> Profile {
        Profile { histograms: self.histograms.finish(), arcs: self.arcs.list, blocks: self.blocks.list }
    }
}

/// An item with a count: an arc, or a basic block.
trait Counted: Copy {
    /// The key of the item.
    type Key: Ord + Copy;

    fn key(&self) -> Self::Key;
    /// The key as two words.
    fn words(&self) -> (u64, u64);
    fn count(&mut self) -> &mut u64;
    fn overflow(&self) -> Error;
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
    fn add(&mut self, more: Vec<T>) -> Result<()> {
        if self.list.is_empty() {
            self.list = merged(more)?;
            return Ok(());
        }
        if self.index.is_empty() {
            self.index = self.list.iter().enumerate().map(|(at, thing)| (thing.key(), at)).collect();
        }
        // Profiles of one program have most items in the same order: the next item often follows the previous one in
        // the list.
        let mut next = 0;
        for thing in more {
            let key = thing.key();
            let at = if self.list.get(next).is_some_and(|known| known.key() == key) {
                next
            } else {
                *self.index.entry(key).or_insert(self.list.len())
            };
            match self.list.get_mut(at) {
                Some(known) => increase(known, thing)?,
                None => self.list.push(thing),
            }
            next = at.saturating_add(1);
        }
        Ok(())
    }
}

/// Merges items that occur more than once in a list.
fn merged<T: Counted>(mut list: Vec<T>) -> Result<Vec<T>> {
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
fn merged_by_sort<T: Counted>(mut list: Vec<T>) -> Result<Vec<T>> {
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

fn increase<T: Counted>(known: &mut T, mut more: T) -> Result<()> {
    let overflow = known.overflow();
    *known.count() = known.count().checked_add(*more.count()).ok_or(overflow)?;
    Ok(())
}

/// Histograms that do not overlap, in the order of their first appearance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Histograms {
    list: Vec<Histogram>,
    /// The index in `list` of the histogram that starts at an address.
    index: BTreeMap<u64, usize>,
}

impl Histograms {
    pub(crate) fn finish(self) -> Vec<Histogram> {
        self.list
    }

    /// Adds a histogram to the one of the same range, or appends it if there is none. Drops a histogram without range
    /// and bins, which contains no information.
    pub(crate) fn add(&mut self, histogram: Histogram) -> Result<()> {
        if !histogram.has_bins()? {
            return Ok(());
        }
        if let Some(first) = self.list.first() {
            check_alike(first, &histogram)?;
        }
        // Ranges in the index are disjoint: only the last range that starts below the new range's end can overlap it.
        let below = self.index.range(..histogram.highpc).next_back();
        match below.and_then(|(_, index)| self.list.get_mut(*index)) {
            Some(sum) if sum.range() == histogram.range() => add_bins(sum, &histogram),
            Some(other) if other.highpc > histogram.lowpc => {
                Err(Error::Overlap { first: other.range(), second: histogram.range() })
            }
            _ => {
                self.index.insert(histogram.lowpc, self.list.len());
                self.list.push(histogram);
                Ok(())
            }
        }
    }
}

/// Whether two histograms can be in one profile: the conditions of GNU gprof, and equal rates.
fn check_alike(first: &Histogram, second: &Histogram) -> Result<()> {
    if first.dimension != second.dimension {
        return Err(Error::DimensionsDiffer { first: first.dimension, second: second.dimension });
    }
    if first.abbrev != second.abbrev {
        return Err(Error::AbbrevsDiffer { first: first.abbrev, second: second.abbrev });
    }
    if first.profrate != second.profrate {
        return Err(Error::RatesDiffer { first: first.profrate, second: second.profrate });
    }
    // For equal ranges only the number of bins matters, which the addition checks.
    if first.range() != second.range() && !same_scale(first, second) {
        return Err(Error::ScalesDiffer {
            first: first.range(),
            first_bins: first.bins.len(),
            second: second.range(),
            second_bins: second.bins.len(),
        });
    }
    Ok(())
}

/// Whether the bins of two histograms have the same size, up to a millionth of two code bytes. This is GNU gprof's
/// condition without its rounding errors.
fn same_scale(first: &Histogram, second: &Histogram) -> bool {
    let scale = |histogram: &Histogram| {
        let units = histogram.highpc.saturating_sub(histogram.lowpc) / 2;
        (u128::from(units), histogram.bins.len() as u128)
    };
    let ((units, bins), (other_units, other_bins)) = (scale(first), scale(second));
    let difference = units.saturating_mul(other_bins).abs_diff(other_units.saturating_mul(bins));
    difference.saturating_mul(1_000_000) <= bins.saturating_mul(other_bins)
}

/// Adds a histogram of the same range. The sum is signed if either is.
fn add_bins(sum: &mut Histogram, other: &Histogram) -> Result<()> {
    let range = sum.range();
    if sum.bins.len() != other.bins.len() {
        return Err(Error::BinsDiffer { range, first: sum.bins.len(), second: other.bins.len() });
    }
    if sum.signed == other.signed && !sum.signed {
        for (bin, (count, more)) in sum.bins.iter_mut().zip(&other.bins).enumerate() {
            *count = count.checked_add(*more).ok_or_else(|| Error::BinOverflow { range: range.clone(), bin })?;
        }
        return Ok(());
    }
    for bin in 0..sum.bins.len() {
        let total = sum.count(bin).saturating_add(other.count(bin));
        let total = i64::try_from(total).map_err(|_| Error::BinOverflow { range: range.clone(), bin })?;
        if let Some(count) = sum.bins.get_mut(bin) {
            *count = total.cast_unsigned();
        }
    }
    sum.signed = true;
    Ok(())
}
