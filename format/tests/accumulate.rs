//! Tests of sums of profiles.

mod common;

use common::{called, sampled, seconds, sum};
use gmon::{Accumulator, Arc, Block, Dimension, Error, Histogram, Profile};
use proptest::prelude::*;

fn add(first: Histogram, second: Histogram) -> Result<Profile, Error> {
    let mut accumulator = Accumulator::new();
    accumulator.add(sampled(first))?;
    accumulator.add(sampled(second))?;
    Ok(accumulator.finish())
}

fn signed(bins: &[i64]) -> Histogram {
    let bins: Vec<u64> = bins.iter().map(|count| count.cast_unsigned()).collect();
    Histogram { signed: true, ..seconds(0, 16, &bins) }
}

#[test]
fn equal_ranges_are_summed_and_disjoint_ones_kept() {
    let high = seconds(0x2000, 0x2010, &[5, 6]);
    let low = seconds(0x1000, 0x1010, &[1, 2]);
    let behind = seconds(0x1010, 0x1020, &[3, 4]);
    let total = sum([high.clone(), low, behind.clone(), seconds(0x1000, 0x1010, &[10, 20])].map(sampled));
    assert_eq!(total.histograms, [high, seconds(0x1000, 0x1010, &[11, 22]), behind]);
}

#[test]
fn equal_arcs_become_one_where_the_first_was() {
    let total = sum([called(&[(1, 2, 3), (4, 5, 6)]), called(&[(7, 8, 9), (1, 2, 30), (2, 1, 0)])]);
    assert_eq!(total, called(&[(1, 2, 33), (4, 5, 6), (7, 8, 9), (2, 1, 0)]));
}

#[test]
fn blocks_are_summed() {
    let blocks = |blocks: &[(u64, u64)]| Profile {
        blocks: blocks.iter().map(|&(addr, count)| Block { addr, count }).collect(),
        ..Profile::default()
    };
    assert_eq!(sum([blocks(&[(1, 2), (3, 4)]), blocks(&[(3, 1)])]), blocks(&[(1, 2), (3, 5)]));
}

#[test]
fn signed_bins_are_summed_with_their_sign() {
    assert_eq!(add(signed(&[-5, 1]), signed(&[3, -2])), Ok(sampled(signed(&[-2, -1]))));
    assert_eq!(add(signed(&[-5, 1]), seconds(0, 16, &[3, 2])), Ok(sampled(signed(&[-2, 3]))));
    assert_eq!(add(seconds(0, 16, &[3, 2]), signed(&[-5, 1])), Ok(sampled(signed(&[-2, 3]))));
}

#[test]
fn sums_that_do_not_fit_are_errors() {
    let overflow = |bin| Err(Error::BinOverflow { range: 0..16, bin });
    assert_eq!(add(seconds(0, 16, &[0, u64::MAX]), seconds(0, 16, &[0, 1])), overflow(1));
    assert_eq!(add(signed(&[i64::MAX, 0]), signed(&[1, 0])), overflow(0));
    assert_eq!(add(signed(&[i64::MIN, 0]), signed(&[-1, 0])), overflow(0));
    assert_eq!(add(signed(&[0, 0]), seconds(0, 16, &[1 << 63, 0])), overflow(0));
    let mut accumulator = Accumulator::new();
    accumulator.add(called(&[(1, 2, u64::MAX)])).unwrap();
    assert_eq!(accumulator.add(called(&[(1, 2, 1)])), Err(Error::ArcOverflow { frompc: 1, selfpc: 2 }));
    let blocks = vec![Block { addr: 7, count: u64::MAX }; 2];
    assert_eq!(accumulator.add(Profile { blocks, ..Profile::default() }), Err(Error::BlockOverflow { addr: 7 }));
}

#[test]
fn histograms_that_do_not_go_together_are_errors() {
    let first = || seconds(0x100, 0x110, &[1, 2, 3, 4]);
    let overlap = |lowpc: u64, bins: &[u64]| {
        let other = seconds(lowpc, lowpc + 4 * bins.len() as u64, bins);
        let second = other.lowpc..other.highpc;
        assert_eq!(add(first(), other), Err(Error::Overlap { first: 0x100..0x110, second }));
    };
    overlap(0x0fc, &[0; 2]); // in front and into it
    overlap(0x0fc, &[0; 6]); // all around it
    overlap(0x100, &[0; 3]); // its start
    overlap(0x104, &[0; 2]); // its middle
    overlap(0x104, &[0; 3]); // its end
    overlap(0x10c, &[0; 2]); // into it and behind
    let error = |other| add(first(), other).unwrap_err();
    let bins = Error::BinsDiffer { range: 0x100..0x110, first: 4, second: 3 };
    assert_eq!(error(seconds(0x100, 0x110, &[1, 2, 3])), bins);
    assert_eq!(error(Histogram { profrate: 99, ..first() }), Error::RatesDiffer { first: 100, second: 99 });
    let abbrev = Error::AbbrevsDiffer { first: b's', second: b'm' };
    assert_eq!(error(Histogram { abbrev: b'm', lowpc: 0, highpc: 16, ..first() }), abbrev);
    let dimension = Dimension::from_field(*b"misses\0\0\0rubbish".first_chunk().unwrap());
    let dimensions = Error::DimensionsDiffer { first: Dimension::SECONDS, second: dimension };
    assert_eq!(error(Histogram { dimension, ..first() }), dimensions);
    let impossible = Error::BadHistogram { lowpc: 1, highpc: 0, bins: 1 };
    assert_eq!(error(seconds(1, 0, &[1])), impossible);
}

