//! Tests of bins and their addresses.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::common::seconds;
use gmon::{Bins, Dimension, Error, Histogram, Unit};
use proptest::prelude::*;

#[test]
fn bins_divide_the_range() {
    // A histogram of glibc: the bins are a little smaller than four bytes.
    let histogram = seconds(0x1000, 0x100a, &[1, 2, 3]);
    let ranges: Vec<_> = (0..4).map(|bin| histogram.bin_range(bin)).collect();
    assert_eq!(ranges, [0x1000..0x1004, 0x1004..0x1007, 0x1007..0x100a, 0x100a..0x100a]);
    let bins: Vec<_> = [0xfff, 0x1000, 0x1003, 0x1004, 0x1009, 0x100a].map(|pc| histogram.bin_of(pc)).into();
    assert_eq!(bins, [None, Some(0), Some(0), Some(1), Some(2), None]);
}

#[test]
fn bins_may_be_smaller_than_a_byte() {
    let histogram = seconds(0, 2, &[0; 4]);
    let ranges: Vec<_> = (0..4).map(|bin| histogram.bin_range(bin)).collect();
    assert_eq!(ranges, [0..1, 1..1, 1..2, 2..2]);
    assert_eq!([histogram.bin_of(0), histogram.bin_of(1)], [Some(0), Some(2)]);
}

#[test]
fn impossible_histograms_are_errors() {
    let new = |range, bins: &[u64]| Histogram::new(range, Unit::seconds(100), bins.to_vec());
    let (lowpc, highpc) = (8, 4);
    assert_eq!(new(lowpc..highpc, &[1]), Err(Error::EmptyRange { lowpc, highpc }));
    assert_eq!(new(8..8, &[]), Err(Error::EmptyRange { lowpc: 8, highpc: 8 }));
    assert_eq!(new(4..8, &[]), Err(Error::EmptyHistogram { range: 4..8 }));
    let sparse = |counts: &[(u64, u64)]| {
        Histogram::new(4..8, Unit::seconds(100), Bins::Sparse { bins: 2, counts: counts.to_vec() })
    };
    assert!(sparse(&[(0, 1), (1, 1)]).is_ok());
    assert_eq!(sparse(&[(1, 1), (0, 1)]), Err(Error::Unordered { bin: 0, bins: 2 }));
    assert_eq!(sparse(&[(2, 1)]), Err(Error::Unordered { bin: 2, bins: 2 }));
}

#[test]
fn counts_have_a_sign_when_the_histogram_says_so() {
    let histogram = seconds(0, 8, &[u64::MAX, 3]);
    assert_eq!((histogram.count(0), histogram.total()), (u64::MAX.into(), i128::from(u64::MAX) + 3));
    let histogram = Histogram::new(0..8, Unit::seconds(100), vec![-1_i64, 3]).unwrap();
    assert_eq!((histogram.count(0), histogram.count(1), histogram.count(2), histogram.total()), (-1, 3, 0, 2));
}

#[test]
fn a_dimension_ends_at_its_first_nul() {
    let dimension = Dimension::from_field(*b"ticks\0rubbish\0\0");
    assert_eq!((dimension.as_bytes(), dimension.field()), (&b"ticks"[..], b"ticks\0\0\0\0\0\0\0\0\0\0"));
    assert_eq!(format!("{dimension} {:?}", Dimension::SECONDS), "ticks Dimension(seconds)");
}

fn histogram() -> impl Strategy<Value = Histogram> {
    let addresses = prop_oneof![(0..100u64, 0..100u64), any::<(u64, u64)>()];
    let addresses = addresses.prop_filter("an empty range", |(first, second)| first != second);
    (addresses, 1..200usize)
        .prop_map(|((first, second), bins)| seconds(first.min(second), first.max(second), &vec![0; bins]))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn ranges_follow_each_other(histogram in histogram()) {
        let mut end = histogram.lowpc();
        for bin in 0..histogram.bins().len() {
            let range = histogram.bin_range(bin);
            prop_assert_eq!(range.start, end);
            if !range.is_empty() {
                prop_assert_eq!(histogram.bin_of(range.start), Some(bin));
                prop_assert_eq!(histogram.bin_of(range.end - 1), Some(bin));
            }
            end = range.end;
        }
        prop_assert_eq!(end, histogram.highpc());
    }
}

#[test]
fn hashes_tell_bins_apart_but_not_their_widths() {
    let hash = |bins: Bins| {
        let mut hasher = DefaultHasher::new();
        bins.hash(&mut hasher);
        hasher.finish()
    };
    let narrow = || Bins::from(vec![0_u16, 7]);
    assert_eq!(hash(narrow()), hash(Bins::from(vec![0_u64, 7])));
    assert_eq!(hash(narrow()), hash(Bins::Sparse { bins: 2, counts: vec![(1, 7)] }));
    for other in [vec![7_u16, 0], vec![0, 8], vec![0, 7, 0]] {
        assert_ne!(hash(narrow()), hash(Bins::from(other)));
    }
}

#[test]
fn the_sum_of_sparse_bins_is_in_ascending_order() {
    let sparse = |counts: [(u64, u64); 2]| {
        Histogram::new(0..16, Unit::seconds(100), Bins::Sparse { bins: 4, counts: counts.to_vec() }).unwrap()
    };
    for (one, other) in [([(0, 1), (2, 3)], [(1, 2), (2, 4)]), ([(1, 2), (2, 4)], [(0, 1), (2, 3)])] {
        let mut profile = gmon::Profile::new();
        profile.add_histogram(sparse(one)).unwrap();
        profile.add_histogram(sparse(other)).unwrap();
        let hit: Vec<_> = profile.histograms()[0].bins().hit().collect();
        assert_eq!(hit, [(0, 1), (1, 2), (2, 7)]);
    }
}
