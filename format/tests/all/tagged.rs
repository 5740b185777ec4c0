//! Tests of the tagged files of Darwin and NeXT.

use gmon::{
    Arc, DataModel, Encoding, Error, Evidence, Form, Hints, Histogram, Image, Order, Profile, Records, Unit, Word,
    detect, read_as, write, write_within,
};

const ORDERS: [Order; 2] = [Order::Little, Order::Big];

const fn encoding(form: Form, model: DataModel, order: Order) -> Encoding {
    Encoding::new(form, model, order)
}

fn darwin(model: DataModel) -> Encoding {
    encoding(Form::Darwin, model, Order::Little)
}

/// A profile of two ranges, with calls into both and into none.
fn profile(rate: u32) -> Profile {
    let mut profile = Profile::new();
    for (lowpc, bins) in [(0x2000, vec![1_u16, 0, 65535, 2]), (0x1000, vec![7, 0, 0, 0])] {
        let range = lowpc..lowpc + 16;
        profile.add_histogram(Histogram::new(range, Unit::seconds(rate), bins).unwrap()).unwrap();
    }
    for (frompc, selfpc, count) in [(0x2004, 0x2008, 3), (0x9000, 0x1004, 5), (0x1008, 0x200f, 1), (1, 0x2010, 8)] {
        profile.add_arc(Arc::new(frompc, selfpc, count));
    }
    profile
}

/// The arcs in the order in which the writer groups them.
fn sorted(profile: &Profile) -> Vec<Arc> {
    let mut arcs = profile.arcs().to_vec();
    arcs.sort_unstable();
    arcs
}

#[test]
fn each_form_is_read_as_it_was_written() {
    let next = ORDERS.map(|order| (encoding(Form::Next, DataModel::Ilp32, order), 0));
    let darwin = [DataModel::Ilp32, DataModel::Lp64].into_iter();
    let darwin = darwin.flat_map(|model| ORDERS.map(|order| (encoding(Form::Darwin, model, order), 100)));
    for (encoding, rate) in next.into_iter().chain(darwin) {
        for has_orders in [false, true] {
            let mut profile = profile(rate);
            if has_orders {
                profile.set_order(0x9000, 0x1004, 1);
                profile.set_order(1, 0x2010, 7);
            }
            let file = write(&profile, encoding).unwrap();
            assert_eq!(detect(&file, &Hints::new()).unwrap().encoding(), encoding);
            let again = read_as(&file, encoding).unwrap();
            assert_eq!(again.histograms(), profile.histograms(), "{encoding}");
            assert_eq!(sorted(&again), sorted(&profile), "{encoding}");
            assert!(again.orders().eq(profile.orders()), "{encoding}");
            assert_eq!(write(&again, encoding).unwrap(), file, "{encoding}");
        }
    }
}

#[test]
fn high_counts_are_repeated() {
    let mut profile = Profile::new();
    profile.add_histogram(Histogram::new(0..8, Unit::seconds(100), vec![70_000_u64, 1]).unwrap()).unwrap();
    profile.add_arc(Arc::new(0, 4, (1 << 33) + 1));
    for has_order in [false, true] {
        if has_order {
            profile.set_order(0, 4, 3);
        }
        for model in [DataModel::Ilp32, DataModel::Lp64] {
            let again = read_as(&write(&profile, darwin(model)).unwrap(), darwin(model)).unwrap();
            assert_eq!(again.histograms(), profile.histograms());
            assert_eq!(again.arcs().iter().map(|arc| arc.count).sum::<u64>(), (1 << 33) + 1);
            let records = if has_order { 3 } else { 5 };
            assert_eq!(again.arcs().len(), records, "counts have 31 bits without an order, and 32 bits with one");
        }
    }
    let limited = write_within(&profile, darwin(DataModel::Ilp32), 43);
    assert_eq!(limited, Err(Error::TooManyRepeats { size: 68 }), "36 bytes of samples, two arcs of 16 bytes");
}

#[test]
fn images_have_what_the_form_holds() {
    let of = |form, images: &[Image]| {
        let mut profile = Profile::new();
        images.iter().for_each(|image| profile.add_image(image.clone()));
        let encoding = encoding(form, DataModel::Ilp32, Order::Big);
        let file = write(&profile, encoding)?;
        assert_eq!(detect(&file, &Hints::new().with_form(form)).unwrap().encoding(), encoding);
        Ok(read_as(&file, encoding).unwrap().images().to_vec())
    };
    let image = || Image::new("/usr/lib/libm.dylib");
    let [header, slide] = [image().with_header(0x5000), image().with_slide(0x1000)];
    let both = image().with_header(0x6000).with_slide(0x1000);
    let images = [slide.clone(), header.clone(), both, image(), image().with_range(1..2)];
    assert_eq!(of(Form::Darwin, &images), Ok(vec![header.clone(), image().with_header(0x6000), slide.clone()]));
    assert_eq!(of(Form::Next, &images), Ok(vec![header, slide, image().with_slide(0x1000)]));
    for form in [Form::Darwin, Form::Next] {
        let broken = Image::new(*b"a\0b").with_header(1);
        assert_eq!(of(form, &[broken]), Err(Error::PathNotHeld { path: b"a\0b".to_vec() }));
    }
}

