//! Tests of the detection of foreign files, and of hints.

use crate::common::{called, found, said_encodings, sampled, seconds};
use gmon::{
    DataModel, Encoding, Error, Evidence, Foreign, Form, HintKind, Hints, Histogram, Order, Part, Profile, Unit, Word,
    read, write,
};

fn error(bytes: &[u8]) -> Error {
    found(bytes, &Hints::default()).unwrap_err()
}

/// A header, samples and an arc in 4.2BSD's form.
fn old_bsd(order: Order, word: Word, header: usize) -> Vec<u8> {
    let mut file = Vec::new();
    let mut put = |size: usize, value: u64| {
        let mut field = value.to_le_bytes()[..size].to_vec();
        if order == Order::Big {
            field.reverse();
        }
        file.extend(field);
    };
    let size = if word == Word::W32 { 4 } else { 8 };
    put(size, 0x40_0000); // lowpc
    put(size, 0x40_0100); // highpc
    put(4, header as u64 + 128); // ncnt
    put(header - 2 * size - 4, 0); // padding
    for _ in 0..64 {
        put(2, 3);
    }
    put(size, 0x40_0010); // frompc
    put(size, 0x40_0080); // selfpc
    put(size, 9); // count
    file
}

#[test]
fn neighbors_are_called_by_name() {
    let pad = |magic: &[u8]| [magic, &[0; 64]].concat();
    assert_eq!(error(&pad(b"\x7fELF\x02\x01\x01")), Error::Foreign { format: Foreign::Elf });
    assert_eq!(error(&pad(&[4, 0, 0xb0, 0xde])), Error::Foreign { format: Foreign::PcProfile });
    assert_eq!(error(&pad(&[0xde, 0xb0, 0, 8])), Error::Foreign { format: Foreign::PcProfile });
    assert_eq!(error(b"#!/bin/sh\n"), Error::Foreign { format: Foreign::Text });
}

#[test]
fn what_does_not_fit_the_old_header_is_no_profile() {
    let file = old_bsd(Order::Little, Word::W32, 12);
    let changed = |at: usize, byte: u8| {
        let mut file = file.clone();
        file[at] = byte;
        error(&file)
    };
    let unknown = Error::Unknown { magic: [0, 0, 0x40, 0] };
    assert_eq!(changed(0x07, 0x10), unknown, "too much code for a bin");
    assert_eq!(changed(0x0d + 127 + 6, 0x50), unknown, "a callee outside of the range");
    assert_eq!(changed(0x0d + 127 + 3, 0x50), unknown, "a caller outside of the range");
    assert_eq!(changed(0x08, 0x8b), unknown, "half a bin");
    let mut dense = file[..12 + 128].to_vec();
    dense[4..6].copy_from_slice(&[0x10, 0x00]);
    assert_eq!(error(&dense), unknown, "too many bins for the code");
    let longer = [&file[..], &[0]].concat();
    assert_eq!(error(&longer), unknown, "part of an arc");
}

#[test]
fn other_files_are_no_profiles() {
    assert_eq!(error(b""), Error::Empty);
    assert_eq!(error(&[0; 11]), Error::TooShort { size: 11 });
    assert_eq!(error(&[0; 12]), Error::Unknown { magic: [0; 4] });
    assert_eq!(error(b"gmon\x01"), Error::Truncated { part: Part::Header, needed: 20, left: 5, offset: 0 });
}

#[test]
fn hints_that_a_profile_contradicts_are_an_error() {
    let profile = Profile::of_samples(vec![seconds(0x1000, 0x1008, &[1, 2])])
        .unwrap()
        .with_arcs(called(&[(0x1000, 0x1002, 7)]).arcs().to_vec());
    for encoding in said_encodings() {
        // Two bins for eight bytes of code.
        let file = write(&profile, encoding).unwrap();
        for word in [Word::W32, Word::W64] {
            for order in [Order::Little, Order::Big] {
                let hints = Hints::new().with_word(word).with_order(order);
                let fits = word == encoding.word() && order == encoding.order;
                let expected = if fits { Ok(encoding) } else { Err(Error::OtherEncoding { found: encoding }) };
                assert_eq!(found(&file, &hints), expected);
            }
        }
    }
}

#[test]
fn a_cut_profile_that_hints_exclude_is_rejected_for_its_version() {
    let encoding = Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little);
    let file = write(&called(&[(1, 2, 3)]), encoding).unwrap();
    let hints = Hints::new().with_order(Order::Big);
    assert_eq!(found(&file[..30], &hints), Err(Error::BadVersion { version: 0x0100_0000, offset: 4 }));
}

