//! Tests of the files of illumos: `PROF`, and the run-time linker's profile.

use gmon::{
    Arc, Bins, DataModel, Encoding, Error, Evidence, Form, Hints, Histogram, Image, OldHeader, Order, Part, Profile,
    Unit, Word, detect, read_as, write, write_to, write_to_within, write_within,
};

const PROF: Encoding = Encoding::new(Form::IllumosProf, DataModel::Lp64, Order::Little);
const RTLD: Encoding = Encoding::new(Form::IllumosRtld, DataModel::Lp64, Order::Little);

/// The samples of all addresses.
fn raw(counts: &[(u64, u64)]) -> Histogram {
    let bins = Bins::sparse(u64::MAX, counts.to_vec()).unwrap();
    Histogram::new(0..u64::MAX, Unit::seconds(0), bins).unwrap()
}

#[test]
fn prof_is_read_as_it_was_written() {
    let mut profile = Profile::of_samples([raw(&[(0, 1), (0x805_1000, 3), (u64::MAX - 1, 1)])]).unwrap();
    for (frompc, selfpc, count) in [(1, 9, u64::MAX), (2, 9, 4), (3, 8, 0), (4, 9, 1)] {
        profile.add_arc(Arc::new(frompc, selfpc, count));
    }
    for (path, range) in [("/usr/bin/x", 0x10..0x20), ("", 5..5)] {
        profile.add_image(Image::new(path).with_range(range));
    }
    for order in [Order::Little, Order::Big] {
        let encoding = Encoding::new(Form::IllumosProf, DataModel::Lp64, order);
        for empty in [false, true] {
            let profile = if empty { Profile::new() } else { profile.clone() };
            let file = write(&profile, encoding).unwrap();
            assert_eq!(file.len() % 8, 0, "the writer of illumos aligns all objects");
            assert_eq!(read_as(&file, encoding).unwrap(), profile);
        }
    }
    // Programs of both word sizes write 64-bit addresses.
    let file = write(&profile, PROF).unwrap();
    let narrow = Encoding::new(Form::IllumosProf, DataModel::Ilp32, Order::Little);
    let all = [
        (Hints::new(), PROF),
        (Hints::new().with_word(Word::W32), narrow),
        (Hints::new().with_form(Form::IllumosProf), PROF),
    ];
    for (hints, expected) in all {
        let found = detect(&file, &hints).unwrap();
        assert_eq!(found.encoding(), expected);
        assert_eq!(read_as(&file, expected).unwrap(), profile);
        let version = Evidence::Version { version: 1, offset: 4, order: Order::Little };
        assert_eq!(found.evidence(), [Evidence::Magic { magic: *b"FORP" }, version]);
    }
    let big = Hints::new().with_order(Order::Big);
    assert_eq!(detect(&file, &big), Err(Error::OtherEncoding { found: PROF }));
    assert!(detect(&file, &Hints::new().with_form(Form::IllumosRtld)).is_err());
}

#[test]
fn a_sample_of_a_bin_becomes_the_first_address_of_the_bin() {
    let histogram = Histogram::new(0x1000..0x100a, Unit::seconds(100), vec![2_u16, 0, 1]).unwrap();
    let profile = Profile::of_samples([histogram]).unwrap();
    let again = read_as(&write(&profile, PROF).unwrap(), PROF).unwrap();
    assert_eq!(again.histograms(), [raw(&[(0x1000, 2), (0x1007, 1)])]);
    assert_eq!(write_within(&profile, PROF, 7), Err(Error::TooManyRepeats { size: 8 }));
    let negative = Histogram::new(0..4, Unit::seconds(100), vec![-1_i64]).unwrap();
    let negative = write(&Profile::of_samples([negative]).unwrap(), PROF);
    assert_eq!(negative, Err(Error::WideBin { bin: 0, count: -1, offset: 40 }));
}

#[test]
fn samples_of_all_addresses_do_not_fit_forms_with_bins() {
    let profile = Profile::of_samples([raw(&[(0x1000, 1)])]).unwrap();
    let old = [OldHeader::Packed, OldHeader::Padded, OldHeader::Wide].map(Form::OldBsd);
    let forms = Form::ALL.iter().copied().chain(old).filter(|form| *form != Form::IllumosProf);
    for (form, model) in forms.flat_map(|form| [DataModel::Ilp32, DataModel::Lp64].map(|model| (form, model))) {
        let (encoding, mut written) = (Encoding::new(form, model, Order::Little), Vec::new());
        let error = write_to(&profile, encoding, &mut written).unwrap_err();
        assert!(matches!(error, Error::TooLarge { part: Part::Samples, .. }), "{encoding}: {error:?}");
        assert_eq!(written, *b"", "{encoding}");
    }
}

