//! Checks for every encoding that reading returns what was written.

mod common;

use common::{encoding, encodings, profile, sum};
use gmon::{Encoding, Form, Hints, Order, Profile, Word, detect, read, read_as, write};
use proptest::prelude::*;

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn encoded() -> impl Strategy<Value = (Encoding, Profile)> {
    encoding().prop_flat_map(|encoding| (Just(encoding), profile(encoding)))
}

/// Whether each count of the profile fits one record.
fn is_plain(profile: &Profile, Encoding { form, word, .. }: Encoding) -> bool {
    let (bin, arc) = match (form, word) {
        (Form::Gnu, _) => (u64::from(u16::MAX), u64::from(u32::MAX)),
        (_, Word::W32) => (u64::MAX, i32::MAX as u64),
        (_, Word::W64) => (u64::MAX, u64::from(u32::MAX)),
    };
    profile.histograms.iter().flat_map(|histogram| &histogram.bins).all(|count| *count <= bin)
        && profile.arcs.iter().all(|piece| piece.count <= arc)
        && profile.blocks.iter().all(|block| word == Word::W64 || block.count <= u64::from(u32::MAX))
}

/// Whether the encoding of a file can be detected, as far as it matters for reading.
fn says_encoding(profile: &Profile, form: Form) -> bool {
    form != Form::Gnu || *profile != Profile::default()
}

/// The form that is detected for a file of this form.
fn detected_form(profile: &Profile, form: Form) -> Form {
    // An OpenBSD file without arcs has no distinguishing mark.
    if form == Form::OpenBsd && profile.arcs.is_empty() { Form::Bsd } else { form }
}

proptest! {
    #![proptest_config(config(3000))]

    #[test]
    fn every_profile_survives((encoding, profile) in encoded()) {
        let file = write(&profile, encoding).unwrap();
        let back = read_as(&file, encoding).unwrap();
        if is_plain(&profile, encoding) {
            prop_assert_eq!(&back, &profile);
        }
        prop_assert_eq!(sum([back]), sum([profile]));
    }

    #[test]
    fn every_encoding_is_detected((encoding, profile) in encoded()) {
        let file = write(&profile, encoding).unwrap();
        let expected = Encoding { form: detected_form(&profile, encoding.form), ..encoding };
        prop_assert_eq!(detect(&file, &hints(encoding)), Ok(encoding));
        if says_encoding(&profile, encoding.form) {
            prop_assert_eq!(detect(&file, &Hints::default()), Ok(expected));
            prop_assert_eq!(read(&file, &Hints::default()), read_as(&file, encoding));
        }
    }

    #[test]
    fn a_cut_file_is_no_profile((encoding, profile) in encoded(), at in any::<prop::sample::Index>()) {
        let file = write(&profile, encoding).unwrap();
        let cut = &file[..at.index(file.len())];
        if let Ok(rest) = read_as(cut, encoding) {
            // A file may end after any record, and most forms do not store the number of records. Only OpenBSD's form
            // stores the size.
            prop_assert!(encoding.form != Form::OpenBsd);
            // Large counts may look like padding if all remaining counts are as large.
            if is_plain(&profile, encoding) {
                prop_assert_eq!(write(&rest, encoding).unwrap(), cut);
            }
        }
    }
}

fn hints(Encoding { form, word, order }: Encoding) -> Hints {
    Hints { form: Some(form), word: Some(word), order: Some(order) }
}

#[test]
fn an_empty_profile_is_written_in_every_encoding() {
    for encoding in encodings() {
        let file = write(&Profile::default(), encoding).unwrap();
        assert_eq!(read_as(&file, encoding), Ok(Profile::default()), "{encoding}");
    }
}

#[test]
fn a_gnu_file_without_records_has_no_word_size() {
    for order in [Order::Little, Order::Big] {
        let file = write(&Profile::default(), Encoding { form: Form::Gnu, word: Word::W32, order }).unwrap();
        let found = Encoding { form: Form::Gnu, word: Word::W64, order };
        assert_eq!(detect(&file, &Hints::default()), Ok(found));
    }
}
