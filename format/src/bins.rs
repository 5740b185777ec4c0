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

    /// Makes a sparse list of `bins` bins from pairs of an index and a count, in any order. Counts of the same index
    /// are added up. `None` if such a sum needs more than 64 bits.
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

    /// Whether counters may be negative.
    fn is_signed(&self) -> bool {
        matches!(self, Bins::I64(_))
    }

    /// Checks that the counts of the same number of other bins can be added: each sum must fit 64 bits, with a sign if
    /// one of the two has signed counters. The error is the index of the first bin whose sum does not fit.
    pub(crate) fn check(&self, other: &Bins) -> Result<(), u64> {
        let is_signed = self.is_signed() || other.is_signed();
        let first = |changed: &Bins, rest: &Bins| {
            let mut sums = changed.hit().map(|(bin, count)| (bin, count.saturating_add(rest.count(bin))));
            sums.find(|(_, sum)| !is_count(*sum, is_signed)).map(|(bin, _)| bin)
        };
        let overflow = first(other, self);
        // Counts that stay as they are may not fit the counters of the sum.
        let unsigned = if is_signed && !self.is_signed() { first(self, other) } else { None };
        overflow.into_iter().chain(unsigned).min().map_or(Ok(()), Err)
    }

    /// Adds the counts of the same number of other bins. The error is the index of the first bin whose sum does not
    /// fit; nothing was added then.
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
        if other.is_signed() && !self.is_signed() {
            // The unsigned counts alone may not fit the signed counters of the sum.
            let unsigned = core::mem::replace(self, other.clone());
            self.add_checked(&unsigned);
        } else {
            self.widen();
            self.add_checked(other);
        }
        Ok(())
    }

    /// Adds counts to counters of 64 bits. The sums fit.
    fn add_checked(&mut self, other: &Bins) {
        fn sum<T: Copy + Into<i128> + TryFrom<i128>>(bins: &mut [T], bin: u64, more: i128) {
            if let Some(count) = entry(bins, bin) {
                *count = T::try_from((*count).into().saturating_add(more)).unwrap_or(*count);
            }
        }
        for (bin, more) in other.hit() {
            match self {
                Bins::U64(bins) => sum(bins, bin, more),
                Bins::I64(bins) => sum(bins, bin, more),
                Bins::U16(_) | Bins::Sparse { .. } => {}
            }
        }
    }

    /// Gives all unsigned counters 64 bits, which all counts fit.
    fn widen(&mut self) {
        if matches!(self, Bins::U64(_) | Bins::I64(_)) {
            return;
        }
        let mut wide = vec![0_u64; usize::try_from(self.len()).unwrap_or(0)];
        for (bin, count) in self.hit() {
            if let Some(place) = entry(&mut wide, bin) {
                *place = u64::try_from(count).unwrap_or(0);
            }
        }
        *self = Bins::U64(wide);
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

/// The sum of two sparse lists; the index of the first bin whose sum does not fit, if there is any.
fn joined(counts: &[(u64, u64)], more: &[(u64, u64)]) -> Result<Vec<(u64, u64)>, u64> {
    let mut kept = Vec::with_capacity(counts.len().saturating_add(more.len()));
    let (mut counts, mut more) = (counts.iter().copied().peekable(), more.iter().copied().peekable());
    loop {
        let first = match (counts.peek(), more.peek()) {
            (Some((bin, _)), Some((other, _))) if bin == other => {
                let (Some((bin, count)), Some((_, more))) = (counts.next(), more.next()) else { continue };
                Some((bin, count.checked_add(more).ok_or(bin)?))
            }
            (Some((bin, _)), Some((other, _))) if other < bin => more.next(),
            (Some(_), _) => counts.next(),
            (None, _) => more.next(),
        };
        match first {
            Some(first) => kept.push(first),
            None => return Ok(kept),
        }
    }
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
                let rest = counts.get(self.next..).unwrap_or_default();
                let hit = rest.iter().zip(self.next..).find(|((_, count), _)| *count != 0);
                hit.map(|((bin, count), at)| (at, (*bin, i128::from(*count))))
            }
        }?;
        self.next = at.saturating_add(1);
        Some(hit)
    }
}

