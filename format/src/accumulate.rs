//! Sums of profiles.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use crate::distinct::{Crowded, Distinct};
use crate::{Arc, Block, Error, Histogram, Profile, Result};

/// The sum of any number of profiles of one program.
///
/// Arcs of the same pair of addresses become one, in the order in which they first appeared, and so do basic blocks.
/// Histograms of the same address range are added bin by bin, those of disjoint ranges are kept side by side. The sums
/// have 64 bits; one that needs more is an error. Memory grows with what the profiles cover, not with their number.
#[derive(Clone, Debug, Default)]
pub struct Accumulator {
    histograms: Histograms,
    arcs: Counts<Arc>,
    blocks: Counts<Block>,
}

impl Accumulator {
    /// A sum of no profiles.
    #[must_use]
    pub fn new() -> Accumulator {
        Accumulator::default()
    }

    /// Adds a profile.
    ///
    /// # Errors
    ///
    /// Histograms must not overlap in part and must agree in dimension, abbreviation, rate and size of a bin, as far as
    /// a millionth of two code bytes; those of one range must agree in the number of bins. No sum may need more than 64
    /// bits; a histogram that is in part signed has 63. After an error the sum holds a part of the profile, and is of
    /// no use any more.
    pub fn add(&mut self, profile: Profile) -> Result<()> {
        for histogram in profile.histograms {
            self.histograms.add(histogram)?;
        }
        self.arcs.add(profile.arcs)?;
        self.blocks.add(profile.blocks)
    }

    /// The sum of the profiles that were added.
    #[must_use]
    pub fn finish(self) -> Profile {
        Profile { histograms: self.histograms.finish(), arcs: self.arcs.list, blocks: self.blocks.list }
    }
}

/// What is counted: an arc, or a basic block.
trait Counted: Copy {
    /// What tells it from others.
    type Key: Ord + Copy;

    fn key(&self) -> Self::Key;
    /// The same in two words.
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

/// Counts of different things, in the order in which these first appeared.
#[derive(Clone, Debug)]
struct Counts<T: Counted> {
    list: Vec<T>,
    /// Where things are in `list`; made when there is a second profile.
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
        // Profiles of one program have most things in one order: what comes next is often what came next before.
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

/// Adds up what stands in a list more than once.
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

/// The same, however the list was made.
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

/// Histograms that do not overlap, in the order in which they first appeared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Histograms {
    list: Vec<Histogram>,
    /// Where the histogram that starts at an address is in `list`.
    index: BTreeMap<u64, usize>,
}

impl Histograms {
    pub(crate) fn finish(self) -> Vec<Histogram> {
        self.list
    }

    /// Adds a histogram to the one of the same range, or keeps it if there is none. One without range and bins says
    /// nothing and is dropped.
    pub(crate) fn add(&mut self, histogram: Histogram) -> Result<()> {
        if !histogram.is_inhabited()? {
            return Ok(());
        }
        if let Some(first) = self.list.first() {
            check_alike(first, &histogram)?;
        }
        // Ranges in the index are disjoint: only the last one that starts below the new one's end can meet it.
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

/// Whether two histograms can stand in one profile: GNU gprof's conditions, and the rate's.
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
    // Of one range, only the number of bins counts; whoever adds them looks at that.
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

/// Whether the bins of two histograms are of the same size, up to a millionth of two code bytes. That is GNU gprof's
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

/// Adds a histogram of the same range. The sum is signed if one of both is.
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
