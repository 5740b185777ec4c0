//! Takes an earlier snapshot of a run away from a later one.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::accumulate::{Counted, merged};
use crate::histograms::{Histograms, check_units};
use crate::{Bins, Error, Histogram, Part, Profile};

impl Profile {
    /// Returns the profile of the time between two snapshots of one run: the counts of this profile, the later one,
    /// less those of an earlier one.
    ///
    /// The result has the histograms, the basic blocks, the orders of first calls, and the images of the later profile,
    /// also those without counts in this time. Calls have one arc for each pair of addresses, and pairs without calls
    /// in this time are left out. The two profiles may divide the addresses into different histograms, if the bins have
    /// the same addresses: a runtime may leave out ranges without samples. Time grows with `n log n`, where `n` is the
    /// size of both profiles.
    ///
    /// ```
    /// use gmon::{Arc, Profile};
    ///
    /// let earlier = Profile::new().with_arcs([Arc::new(0x1004, 0x1008, 12)]);
    /// let later = Profile::new().with_arcs([Arc::new(0x1004, 0x1008, 15)]);
    /// assert_eq!(later.since(&earlier)?.arcs(), [Arc::new(0x1004, 0x1008, 3)]);
    /// # Ok::<(), gmon::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When a count is lower than in the earlier profile ([`Error::Lower`]); when histograms differ in dimension,
    /// abbreviation, or rate; when histograms overlap whose bins have different addresses; when the counts of a pair of
    /// addresses, or of a basic block, add up to more than 64 bits.
    pub fn since(self, earlier: &Profile) -> Result<Profile, Error> {
        let Profile { histograms, arcs, blocks, orders, images } = self;
        let histograms = samples_since(histograms, earlier.histograms())?;
        let mut arcs = counts_since(arcs, &earlier.arcs)?;
        arcs.retain(|arc| arc.count > 0);
        let blocks = counts_since(blocks, &earlier.blocks)?;
        Ok(Profile { histograms, arcs, blocks, orders, images })
    }
}

/// The counts of later items less those of earlier ones. Each item occurs once.
fn counts_since<T: Counted>(later: Vec<T>, earlier: &[T]) -> Result<Vec<T>, Error> {
    let mut later = merged(later)?;
    let earlier = merged(earlier.to_vec())?;
    let mut earlier: BTreeMap<T::Key, T> = earlier.into_iter().map(|thing| (thing.key(), thing)).collect();
    for thing in &mut later {
        let Some(mut before) = earlier.remove(&thing.key()) else { continue };
        let count = thing.count();
        *count = count.checked_sub(*before.count()).ok_or_else(|| before.lower(*count))?;
    }
    let mut missing = earlier.into_values();
    missing.find_map(|mut thing| (*thing.count() > 0).then(|| thing.lower(0))).map_or(Ok(later), Err)
}

/// The counts of later histograms less those of earlier ones. Neither list has histograms that overlap.
fn samples_since(mut later: Histograms, earlier: &[Histogram]) -> Result<Histograms, Error> {
    // All histograms of a profile have one unit.
    if let (Some(later), Some(earlier)) = (later.list().first(), earlier.first()) {
        check_units(later.unit(), earlier.unit())?;
    }
    let mut by_address: Vec<&mut Histogram> = later.list_mut().iter_mut().collect();
    by_address.sort_unstable_by_key(|histogram| histogram.lowpc());
    for earlier in earlier {
        let first = by_address.partition_point(|later| later.highpc() <= earlier.lowpc());
        let rest = by_address.get_mut(first..).unwrap_or_default();
        let overlapping = rest.iter_mut().take_while(|later| later.lowpc() < earlier.highpc());
        take_away(overlapping.map(|later| &mut **later), earlier)?;
    }
    later.list_mut().iter_mut().try_for_each(finish)?;
    Ok(later)
}

