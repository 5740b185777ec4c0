//! Sums of profiles.

use alloc::collections::BTreeMap;
use alloc::collections::btree_map::Entry;
use alloc::vec::Vec;

use crate::{Arc, Block, Error, Histogram, Profile, Result};

/// The sum of any number of profiles of one program.
///
/// Arcs of the same pair of addresses become one, in the order in which they first appeared, and so do basic blocks.
/// Histograms of the same address range are added bin by bin, those of disjoint ranges are kept side by side. The sums
/// have 64 bits; one that needs more is an error. Memory grows with what the profiles cover, not with their number.
#[derive(Clone, Debug, Default)]
pub struct Accumulator {
    histograms: Histograms,
    arcs: Vec<Arc>,
    /// Where the arc from one address to another is in `arcs`.
    arc_index: BTreeMap<(u64, u64), usize>,
    blocks: Vec<Block>,
    /// Where the block of an address is in `blocks`.
    block_index: BTreeMap<u64, usize>,
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
        for arc in profile.arcs {
            self.add_arc(arc)?;
        }
        for block in profile.blocks {
            self.add_block(block)?;
        }
        Ok(())
    }

    /// The sum of the profiles that were added.
    #[must_use]
    pub fn finish(self) -> Profile {
        Profile { histograms: self.histograms.finish(), arcs: self.arcs, blocks: self.blocks }
    }

    fn add_arc(&mut self, arc: Arc) -> Result<()> {
        let Arc { frompc, selfpc, count } = arc;
        match self.arc_index.entry((frompc, selfpc)) {
            Entry::Vacant(entry) => {
                entry.insert(self.arcs.len());
                self.arcs.push(arc);
            }
            Entry::Occupied(entry) => {
                if let Some(sum) = self.arcs.get_mut(*entry.get()) {
                    sum.count = sum.count.checked_add(count).ok_or(Error::ArcOverflow { frompc, selfpc })?;
                }
            }
        }
        Ok(())
    }

    fn add_block(&mut self, block: Block) -> Result<()> {
        let Block { addr, count } = block;
        match self.block_index.entry(addr) {
            Entry::Vacant(entry) => {
                entry.insert(self.blocks.len());
                self.blocks.push(block);
            }
            Entry::Occupied(entry) => {
                if let Some(sum) = self.blocks.get_mut(*entry.get()) {
                    sum.count = sum.count.checked_add(count).ok_or(Error::BlockOverflow { addr })?;
                }
            }
        }
        Ok(())
    }
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
