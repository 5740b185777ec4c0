//! Tests of tagged files, field by field.

use alloc::vec::Vec;

use super::read::TaggedDecoder;
use crate::decode::cursor::Cursor;
use crate::decode::{Decode as _, Result};
use crate::{Arc, Bins, Encoding, Error, Form, Histogram, Image, Order, Part, Record, Unit, Word};

/// The file's records, or the error.
fn decode(file: &[u8], form: Form) -> Result<Vec<Record>> {
    let word = if file.get(3) == Some(&0xbf) { Word::W64 } else { Word::W32 };
    let (mut cursor, mut decoder) =
        (Cursor::new(file, word, Order::Big), TaggedDecoder::new(Encoding::new(form, word.into(), Order::Big))?);
    core::iter::from_fn(|| decoder.next(&mut cursor).transpose()).collect()
}

/// A big-endian file with 32-bit addresses and one record.
fn file(record_type: u8, content: &[u8]) -> Vec<u8> {
    let size = u8::try_from(content.len()).unwrap();
    [&[0xbe, 0xef, 0xba, 0xbe, 0, 0, 0, record_type, 0, 0, 0, size], content].concat()
}

fn bins(lowpc: u64, highpc: u64, profrate: u32, bins: &[u16]) -> Record {
    Record::Histogram(Histogram::new(lowpc..highpc, Unit::seconds(profrate), Bins::U16(bins.to_vec())).unwrap())
}

fn image(path: &str, header: Option<u64>, slide: Option<u64>) -> Record {
    let image = header.into_iter().fold(Image::new(path), Image::with_header);
    Record::Image(slide.into_iter().fold(image, Image::with_slide))
}

#[rustfmt::skip]
const SAMPLES_32: [u8; 36] = [
    0x00, 0x00, 0x10, 0x00, // 0x0c lpc
    0x00, 0x00, 0x10, 0x08, // 0x10 hpc
    0x00, 0x00, 0x00, 0x24, // 0x14 ncnt
    0x00, 0x05, 0x18, 0x79, // 0x18 version
    0x00, 0x00, 0x00, 0x64, // 0x1c profrate
    0xaa, 0xaa, 0xaa, 0xaa, // 0x20 spare
    0xaa, 0xaa, 0xaa, 0xaa, // 0x24 spare
    0xaa, 0xaa, 0xaa, 0xaa, // 0x28 spare
    0x01, 0x02, 0x00, 0x03, // 0x2c bins
];

#[rustfmt::skip]
const SAMPLES_NEXT: [u8; 16] = [
    0x00, 0x00, 0x10, 0x00, // lpc
    0x00, 0x00, 0x10, 0x08, // hpc
    0x00, 0x00, 0x00, 0x10, // ncnt
    0x01, 0x02, 0x00, 0x03, // bins
];

#[test]
fn samples_of_both_systems() {
    assert_eq!(decode(&file(1, &SAMPLES_32), Form::Darwin), Ok([bins(0x1000, 0x1008, 100, &[0x102, 3])].to_vec()));
    assert_eq!(decode(&file(1, &SAMPLES_NEXT), Form::Next), Ok([bins(0x1000, 0x1008, 0, &[0x102, 3])].to_vec()));
    // No range and no bins: no histogram.
    let empty = [0, 0, 0, 9, 0, 0, 0, 9, 0, 0, 0, 12];
    assert_eq!(decode(&file(1, &empty), Form::Next), Ok(Vec::new()));
}

#[test]
fn sixty_four_bits() {
    #[rustfmt::skip]
    let file = [
        0xbe, 0xef, 0xba, 0xbf,
        0, 0, 0, 1, 0, 0, 0, 44,
        0x01, 0, 0, 0, 0, 0, 0x10, 0x00, // lpc
        0x01, 0, 0, 0, 0, 0, 0x10, 0x08, // hpc
        0, 0, 0, 44,                     // ncnt
        0x00, 0x05, 0x18, 0x79,          // version
        0, 0, 0, 100,                    // profrate
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 1, 0, 2,                      // bins
        0, 0, 0, 2, 0, 0, 0, 24,
        0x02, 0, 0, 0, 0, 0, 0, 1,       // frompc
        0x03, 0, 0, 0, 0, 0, 0, 2,       // selfpc
        0x80, 0, 0, 3,                   // count
        0xaa, 0xaa, 0xaa, 0xaa,          // padding
        0, 0, 0, 3, 0, 0, 0, 24,
        0, 0, 0, 0, 0, 0, 0, 4,
        0, 0, 0, 0, 0, 0, 0, 5,
        0, 0, 0, 6,
        0, 0, 0, 7,                      // order
        0, 0, 0, 5, 0, 0, 0, 15,
        0, 0, 0, 1,
        0x04, 0, 0, 0, 0, 0, 0, 9,       // image_header
        b'/', b'a', 0,
    ];
    let arc = Arc::new;
    let expected = [
        bins((1 << 56) + 0x1000, (1 << 56) + 0x1008, 100, &[1, 2]),
        Record::Arc(arc((2 << 56) + 1, (3 << 56) + 2, 0x8000_0003)),
        Record::OrderedArc { arc: arc(4, 5, 6), order: 7 },
        image("/a", Some((4 << 56) + 9), None),
    ];
    assert_eq!(decode(&file, Form::Darwin), Ok(expected.to_vec()));
    // Every cut inside a record is an error.
    let ends = [4, 56, 88, 120, 143];
    for length in 0..=file.len() {
        assert_eq!(decode(&file[..length], Form::Darwin).is_ok(), ends.contains(&length), "{length}");
    }
}

