//! Checks for every encoding that reading returns what was written.

use crate::common::{bsd_forms, called, encoding, encodings, found, profile, said_encodings, sampled, seconds, sum};
use gmon::{DataModel, Encoding, Error, Form, Hints, Histogram, Order, Profile, Word, read, read_as, write};
use proptest::prelude::*;

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn encoded() -> impl Strategy<Value = (Encoding, Profile)> {
    encoding().prop_flat_map(|encoding| (Just(encoding), profile(encoding)))
}

fn said() -> impl Strategy<Value = (Encoding, Profile)> {
    prop::sample::select(said_encodings()).prop_flat_map(|encoding| (Just(encoding), profile(encoding)))
}

/// Whether each count of the profile fits one record.
fn is_plain(profile: &Profile, encoding: Encoding) -> bool {
    let Encoding { form, model, .. } = encoding;
    let bin = if matches!(form, Form::Gnu | Form::Darwin | Form::Next) { u16::MAX.into() } else { u64::MAX };
    let arc = match (form, model) {
        (Form::Gnu, _) | (_, DataModel::Lp64) => u64::from(u32::MAX),
        _ => i32::MAX as u64,
    };
    let arc = if matches!(form, Form::Darwin | Form::Next) { i32::MAX as u64 } else { arc };
    profile.histograms().iter().flat_map(Histogram::hit).all(|(_, count)| count <= bin.into())
        && profile.arcs().iter().all(|piece| piece.count <= arc)
        && profile.blocks().iter().all(|block| encoding.word() == Word::W64 || block.count <= u64::from(u32::MAX))
}

/// The profile with the arcs in the order of their addresses. Darwin's form groups the arcs by range.
fn sorted(mut profile: Profile) -> Profile {
    profile.arcs_mut().sort_unstable();
    profile
}

/// Whether the encoding of a file can be detected, as far as it matters for reading.
fn says_encoding(profile: &Profile, form: Form) -> bool {
    form != Form::Gnu || *profile != Profile::default()
}

/// The form that is detected for a file of this form.
fn detected_form(profile: &Profile, form: Form) -> Form {
    // An OpenBSD file without arcs has no distinguishing mark.
    if form == Form::OpenBsd && profile.arcs().is_empty() { Form::Bsd } else { form }
}

proptest! {
    #![proptest_config(config(3000))]

    #[test]
    fn every_profile_survives((encoding, profile) in encoded()) {
        let file = write(&profile, encoding).unwrap();
        let back = read_as(&file, encoding).unwrap();
        if is_plain(&profile, encoding) {
            let is_grouped = matches!(encoding.form, Form::Darwin | Form::Next);
            let order = if is_grouped { sorted } else { core::convert::identity };
            prop_assert_eq!(order(back.clone()), order(profile.clone()));
        }
        prop_assert_eq!(sum([back]), sum([profile]));
    }

    #[test]
    fn every_encoding_is_detected((encoding, profile) in said()) {
        let file = write(&profile, encoding).unwrap();
        let expected = Encoding::new(detected_form(&profile, encoding.form), encoding.model, encoding.order);
        prop_assert_eq!(found(&file, &hints(encoding)), Ok(encoding));
        if says_encoding(&profile, encoding.form) {
            prop_assert_eq!(found(&file, &Hints::default()), Ok(expected));
            prop_assert_eq!(read(&file, &Hints::default()), read_as(&file, encoding));
        }
    }

    #[test]
    fn a_cut_file_is_no_profile((encoding, profile) in encoded(), at in any::<prop::sample::Index>()) {
        let file = write(&profile, encoding).unwrap();
        let cut = &file[..at.index(file.len())];
        if let Ok(rest) = read_as(cut, encoding) {
            // A file may end after any record, and most forms do not store the number of records. Only OpenBSD's form
            // stores the size, and so do those of the dynamic linkers.
            prop_assert!(!matches!(encoding.form, Form::OpenBsd | Form::LdProfile | Form::IllumosRtld));
            // The other forms have heads of records that a writer does not need to write, or padding.
            let is_exact = encoding.form == Form::Gnu || bsd_forms().contains(&encoding.form);
            // Large counts may look like padding if all remaining counts are as large.
            if is_exact && is_plain(&profile, encoding) {
                prop_assert_eq!(write(&rest, encoding).unwrap(), cut);
            }
        }
    }
}