#[test]
fn bins_may_differ_in_size_by_a_millionth() {
    let bins = vec![0; 3000];
    // 3000 bins for 3000 and for 3001 units of two bytes.
    let first = seconds(0, 6000, &bins);
    assert!(matches!(add(first.clone(), seconds(8000, 14002, &bins)), Err(Error::ScalesDiffer { .. })));
    // An odd byte is ignored, as in GNU gprof.
    assert!(add(first, seconds(8000, 14001, &bins)).is_ok());
    let bins = vec![0; 8];
    let first = seconds(0, 16 << 20, &bins);
    let scale = |highpc| add(first.clone(), seconds(1 << 40, highpc, &bins));
    assert!(matches!(scale((1 << 40) + (16 << 20) + 2), Err(Error::ScalesDiffer { .. })));
    assert!(scale((1 << 40) + (16 << 20) + 1).is_ok());
    // The largest numbers.
    assert!(add(seconds(0, u64::MAX - 1, &bins), seconds(u64::MAX - 1, u64::MAX, &bins)).is_err());
}

#[test]
fn histograms_of_nothing_are_dropped() {
    assert_eq!(sum([sampled(seconds(5, 5, &[]))]), Profile::default());
}

/// Profiles of one program: histograms of the same three ranges, and arcs between few addresses.
fn profiles() -> impl Strategy<Value = Vec<Profile>> {
    let bins = prop::collection::vec(0..1u64 << 50, 4);
    let histogram = (0..3u64, bins, any::<bool>()).prop_map(|(at, bins, signed)| {
        let lowpc = 0x1000 + at * 16;
        Histogram { signed, ..seconds(lowpc, lowpc + 16, &bins) }
    });
    let arc = (0..4u64, 0..4u64, 0..1u64 << 50);
    let arc = arc.prop_map(|(frompc, selfpc, count)| Arc { frompc, selfpc, count });
    let block = (0..4u64, 0..1u64 << 50).prop_map(|(addr, count)| Block { addr, count });
    let parts =
        (prop::collection::vec(histogram, 0..3), prop::collection::vec(arc, 0..9), prop::collection::vec(block, 0..3));
    let profile = parts.prop_map(|(histograms, arcs, blocks)| Profile { histograms, arcs, blocks });
    prop::collection::vec(profile, 1..8)
}

/// Profiles, and the same profiles in another order.
fn shuffled() -> impl Strategy<Value = (Vec<Profile>, Vec<Profile>)> {
    profiles().prop_flat_map(|profiles| (Just(profiles.clone()), Just(profiles).prop_shuffle()))
}

fn sorted(mut profile: Profile) -> Profile {
    profile.histograms.sort_by_key(|histogram| histogram.lowpc);
    profile.arcs.sort();
    profile.blocks.sort();
    profile
}

/// The total numbers of samples, calls and executions of blocks.
fn totals(profiles: &[Profile]) -> (i128, u64, u64) {
    let samples = profiles.iter().flat_map(|profile| &profile.histograms).map(Histogram::total).sum();
    let calls = profiles.iter().flat_map(|profile| &profile.arcs).map(|arc| arc.count).sum();
    let runs = profiles.iter().flat_map(|profile| &profile.blocks).map(|block| block.count).sum();
    (samples, calls, runs)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost(profiles in profiles()) {
        prop_assert_eq!(totals(&[sum(profiles.clone())]), totals(&profiles));
    }

    #[test]
    fn sums_are_commutative((profiles, shuffled) in shuffled()) {
        prop_assert_eq!(sorted(sum(profiles)), sorted(sum(shuffled)));
    }

    #[test]
    fn sums_are_associative(profiles in profiles(), at in any::<prop::sample::Index>()) {
        let (first, second) = profiles.split_at(at.index(profiles.len()));
        let halves = [sum(first.to_vec()), sum(second.to_vec())];
        prop_assert_eq!(sum(halves), sum(profiles));
    }
}
