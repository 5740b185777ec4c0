//! Tests of detection with hints, and of files with two meanings.

use crate::common::{ORDERS, WORDS, called, found, sampled, seconds};
use gmon::{
    Arc, DataModel, Encoding, Error, Form, HintKind, Hints, Histogram, OldHeader, Order, Profile, Unit, Word, read,
    read_as, write,
};

/// The encodings of a form.
fn encodings(form: Form) -> impl Iterator<Item = Encoding> {
    WORDS.into_iter().flat_map(move |word| ORDERS.map(move |order| Encoding::new(form, word.into(), order)))
}

/// A profile with no rate.
fn without_rate(lowpc: u64, highpc: u64, bins: &[u64]) -> Profile {
    sampled(Histogram::new(lowpc..highpc, Unit::seconds(0), bins.to_vec()).unwrap())
}

/// Profiles that no usual program leaves: without samples, with coarse bins, and with a call outside of the range.
fn unusual() -> [Profile; 4] {
    let coarse = without_rate(0x1000, 0x11000, &[9]);
    let outside = without_rate(0x1000, 0x1010, &[1, 2, 3, 4]).with_arcs([Arc::new(0x1004, 0x2000, 5)]);
    [Profile::new(), called(&[(0x1004, 0x1008, 3)]), coarse, outside]
}

#[test]
fn a_file_of_4_2_bsd_that_the_caller_names_may_be_unusual() {
    for header in [OldHeader::Packed, OldHeader::Padded, OldHeader::Wide] {
        for encoding in encodings(Form::OldBsd(header)) {
            for profile in unusual() {
                let file = write(&profile, encoding).unwrap();
                let hints = Hints::new().with_form(encoding.form);
                assert_eq!(found(&file, &hints), Ok(encoding), "{profile:?}");
                assert_eq!(read(&file, &hints), Ok(profile));
            }
        }
    }
}

#[test]
fn a_mon_out_file_with_several_meanings_is_ambiguous() {
    let coarse = without_rate(0x1000, 0x11000, &[9]);
    for encoding in encodings(Form::MonOut) {
        let file = write(&coarse, encoding).unwrap();
        let form = Hints::new().with_form(Form::MonOut);
        let Err(Error::Ambiguous { candidates, hint }) = found(&file, &form) else {
            panic!("{encoding}: {:?}", found(&file, &form));
        };
        assert!(candidates.contains(&encoding), "{encoding}");
        assert!(matches!(hint, HintKind::Word | HintKind::Order), "{hint}");
        // The name alone does not make such bins likely.
        assert!(found(&file, &Hints::new().with_file_name(b"mon.out")).is_err(), "{encoding}");
        let all = form.with_model(encoding.model).with_order(encoding.order);
        assert_eq!(read(&file, &all).as_ref(), Ok(&coarse));
    }
}

#[test]
fn an_unusual_mon_out_file_needs_the_form() {
    let coarse = sampled(seconds(0x40_1000, 0x41_1000, &[9])).with_arcs([Arc::new(0, 0x40_1008, 3)]);
    for encoding in encodings(Form::MonOut) {
        let file = write(&coarse, encoding).unwrap();
        assert_eq!(found(&file, &Hints::new().with_form(Form::MonOut)), Ok(encoding));
        assert!(found(&file, &Hints::new().with_file_name(b"mon.out")).is_err(), "{encoding}");
    }
}

#[test]
fn a_usual_mon_out_file_needs_only_the_form() {
    let usual =
        sampled(seconds(0x40_1000, 0x40_1040, &[0, 1, 2, 3, 4, 5, 6, 7])).with_arcs([Arc::new(0, 0x40_1008, 3)]);
    for encoding in encodings(Form::MonOut) {
        let file = write(&usual, encoding).unwrap();
        assert_eq!(found(&file, &Hints::new().with_form(Form::MonOut)), Ok(encoding));
        let empty = write(&Profile::new(), encoding).unwrap();
        assert_eq!(read(&empty, &Hints::new().with_form(Form::MonOut)), Ok(Profile::new()));
    }
}

#[test]
fn a_damaged_file_that_the_caller_names_is_reported_by_the_reader() {
    let file =
        write(&called(&[(1, 2, 3)]), Encoding::new(Form::OldBsd(OldHeader::Packed), DataModel::Lp64, Order::Little));
    let file = file.unwrap();
    let error = read(&file[..file.len() - 1], &Hints::new().with_form(Form::OldBsd(OldHeader::Packed)));
    assert_eq!(error, Err(Error::PartialArc { left: 23, size: 24, offset: 20 }));
}