#[test]
fn a_file_that_is_complete_in_both_word_sizes_is_told_by_its_dimension() {
    // With 32-bit words: the range 0x0..0x10, eight bins, and a dimension that starts with the real number of bins.
    let profile = sampled(seconds(0x10_0000_0000, 0x10_0000_0008, &[1, 2, 3, 4]));
    let encoding = Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little);
    let file = write(&profile, encoding).unwrap();
    assert!(gmon::read_as(&file, Encoding::new(encoding.form, DataModel::Ilp32, encoding.order)).is_ok());
    assert_eq!(found(&file, &Hints::default()), Ok(encoding));
}

#[test]
fn a_cut_file_is_judged_by_how_far_it_makes_sense() {
    let mut histogram = seconds(0x1000, 0x1008, &[1, 2]);
    let dimension = gmon::Dimension::from_field([0xff; 15]);
    histogram.set_unit(Unit { dimension, ..histogram.unit() });
    let profile = Profile::of_samples(vec![histogram]).unwrap().with_arcs(called(&[(1, 2, 3)]).arcs().to_vec());
    let encoding = Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little);
    let mut file = write(&profile, encoding).unwrap();
    file.pop();
    let arc = Error::Truncated { part: Part::Arc, needed: 20, left: 19, offset: file.len() as u64 - 19 };
    assert_eq!(error(&file), arc);
}

#[test]
fn a_hinted_form_is_believed() {
    let profile = sampled(seconds(0x1000, 0x1008, &[1, 2]));
    let encoding = Encoding::new(Form::Bsd, DataModel::Lp64, Order::Big);
    let file = write(&profile, encoding).unwrap();
    let hints = |form| Hints::new().with_form(form);
    assert_eq!(found(&file, &hints(Form::OpenBsd)), Ok(Encoding::new(Form::OpenBsd, encoding.model, encoding.order)));
    assert_eq!(read(&file, &hints(Form::OpenBsd)), Ok(profile));
    assert_eq!(found(&file, &hints(Form::Gnu)), Err(Error::BadMagic { magic: [0; 4] }));
    let gnu = write(&Profile::default(), Encoding::new(Form::Gnu, encoding.model, encoding.order)).unwrap();
    assert_eq!(
        found(&gnu, &hints(Form::Bsd)),
        Err(Error::Truncated { part: Part::Header, needed: 40, left: 20, offset: 0 })
    );
}

#[test]
fn errors_are_one_lower_case_line() {
    let mut file = b"gmon\x01\0\0\0............\x02".to_vec();
    file.extend([0xff, 0, 0, 0]);
    let hints = Hints::new().with_word(Word::W32).with_order(Order::Little);
    let error = found(&file, &hints).unwrap_err();
    assert_eq!(error.to_string(), "truncated basic-block counts (needs 0x7f8 bytes, 0x0 left at offset 0x19)");
    let error = Error::NoBins { range: 0x1000..0x2000, offset: 0x15 };
    assert_eq!(error.to_string(), "address range without bins (0x1000..0x2000 at offset 0x15)");
    let found = Encoding::new(Form::Gnu, DataModel::Ilp32, Order::Big);
    let error = Error::OtherEncoding { found };
    assert_eq!(error.to_string(), "profile has another layout than expected (32-bit big-endian GNU)");
    assert_eq!(Error::Foreign { format: Foreign::Elf }.to_string(), "an ELF file, not a profile");
    let magic = *b"\x01\nab";
    assert_eq!(Error::Unknown { magic }.to_string(), "not a profile (starts with \"\\x01\\nab\")");
}

