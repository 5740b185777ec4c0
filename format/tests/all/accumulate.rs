//! Tests of sums of profiles.

use crate::common::{called, sampled, seconds, sum};
use gmon::{Accumulator, Arc, Bins, Block, Dimension, Error, Histogram, Profile, Unit};
use proptest::prelude::*;

fn add(first: Histogram, second: Histogram) -> Result<Profile, Error> {
    let mut accumulator = Accumulator::new();
    accumulator.add(sampled(first))?;
    accumulator.add(sampled(second))?;
    Ok(accumulator.finish())
}

fn signed(bins: &[i64]) -> Histogram {
    Histogram::new(0..16, Unit::seconds(100), bins.to_vec()).unwrap()
}

#[test]
fn equal_ranges_are_summed_and_disjoint_ones_kept() {
    let high = seconds(0x2000, 0x2010, &[5, 6]);
    let low = seconds(0x1000, 0x1010, &[1, 2]);
    let behind = seconds(0x1010, 0x1020, &[3, 4]);
    let total = sum([high.clone(), low, behind.clone(), seconds(0x1000, 0x1010, &[10, 20])].map(sampled));
    assert_eq!(total.histograms(), [seconds(0x1000, 0x1010, &[11, 22]), behind, high]);
}

#[test]
fn equal_arcs_become_one() {
    let mut accumulator = Accumulator::new();
    accumulator.add(called(&[(1, 2, 3), (4, 5, 6)])).unwrap();
    accumulator.add(called(&[(7, 8, 9), (1, 2, 30), (2, 1, 0)])).unwrap();
    let in_order = accumulator.clone().finish_in_order();
    assert_eq!(in_order, called(&[(1, 2, 33), (4, 5, 6), (7, 8, 9), (2, 1, 0)]));
    assert_eq!(accumulator.finish(), called(&[(1, 2, 33), (2, 1, 0), (4, 5, 6), (7, 8, 9)]));
}

#[test]
fn blocks_are_summed() {
    let blocks =
        |blocks: &[(u64, u64)]| Profile::new().with_blocks(blocks.iter().map(|&(addr, count)| Block::new(addr, count)));
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
    assert_eq!(add(seconds(0, 16, &[1 << 63, 0]), signed(&[0, 0])), overflow(0));
    // The sum fits, though one of the counts alone would not.
    let sum = Ok(sampled(signed(&[i64::MAX, 0])));
    assert_eq!(add(signed(&[-1, 0]), seconds(0, 16, &[1 << 63, 0])), sum);
    assert_eq!(add(seconds(0, 16, &[1 << 63, 0]), signed(&[-1, 0])), sum);
    let mut accumulator = Accumulator::new();
    accumulator.add(called(&[(1, 2, u64::MAX)])).unwrap();
    assert_eq!(accumulator.add(called(&[(1, 2, 1)])), Err(Error::ArcOverflow { frompc: 1, selfpc: 2 }));
    let blocks = vec![Block::new(7, u64::MAX); 2];
    assert_eq!(accumulator.add(Profile::new().with_blocks(blocks)), Err(Error::BlockOverflow { addr: 7 }));
}