#[test]
fn what_the_forms_cannot_hold_is_an_error() {
    let next = encoding(Form::Next, DataModel::Lp64, Order::Little);
    assert_eq!(write(&profile(0), next), Err(Error::NoWideAddresses { form: Form::Next }));
    assert_eq!(read_as(&[], next), Err(Error::NoWideAddresses { form: Form::Next }));
    let wide = Profile::new().with_arcs([Arc::new(0, 1 << 32, 1)]);
    let address = Error::WideAddress { address: 1 << 32, offset: 16 };
    assert_eq!(write(&wide, darwin(DataModel::Ilp32)), Err(address));
    let negative = Histogram::new(0..4, Unit::seconds(100), vec![-1_i64]).unwrap();
    let negative = Profile::of_samples([negative]).unwrap();
    let bin = Error::WideBin { bin: 0, count: -1, offset: 44 };
    assert_eq!(write(&negative, darwin(DataModel::Ilp32)), Err(bin));
}

#[test]
fn evidence_says_which_system_wrote_a_file() {
    let evidence = |file: &[u8]| detect(file, &Hints::new()).unwrap().evidence().to_vec();
    let file = write(&profile(100), darwin(DataModel::Ilp32)).unwrap();
    let magic = Evidence::Magic { magic: [0xbe, 0xba, 0xef, 0xbe] };
    assert_eq!(evidence(&file), [magic.clone(), Evidence::SamplesVersion]);
    assert_eq!(evidence(&file[..4]), [magic.clone(), Evidence::OnlyArcs]);
    let file = write(&profile(0), encoding(Form::Next, DataModel::Ilp32, Order::Little)).unwrap();
    assert_eq!(evidence(&file), [magic, Evidence::RecordsOf { form: Form::Next }]);
    // For a damaged file, the form wins in which more of the file can be decoded.
    let encoding = detect(&file[..file.len() - 1], &Hints::new()).unwrap().encoding();
    assert_eq!(encoding.form, Form::Next);
}

#[test]
fn lists_of_images_without_samples_may_be_ambiguous() {
    let encodings = [Form::Darwin, Form::Next].map(|form| encoding(form, DataModel::Ilp32, Order::Big));
    let detect = |image: Image, encoding: Encoding| {
        let mut profile = Profile::new();
        profile.add_image(image);
        detect(&write(&profile, encoding).unwrap(), &Hints::new()).map(|found| found.encoding())
    };
    // Darwin's list of headers and NeXT's list of slides have the same type and layout.
    let header = Image::new("/usr/lib/libm.dylib").with_header(0x5000);
    let hint = gmon::HintKind::Form;
    let ambiguous = Error::Ambiguous { candidates: encodings.to_vec(), hint };
    assert_eq!(detect(header.clone(), encodings[0]), Err(ambiguous));
    let slide = Image::new("/usr/lib/libm.dylib").with_slide(0x1000);
    assert_eq!(detect(slide.clone(), encodings[1]), Err(Error::Ambiguous { candidates: encodings.to_vec(), hint }));
    // The numbers of NeXT's list of files cannot be a path, and Darwin's slides have the type of this list.
    assert_eq!(detect(header, encodings[1]), Ok(encodings[1]));
    assert_eq!(detect(slide, encodings[0]), Ok(encodings[0]));
}

#[test]
fn hints_that_exclude_the_file_are_an_error() {
    let found = darwin(DataModel::Lp64);
    let file = write(&profile(100), found).unwrap();
    for hints in [Hints::new().with_word(Word::W32), Hints::new().with_order(Order::Big)] {
        assert_eq!(detect(&file, &hints), Err(Error::OtherEncoding { found }));
    }
}

#[test]
fn lists_of_images_cannot_be_much_larger_in_memory_than_in_the_file() {
    let images = |count: u32, path: &str| {
        let mut profile = Profile::new();
        (0..count).for_each(|at| profile.add_image(Image::new(path).with_header(at.into())));
        let encoding = darwin(DataModel::Ilp32);
        read_as(&write(&profile, encoding).unwrap(), encoding).map(|profile| profile.images().len())
    };
    assert_eq!(images(256, "a"), Ok(256));
    assert_eq!(images(257, "a"), Err(Error::TooManyImages { images: 257, offset: 16 + 257 * 6 }));
    assert_eq!(images(5000, "/System/Library/Frameworks/CoreFoundation"), Ok(5000));
}

#[test]
fn empty_records_at_the_end_of_a_piece_do_not_end_the_file() {
    // The reader gets pieces of 64 KiB. Nothing but empty records of arcs fills the first piece.
    let mut file = vec![0xbe, 0xef, 0xba, 0xbe];
    for _ in 0..1 << 14 {
        file.extend([0, 0, 0, 2, 0, 0, 0, 0]);
    }
    file.extend([0, 0, 0, 2, 0, 0, 0, 12, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3]);
    let encoding = encoding(Form::Darwin, DataModel::Ilp32, Order::Big);
    for skipped in 0..8 {
        let file = [&file[..4], &file[4 + 8 * skipped..]].concat();
        let records: Vec<_> = Records::from_reader(&file[..], encoding).unwrap().collect();
        assert_eq!(records.len(), 1);
    }
}
