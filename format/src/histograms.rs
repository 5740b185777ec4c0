//! Histograms that can stand in one profile.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ops::Range;

use crate::{Error, Histogram, Unit};

/// Histograms that do not overlap, in the order of their first appearance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Histograms {
    list: Vec<Histogram>,
    /// The index in `list` of the histogram that starts at an address.
    index: BTreeMap<u64, usize>,
    /// The histograms with the smallest and with the largest bins. All others lie between them, so that the order of
    /// additions does not matter.
    extremes: Option<(Scale, Scale)>,
}

/// The size of a histogram's bins.
#[derive(Clone, Debug)]
struct Scale {
    range: Range<u64>,
    bins: u64,
}

impl PartialEq for Histograms {
    fn eq(&self, other: &Histograms) -> bool {
        self.list == other.list
    }
}

impl Eq for Histograms {}

impl Histograms {
    pub(crate) fn list(&self) -> &[Histogram] {
        &self.list
    }

    /// The histograms, of which only the counts may change.
    pub(crate) fn list_mut(&mut self) -> &mut [Histogram] {
        &mut self.list
    }

    pub(crate) fn finish(self) -> Vec<Histogram> {
        self.list
    }

    pub(crate) fn set_unit(&mut self, unit: Unit) {
        self.list.iter_mut().for_each(|histogram| histogram.set_unit(unit));
    }

    /// Sorts the histograms by address.
    pub(crate) fn sort(&mut self) {
        self.list.sort_unstable_by_key(Histogram::lowpc);
        self.index = self.list.iter().enumerate().map(|(at, histogram)| (histogram.lowpc(), at)).collect();
    }

    pub(crate) const fn new() -> Histograms {
        Histograms { list: Vec::new(), index: BTreeMap::new(), extremes: None }
    }

    /// Adds a histogram as [`Histograms::add`] does, and checks the size of the bins.
    pub(crate) fn add_alike(&mut self, histogram: Histogram) -> Result<(), Error> {
        self.check_scale(&histogram)?;
        self.add(histogram)
    }

    /// Adds a histogram to the one of the same range, or appends it if there is none. After an error, nothing has
    /// changed.
    pub(crate) fn add(&mut self, histogram: Histogram) -> Result<(), Error> {
        match self.find(&histogram)? {
            Some(at) => {
                let Some(sum) = self.list.get_mut(at) else { return Ok(()) };
                sum.add(&histogram).map_err(|bin| Error::BinOverflow { range: histogram.range(), bin })
            }
            None => {
                let scale = Scale { range: histogram.range(), bins: histogram.len() };
                let (smallest, largest) = self.extremes.take().unwrap_or_else(|| (scale.clone(), scale.clone()));
                let is_smallest = scale.is_smaller(&smallest);
                let is_largest = largest.is_smaller(&scale);
                self.extremes = Some((
                    if is_smallest { scale.clone() } else { smallest },
                    if is_largest { scale } else { largest },
                ));
                self.index.insert(histogram.lowpc(), self.list.len());
                self.list.push(histogram);
                Ok(())
            }
        }
    }

    /// Checks that [`Histograms::add_alike`] can add all histograms of a profile. The order of the additions does not
    /// matter then: histograms that fit the sum one by one, and fit each other, also fit the sum together.
    pub(crate) fn check_alike(&self, others: &Histograms) -> Result<(), Error> {
        if let Some((smallest, largest)) = others.extremes.as_ref().filter(|(one, other)| !one.is_near(other)) {
            return Err(smallest.differs_from(largest));
        }
        others.list.iter().try_for_each(|histogram| {
            self.check_scale(histogram)?;
            self.check(histogram)
        })
    }

    /// Checks that [`Histograms::add`] can add a histogram.
    pub(crate) fn check(&self, histogram: &Histogram) -> Result<(), Error> {
        let known = self.find(histogram)?.and_then(|at| self.list.get(at));
        let added = known.map_or(Ok(()), |known| known.bins().check(histogram.bins()));
        added.map_err(|bin| Error::BinOverflow { range: histogram.range(), bin })
    }

