//! Tests of differences between two snapshots of one profile.

use crate::common::{called, sampled, seconds, sum};
use gmon::{Arc, Bins, Block, Dimension, Error, Histogram, Image, Part, Profile, Unit};
use proptest::prelude::*;

fn lower(part: Part, address: u64, earlier: i128, later: i128) -> Error {
    Error::Lower { part, address, earlier, later }
}

/// A histogram of four bins at 0x1000.
fn of(bins: impl Into<Bins>) -> Histogram {
    Histogram::new(0x1000..0x1010, Unit::seconds(100), bins).unwrap()
}

/// The counts of the same bins in each width.
fn widths(counts: [u16; 4]) -> [Bins; 4] {
    [
        Bins::U16(counts.to_vec()),
        Bins::U64(counts.map(u64::from).to_vec()),
        Bins::I64(counts.map(i64::from).to_vec()),
        Bins::sparse(4, (0..).zip(counts.map(u64::from)).collect()).unwrap(),
    ]
}

/// Fails if counters of one width are not subtracted, are added, or are those of the next bin.
#[test]
fn bins_of_any_widths_are_subtracted() {
    for later in widths([5, 0, 7, 9]) {
        for earlier in widths([1, 0, 7, 2]) {
            let difference = sampled(of(later.clone())).since(&sampled(of(earlier.clone()))).unwrap();
            assert_eq!(difference.histograms(), [of(vec![4_u16, 0, 0, 7])], "{later:?} {earlier:?}");
            let swapped = sampled(of(earlier.clone())).since(&sampled(of(later.clone())));
            assert_eq!(swapped, Err(lower(Part::Samples, 0x1000, 5, 1)), "{later:?} {earlier:?}");
        }
    }
    let sparse = sampled(of(widths([5, 0, 7, 9])[3].clone()));
    let difference = sparse.since(&sampled(of(widths([5, 0, 7, 2])[3].clone()))).unwrap();
    // Fails if zeros stay in a sparse list.
    assert!(matches!(difference.histograms()[0].bins(), Bins::Sparse { counts, .. } if *counts == [(3, 7)]));
}

/// Fails if counts beyond 63 or 64 bits wrap, or if a negative count that did not change is an error or a negative
/// difference is none.
#[test]
fn the_highest_and_the_lowest_counts_are_exact() {
    let most = |count: u64| sampled(of(vec![count, 0, 0, 0]));
    assert_eq!(most(u64::MAX).since(&most(1)), Ok(most(u64::MAX - 1)));
    assert_eq!(most(1).since(&most(u64::MAX)), Err(lower(Part::Samples, 0x1000, u64::MAX.into(), 1)));
    let signed = |counts: [i64; 4]| sampled(of(counts.to_vec()));
    let same = signed([i64::MIN, -3, i64::MAX, 5]);
    assert_eq!(same.clone().since(&same), Ok(signed([0; 4])));
    assert_eq!(signed([0, 0, 5, 0]).since(&signed([0, 0, -2, 0])), Ok(signed([0, 0, 7, 0])));
    assert_eq!(signed([0, 0, -3, 0]).since(&signed([0; 4])), Err(lower(Part::Samples, 0x1008, 0, -3)));
    // The difference does not fit the signed counters, and no run has such counts.
    let impossible = signed([i64::MAX, 0, 0, 0]).since(&signed([-1, 0, 0, 0]));
    assert_eq!(impossible, Err(lower(Part::Samples, 0x1000, -1, i64::MAX.into())));
}

/// The profile of a row of bins of 4 bytes from 0x1000 on, divided at these bins. Like the runtime, the function leaves
/// out ranges without samples, except for the first one.
fn divided(counts: &[u64], at: &[usize]) -> Profile {
    let mut bounds: Vec<usize> = at.iter().map(|at| at % counts.len()).chain([0, counts.len()]).collect();
    bounds.sort_unstable();
    bounds.dedup();
    let parts = bounds.windows(2).map(|bounds| (bounds[0], &counts[bounds[0]..bounds[1]]));
    let parts = parts.filter(|(first, counts)| *first == 0 || counts.iter().any(|count| *count > 0));
    let place = |bin: usize| 0x1000 + 4 * bin as u64;
    let histograms = parts.map(|(first, counts)| seconds(place(first), place(first + counts.len()), counts));
    let mut histograms: Vec<Histogram> = histograms.collect();
    // The order in the file does not matter.
    histograms.reverse();
    Profile::of_samples(histograms).unwrap()
}

