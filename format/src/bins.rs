//! The counters of a histogram.

use alloc::vec;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};
use core::iter::FusedIterator;

/// The counters of a histogram, as wide as the file needs.
///
/// A histogram has one counter for each bin. Two lists of counters are equal if they count the same, whatever their
/// width.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Bins {
    /// Counters of 16 bits, which most files have.
    U16(Vec<u16>),
    /// Counters of 64 bits.
    U64(Vec<u64>),
    /// Counters that may be negative: FreeBSD's signed ones.
    I64(Vec<i64>),
    /// The bins that are not 0, in ascending order, each with its index and its count.
    Sparse {
        /// The number of bins.
        bins: u64,
        /// The index and the count of each bin that is not 0.
        counts: Vec<(u64, u64)>,
    },
}

impl Bins {
    /// The number of bins.
    #[must_use]
    pub fn len(&self) -> u64 {
        match self {
            Bins::U16(bins) => bins.len() as u64,
            Bins::U64(bins) => bins.len() as u64,
            Bins::I64(bins) => bins.len() as u64,
            Bins::Sparse { bins, .. } => *bins,
        }
    }

    /// Whether there are no bins.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The count of a bin; 0 for a bin that does not exist.
    #[must_use]
    pub fn count(&self, bin: u64) -> i128 {
        let at = usize::try_from(bin).unwrap_or(usize::MAX);
        match self {
            Bins::U16(bins) => bins.get(at).map_or(0, |count| i128::from(*count)),
            Bins::U64(bins) => bins.get(at).map_or(0, |count| i128::from(*count)),
            Bins::I64(bins) => bins.get(at).map_or(0, |count| i128::from(*count)),
            Bins::Sparse { counts, .. } => {
                let found = counts.binary_search_by_key(&bin, |(at, _)| *at).ok();
                found.and_then(|at| counts.get(at)).map_or(0, |(_, count)| i128::from(*count))
            }
        }
    }

    /// The bins that are not 0, each with its index and its count. Most profiles have few.
    pub fn hit(&self) -> Hit<'_> {
        Hit { bins: self, next: 0 }
    }

    /// Makes a sparse list of `bins` bins from pairs of an index and a count, in any order. Counts of the same index are
    /// added up. `None` if such a sum needs more than 64 bits.
    #[must_use]
    pub fn sparse(bins: u64, mut counts: Vec<(u64, u64)>) -> Option<Bins> {
        counts.sort_unstable();
        let mut sums: Vec<(u64, u64)> = Vec::with_capacity(counts.len());
        for (bin, count) in counts {
            match sums.last_mut() {
                Some((last, sum)) if *last == bin => *sum = sum.checked_add(count)?,
                _ => sums.push((bin, count)),
            }
        }
        sums.retain(|(_, count)| *count != 0);
        Some(Bins::Sparse { bins, counts: sums })
    }

    /// Checks that the counts of the same number of other bins can be added. The error is the index of the first bin whose
    /// sum does not fit.
    pub(crate) fn check(&self, other: &Bins) -> Result<(), u64> {
        let is_signed = matches!(self, Bins::I64(_)) || matches!(other, Bins::I64(_));
        let overflow = other.hit().find(|(bin, more)| !is_count(self.count(*bin).saturating_add(*more), is_signed));
        // Counts that stay as they are may not fit the counters of the sum.
        let changes_sign = is_signed && !matches!(self, Bins::I64(_));
        let unsigned = || self.hit().find(|(_, count)| changes_sign && !is_count(*count, is_signed));
        overflow.or_else(unsigned).map_or(Ok(()), |(bin, _)| Err(bin))
    }

    /// Adds the counts of the same number of other bins. The error is the index of the first bin whose sum does not fit;
    /// nothing was added then.
    pub(crate) fn add(&mut self, other: &Bins) -> Result<(), u64> {
        match (&mut *self, other) {
            (Bins::Sparse { counts, .. }, Bins::Sparse { counts: more, .. }) => {
                *counts = joined(counts, more)?;
                return Ok(());
            }
            (Bins::U16(bins), _) if fits(bins, other) => {
                for (bin, more) in other.hit() {
                    if let Some(count) = entry(bins, bin) {
                        *count = count.saturating_add(u16::try_from(more).unwrap_or(u16::MAX));
                    }
                }
                return Ok(());
            }
            _ => {}
        }
        self.check(other)?;
        self.widen(matches!(self, Bins::I64(_)) || matches!(other, Bins::I64(_)));
        for (bin, more) in other.hit() {
            match self {
                Bins::U64(bins) => {
                    let more = u64::try_from(more).unwrap_or(0);
                    entry(bins, bin).into_iter().for_each(|count| *count = count.saturating_add(more));
                }
                Bins::I64(bins) => {
                    let more = i64::try_from(more).unwrap_or(0);
                    entry(bins, bin).into_iter().for_each(|count| *count = count.saturating_add(more));
                }
                Bins::U16(_) | Bins::Sparse { .. } => {}
            }
        }
        Ok(())
    }

    /// Gives all counters 64 bits, which all counts fit.
    fn widen(&mut self, is_signed: bool) {
        let is_wide = if is_signed { matches!(self, Bins::I64(_)) } else { matches!(self, Bins::U64(_)) };
        if is_wide {
            return;
        }
        let length = usize::try_from(self.len()).unwrap_or(0);
        *self = if is_signed {
            let mut wide = vec![0_i64; length];
            self.hit().for_each(|(bin, count)| set(&mut wide, bin, i64::try_from(count).unwrap_or(0)));
            Bins::I64(wide)
        } else {
            let mut wide = vec![0_u64; length];
            self.hit().for_each(|(bin, count)| set(&mut wide, bin, u64::try_from(count).unwrap_or(0)));
            Bins::U64(wide)
        };
    }
}