#[test]
fn arcs_without_calls_get_no_slot_of_the_run_time_linker() {
    let called = Profile::new().with_arcs([Arc::new(1, 2, 3)]);
    let profile = Profile::new().with_arcs([Arc::new(4, 5, 0), Arc::new(1, 2, 3), Arc::new(6, 7, 0)]);
    assert_eq!(write(&profile, RTLD), write(&called, RTLD));
}

#[test]
fn empty_bins_of_a_sparse_histogram_count_as_repeats() {
    let sparse = |bins| {
        let counts = Bins::sparse(bins, vec![(2, 1), (5, 3)]).unwrap();
        Profile::of_samples([Histogram::new(0..2 * bins, Unit::seconds(0), counts).unwrap()]).unwrap()
    };
    for form in [Form::Gnu, Form::Bsd, Form::MonOut, Form::OldBsd(OldHeader::Wide), Form::Darwin, Form::IllumosRtld] {
        let encoding = Encoding::new(form, DataModel::Lp64, Order::Little);
        let too_large = Error::TooLarge { part: Part::Samples, size: 24, limit: 19 };
        assert_eq!(write_within(&sparse(12), encoding, 19), Err(too_large), "{encoding}");
        let too_large = Error::TooLarge { part: Part::Samples, size: 24, limit: 19 };
        assert_eq!(write_to_within(&sparse(12), encoding, 19, Vec::new()), Err(too_large), "{encoding}");
        let file = write_within(&sparse(12), encoding, 20).unwrap();
        assert_eq!(read_as(&file, encoding).unwrap().histograms()[0].bins(), sparse(12).histograms()[0].bins());
        // These two forms have a larger field for the size, or none.
        if matches!(form, Form::MonOut | Form::OldBsd(_)) {
            let limit = u64::from(i32::MAX.unsigned_abs());
            let too_large = Error::TooLarge { part: Part::Samples, size: limit + 1, limit };
            assert_eq!(write_within(&sparse(1 << 30), encoding, u64::MAX), Err(too_large), "{encoding}");
        }
    }
}

#[test]
fn many_buffers_take_linear_time_and_memory() {
    let mut file = b"PROF\0\x01\0\0\0\0\0\0\0\0\0\x10".to_vec();
    for pc in 0..100_000_u64 {
        for field in [1 << 32 | 1, 40, 32, 1, pc * 7919 % 100_003] {
            file.extend(field.to_be_bytes());
        }
    }
    let encoding = Encoding::new(Form::IllumosProf, DataModel::Lp64, Order::Big);
    let profile = read_as(&file, encoding).unwrap();
    assert_eq!((profile.histograms().len(), profile.histograms()[0].total()), (1, 100_000));
}

#[test]
fn rtld_is_read_as_it_was_written() {
    let mut profile = Profile::new();
    profile.add_histogram(Histogram::new(0..16, Unit::seconds(0), vec![1_u16, 0, 65535, 0]).unwrap()).unwrap();
    profile.add_arc(Arc::new(4, 8, 3));
    profile.add_arc(Arc::new(0, 12, u64::from(u32::MAX)));
    for model in [DataModel::Ilp32, DataModel::Lp64] {
        for order in [Order::Little, Order::Big] {
            let encoding = Encoding::new(Form::IllumosRtld, model, order);
            let file = write(&profile, encoding).unwrap();
            let found = detect(&file, &Hints::new()).unwrap();
            assert_eq!(found.encoding(), encoding);
            assert_eq!(read_as(&file, encoding).unwrap(), profile, "{encoding}");
            let other = Hints::new().with_word(if model == DataModel::Lp64 { Word::W32 } else { Word::W64 });
            assert_eq!(detect(&file, &other), Err(Error::OtherEncoding { found: encoding }));
        }
    }
    profile.add_arc(Arc::new(8, 12, 1 << 32));
    assert_eq!(read_as(&write(&profile, RTLD).unwrap(), RTLD).unwrap().arcs().len(), 4, "a repeated arc");
    assert_eq!(write_within(&profile, RTLD, 23), Err(Error::TooManyRepeats { size: 24 }));
    let moved = Histogram::new(16..32, Unit::seconds(0), vec![1_u16]).unwrap();
    let moved = Profile::of_samples([moved]).unwrap();
    assert_eq!(write(&moved, RTLD), Err(Error::NotRelative { lowpc: 16 }));
}