/// The addresses of bins with samples, and the samples.
fn hit(profile: &Profile) -> Vec<(u64, i128)> {
    let bins = |histogram: &Histogram| -> Vec<_> {
        histogram.hit().map(|(bin, count)| (histogram.bin_range(bin).start, count)).collect()
    };
    let mut hit: Vec<_> = profile.histograms().iter().flat_map(bins).collect();
    hit.sort_unstable();
    hit
}

/// Fails if only equal ranges are subtracted, or if a bin of another range of the same profile is taken.
#[test]
fn snapshots_may_be_divided_differently() {
    let (later, earlier) = ([3, 0, 0, 5, 1, 1, 0, 9], [1, 0, 0, 5, 0, 0, 0, 2]);
    let expected = vec![(0x1000, 2), (0x1010, 1), (0x1014, 1), (0x101c, 7)];
    let divisions: [&[usize]; 6] = [&[], &[4], &[2, 4, 6], &[1, 2, 3, 4, 5, 6, 7], &[3], &[5, 7]];
    for one in divisions {
        for other in divisions {
            let (later, earlier) = (divided(&later, one), divided(&earlier, other));
            let difference = later.clone().since(&earlier).unwrap();
            assert_eq!(hit(&difference), expected, "{one:?} {other:?}");
            let ranges = |profile: &Profile| profile.histograms().iter().map(Histogram::range).collect::<Vec<_>>();
            assert_eq!(ranges(&difference), ranges(&later), "the ranges of the later profile, in its order");
        }
    }
}

/// Fails if counts are lost that are before, between, or behind the ranges of the later profile, or if ranges without
/// samples are missed.
#[test]
fn samples_that_the_later_profile_lacks_are_errors() {
    let later = || Profile::of_samples([seconds(0x1010, 0x1018, &[5, 5]), seconds(0x1020, 0x1028, &[5, 5])]).unwrap();
    for (bin, address) in [(0, 0x1008), (1, 0x100c), (4, 0x1018), (5, 0x101c), (8, 0x1028), (9, 0x102c)] {
        let mut counts = [0, 0, 1, 2, 0, 0, 3, 4, 0, 0];
        let difference = later().since(&sampled(seconds(0x1008, 0x1030, &counts))).unwrap();
        assert_eq!(hit(&difference), [(0x1010, 4), (0x1014, 3), (0x1020, 2), (0x1024, 1)]);
        counts[bin] = 1;
        let error = later().since(&sampled(seconds(0x1008, 0x1030, &counts))).unwrap_err();
        assert_eq!(error, lower(Part::Samples, address, 1, 0));
    }
    assert_eq!(later().since(&sampled(seconds(0x2000, 0x2008, &[0, 0]))), Ok(later()));
    let missing = later().since(&sampled(seconds(0x2000, 0x2008, &[0, 2])));
    assert_eq!(missing, Err(lower(Part::Samples, 0x2004, 2, 0)));
    assert_eq!(Profile::new().since(&later()), Err(lower(Part::Samples, 0x1010, 5, 0)));
    assert_eq!(later().since(&Profile::new()), Ok(later()));
}