fn hints(encoding: Encoding) -> Hints {
    Hints::new().with_form(encoding.form).with_word(encoding.word()).with_order(encoding.order)
}

#[test]
fn an_empty_profile_is_written_in_every_encoding() {
    for encoding in encodings().into_iter().filter(|encoding| encoding.form != Form::LdProfile) {
        let file = write(&Profile::default(), encoding).unwrap();
        assert_eq!(read_as(&file, encoding), Ok(Profile::default()), "{encoding}");
    }
}

#[test]
fn a_gnu_file_without_records_has_no_word_size() {
    for order in [Order::Little, Order::Big] {
        let file = write(&Profile::default(), Encoding::new(Form::Gnu, DataModel::Ilp32, order)).unwrap();
        let expected = Encoding::new(Form::Gnu, DataModel::Lp64, order);
        assert_eq!(found(&file, &Hints::default()), Ok(expected));
    }
}

#[test]
fn repeated_records_may_reach_the_limit_but_not_exceed_it() {
    let samples = seconds(0, 8, &[3, 70_000]);
    let (mut with_samples, mut with_calls) = (0, 0);
    for encoding in encodings() {
        for (profile, tried) in
            [(sampled(samples.clone()), &mut with_samples), (called(&[(2, 4, 1 << 33)]), &mut with_calls)]
        {
            let mut limit = 0;
            while let Err(Error::TooManyRepeats { size }) = gmon::write_within(&profile, encoding, limit) {
                assert!(size > limit, "{encoding}: {size} at limit {limit}");
                limit = size;
                *tried += 1;
            }
        }
    }
    assert!(with_samples > 0 && with_calls > 0, "{with_samples} {with_calls}");
}

#[test]
fn records_are_counted_without_reading_them() {
    let profile =
        sampled(seconds(0x1000, 0x1010, &[1, 2])).with_arcs(called(&[(0x1000, 0x1002, 7), (2, 3, 4)]).arcs().to_vec());
    for encoding in said_encodings() {
        let file = write(&profile, encoding).unwrap();
        assert_eq!(gmon::count_records(&file, encoding), Ok(gmon::RecordCounts::of(&profile)), "{encoding}");
    }
    let gnu = Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little);
    // The first byte of each address is the tag of an arc.
    let profile = profile.with_blocks([0x1, 0x101, 0x201].map(|addr| gmon::Block::new(addr, 8)));
    let counts = gmon::RecordCounts::of(&profile);
    assert_eq!((counts.histograms, counts.arcs, counts.blocks, counts.images), (1, 2, 1, 0));
    assert_eq!(gmon::count_records(&write(&profile, gnu).unwrap(), gnu), Ok(counts));
    let records = gmon::Records::new(&[][..], gnu).unwrap();
    assert_eq!(format!("{records:?}"), format!("Records {{ encoding: {gnu:?}, offset: 0, .. }}"));
}

#[test]
fn reserved_callers_are_not_written() {
    for (model, highest) in [(DataModel::Lp64, u64::MAX), (DataModel::Ilp32, u32::MAX.into())] {
        let encoding = Encoding::new(Form::IllumosRtld, model, Order::Little);
        for address in [highest, highest - 1] {
            let result = write(&called(&[(address, 2, 1)]), encoding);
            assert_eq!(result, Err(Error::ReservedAddress { address }));
        }
        assert!(write(&called(&[(highest - 2, 2, 1)]), encoding).is_ok());
    }
}

#[test]
fn records_name_the_histogram_that_does_not_fit() {
    let encoding = Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little);
    let first = write(&sampled(seconds(0x1000, 0x1010, &[1, 2])), encoding).unwrap();
    let second = write(&sampled(seconds(0x2000, 0x2010, &[1; 4])), encoding).unwrap();
    let file = [&first[..], &second[20..]].concat();
    let error = read_as(&file, encoding).unwrap_err();
    assert_eq!(error.offset(), Some(first.len() as u64));
    assert_eq!(Profile::from_records(gmon::Records::new(&file, encoding).unwrap()), Err(error));
}
