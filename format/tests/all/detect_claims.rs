//! Tests of what docs/format.md says about all files of a kind: deterministic samples of these files.

use crate::common::{ORDERS, WORDS, found};
use gmon::{
    Arc, Encoding, Error, Form, HintKind, Hints, Histogram, OldHeader, Order, Profile, Unit, Word, read_as, write,
};

/// Numbers that look random and are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        // Knuth's generator of MMIX; its upper bits are the better ones.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn arcs(&mut self, count: u64, start: u64, span: u64) -> Vec<Arc> {
        let arc = |_| Arc::new(start + self.below(span), start + self.below(span), 1 + self.below(100_000));
        (0..count).map(arc).collect()
    }
}

#[test]
fn gnu_files_of_arcs_have_one_word_size() {
    let mut numbers = Numbers(1);
    let mut files = 0;
    for word in WORDS {
        for count in 1..400 {
            let encoding = Encoding::new(Form::Gnu, word.into(), Order::Little);
            let profile = Profile::new().with_arcs(numbers.arcs(count, 0x40_0000, 0x10_0000));
            assert_eq!(found(&write(&profile, encoding).unwrap(), &Hints::new()), Ok(encoding), "{count}");
            files += 1;
        }
    }
    assert_eq!(files, 798);
}

/// A profile as the writers of 4.2BSD make them: a bin for four bytes of code, most bins 0.
fn usual(numbers: &mut Numbers) -> Profile {
    let bins = 4 + numbers.below(200);
    let start = 0x1000 * (1 + numbers.below(0x8000));
    let counts: Vec<u64> = (0..bins).map(|_| numbers.below(40).saturating_sub(30)).collect();
    let histogram = Histogram::new(start..start + 4 * bins, Unit::seconds(0), counts).unwrap();
    let calls = numbers.below(40);
    Profile::of_samples(vec![histogram]).unwrap().with_arcs(numbers.arcs(calls, start, 4 * bins))
}

#[test]
fn only_the_headers_of_4_2_bsd_can_be_ambiguous() {
    let mut numbers = Numbers(2);
    let (mut files, mut ambiguous) = (0, 0);
    for header in [OldHeader::Packed, OldHeader::Padded, OldHeader::Wide] {
        for word in WORDS.into_iter().filter(|word| *word == Word::W64 || header == OldHeader::Packed) {
            for order in ORDERS {
                for _ in 0..250 {
                    let encoding = Encoding::new(Form::OldBsd(header), word.into(), order);
                    let profile = usual(&mut numbers);
                    let file = write(&profile, encoding).unwrap();
                    files += 1;
                    match found(&file, &Hints::new()) {
                        Ok(found) => assert_eq!(read_as(&file, found).as_ref(), Ok(&profile), "{encoding}"),
                        Err(Error::Ambiguous { candidates, hint }) => {
                            assert!(hint == HintKind::Form && candidates.len() == 2, "{encoding}: {candidates:?}");
                            let is_same = |other: &Encoding| other.order == order && other.word() == word;
                            assert!(candidates.iter().all(is_same), "{encoding}: {candidates:?}");
                            ambiguous += 1;
                        }
                        Err(error) => panic!("{encoding}: {error}"),
                    }
                }
            }
        }
    }
    assert_eq!(files, 2000);
    // A quarter of the numbers of bins may be rounded by glibc; only files with padding are concerned.
    assert!((1..400).contains(&ambiguous), "{ambiguous}");
}