/// Fails if bins are compared by size only, or if a size that is no whole number of bytes is rounded.
#[test]
fn bins_must_have_the_same_addresses() {
    // Bins of 2.5 bytes.
    let later = || sampled(seconds(0x100, 0x114, &[1, 2, 3, 4, 5, 6, 7, 8]));
    let difference = later().since(&sampled(seconds(0x105, 0x10a, &[3, 3]))).unwrap();
    assert_eq!(difference, sampled(seconds(0x100, 0x114, &[1, 2, 0, 1, 5, 6, 7, 8])));
    let overlap = |lowpc: u64, highpc: u64| {
        let second = lowpc..highpc;
        assert_eq!(
            later().since(&sampled(seconds(lowpc, highpc, &[0, 0]))),
            Err(Error::Overlap { first: 0x100..0x114, second })
        );
    };
    overlap(0x106, 0x10b);
    overlap(0x0fe, 0x103);
    overlap(0x112, 0x117);
    let bins = later().since(&sampled(seconds(0x100, 0x114, &[0; 4])));
    assert_eq!(bins, Err(Error::BinsDiffer { range: 0x100..0x114, first: 8, second: 4 }));
    let scales = later().since(&sampled(seconds(0x100, 0x10a, &[0; 2])));
    let expected = Error::ScalesDiffer { first: 0x100..0x114, first_bins: 8, second: 0x100..0x10a, second_bins: 2 };
    assert_eq!(scales, Err(expected));
    // Bins smaller than a byte have no addresses of their own, and the largest numbers fit.
    let small = sampled(seconds(0, 2, &[1, 2, 3, 4]));
    assert_eq!(small.clone().since(&sampled(seconds(1, 2, &[1, 1]))), Ok(sampled(seconds(0, 2, &[1, 2, 2, 3]))));
    let sparse = |range, counts: &[(u64, u64)]| {
        let bins = Bins::sparse(u64::MAX, counts.to_vec()).unwrap();
        sampled(Histogram::new(range, Unit::seconds(100), bins).unwrap())
    };
    let all = 0..u64::MAX;
    let difference = sparse(all.clone(), &[(u64::MAX - 1, 5)]).since(&sparse(all.clone(), &[(u64::MAX - 1, 3)]));
    assert_eq!(difference, Ok(sparse(all.clone(), &[(u64::MAX - 1, 2)])));
    assert!(matches!(sparse(all, &[]).since(&sparse(1..2, &[])), Err(Error::ScalesDiffer { .. })));
}

/// Fails if a property of the unit is not compared, or if the order of the two is wrong.
#[test]
fn units_must_be_the_same() {
    let with = |unit| sampled(Histogram::new(0x1000..0x1010, unit, vec![0_u16; 4]).unwrap());
    let seconds = || with(Unit::seconds(100));
    let rates = Error::RatesDiffer { first: 100, second: 1000 };
    assert_eq!(seconds().since(&with(Unit::seconds(1000))), Err(rates));
    let other = Dimension::from_field(*b"cycles\0\0\0\0\0\0\0\0\0");
    let dimensions = Error::DimensionsDiffer { first: Dimension::SECONDS, second: other };
    assert_eq!(seconds().since(&with(Unit { dimension: other, ..Unit::seconds(100) })), Err(dimensions));
    let abbrevs = Error::AbbrevsDiffer { first: b's', second: b'x' };
    assert_eq!(seconds().since(&with(Unit { abbrev: b'x', ..Unit::seconds(100) })), Err(abbrevs));
}

/// Fails if repeated pairs are subtracted one by one, if pairs are compared by one of their addresses, or if an arc
/// without calls stays.
#[test]
fn arcs_are_subtracted_by_pair() {
    let later = || called(&[(4, 5, 6), (1, 2, 3), (1, 2, 4), (2, 1, 5), (9, 9, 0), (8, 2, 1)]);
    let earlier = called(&[(1, 2, 2), (2, 1, 5), (1, 2, 3), (7, 7, 0)]);
    assert_eq!(later().since(&earlier), Ok(called(&[(4, 5, 6), (1, 2, 2), (8, 2, 1)])));
    assert_eq!(earlier.since(&later()), Err(lower(Part::Calls, 2, 7, 5)));
    assert_eq!(later().since(&called(&[(3, 7, 1)])), Err(lower(Part::Calls, 7, 1, 0)));
    let overflow = Error::ArcOverflow { frompc: 1, selfpc: 2 };
    let most = called(&[(1, 2, u64::MAX), (1, 2, 1)]);
    assert_eq!(most.clone().since(&later()), Err(overflow.clone()));
    assert_eq!(later().since(&most), Err(overflow));
}

/// Fails if blocks are not subtracted, or if a block that did not run in this time is lost.
#[test]
fn blocks_are_subtracted_by_address() {
    let blocks =
        |blocks: &[(u64, u64)]| Profile::new().with_blocks(blocks.iter().map(|&(addr, count)| Block::new(addr, count)));
    let (later, earlier) = (blocks(&[(1, 5), (3, 4), (1, 1), (7, 2)]), blocks(&[(3, 4), (1, 2)]));
    assert_eq!(later.clone().since(&earlier), Ok(blocks(&[(1, 4), (3, 0), (7, 2)])));
    assert_eq!(earlier.since(&later), Err(lower(Part::Blocks, 1, 6, 2)));
    assert_eq!(later.since(&blocks(&[(9, 1)])), Err(lower(Part::Blocks, 9, 1, 0)));
}