    /// The index of the histogram of the same range, `None` if there is none. An error if the histogram cannot be
    /// added.
    fn find(&self, histogram: &Histogram) -> Result<Option<usize>, Error> {
        if let Some(first) = self.list.first() {
            check_units(first.unit(), histogram.unit())?;
        }
        // Ranges in the index are disjoint: only the last range that starts below the new range's end can overlap it.
        let below = self.index.range(..histogram.highpc()).next_back();
        let Some((at, known)) = below.and_then(|(_, at)| Some((*at, self.list.get(*at)?))) else { return Ok(None) };
        if known.range() == histogram.range() {
            let (first, second) = (known.len(), histogram.len());
            if first != second {
                return Err(Error::BinsDiffer { range: known.range(), first, second });
            }
            return Ok(Some(at));
        }
        if known.highpc() > histogram.lowpc() {
            return Err(Error::Overlap { first: known.range(), second: histogram.range() });
        }
        Ok(None)
    }

    /// Checks that the bins are as large as those of all other histograms.
    fn check_scale(&self, histogram: &Histogram) -> Result<(), Error> {
        if self
            .index
            .get(&histogram.lowpc())
            .and_then(|at| self.list.get(*at))
            .is_some_and(|known| known.range() == histogram.range())
        {
            // For equal ranges only the number of bins matters.
            return Ok(());
        }
        let (scale, extremes) = (Scale { range: histogram.range(), bins: histogram.len() }, self.extremes.iter());
        for other in extremes.flat_map(|(smallest, largest)| [smallest, largest]) {
            if !scale.is_near(other) {
                return Err(other.differs_from(&scale));
            }
        }
        Ok(())
    }
}

/// Whether histograms of two units can be in one profile: the conditions of GNU gprof, and equal rates.
pub(crate) fn check_units(first: Unit, second: Unit) -> Result<(), Error> {
    if first.dimension != second.dimension {
        return Err(Error::DimensionsDiffer { first: first.dimension, second: second.dimension });
    }
    if first.abbrev != second.abbrev {
        return Err(Error::AbbrevsDiffer { first: first.abbrev, second: second.abbrev });
    }
    if first.profrate != second.profrate {
        return Err(Error::RatesDiffer { first: first.profrate, second: second.profrate });
    }
    Ok(())
}

impl Scale {
    /// The size of a bin in units of two code bytes, as a fraction. As in GNU gprof, the number of bytes is rounded
    /// down to units, except if each byte has a bin: eu-stackprof writes ranges of any length.
    fn fraction(&self) -> (u128, u128) {
        if self.range.end.saturating_sub(self.range.start) == self.bins {
            return (1, 2);
        }
        let units = self.range.end.saturating_sub(self.range.start) / 2;
        (u128::from(units), u128::from(self.bins))
    }

    /// The error for two sizes of bins.
    fn differs_from(&self, second: &Scale) -> Error {
        let (first, second, first_bins, second_bins) = (&self.range, &second.range, self.bins, second.bins);
        Error::ScalesDiffer { first: first.clone(), first_bins, second: second.clone(), second_bins }
    }

    fn is_smaller(&self, other: &Scale) -> bool {
        let ((units, bins), (other_units, other_bins)) = (self.fraction(), other.fraction());
        units.saturating_mul(other_bins) < other_units.saturating_mul(bins)
    }

    /// Whether bins have the same size, up to a millionth of two code bytes. The condition is GNU gprof's, without GNU
    /// gprof's rounding errors.
    fn is_near(&self, other: &Scale) -> bool {
        let ((units, bins), (other_units, other_bins)) = (self.fraction(), other.fraction());
        let difference = units.saturating_mul(other_bins).abs_diff(other_units.saturating_mul(bins));
        difference.saturating_mul(1_000_000) <= bins.saturating_mul(other_bins)
    }
}
