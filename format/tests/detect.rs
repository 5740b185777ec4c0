//! Detection of neighbours, and what hints do.
#![allow(clippy::unwrap_used)] // A test fails loudly.

mod common;

use common::{called, encodings, sampled, seconds};
use gmon::{Encoding, Error, Foreign, Form, Hints, Order, Part, Profile, Word, detect, read, write};

fn error(bytes: &[u8]) -> Error {
    detect(bytes, &Hints::default()).unwrap_err()
}

/// Header and samples of 4.2BSD's form, with an arc.
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
fn neighbours_are_called_by_name() {
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