#[test]
fn histograms_that_do_not_go_together_are_errors() {
    let first = || seconds(0x100, 0x110, &[1, 2, 3, 4]);
    let overlap = |lowpc: u64, bins: &[u64]| {
        let other = seconds(lowpc, lowpc + 4 * bins.len() as u64, bins);
        let second = other.lowpc()..other.highpc();
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
    let with = |unit: Unit| {
        let mut other = first();
        other.set_unit(unit);
        error(other)
    };
    assert_eq!(with(Unit::seconds(99)), Error::RatesDiffer { first: 100, second: 99 });
    let abbrev = Error::AbbrevsDiffer { first: b's', second: b'm' };
    assert_eq!(with(Unit { abbrev: b'm', ..Unit::seconds(100) }), abbrev);
    let dimension = Dimension::from_field(*b"misses\0\0\0rubbish".first_chunk().unwrap());
    let dimensions = Error::DimensionsDiffer { first: Dimension::SECONDS, second: dimension };
    assert_eq!(with(Unit { dimension, ..Unit::seconds(100) }), dimensions);
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

/// A profile whose histograms differ in the size of their bins.
fn two_scales() -> Profile {
    Profile::of_samples([seconds(0, 16, &[1, 2, 3, 4]), seconds(32, 64, &[1, 2])]).unwrap()
}

/// After an error of each kind, the sum is the same as before.
#[test]
fn an_error_adds_nothing() {
    let before = || {
        let profile = Profile::of_samples([seconds(0x1000, 0x1010, &[1, 2])]).unwrap();
        profile.with_arcs([Arc::new(1, 2, 3), Arc::new(4, 5, u64::MAX)]).with_blocks([Block::new(7, u64::MAX)])
    };
    let histogram = seconds(0x1000, 0x1010, &[1, 1]);
    let arcs = [Arc::new(9, 9, 9), Arc::new(1, 2, 1), Arc::new(9, 9, 1)];
    let bad = [
        Profile::of_samples([seconds(0x2000, 0x2010, &[1, 1]), seconds(0x1008, 0x1018, &[1, 1])]).unwrap(),
        Profile::of_samples([seconds(0x2000, 0x2010, &[1, 1]), seconds(0x1000, 0x1010, &[1, u64::MAX])]).unwrap(),
        Profile::of_samples([histogram.clone()]).unwrap().with_arcs(arcs).with_arcs([Arc::new(4, 5, 1)]),
        Profile::of_samples([histogram]).unwrap().with_arcs(arcs).with_blocks([Block::new(8, 1), Block::new(7, 1)]),
        Profile::of_samples([seconds(0x2000, 0x2010, &[1, 1]), seconds(0x3000, 0x3010, &[1])]).unwrap(),
        two_scales().with_arcs(arcs),
    ];
    for profile in bad {
        let mut accumulator = Accumulator::new();
        accumulator.add(before()).unwrap();
        assert!(accumulator.add(profile.clone()).is_err());
        assert_eq!(accumulator.clone().finish_in_order(), before());
        // The sum accepts further profiles.
        accumulator.add(called(&[(1, 2, 1), (9, 9, 1)])).unwrap();
        assert_eq!(accumulator.finish().arcs(), [Arc::new(1, 2, 4), Arc::new(4, 5, u64::MAX), Arc::new(9, 9, 1)]);
        let mut empty = Accumulator::new();
        let different = Err(Error::ScalesDiffer { first: 0..16, first_bins: 4, second: 32..64, second_bins: 2 });
        assert_eq!(empty.add(two_scales().with_arcs(arcs)), different);
        assert_eq!(empty.clone().finish(), Profile::new());
        let _ = empty.add(Profile::new().with_arcs(arcs).with_blocks(vec![Block::new(7, u64::MAX); 2]));
        assert_eq!(empty.finish(), Profile::new());
    }
}

/// Profiles of one program: histograms of the same three ranges, and arcs between few addresses.
fn profiles() -> impl Strategy<Value = Vec<Profile>> {
    let bins = prop::collection::vec(0..1u64 << 50, 4);
    let histogram = (0..3u64, bins, any::<bool>()).prop_map(|(at, bins, signed)| {
        let lowpc = 0x1000 + at * 16;
        let counts = bins.iter().map(|count| *count as i64).collect();
        let bins = if signed { Bins::I64(counts) } else { Bins::U64(bins) };
        Histogram::new(lowpc..lowpc + 16, Unit::seconds(100), bins).unwrap()
    });
    let arc = (0..4u64, 0..4u64, 0..1u64 << 50);
    let arc = arc.prop_map(|(frompc, selfpc, count)| Arc::new(frompc, selfpc, count));
    let block = (0..4u64, 0..1u64 << 50).prop_map(|(addr, count)| Block::new(addr, count));
    let parts =
        (prop::collection::vec(histogram, 0..3), prop::collection::vec(arc, 0..9), prop::collection::vec(block, 0..3));
    let profile = parts.prop_map(|(histograms, arcs, blocks)| {
        Profile::of_samples(histograms).unwrap().with_arcs(arcs).with_blocks(blocks)
    });
    prop::collection::vec(profile, 1..8)
}

/// Profiles with counts of any size and sign, and bins of one size or of two.
fn any_profile() -> impl Strategy<Value = Profile> {
    let high = prop_oneof![Just(1_u64 << 63), Just(u64::MAX), Just((1 << 63) - 1), 0..3_u64];
    let count = || high.clone();
    let histogram = (0..3u64, prop::collection::vec(count(), 4), 0..4u8).prop_map(|(at, bins, kind)| {
        let (lowpc, size) = (0x1000 + at * 32, if kind == 3 { 32 } else { 16 });
        let bins = match kind {
            0 => Bins::I64(bins.iter().map(|count| *count as i64).collect()),
            1 => Bins::sparse(4, (0..).zip(bins).collect()).unwrap(),
            _ => Bins::U64(bins),
        };
        Histogram::new(lowpc..lowpc + size, Unit::seconds(100), bins).unwrap()
    });
    let arcs = prop::collection::vec((0..2u64, count()), 0..3);
    (prop::collection::vec(histogram, 0..3), arcs).prop_map(|(histograms, arcs)| {
        let mut profile = Profile::new().with_arcs(arcs.into_iter().map(|(at, count)| Arc::new(at, at, count)));
        // Histograms that cannot stand in one profile are left out.
        histograms.into_iter().for_each(|histogram| _ = profile.add_histogram(histogram));
        profile
    })
}

/// The sum of two profiles, if they can be added up.
fn sum_of_two(first: &Profile, second: &Profile) -> Option<Profile> {
    let mut accumulator = Accumulator::new();
    for profile in [first, second] {
        let before = accumulator.clone().finish_in_order();
        if accumulator.add(profile.clone()).is_err() {
            assert_eq!(accumulator.finish_in_order(), before);
            return None;
        }
    }
    Some(accumulator.finish())
}

/// Profiles, and the same profiles in another order.
fn shuffled() -> impl Strategy<Value = (Vec<Profile>, Vec<Profile>)> {
    profiles().prop_flat_map(|profiles| (Just(profiles.clone()), Just(profiles).prop_shuffle()))
}

/// The total numbers of samples, calls and executions of blocks.
fn totals(profiles: &[Profile]) -> (i128, u64, u64) {
    let samples = profiles.iter().flat_map(Profile::histograms).map(Histogram::total).sum();
    let calls = profiles.iter().flat_map(Profile::arcs).fold(0, |sum: u64, arc| sum.saturating_add(arc.count));
    let runs = profiles.iter().flat_map(Profile::blocks).map(|block| block.count).sum();
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
        prop_assert_eq!(sum(profiles), sum(shuffled));
    }

    #[test]
    fn sums_of_any_counts_are_commutative(first in any_profile(), second in any_profile()) {
        let sum = sum_of_two(&first, &second);
        prop_assert_eq!(&sum, &sum_of_two(&second, &first));
        if let Some(sum) = sum {
            prop_assert_eq!(sum.histograms().iter().map(Histogram::total).sum::<i128>(), totals(&[first, second]).0);
        }
    }

    #[test]
    fn sums_are_associative(profiles in profiles(), at in any::<prop::sample::Index>()) {
        let (first, second) = profiles.split_at(at.index(profiles.len()));
        let halves = [sum(first.to_vec()), sum(second.to_vec())];
        prop_assert_eq!(sum(halves), sum(profiles));
    }
}