impl FusedIterator for Hit<'_> {}

/// The first count from an index on that is not 0, and its index.
fn first<T: Copy + Default + PartialEq>(bins: &[T], from: usize) -> Option<(usize, T)> {
    /// The number of bins that are tested one by one before strides are tested.
    const NEAR: usize = 8;
    let all = bins.get(from..)?;
    // Nonzero bins are close together, or rare: large strides are worth a test only after many zeros.
    if let Some(at) = all.iter().take(NEAR).position(|count| *count != T::default()) {
        return Some((from.saturating_add(at), *all.get(at)?));
    }
    let mut rest = without_zeros::<64, T>(all, 2);
    if rest.len().saturating_add(2 * 64) == all.len() {
        rest = without_zeros::<512, T>(rest, usize::MAX);
        rest = without_zeros::<64, T>(rest, usize::MAX);
    }
    rest = without_zeros::<8, T>(rest, usize::MAX);
    let at = rest.iter().position(|count| *count != T::default())?;
    let passed = bins.len().saturating_sub(rest.len());
    Some((passed.saturating_add(at), *rest.get(at)?))
}

/// Passes strides of zeros at the beginning, at most this many.
fn without_zeros<const STRIDE: usize, T: Copy + Default + PartialEq>(bins: &[T], most: usize) -> &[T] {
    let zero = [T::default(); STRIDE];
    let mut rest = bins;
    for _ in 0..most {
        match rest.split_first_chunk::<STRIDE>() {
            Some((stride, after)) if *stride == zero => rest = after,
            _ => break,
        }
    }
    rest
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
    fn each_distance_between_hits_is_passed() {
        for distance in (1..80).chain([127, 128, 129, 136, 137, 639, 640, 641, 703, 704, 705, 1151, 1152, 1153]) {
            let mut bins = vec![0_u64; 2 * distance + 3];
            for hit in [0, distance, 2 * distance] {
                bins[hit] = 1 + hit as u64;
            }
            let expected = [0, distance, 2 * distance].map(|hit| (hit as u64, 1 + hit as i128));
            assert_eq!(Bins::U64(bins).hit().collect::<Vec<_>>(), expected, "{distance}");
        }
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

    #[test]
    fn signed_sums_do_not_depend_on_the_order() {
        const HIGH: u64 = 1 << 63;
        let sparse = Bins::sparse(3, vec![(0, HIGH), (2, 1)]).unwrap();
        for (unsigned, signed, expected) in [
            (Bins::U64(vec![HIGH, 0, 1]), vec![-1, -7, 0], Ok([i64::MAX, -7, 1])),
            (sparse, vec![-1, -7, 0], Ok([i64::MAX, -7, 1])),
            (Bins::U64(vec![u64::MAX, 0, 1]), vec![i64::MIN, -7, 0], Ok([i64::MAX, -7, 1])),
            (Bins::U64(vec![0, HIGH, HIGH]), vec![5, -1, 0], Err(2)),
            (Bins::U64(vec![0, HIGH, 1]), vec![0, 0, i64::MAX], Err(1)),
            (Bins::U16(vec![0, 1, 1]), vec![0, i64::MAX, i64::MAX], Err(1)),
        ] {
            let signed = Bins::I64(signed);
            for (first, second) in [(&unsigned, &signed), (&signed, &unsigned)] {
                let mut sum = first.clone();
                let added = sum.add(second);
                assert_eq!(added, first.check(second));
                assert_eq!(added, expected.map(|_| ()));
                assert_eq!(&sum, &expected.map_or(first.clone(), |sums| Bins::I64(sums.to_vec())));
            }
        }
    }

    #[test]
    fn zeros_of_a_sparse_list_are_no_hits() {
        let sparse = Bins::Sparse { bins: 3, counts: vec![(0, 0), (1, 4), (2, 0)] };
        assert_eq!(sparse.hit().collect::<Vec<_>>(), [(1, 4)]);
        assert_eq!(sparse, Bins::U16(vec![0, 4, 0]));
    }
}