#[test]
fn the_evidence_for_a_gnu_file_is_complete() {
    let (order, offset) = (Order::Little, 4);
    let evidence = |file: &[u8], hints: &Hints| gmon::detect(file, hints).unwrap().evidence().to_vec();
    let magic = Evidence::Magic { magic: *b"gmon" };
    let version = |version| Evidence::Version { version, offset, order };
    let end = Evidence::RecordsEnd { word: Word::W64 };
    let low = Evidence::LowAddresses { order };
    let encoding = Encoding::new(Form::Gnu, DataModel::Lp64, order);
    let file = write(&called(&[(0x1000, 0x2000, 3)]), encoding).unwrap();
    let bare = write(&Profile::new(), encoding).unwrap();
    let of_version_0 = |file: &[u8]| [b"gmon\0\0\0\0", &file[8..]].concat();
    let none = Hints::new();
    assert_eq!(evidence(&file, &none), [magic.clone(), version(1), end.clone()]);
    assert_eq!(evidence(&bare, &none), [magic.clone(), version(1), Evidence::NoRecords]);
    assert_eq!(evidence(&of_version_0(&file), &none), [magic.clone(), version(0), low, end.clone()]);
    assert_eq!(evidence(&of_version_0(&bare), &none), [magic.clone(), version(0), Evidence::NoRecords]);
    let hints = none.with_order(order).with_word(Word::W64);
    let hinted = [HintKind::Order, HintKind::Word].map(Evidence::Hint);
    assert_eq!(evidence(&file, &hints), [&[magic, version(1)][..], &hinted].concat());
    let sentence = "with 64-bit addresses, the records end at the end of the file";
    assert_eq!(end.to_string(), sentence);
}

#[test]
fn counters_of_the_psp_are_suspected_only_where_everything_fits() {
    let evidence = |rate: u32, bins: &[u64], model: DataModel, order: Order| {
        let histogram = Histogram::new(0x1000..0x1010, Unit::seconds(rate), bins.to_vec()).unwrap();
        let file = write(&sampled(histogram), Encoding::new(Form::Bsd, model, order)).unwrap();
        gmon::detect(&file, &Hints::new()).unwrap().evidence().to_vec()
    };
    let (order, psp) = (Order::Little, Evidence::MaybeWideCounters);
    let version = |offset, order| Evidence::Version { version: 0x51879, offset, order };
    let two_bytes = [1; 8];
    assert_eq!(evidence(1000, &two_bytes, DataModel::Ilp32, order), [version(12, order), psp]);
    assert_eq!(evidence(1000, &[1; 4], DataModel::Ilp32, order), [version(12, order)]);
    assert_eq!(evidence(100, &two_bytes, DataModel::Ilp32, order), [version(12, order)]);
    assert_eq!(evidence(1000, &two_bytes, DataModel::Lp64, order), [version(20, order)]);
    assert_eq!(evidence(1000, &two_bytes, DataModel::Ilp32, Order::Big), [version(12, Order::Big)]);
}

#[test]
fn a_name_helps_to_find_the_layout_that_hints_exclude() {
    let profile = sampled(seconds(0x1000, 0x1040, &[1; 16])).with_arcs([gmon::Arc::new(0, 0x1000, 5)]);
    let encoding = Encoding::new(Form::MonOut, DataModel::Lp64, Order::Little);
    let file = write(&profile, encoding).unwrap();
    let hints = Hints::new().with_file_name(b"/tmp/mon.out");
    assert_eq!(found(&file, &hints), Ok(encoding));
    assert_eq!(found(&file, &hints.with_order(Order::Big)), Err(Error::OtherEncoding { found: encoding }));
}

#[test]
fn a_table_of_arcs_may_be_full_without_losses() {
    let encoding = Encoding::new(Form::LdProfile, DataModel::Lp64, Order::Little);
    let profile = |bins: u64, arcs: u64| {
        let arcs = (0..arcs).map(|n| gmon::Arc::new(0x1001 + n % 0x80, 0x1000 + n % 0x80, 1));
        sampled(seconds(0x1000, 0x1100, &vec![1; bins as usize])).with_arcs(arcs)
    };
    let Err(Error::BinsNotHeld { needed, .. }) = write(&profile(1, 0), encoding) else { panic!("any number of bins") };
    let Err(Error::TooLarge { limit, .. }) = write(&profile(needed, 0x100), encoding) else { panic!("no limit") };
    let full = write(&profile(needed, limit), encoding).unwrap();
    let evidence = gmon::detect(&full, &Hints::new()).unwrap().evidence().to_vec();
    assert!(!evidence.is_empty() && !evidence.iter().any(Evidence::is_warning), "{evidence:?}");
    assert!(write(&profile(needed, limit + 1), encoding).is_err());
}

#[test]
fn a_kernel_profile_has_counters() {
    let name = Hints::new().with_file_name(b"/proc/profile");
    assert_eq!(found(&[4, 0, 0, 0], &name), Err(Error::TooShort { size: 4 }));
}

