//! Divides the samples of bins among pieces of code: functions, inlined functions, or lines.
//!
//! A bin covers several bytes, so a bin may have samples of several pieces. A stack knows the address of its innermost
//! frame. So samples with stacks need no division, and tell how to divide the samples without stacks in the same bin.

use gmon::Histogram;

use crate::question::options::Options;
use crate::sources::Loaded;
use crate::sources::stacks::{Place, Stacks};

/// The samples of stacks at the address of their innermost frame.
#[derive(Clone, Debug, Default)]
pub struct Innermost {
    /// Addresses with their samples, in ascending order.
    ticks: Vec<(u64, u64)>,
}

impl Innermost {
    /// Adds up the samples of stacks by address.
    #[must_use]
    pub fn new(stacks: Option<&Stacks>) -> Innermost {
        let nodes = stacks.into_iter().flat_map(Stacks::nodes).filter(|node| node.ticks() > 0);
        let in_code = nodes.filter_map(|node| match node.place() {
            Place::Code(address) => Some((address, node.ticks())),
            _ => None,
        });
        let mut ticks: Vec<(u64, u64)> = in_code.collect();
        ticks.sort_unstable();
        ticks.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                kept.1 = kept.1.saturating_add(next.1);
            }
            is_same
        });
        Innermost { ticks }
    }

    /// Returns the samples of the stacks of runs, unless the reports divide bins as GNU does, which knows no stacks.
    pub(super) fn of(loaded: &Loaded, options: &Options) -> Innermost {
        Innermost::new(loaded.stacks().filter(|_| options.rules.divides_bins_exactly))
    }

    /// Returns the samples from `start` to `last`, by address.
    fn within(&self, start: u64, last: u64) -> &[(u64, u64)] {
        between(&self.ticks, start, last)
    }

    /// Returns how many samples of stacks are missing in the bins of their addresses. A profile and its side file have
    /// the same samples if they are of the same moment.
    #[must_use]
    pub fn missing_in(&self, histograms: &[Histogram]) -> u64 {
        let mut order: Vec<&Histogram> = histograms.iter().collect();
        order.sort_by_key(|histogram| histogram.lowpc());
        let bin_of = |address: u64| {
            let after = order.partition_point(|histogram| histogram.lowpc() <= address);
            let histogram = *order.get(after.checked_sub(1)?)?;
            Some((histogram, histogram.bin_of(address)?))
        };
        let (mut missing, mut next) = (0_u64, 0);
        while let Some((address, ticks)) = self.ticks.get(next) {
            next += 1;
            let Some((histogram, bin)) = bin_of(*address) else { continue };
            let mut in_bin = *ticks;
            while let Some((_, more)) =
                self.ticks.get(next).filter(|(address, _)| histogram.bin_of(*address) == Some(bin))
            {
                in_bin = in_bin.saturating_add(*more);
                next += 1;
            }
            let counted = u64::try_from(histogram.count(bin)).unwrap_or(0);
            missing = missing.saturating_add(in_bin.saturating_sub(counted));
        }
        missing
    }
}

/// The samples of a bin, or a part of the samples of a bin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bin {
    /// The number of the bin or part, counted from 0 in the order of [`share`].
    pub(crate) at: u64,
    /// The first address at which the samples may be.
    pub(crate) start: u64,
    /// The last address at which the samples may be.
    pub(crate) last: u64,
    /// The number of samples, which is not 0.
    pub(crate) count: f64,
}

/// Divides the samples of each bin that has any among pieces of code. `take` gets the bin, and a list of the pieces in
/// the bin: the index of each piece in `table`, and the samples of the piece. `bounds` returns the first and the last
/// address of a piece. Pieces must ascend and must not overlap.
///
/// If there are stacks of the bin's samples, `take` gets the samples at each address as a bin of their own, and then
/// the samples without stacks, which are divided as the samples with stacks are. Without stacks, samples are divided in
/// proportion to the bytes of each piece in the bin.
pub(crate) fn share<T>(
    histogram: &Histogram,
    innermost: &Innermost,
    table: &[T],
    bounds: impl Fn(&T) -> (u64, u64),
    mut take: impl FnMut(Bin, &[(usize, f64)]),
) {
    let mut first = table.partition_point(|piece| bounds(piece).1 < histogram.lowpc());
    let (mut credits, mut at) = (Vec::new(), 0);
    let mut give = |start: u64, last: u64, count: f64, credits: &[(usize, f64)]| {
        take(Bin { at, start, last, count }, credits);
        at += 1;
    };
    for (bin, count) in histogram.hit() {
        let count = count as f64;
        let range = histogram.bin_range(bin);
        // A bin that is smaller than a byte stands for the byte that the bin lies in.
        let (start, last) = (range.start, range.end.saturating_sub(1).max(range.start));
        while table.get(first).is_some_and(|piece| bounds(piece).1 < start) {
            first += 1;
        }
        credits.clear();
        for (at, piece) in table.iter().enumerate().skip(first) {
            let (piece_start, piece_last) = bounds(piece);
            if piece_start > last {
                break;
            }
            // In a damaged file, the last function may end before it begins.
            if let Some(more) = last.min(piece_last).checked_sub(start.max(piece_start)) {
                credits.push((at, count * (more as f64 + 1.0) / ((last - start) as f64 + 1.0)));
            }
        }
        let known = innermost.within(start, last);
        // A negative count is a difference of counts, which stacks do not divide.
        if known.is_empty() || count < 0.0 {
            give(start, last, count, &credits);
            continue;
        }
        let sum = total(known);
        // If stacks have more samples than the bin, one of the two is wrong. The bin tells how many samples there are.
        if sum <= count {
            for (address, ticks) in known {
                let next = credits.partition_point(|(at, _)| bounds(&table[*at]).0 <= *address);
                let before = next.checked_sub(1).map(|before| credits[before].0);
                let piece = before.filter(|at| bounds(&table[*at]).1 >= *address).map(|at| (at, *ticks as f64));
                give(*address, *address, *ticks as f64, piece.as_slice());
            }
        }
        let rest = if sum <= count { count - sum } else { count };
        if rest > 0.0 {
            for (at, credit) in &mut credits {
                let (piece_start, piece_last) = bounds(&table[*at]);
                *credit = rest * total(between(known, piece_start, piece_last)) / sum;
            }
            give(start, last, rest, &credits);
        }
    }
}