/// Fails if orders or images are those of the earlier profile, or are lost.
#[test]
fn orders_and_images_are_those_of_the_later_profile() {
    let mut earlier = called(&[(1, 2, 3)]);
    earlier.set_order(1, 2, 1);
    earlier.add_image(Image::new("/earlier"));
    let mut later = called(&[(1, 2, 3), (5, 6, 1)]);
    later.set_order(1, 2, 1);
    later.set_order(5, 6, 2);
    later.add_image(Image::new("/later"));
    let difference = later.clone().since(&earlier).unwrap();
    assert_eq!(difference.orders().collect::<Vec<_>>(), later.orders().collect::<Vec<_>>());
    assert_eq!((difference.images(), difference.arcs()), (later.images(), &[Arc::new(5, 6, 1)][..]));
}

/// The counts of bins, arcs, and blocks.
#[derive(Clone, Debug)]
struct Counts {
    bins: Vec<u64>,
    arcs: Vec<(u64, u64, u64)>,
    blocks: Vec<(u64, u64)>,
}

const BINS: usize = 40;

fn counts() -> impl Strategy<Value = Counts> {
    let count = || prop_oneof![2 => Just(0), 2 => 0..70_000_u64, 1 => 0..1u64 << 50];
    let bins = prop::collection::vec(prop_oneof![3 => Just(0), 1 => count()], BINS);
    let arcs = prop::collection::vec((0..4u64, 0..4u64, count()), 0..12);
    let blocks = prop::collection::vec((0..4u64, count()), 0..6);
    (bins, arcs, blocks).prop_map(|(bins, arcs, blocks)| Counts { bins, arcs, blocks })
}

impl Counts {
    /// The profile, divided at these bins.
    fn profile(&self, at: &[usize]) -> Profile {
        let blocks = self.blocks.iter().map(|(addr, count)| Block::new(*addr, *count));
        let arcs = self.arcs.iter().map(|(frompc, selfpc, count)| Arc::new(*frompc, *selfpc, *count));
        divided(&self.bins, at).with_arcs(arcs).with_blocks(blocks)
    }

    fn plus(&self, other: &Counts) -> Counts {
        Counts {
            bins: self.bins.iter().zip(&other.bins).map(|(one, other)| one + other).collect(),
            arcs: self.arcs.iter().chain(&other.arcs).copied().collect(),
            blocks: self.blocks.iter().chain(&other.blocks).copied().collect(),
        }
    }
}

/// The counts of a profile that are not 0: bins, arcs, and blocks.
fn content(profile: &Profile) -> (Vec<(u64, i128)>, Profile) {
    let mut rest = sum([Profile::new().with_arcs(profile.arcs().to_vec()).with_blocks(profile.blocks().to_vec())]);
    rest.retain_arcs(|arc| arc.count > 0);
    rest.retain_blocks(|block| block.count > 0);
    (hit(profile), rest)
}

fn division() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0..BINS, 0..8)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Fails if any count of the sum is lost or kept too much.
    #[test]
    fn a_sum_less_one_summand_is_the_other(one in counts(), other in counts(), at in division()) {
        let [first, second] = [&one, &other].map(|counts| counts.profile(&[]));
        let difference = sum([first.clone(), second.clone()]).since(&first).unwrap();
        prop_assert_eq!(content(&difference), content(&second));
        // With other ranges in the two snapshots.
        let difference = one.plus(&other).profile(&[10, 20, 30]).since(&one.profile(&at)).unwrap();
        prop_assert_eq!(content(&difference), content(&second));
    }

    /// Fails if a count of an equal profile remains, or if another order of the two is not noticed.
    #[test]
    fn nothing_is_between_equal_snapshots(one in counts(), other in counts(), at in division()) {
        let (same, twin) = (one.profile(&at), one.profile(&[7, 14]));
        prop_assert_eq!(content(&same.clone().since(&twin).unwrap()), content(&Profile::new()));
        let later = one.plus(&other).profile(&[]);
        let is_same = content(&later) == content(&same);
        prop_assert_eq!(same.since(&later).is_ok(), is_same);
    }
}