/// Whether a count fits a counter of 64 bits.
fn is_count(count: i128, is_signed: bool) -> bool {
    if is_signed { i64::try_from(count).is_ok() } else { u64::try_from(count).is_ok() }
}

/// Whether all sums fit 16 bits.
fn fits(bins: &[u16], other: &Bins) -> bool {
    !matches!(other, Bins::I64(_))
        && other.hit().all(|(bin, more)| {
            let count = usize::try_from(bin).ok().and_then(|at| bins.get(at)).copied().unwrap_or(0);
            more.saturating_add(count.into()) <= u16::MAX.into()
        })
}

fn entry<T>(bins: &mut [T], bin: u64) -> Option<&mut T> {
    usize::try_from(bin).ok().and_then(|at| bins.get_mut(at))
}

fn set<T>(bins: &mut [T], bin: u64, count: T) {
    if let Some(place) = entry(bins, bin) {
        *place = count;
    }
}

/// The sum of two sparse lists; the index of the first bin whose sum does not fit, if there is any.
fn joined(counts: &[(u64, u64)], more: &[(u64, u64)]) -> Result<Vec<(u64, u64)>, u64> {
    let mut sums: Vec<(u64, u64)> = counts.iter().chain(more).copied().collect();
    sums.sort_unstable_by_key(|(bin, _)| *bin);
    let mut kept: Vec<(u64, u64)> = Vec::with_capacity(sums.len());
    for (bin, count) in sums {
        match kept.last_mut() {
            Some((last, sum)) if *last == bin => *sum = sum.checked_add(count).ok_or(bin)?,
            _ => kept.push((bin, count)),
        }
    }
    Ok(kept)
}

impl PartialEq for Bins {
    fn eq(&self, other: &Bins) -> bool {
        self.len() == other.len() && self.hit().eq(other.hit())
    }
}

impl Eq for Bins {}

impl Hash for Bins {
    /// Equal counters of different widths have the same hash.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.len().hash(state);
        self.hit().for_each(|hit| hit.hash(state));
    }
}

impl From<Vec<u16>> for Bins {
    fn from(bins: Vec<u16>) -> Bins {
        Bins::U16(bins)
    }
}

impl From<Vec<u64>> for Bins {
    fn from(bins: Vec<u64>) -> Bins {
        Bins::U64(bins)
    }
}

impl From<Vec<i64>> for Bins {
    fn from(bins: Vec<i64>) -> Bins {
        Bins::I64(bins)
    }
}

/// Iterates over the bins that are not 0: see [`Bins::hit`].
#[derive(Clone, Debug)]
pub struct Hit<'a> {
    bins: &'a Bins,
    /// The index where the search goes on: of a bin, or of an item of a sparse list.
    next: usize,
}

