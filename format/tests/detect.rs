//! Tests of the detection of foreign files, and of hints.
#![allow(clippy::unwrap_used)] // A test fails loudly.

mod common;

use common::{called, encodings, sampled, seconds};
use gmon::{Encoding, Error, Foreign, Form, Hints, Order, Part, Profile, Word, detect, read, write};

fn error(bytes: &[u8]) -> Error {
    detect(bytes, &Hints::default()).unwrap_err()
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
    assert_eq!(error(&pad(b"\x7fELF\x02\x01\x01")), Error::Foreign(Foreign::Elf));
    assert_eq!(error(&pad(&[0xbe, 0xba, 0xef, 0xbe])), Error::Foreign(Foreign::Darwin));
    assert_eq!(error(&pad(&[0xbe, 0xef, 0xba, 0xbf])), Error::Foreign(Foreign::Darwin));
    assert_eq!(error(&pad(b"PROF")), Error::Foreign(Foreign::IllumosProf));
    assert_eq!(error(&pad(b"FORP")), Error::Foreign(Foreign::IllumosProf));
    assert_eq!(error(&pad(&[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 2])), Error::Foreign(Foreign::RtldProfile));
    assert_eq!(error(&pad(&[4, 0, 0xb0, 0xde])), Error::Foreign(Foreign::PcProfile));
    assert_eq!(error(&pad(&[0xde, 0xb0, 0, 8])), Error::Foreign(Foreign::PcProfile));
    assert_eq!(error(b"#!/bin/sh\n"), Error::Foreign(Foreign::Text));
    let old = [(Word::W32, 12), (Word::W64, 20), (Word::W64, 24)];
    for (word, header) in old {
        for order in [Order::Little, Order::Big] {
            assert_eq!(error(&old_bsd(order, word, header)), Error::Foreign(Foreign::OldBsd), "{word} {header}");
        }
    }
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
    let profile = Profile { histograms: vec![seconds(0x1000, 0x1008, &[1, 2])], ..called(&[(0x1000, 0x1002, 7)]) };
    for found in encodings() {
        let file = write(&profile, found).unwrap();
        for word in [Word::W32, Word::W64] {
            for order in [Order::Little, Order::Big] {
                let hints = Hints { form: None, word: Some(word), order: Some(order) };
                let fits = word == found.word && order == found.order;
                let expected = if fits { Ok(found) } else { Err(Error::OtherEncoding { found }) };
                assert_eq!(detect(&file, &hints), expected);
            }
        }
    }
}

#[test]
fn a_cut_profile_that_hints_exclude_is_rejected_for_its_version() {
    let encoding = Encoding { form: Form::Gnu, word: Word::W64, order: Order::Little };
    let file = write(&called(&[(1, 2, 3)]), encoding).unwrap();
    let hints = Hints { order: Some(Order::Big), ..Hints::default() };
    assert_eq!(detect(&file[..30], &hints), Err(Error::BadVersion { version: 0x0100_0000, offset: 4 }));
}

#[test]
fn a_file_that_is_complete_in_both_word_sizes_is_told_by_its_dimension() {
    // With 32-bit words: the range 0x0..0x10, eight bins, and a dimension that starts with the real number of bins.
    let profile = sampled(seconds(0x10_0000_0000, 0x10_0000_0008, &[1, 2, 3, 4]));
    let encoding = Encoding { form: Form::Gnu, word: Word::W64, order: Order::Little };
    let file = write(&profile, encoding).unwrap();
    assert!(gmon::read_as(&file, Encoding { word: Word::W32, ..encoding }).is_ok());
    assert_eq!(detect(&file, &Hints::default()), Ok(encoding));
}

#[test]
fn a_cut_file_is_judged_by_how_far_it_makes_sense() {
    let mut histogram = seconds(0x1000, 0x1008, &[1, 2]);
    histogram.dimension = gmon::Dimension::from_field([0xff; 15]);
    let profile = Profile { histograms: vec![histogram], ..called(&[(1, 2, 3)]) };
    let encoding = Encoding { form: Form::Gnu, word: Word::W64, order: Order::Little };
    let mut file = write(&profile, encoding).unwrap();
    file.pop();
    let arc = Error::Truncated { part: Part::Arc, needed: 20, left: 19, offset: file.len() as u64 - 19 };
    assert_eq!(error(&file), arc);
}

#[test]
fn a_hinted_form_is_believed() {
    let profile = sampled(seconds(0x1000, 0x1008, &[1, 2]));
    let encoding = Encoding { form: Form::Bsd, word: Word::W64, order: Order::Big };
    let file = write(&profile, encoding).unwrap();
    let hints = |form| Hints { form: Some(form), ..Hints::default() };
    assert_eq!(detect(&file, &hints(Form::OpenBsd)), Ok(Encoding { form: Form::OpenBsd, ..encoding }));
    assert_eq!(read(&file, &hints(Form::OpenBsd)), Ok(profile));
    assert_eq!(detect(&file, &hints(Form::Gnu)), Err(Error::BadMagic { magic: [0; 4] }));
    let gnu = write(&Profile::default(), Encoding { form: Form::Gnu, ..encoding }).unwrap();
    assert_eq!(
        detect(&gnu, &hints(Form::Bsd)),
        Err(Error::Truncated { part: Part::Header, needed: 40, left: 20, offset: 0 })
    );
}

#[test]
fn errors_are_one_lower_case_line() {
    let mut file = b"gmon\x01\0\0\0............\x02".to_vec();
    file.extend([0xff, 0, 0, 0]);
    let hints = Hints { word: Some(Word::W32), order: Some(Order::Little), form: None };
    let error = detect(&file, &hints).unwrap_err();
    assert_eq!(error.to_string(), "truncated basic-block counts (needs 0x7f8 bytes, 0x0 left at offset 0x19)");
    let error = Error::NoBins { range: 0x1000..0x2000, offset: 0x15 };
    assert_eq!(error.to_string(), "address range without bins (0x1000..0x2000 at offset 0x15)");
    let found = Encoding { form: Form::Gnu, word: Word::W32, order: Order::Big };
    let error = Error::OtherEncoding { found };
    assert_eq!(error.to_string(), "profile has another layout than expected (32-bit big-endian GNU)");
    assert_eq!(Error::Foreign(Foreign::Elf).to_string(), "an ELF file, not a profile");
    let magic = *b"\x01\nab";
    assert_eq!(Error::Unknown { magic }.to_string(), "not a profile (starts with \"\\x01\\nab\")");
}