#[test]
fn word_and_model_never_contradict_each_other() {
    let hints = Hints::new().with_model(DataModel::Ilp32).with_word(Word::W64);
    assert_eq!((hints.word(), hints.model()), (Some(Word::W64), None), "the last hint counts");
    let hints = Hints::new().with_word(Word::W64).with_model(DataModel::Ilp32);
    assert_eq!((hints.word(), hints.model()), (Some(Word::W32), Some(DataModel::Ilp32)));
    let hints = Hints::new().with_model(DataModel::Llp64).with_word(Word::W64);
    assert_eq!((hints.word(), hints.model()), (Some(Word::W64), Some(DataModel::Llp64)), "both are true");
    let others = Hints::new().with_model(DataModel::Llp64).with_order(Order::Big).with_form(Form::Bsd);
    let hints = Hints::new().with_word(Word::W32).or(others);
    assert_eq!((hints.word(), hints.model()), (Some(Word::W32), None));
    assert_eq!((hints.order(), hints.form()), (Some(Order::Big), Some(Form::Bsd)));
}

#[test]
fn a_model_that_the_file_contradicts_is_an_error() {
    for form in [Form::Gnu, Form::Bsd, Form::LdProfile, Form::Darwin, Form::IllumosRtld] {
        let profile = sampled(seconds(0, 0x100, &[1; 64])).with_arcs([Arc::new(0, 8, 3)]);
        for (model, other) in [(DataModel::Ilp32, DataModel::Lp64), (DataModel::Lp64, DataModel::Ilp32)] {
            let encoding = Encoding::new(form, model, Order::Little);
            let file = write(&profile, encoding).unwrap();
            let hints = Hints::new().with_model(other);
            assert_eq!(found(&file, &hints), Err(Error::OtherEncoding { found: encoding }));
            assert_eq!(found(&file, &hints.with_word(model.word())), Ok(encoding));
        }
    }
}

#[test]
fn a_dimension_with_bytes_after_the_first_nul_is_no_text() {
    // With 32-bit words: the range 0..0x10, 0x104 bins, and a dimension that starts with the number of bins and the
    // rate.
    let encoding = Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little);
    let profile = sampled(seconds(0x10_0000_0000, 0x10_0000_0104, &[1; 256]));
    let file = write(&profile, encoding).unwrap();
    assert!(read_as(&file, Encoding::new(Form::Gnu, DataModel::Ilp32, Order::Little)).is_ok());
    assert_eq!(found(&file, &Hints::new()), Ok(encoding));
}

#[test]
fn a_reading_without_records_does_not_win_over_one_with_records() {
    // With 64-bit words, neither a range nor bins; with 32-bit words, the range 4..0x1000.
    let mut file = b"gmon\x01\0\0\0............\0".to_vec();
    file.extend([0x1000_0000_0004_u64; 2].iter().flat_map(|address| address.to_le_bytes()));
    file.resize(file.len() + 24, 0);
    let [wide, narrow] =
        [DataModel::Lp64, DataModel::Ilp32].map(|model| Encoding::new(Form::Gnu, model, Order::Little));
    assert_eq!(read_as(&file, wide), Ok(Profile::new()));
    assert_eq!(read_as(&file, narrow).unwrap().histograms()[0].range(), 4..0x1000);
    let ambiguous = Error::Ambiguous { candidates: vec![wide, narrow], hint: HintKind::Word };
    assert_eq!(found(&file, &Hints::new()), Err(ambiguous));
    assert_eq!(found(&file, &Hints::new().with_word(Word::W32)), Ok(narrow));
}

/// A 32-bit file of 4.4BSD with a spare word that is the version.
fn with_version_as_spare_word(arcs: usize) -> Vec<u8> {
    let ncnt = 32 + 2 * 64;
    let mut file: Vec<u8> =
        [0, 0x100, ncnt, 0x5_1879, 100, 0x5_1879, 0, 0].iter().flat_map(|field: &u32| field.to_le_bytes()).collect();
    file.resize(ncnt as usize + 12 * arcs, 0);
    file
}

#[test]
fn two_headers_of_4_4_bsd_that_fit_are_ambiguous() {
    let [wide, narrow] =
        [DataModel::Lp64, DataModel::Ilp32].map(|model| Encoding::new(Form::Bsd, model, Order::Little));
    // With 64-bit words, the rate is the size of header and samples: 60 bytes of arcs follow, which is no whole number.
    assert_eq!(found(&with_version_as_spare_word(0), &Hints::new()), Ok(narrow));
    // 72 bytes are arcs of either size.
    let both = with_version_as_spare_word(1);
    let ambiguous = Error::Ambiguous { candidates: vec![wide, narrow], hint: HintKind::Word };
    assert_eq!(found(&both, &Hints::new()), Err(ambiguous));
    assert_eq!(found(&both, &Hints::new().with_word(Word::W32)), Ok(narrow));
    assert_eq!(found(&both, &Hints::new().with_word(Word::W64)), Ok(wide));
}

#[test]
fn a_form_can_be_forgotten() {
    let hints = Hints::new().with_order(Order::Big).with_word(Word::W32);
    assert_eq!(hints.with_form(Form::Gnu).without_form(), hints);
}

#[test]
fn a_known_data_model_is_kept() {
    let encoding = Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little);
    let file = write(&called(&[(0x1000, 0x1002, 3)]), encoding).unwrap();
    let llp64 = Hints::new().with_model(DataModel::Llp64);
    assert_eq!(found(&file, &llp64), Ok(Encoding::new(Form::Gnu, DataModel::Llp64, Order::Little)));
}
