//! Tests of damaged and hostile files: nothing panics, and memory stays below a small multiple of the file's size.

use crate::common::{encoding, encodings, profile};
use crate::counting::peak;
use gmon::{Accumulator, DataModel, Encoding, Error, Form, Hints, Order, Profile, detect, read, read_as, write};
use proptest::prelude::*;

/// The maximum number of allocated bytes for each byte of the file, and allocated bytes that do not count: an 8-bit
/// counter with a sign becomes 64 bits.
const LIMITS: (usize, usize) = (8, 1024);
/// The same for the tagged files of Darwin and NeXT, where the smallest histogram has 22 bytes, and an image may have
/// 5.
const TAGGED: (usize, usize) = (16, 64 << 10);

/// Reads a file in every way, and checks the memory that this takes.
fn read_every_way(file: &[u8]) {
    let bound = |is_tagged| {
        let (multiple, free) = if is_tagged { TAGGED } else { LIMITS };
        multiple * file.len() + free
    };
    let any = bound(
        [&[0xbe, 0xef][..], &[0xbe, 0xba, 0xef], &[0xbf, 0xba, 0xef]].iter().any(|magic| file.starts_with(magic)),
    );
    assert!(peak(|| detect(file, &Hints::default())) <= any);
    assert!(peak(|| read(file, &Hints::default())) <= any);
    for encoding in encodings() {
        let Encoding { form, order, .. } = encoding;
        assert!(peak(|| read_as(file, encoding)) <= bound(matches!(form, Form::Darwin | Form::Next)), "{encoding:?}");
        let word = encoding.word();
        let _ = detect(file, &Hints::new().with_form(form));
        let _ = detect(file, &Hints::new().with_form(form).with_word(word).with_order(order));
    }
}

/// A file with some bytes changed, removed or added.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let file = encoding().prop_flat_map(|encoding| (profile(encoding), Just(encoding)));
    let value = prop_oneof![any::<u8>(), Just(0), Just(0xff), Just(0x7f), Just(1)];
    let early = prop::collection::vec((0..0x60usize, value.clone()), 0..4);
    let anywhere = prop::collection::vec((any::<prop::sample::Index>(), value), 0..4);
    let tail = prop_oneof![3 => Just(vec![]), 1 => prop::collection::vec(any::<u8>(), 0..30)];
    let parts = (file, early, anywhere, any::<prop::sample::Index>(), any::<bool>(), tail);
    parts.prop_map(|((profile, encoding), early, anywhere, length, cut, tail)| {
        let mut file = write(&profile, encoding).unwrap();
        for (at, value) in early {
            if let Some(byte) = file.get_mut(at) {
                *byte = value;
            }
        }
        for (at, value) in anywhere {
            *at.get_mut(&mut file) = value;
        }
        if cut {
            file.truncate(length.index(file.len()));
        }
        file.extend(tail);
        file
    })
}

/// Random bytes, alone or after the start of a real file.
fn random() -> impl Strategy<Value = Vec<u8>> {
    let start = prop_oneof![
        Just(vec![]),
        Just(b"gmon\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0".to_vec()),
        Just(b"gmon\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0".to_vec()),
        Just([&[0; 8][..], &[64, 0, 0, 0], &0x51879_i32.to_le_bytes()].concat()),
        Just([&[0; 16][..], &[0, 0, 0, 64], &0x51879_i32.to_be_bytes()].concat()),
    ];
    let byte = prop_oneof![2 => 0..4u8, 1 => any::<u8>()];
    (start, prop::collection::vec(byte, 0..200)).prop_map(|(start, bytes)| [start, bytes].concat())
}

/// The sum of a profile without arcs that count nothing, which some forms do not hold; `None` if a sum does not fit.
fn sum_of_calls(mut profile: Profile) -> Option<Profile> {
    profile.retain_arcs(|arc| arc.count != 0);
    let mut sum = Accumulator::new();
    sum.add(profile).ok().map(|()| sum.finish())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_files_do_no_harm(file in mutated()) {
        read_every_way(&file);
    }

    #[test]
    fn random_bytes_do_no_harm(file in random()) {
        read_every_way(&file);
    }

    #[test]
    fn what_is_read_can_be_written(file in mutated(), hinted in encoding()) {
        let hints = Hints::new().with_form(hinted.form);
        if let Ok(found) = detect(&file, &hints).map(|detection| detection.encoding())
            && let Ok(profile) = read_as(&file, found) {
            match write(&profile, found) {
                Ok(file) => {
                    let again = read_as(&file, found).unwrap();
                    prop_assert_eq!(sum_of_calls(again), sum_of_calls(profile));
                }
                // The reader of this form accepts any dimension.
                Err(error) => {
                    let is_accepted = matches!(error, Error::NotSeconds { .. }) && found.form == Form::LdProfile;
                    prop_assert!(is_accepted, "{found}: {error}");
                }
            }
        }
    }
}

#[test]
fn many_small_histograms_take_linear_memory() {
    let mut file = b"gmon\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0".to_vec();
    for lowpc in 0..20_000_u32 {
        file.push(0);
        for field in [lowpc * 4, lowpc * 4 + 4, 1, 100] {
            file.extend(field.to_le_bytes());
        }
        file.extend(*b"seconds\0\0\0\0\0\0\0\0s\x01\0");
    }
    let encoding = Encoding::new(Form::Gnu, DataModel::Ilp32, Order::Little);
    assert_eq!(read_as(&file, encoding).unwrap().histograms().len(), 20_000);
    read_every_way(&file);
}

#[test]
fn sizes_that_a_file_only_claims_take_no_memory() {
    let mut file = b"gmon\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0".to_vec();
    file.extend([0x00, 0x10, 0, 0, 0x00, 0x20, 0, 0, 0xff, 0xff, 0xff, 0xff, 100, 0, 0, 0]);
    file.extend(*b"seconds\0\0\0\0\0\0\0\0s");
    let encoding = Encoding::new(Form::Gnu, DataModel::Ilp32, Order::Little);
    assert_eq!(peak(|| read_as(&file, encoding)), 0);
}
