//! Tests of spare words of 4.4BSD's header that look like FreeBSD's type of counters.

use crate::common::{ORDERS, WORDS, counters, found};
use gmon::{
    Bins, Counter, DataModel, Encoding, Error, Evidence, Form, HintKind, Hints, Histogram, Order, Profile, Unit, Word,
    detect, read, write,
};
use proptest::prelude::*;

/// The values of the first spare word: all types of counters, and neighbors of these.
const SPARES: [i32; 14] = [0, 2, -2, 7, 8, -8, 16, -16, 32, -32, 64, -64, 128, -128];

/// The file with these spare words.
fn with_spares(mut file: Vec<u8>, encoding: Encoding, spares: [i32; 3]) -> Vec<u8> {
    let start = if encoding.word() == Word::W32 { 0x14 } else { 0x1c };
    for (at, spare) in spares.into_iter().enumerate() {
        let bytes = if encoding.order == Order::Little { spare.to_le_bytes() } else { spare.to_be_bytes() };
        file[start + 4 * at..start + 4 * at + 4].copy_from_slice(&bytes);
    }
    file
}

/// A histogram with a rate and this number of bytes of code for each bin.
fn histogram(lowpc: u64, profrate: u32, size: u64, bins: Bins) -> Histogram {
    Histogram::new(lowpc..lowpc + size * bins.len(), Unit::seconds(profrate), bins).unwrap()
}

/// A file of one histogram.
fn file(form: Form, (word, order): (Word, Order), histogram: Histogram) -> (Encoding, Vec<u8>) {
    let encoding = Encoding::new(form, DataModel::from(word), order);
    (encoding, write(&Profile::of_samples([histogram]).unwrap(), encoding).unwrap())
}

/// The times of a profile: each bin that was hit, by its addresses.
fn times(profile: &Profile) -> Vec<(std::ops::Range<u64>, i128)> {
    let hit = |histogram: &Histogram| {
        let of = |(bin, count)| (histogram.bin_range(bin), count);
        histogram.hit().map(of).collect::<Vec<_>>()
    };
    profile.histograms().iter().flat_map(hit).collect()
}