#[test]
fn a_spare_word_that_is_no_size_of_arcs_has_no_meaning() {
    let file = |spare: i32| {
        let mut file =
            write(&called(&[(0x1000, 0x1002, 3)]), Encoding::new(Form::Bsd, DataModel::Ilp32, Order::Little)).unwrap();
        file[20..24].copy_from_slice(&spare.to_le_bytes());
        file
    };
    let last = |spare: i32| gmon::detect(&file(spare), &Hints::new()).unwrap().evidence().last().cloned();
    assert_eq!(last(24), Some(Evidence::OtherArcsSize { value: 24, size: 12 }));
    assert_eq!(last(25), Some(Evidence::SpareWord { value: 25 }));
    assert_eq!(last(-24), Some(Evidence::SpareWord { value: -24 }));
}

#[test]
fn the_hint_that_decides_may_be_the_byte_order() {
    // Version 0 and an address that are the same in both byte orders.
    let address = 0x0100_0000_0000_0001;
    let encoding = |order| Encoding::new(Form::Gnu, DataModel::Lp64, order);
    let mut file = write(&called(&[(address, address, 3)]), encoding(Order::Little)).unwrap();
    file[4] = 0;
    let candidates = [Order::Little, Order::Big].map(encoding).to_vec();
    assert_eq!(error(&file), Error::Ambiguous { candidates, hint: HintKind::Order });
}

#[test]
fn only_headers_with_32_bit_addresses_have_padding() {
    let encoding = Encoding::new(Form::IllumosRtld, DataModel::Lp64, Order::Little);
    let mut file = write(&called(&[(2, 4, 1)]), encoding).unwrap();
    let size = file.len() as u32;
    let at = file.windows(4).position(|field| field == size.to_le_bytes()).unwrap();
    file[at..at + 4].copy_from_slice(&(size + 4).to_le_bytes());
    file.extend([0; 4]);
    let expected =
        Error::WrongSize { part: Part::File, size: (size + 4).into(), expected: size.into(), offset: at as u64 };
    assert_eq!(gmon::read_as(&file, encoding), Err(expected));
}

/// A number that is the same in both byte orders.
const BOTH: u32 = 0x0001_0100;

/// A file of GNU's version 0, which also is the same in both byte orders, with one record.
fn version_0(tag: u8, record: &[u8]) -> Vec<u8> {
    [b"gmon", &[0; 16][..], &[tag], record].concat()
}

#[test]
fn lower_addresses_tell_the_byte_order_of_records_that_fit_in_both() {
    for order in [Order::Little, Order::Big] {
        let word = |value: u64| if order == Order::Little { value.to_le_bytes() } else { value.to_be_bytes() };
        let number = BOTH.to_le_bytes();
        let fields = [word(0x1000), word(0x1000 + 4 * u64::from(BOTH))].concat();
        let dimension = b"\0\0\0\x64seconds\0\0\0\0\0\0\0\0s";
        let samples = [&fields[..], &number, dimension, &vec![0; 2 * BOTH as usize]].concat();
        // A count, an address, two empty strings, and a line.
        let block = [&word(1)[..], &word(0x1000), &[0; 6]].concat();
        let blocks = [&number[..], &[0], &block.repeat(BOTH as usize)].concat();
        for file in [version_0(0, &samples), version_0(2, &blocks)] {
            let hints = Hints::new().with_word(Word::W64);
            assert_eq!(found(&file, &hints), Ok(Encoding::new(Form::Gnu, DataModel::Lp64, order)));
        }
    }
}

#[test]
fn addresses_that_are_the_same_in_both_byte_orders_are_ambiguous() {
    let file = version_0(1, &[&[0; 16][..], &[7, 0, 0, 0]].concat());
    let Err(Error::Ambiguous { candidates, hint }) = found(&file, &Hints::new().with_word(Word::W64)) else {
        panic!("a byte order was found");
    };
    assert_eq!((candidates.len(), hint), (2, HintKind::Order));
}

#[test]
fn the_error_of_a_damaged_ld_profile_file_is_that_of_its_byte_order() {
    let profile = sampled(seconds(0x1000, 0x1100, &[1; 64]));
    for order in [Order::Little, Order::Big] {
        let mut file = write(&profile, Encoding::new(Form::LdProfile, DataModel::Lp64, order)).unwrap();
        // The number of bins follows two addresses.
        file[if order == Order::Little { 40 } else { 43 }] ^= 1;
        let [wide, narrow] = [Word::W64, Word::W32]
            .map(|word| found(&file, &Hints::new().with_word(word).with_order(order)).unwrap_err());
        assert_ne!(wide, narrow);
        assert_eq!(error(&file), narrow, "the last error");
    }
}