#[test]
fn images_of_both_systems() {
    let two = [0, 0, 0, 2, 0, 0, 0, 7, b'/', b'a', 0, 0, 0, 0, 8, b'b', 0];
    let slides = [image("/a", None, Some(7)), image("b", None, Some(8))];
    assert_eq!(decode(&file(4, &two), Form::Darwin), Ok(slides.to_vec()));
    let headers = [image("/a", Some(7), None), image("b", Some(8), None)];
    assert_eq!(decode(&file(5, &two), Form::Darwin), Ok(headers.to_vec()));
    // NeXT's type has the content of Darwin's slides, whatever the comment of `<mach-o/gmon.h>` says.
    assert_eq!(decode(&file(5, &two), Form::Next), Ok(slides.to_vec()));
    #[rustfmt::skip]
    let files = [
        0, 0, 0, 3,                                     // states
        0, 0, 0, 7,  0, 0, 0, 0,  0, 0, 0, 0,           // header; no files; no names
        0, 0, 0, 8,  0, 0, 0, 2,  0, 0, 0, 2, 0, 0, 0, 0, // header; two files; their names
        0, 0, 0, 5,  b'd', 0, b'e', b'f', 0,
        0, 0, 0, 9,  0, 0, 0, 1,  0, 0, 0, 1,
        0, 0, 0, 3,  0, b'g', 0,
    ];
    let expected = [image("ef", Some(8), None), image("d", Some(8), None), image("g", Some(9), None)];
    assert_eq!(decode(&file(4, &files), Form::Next), Ok(expected.to_vec()));
    let cut = &file(4, &files);
    assert!((12..cut.len()).all(|length| decode(&cut[..length], Form::Next).is_err()));
}

/// The error for a record in which one byte is different.
fn error(record_type: u8, content: &[u8], at: usize, byte: u8, form: Form) -> Error {
    let mut content = content.to_vec();
    content[at] = byte;
    decode(&file(record_type, &content), form).unwrap_err()
}

#[test]
fn errors_in_samples() {
    let of = |at, byte| error(1, &SAMPLES_32, at, byte, Form::Darwin);
    assert_eq!(of(11, 0x25), Error::WrongSize { part: Part::Samples, size: 0x25, expected: 0x24, offset: 0x14 });
    assert_eq!(of(15, 0x78), Error::BadVersion { version: 0x51878, offset: 0x18 });
    assert_eq!(of(6, 0x0f), Error::BadRange { lowpc: 0x1000, highpc: 0xf08, offset: 0xc });
    assert_eq!(of(7, 0), Error::NoRange { bins: 2, lowpc: 0x1000, offset: 0xc });
    let short = Error::TooSmall { part: Part::Samples, size: 31, least: 32, offset: 8 };
    assert_eq!(decode(&file(1, &SAMPLES_32[..31]), Form::Darwin), Err(short));
    let of = |at, byte| error(1, &SAMPLES_NEXT[..15], at, byte, Form::Next);
    assert_eq!(of(11, 15), Error::PartialBin { size: 3, width: 2, offset: 0x18 });
    let no_bins = Error::NoBins { range: 0x1000..0x1008, offset: 0xc };
    assert_eq!(error(1, &SAMPLES_NEXT[..12], 11, 12, Form::Next), no_bins);
}

#[test]
fn errors_in_records_and_images() {
    assert_eq!(decode(&file(9, &[]), Form::Darwin), Err(Error::BadTag { tag: 9, offset: 4 }));
    assert_eq!(decode(b"\xbe\xef\xba\xbd", Form::Next), Err(Error::BadMagic { magic: *b"\xbe\xef\xba\xbd" }));
    let partial = |left, size, offset| Err(Error::PartialArc { left, size, offset });
    assert_eq!(decode(&file(2, &[0; 23]), Form::Darwin), partial(11, 12, 0x18));
    assert_eq!(decode(&file(3, &[0; 17]), Form::Next), partial(1, 16, 0x1c));

    let of = |content: &[u8], record_type, form| decode(&file(record_type, content), form).unwrap_err();
    let overrun = |needed, left, offset| Error::Overrun { part: Part::Images, needed, left, offset };
    assert_eq!(of(&[0, 0, 0], 4, Form::Darwin), overrun(4, 3, 0xc));
    assert_eq!(of(&[0, 0, 0, 1, 0, 0, 0], 4, Form::Darwin), overrun(4, 3, 0x10));
    let unterminated = Error::Unterminated { part: Part::Path, offset: 0x14 };
    assert_eq!(of(&[0, 0, 0, 1, 0, 0, 0, 7, b'a'], 5, Form::Darwin), unterminated);
    let trailing = Error::Trailing { left: 1, offset: 0x10 };
    assert_eq!(of(&[0, 0, 0, 0, 7], 5, Form::Darwin), trailing);

    // One state of NeXT: the header, two files with their offsets, and five bytes of names.
    let state = [0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 5, b'd', 0, b'e', b'f', 0];
    let of = |at, byte| error(4, &state, at, byte, Form::Next);
    assert_eq!(of(11, 0xff), overrun(0x3fc, 17, 0x18));
    assert_eq!(of(23, 6), overrun(6, 5, 0x24));
    assert_eq!(of(19, 5), Error::BadOffset { part: Part::Path, value: 5, limit: 5, offset: 0x1c });
    assert_eq!(of(28, b'g'), Error::Unterminated { part: Part::Path, offset: 0x26 });
    // "ef" and "ef" have six bytes, but the names have five.
    assert_eq!(of(19, 2), Error::Repeated { part: Part::Path, value: 2, offset: 0x1c });
}