/// Takes the counts of a histogram away from those of the later histograms that overlap it, in the order of addresses.
fn take_away<'a>(later: impl Iterator<Item = &'a mut Histogram>, earlier: &Histogram) -> Result<(), Error> {
    let lower = |bin: u64, count: i128, later: i128| Error::Lower {
        part: Part::Samples,
        address: earlier.bin_range(bin).start,
        earlier: count,
        later,
    };
    let mut hit = earlier.hit().peekable();
    for later in later {
        let (distance, bins) = (distance(later, earlier)?, i128::from(later.len()));
        let place = |bin: u64| i128::from(bin).saturating_add(distance);
        while let Some((bin, count)) = hit.next_if(|(bin, _)| place(*bin) < bins) {
            // A bin before the first one of the later histogram is in no histogram.
            let at = u64::try_from(place(bin)).map_err(|_| lower(bin, count, 0))?;
            let known = later.count(at);
            lower_bin(later.bins_mut(), at, count).ok_or_else(|| lower(bin, count, known))?;
        }
    }
    // What is left is behind all of the later histograms.
    hit.next().map_or(Ok(()), |(bin, count)| Err(lower(bin, count, 0)))
}

/// The number of bins from the start of a later histogram to the start of an earlier one. An error if bins have
/// different addresses.
fn distance(later: &Histogram, earlier: &Histogram) -> Result<i128, Error> {
    let span = |histogram: &Histogram| u128::from(histogram.highpc().saturating_sub(histogram.lowpc()));
    let (first, second, first_bins, second_bins) = (later.range(), earlier.range(), later.len(), earlier.len());
    // Products of two numbers of 64 bits: nothing saturates.
    if span(later).saturating_mul(second_bins.into()) != span(earlier).saturating_mul(first_bins.into()) {
        return Err(if first == second {
            Error::BinsDiffer { range: first, first: first_bins, second: second_bins }
        } else {
            Error::ScalesDiffer { first, first_bins, second, second_bins }
        });
    }
    let bytes = u128::from(earlier.lowpc().abs_diff(later.lowpc())).saturating_mul(first_bins.into());
    let bins = bytes.checked_div(span(later)).filter(|_| bytes.checked_rem(span(later)) == Some(0));
    let bins = bins.and_then(|bins| i128::try_from(bins).ok()).ok_or(Error::Overlap { first, second })?;
    Ok(if earlier.lowpc() < later.lowpc() { bins.saturating_neg() } else { bins })
}

/// Takes a count away from a bin. `None` if the bin has less.
fn lower_bin(bins: &mut Bins, bin: u64, count: i128) -> Option<()> {
    fn lower<T: Copy + Into<i128> + TryFrom<i128>>(place: Option<&mut T>, count: i128) -> Option<()> {
        let place = place?;
        let left = (*place).into().checked_sub(count).filter(|left| *left >= 0)?;
        *place = T::try_from(left).ok()?;
        Some(())
    }
    let at = usize::try_from(bin).unwrap_or(usize::MAX);
    match bins {
        Bins::U16(bins) => lower(bins.get_mut(at), count),
        Bins::U64(bins) => lower(bins.get_mut(at), count),
        Bins::I64(bins) => lower(bins.get_mut(at), count),
        Bins::Sparse { counts, .. } => {
            let at = counts.binary_search_by_key(&bin, |(bin, _)| *bin).ok()?;
            lower(counts.get_mut(at).map(|(_, count)| count), count)
        }
    }
}

/// Removes zeros of a sparse list. An error if a bin is negative from which nothing was taken away.
fn finish(histogram: &mut Histogram) -> Result<(), Error> {
    if let Bins::Sparse { counts, .. } = histogram.bins_mut() {
        counts.retain(|(_, count)| *count > 0);
    }
    let Bins::I64(bins) = histogram.bins() else { return Ok(()) };
    let Some((bin, later)) = (0..).zip(bins).find(|(_, count)| **count < 0) else { return Ok(()) };
    let (address, later) = (histogram.bin_range(bin).start, i128::from(*later));
    Err(Error::Lower { part: Part::Samples, address, earlier: 0, later })
}