/// Returns the part of sorted addresses from `start` to `last`.
fn between(ticks: &[(u64, u64)], start: u64, last: u64) -> &[(u64, u64)] {
    let rest = &ticks[ticks.partition_point(|(address, _)| *address < start)..];
    &rest[..rest.partition_point(|(address, _)| *address <= last)]
}

fn total(ticks: &[(u64, u64)]) -> f64 {
    ticks.iter().fold(0.0, |sum, (_, ticks)| sum + *ticks as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gmon::{Bins, Unit};

    fn innermost(ticks: &[(u64, u64)]) -> Innermost {
        let mut stacks = Stacks::new();
        for (address, ticks) in ticks {
            let caller = stacks.push(None, Place::Code(0x9000), 0);
            stacks.push(caller, Place::Code(*address), *ticks).unwrap();
        }
        stacks.push(None, Place::Kernel, 1000).unwrap();
        Innermost::new(Some(&stacks))
    }

    fn histogram(bins: &[u64]) -> Histogram {
        Histogram::new(0x100..0x100 + 4 * bins.len() as u64, Unit::seconds(100), bins.to_vec()).unwrap()
    }

    /// The samples of two pieces of code, which end at 0x105 and 0x10b, and the ranges of the bins and parts with their
    /// counts.
    fn shared(bins: &[u64], ticks: &[(u64, u64)]) -> ([f64; 2], Vec<(u64, u64, f64)>) {
        let (mut times, mut parts) = ([0.0; 2], Vec::new());
        share(
            &histogram(bins),
            &innermost(ticks),
            &[(0x100, 0x105), (0x106, 0x10b)],
            |piece| *piece,
            |bin, credits| {
                assert_eq!(bin.at as usize, parts.len());
                parts.push((bin.start, bin.last, bin.count));
                credits.iter().for_each(|(piece, samples)| times[*piece] += samples);
            },
        );
        (times, parts)
    }

    #[test]
    fn samples_with_stacks_are_not_divided() {
        // Both ends of both pieces in one bin.
        assert_eq!(shared(&[0, 12], &[(0x105, 5), (0x106, 7)]).0, [5.0, 7.0]);
        assert_eq!(shared(&[0, 12], &[(0x104, 12)]), ([12.0, 0.0], vec![(0x104, 0x104, 12.0)]));
        assert_eq!(shared(&[0, 12], &[(0x107, 4), (0x107, 8)]), ([0.0, 12.0], vec![(0x107, 0x107, 12.0)]));
        // Addresses in other bins, and in no piece.
        assert_eq!(shared(&[0, 12], &[(0x103, 5), (0x108, 7)]), ([6.0, 6.0], vec![(0x104, 0x107, 12.0)]));
        assert_eq!(shared(&[0, 0, 0, 3], &[(0x10c, 3)]), ([0.0, 0.0], vec![(0x10c, 0x10c, 3.0)]));
    }

    #[test]
    fn samples_without_stacks_are_divided_as_those_with_stacks() {
        let parts = vec![(0x104, 0x104, 1.0), (0x107, 0x107, 3.0), (0x104, 0x107, 8.0)];
        assert_eq!(shared(&[0, 12], &[(0x104, 1), (0x107, 3)]), ([3.0, 9.0], parts));
    }

    #[test]
    fn bins_that_contradict_the_stacks() {
        // The bin has fewer samples than the stacks.
        assert_eq!(shared(&[0, 6], &[(0x104, 3), (0x107, 9)]), ([1.5, 4.5], vec![(0x104, 0x107, 6.0)]));
        let missing = |bins: &[u64], ticks: &[(u64, u64)]| innermost(ticks).missing_in(&[histogram(bins)]);
        assert_eq!(missing(&[1, 12], &[(0x100, 1), (0x104, 5), (0x107, 7)]), 0);
        assert_eq!(missing(&[1, 12], &[(0x100, 1), (0x104, 5), (0x107, 9)]), 2);
        assert_eq!(missing(&[0, 12], &[(0x100, 1), (0x104, 5), (0x107, 9)]), 3);
        // Bins with more samples, and addresses without a bin, are no contradiction.
        assert_eq!(missing(&[100, 100], &[(0xff, 1), (0x104, 5), (0x108, 7), (0x9000, 5)]), 0);
    }

    #[test]
    fn stacks_do_not_divide_a_negative_count() {
        let bins = Bins::I64(vec![0, -12]);
        let histogram = Histogram::new(0x100..0x108, Unit::seconds(100), bins).unwrap();
        let mut times = [0.0; 2];
        share(
            &histogram,
            &innermost(&[(0x107, 4)]),
            &[(0x100, 0x105), (0x106, 0x10b)],
            |piece| *piece,
            |_, credits| {
                credits.iter().for_each(|(piece, samples)| times[*piece] += samples);
            },
        );
        assert_eq!(times, [-6.0, -6.0]);
    }
}