impl Iterator for Hit<'_> {
    type Item = (u64, i128);

    fn next(&mut self) -> Option<(u64, i128)> {
        let (at, hit) = match self.bins {
            Bins::U16(bins) => first(bins, self.next).map(|(at, count)| (at, (at as u64, count.into()))),
            Bins::U64(bins) => first(bins, self.next).map(|(at, count)| (at, (at as u64, count.into()))),
            Bins::I64(bins) => first(bins, self.next).map(|(at, count)| (at, (at as u64, count.into()))),
            Bins::Sparse { counts, .. } => {
                counts.get(self.next).map(|(bin, count)| (self.next, (*bin, i128::from(*count))))
            }
        }?;
        self.next = at.saturating_add(1);
        Some(hit)
    }
}

impl FusedIterator for Hit<'_> {}

/// The first count from an index on that is not 0, and its index.
fn first<T: Copy + Default + PartialEq>(bins: &[T], from: usize) -> Option<(usize, T)> {
    /// The number of bins that are tested at once.
    const STRIDE: usize = 64;
    let zero = [T::default(); STRIDE];
    let mut from = from;
    let mut rest = bins.get(from..)?;
    while let Some((stride, after)) = rest.split_first_chunk::<STRIDE>() {
        if *stride != zero {
            break;
        }
        rest = after;
        from = from.saturating_add(STRIDE);
    }
    let at = rest.iter().position(|count| *count != T::default())?;
    Some((from.saturating_add(at), *rest.get(at)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(bins: &Bins) -> u64 {
        #[allow(deprecated)] // The hasher with fixed keys is in core.
        let mut hasher = core::hash::SipHasher::new();
        bins.hash(&mut hasher);
        hasher.finish()
    }

    #[test]
    fn counts_are_equal_in_any_width() {
        let lists = [
            Bins::U16(vec![0, 3, 0, 9]),
            Bins::U64(vec![0, 3, 0, 9]),
            Bins::I64(vec![0, 3, 0, 9]),
            Bins::sparse(4, vec![(3, 4), (1, 3), (3, 5), (0, 0)]).unwrap(),
        ];
        for bins in &lists {
            assert_eq!(bins, &lists[0]);
            assert_eq!(hash(bins), hash(&lists[0]));
            assert_eq!(bins.hit().collect::<Vec<_>>(), [(1, 3), (3, 9)]);
            assert_eq!((bins.count(3), bins.count(2), bins.count(4), bins.len()), (9, 0, 0, 4));
        }
        assert_ne!(lists[0], Bins::U16(vec![0, 3, 0, 9, 0]), "another number of bins");
        assert_eq!(Bins::sparse(1, vec![(0, u64::MAX), (0, 1)]), None);
    }

    #[test]
    fn hits_far_apart_are_found() {
        let mut bins = vec![0_u16; 1000];
        (bins[0], bins[63], bins[64], bins[700], bins[999]) = (1, 2, 3, 4, 5);
        assert_eq!(Bins::U16(bins).hit().collect::<Vec<_>>(), [(0, 1), (63, 2), (64, 3), (700, 4), (999, 5)]);
    }

    #[test]
    fn sums_widen_the_counters() {
        let mut sum = Bins::U16(vec![65535, 1]);
        sum.add(&Bins::U16(vec![0, 2])).unwrap();
        assert!(matches!(&sum, Bins::U16(bins) if *bins == [65535, 3]));
        sum.add(&Bins::U16(vec![1, 0])).unwrap();
        assert!(matches!(&sum, Bins::U64(bins) if *bins == [65536, 3]));
        sum.add(&Bins::I64(vec![-7, 0])).unwrap();
        assert!(matches!(&sum, Bins::I64(bins) if *bins == [65529, 3]));
        let mut sum = Bins::sparse(9, vec![(4, 1)]).unwrap();
        sum.add(&Bins::sparse(9, vec![(4, 2), (1, 1)]).unwrap()).unwrap();
        assert_eq!(sum.hit().collect::<Vec<_>>(), [(1, 1), (4, 3)]);
    }

    #[test]
    fn a_sum_that_does_not_fit_adds_nothing() {
        let mut sum = Bins::U64(vec![1, u64::MAX]);
        assert_eq!(sum.add(&Bins::U16(vec![1, 1])), Err(1));
        assert_eq!(sum, Bins::U64(vec![1, u64::MAX]));
        assert_eq!(sum.add(&Bins::I64(vec![0, 0])), Err(1), "the sum of signed counters is signed");
        let mut sum = Bins::sparse(2, vec![(1, u64::MAX)]).unwrap();
        assert_eq!(sum.add(&Bins::sparse(2, vec![(0, 1), (1, 1)]).unwrap()), Err(1));
        assert_eq!(sum.hit().count(), 1);
    }
}