/// Whether the bins can be 64-bit counters with counts that a program reaches. Written without the crate's code.
fn may_be_wide(bins: &[u16], order: Order) -> bool {
    let highest = if order == Order::Little { 3 } else { 0 };
    bins.len() % 4 == 0 && bins.chunks(4).all(|bins| [0, u16::MAX].contains(&bins[highest]))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the writer left in the spare words, the times are those of 16-bit counters, or gprof asks. Catches a
    /// detection that trusts the word alone, and one that forgets one of the rules on the other words, on the density,
    /// or on impossible counts.
    #[test]
    fn no_spare_word_changes_the_times(
        word in prop::sample::select(&WORDS[..]),
        order in prop::sample::select(&ORDERS[..]),
        lowpc in 0x1000_u64..0x4000_0000,
        bins in prop::collection::vec(prop_oneof![6 => Just(0_u16), 3 => 1..40_u16, 1 => any::<u16>()], 1..100),
        others in prop_oneof![3 => Just([0, 0]), 1 => any::<[i32; 2]>()],
        profrate in prop::sample::select(vec![60_u32, 64, 100, 128, 1000, 8128]),
    ) {
        let (encoding, plain) = file(Form::Bsd, (word, order), histogram(lowpc, profrate, 4, bins.clone().into()));
        let expected = times(&read(&plain, &Hints::new().with_form(Form::Bsd)).unwrap());
        for spare in SPARES {
            let file = with_spares(plain.clone(), encoding, [spare, others[0], others[1]]);
            match read(&file, &Hints::new()) {
                Ok(profile) => prop_assert_eq!(&times(&profile), &expected, "{}", spare),
                Err(Error::Ambiguous { candidates, hint: HintKind::Form }) => {
                    let is_allowed = spare.abs() == 64 && others == [0, 0] && may_be_wide(&bins, order);
                    prop_assert!(is_allowed, "{}: {:?}", spare, candidates);
                    let hinted = read(&file, &Hints::new().with_form(Form::Bsd)).unwrap();
                    prop_assert_eq!(&times(&hinted), &expected);
                }
                Err(error) => prop_assert!(false, "{}: {}", spare, error),
            }
        }
    }

    /// Files of FreeBSD's writers keep their type. Catches a rule that takes too much for garbage.
    #[test]
    fn types_of_known_writers_are_found(
        word in prop::sample::select(&WORDS[..]),
        order in prop::sample::select(&ORDERS[..]),
        bins in prop::collection::vec(0..200_u64, 1..100),
    ) {
        let kernel = if word == Word::W32 { 0xc010_0000 } else { 0xffff_ffff_8020_0000 };
        let of = |value| Form::FreeBsd(Counter::from_histcounter_type(value).unwrap());
        // `kgmon` after `kgmon -b` and after `kgmon -B`, of kernels at high and at low addresses; `pmcstat`.
        let files = [(kernel, 128, 16, -64), (kernel, 1_193_182, 16, -64), (0x80_0000, 1_193_182, 16, -64),
            (kernel, 128, 16, 16), (0x1000, 0, 4, 64), (0x1000, 0, 16, 64), (0x1000, 0, 32, 64)];
        for (lowpc, rate, size, value) in files {
            let signed: Vec<i64> = bins.iter().map(|bin| 100 - *bin as i64).collect();
            let bins: Bins = if value < 0 { signed.into() } else { bins.clone().into() };
            let (encoding, bytes) = file(of(value), (word, order), histogram(lowpc, rate, size, bins));
            prop_assert_eq!(found(&bytes, &Hints::new()), Ok(encoding));
        }
        // Tools that write other types keep four bytes of code for each bin, or the bins of glibc's profiles.
        for counter in counters().into_iter().filter(|counter| counter.histcounter_type() != -16) {
            let bins: Vec<i64> = bins.iter().map(|bin| *bin as i64 / 2).collect();
            let rounded: Vec<i64> = bins.iter().copied().cycle().take(bins.len().next_multiple_of(4).max(16)).collect();
            let end = 0x1000 + 4 * rounded.len() as u64 - 12;
            let rounded = Histogram::new(0x1000..end, Unit::seconds(100), rounded).unwrap();
            for histogram in [histogram(0x1000, 100, 4, bins.into()), rounded] {
                let (encoding, bytes) = file(Form::FreeBsd(counter), (word, order), histogram);
                prop_assert_eq!(found(&bytes, &Hints::new()), Ok(encoding));
            }
        }
    }
}

/// Catches evidence that does not say which rule decided, and an ambiguity error without both forms.
#[test]
fn the_evidence_says_why_a_word_is_no_type() {
    let layout = (Word::W64, Order::Little);
    let of = |bins: &[u16], size, spares| {
        let (encoding, bytes) = file(Form::Bsd, layout, histogram(0x1000, 100, size, bins.to_vec().into()));
        detect(&with_spares(bytes, encoding, spares), &Hints::new())
    };
    let last = |bins: &[u16], size, spares| of(bins, size, spares).unwrap().evidence().last().cloned();
    let bins = [1, 2, 3, 4];
    let found = last(&bins, 4, [32, 0, 1]);
    assert_eq!(found, Some(Evidence::UnclearedHeader { value: 32 }));
    assert_eq!(last(&bins, 4, [32, 0, 0]), Some(Evidence::PlainDensity { value: 32 }));
    assert_eq!(last(&bins, 4, [64, 0, 0]), Some(Evidence::ImpossibleCounts { value: 64 }));
    assert_eq!(last(&bins, 4, [-16, 0, 0]), Some(Evidence::PlainDensity { value: -16 }));
    assert_eq!(last(&bins, 64, [-16, 0, 0]), Some(Evidence::CounterType { value: -16 }), "both mean the same");
    // No known writer has such bins: with counters of another size, the times are others.
    for (bins, size, value) in [(bins, 100, 8), (bins, 100, -32), ([0x8000; 4], 64, -16), ([1, 2, 3, 0], 4, -64)] {
        let counter = Counter::from_histcounter_type(value).unwrap();
        let candidates = [Form::Bsd, Form::FreeBsd(counter)];
        let candidates = candidates.map(|form| Encoding::new(form, DataModel::Lp64, Order::Little)).to_vec();
        assert_eq!(of(&bins, size, [value, 0, 0]), Err(Error::Ambiguous { candidates, hint: HintKind::Form }));
        assert!(of(&[0; 4], size, [value, 0, 0]).is_ok(), "without samples, both mean the same");
    }
}
