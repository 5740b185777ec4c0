//! Tests of `PROF` files, field by field.

use alloc::vec::Vec;

use super::read::ProfDecoder;
use crate::decode::cursor::Cursor;
use crate::decode::{Decode as _, Result};
use crate::{Arc, Bins, Error, Histogram, Image, Order, Part, Record, Unit, Word};

/// The file's records, or the error.
fn decode(file: &[u8]) -> Result<Vec<Record>> {
    let (mut cursor, mut decoder) = (Cursor::new(file, Word::W64, Order::Big), ProfDecoder::new());
    core::iter::from_fn(|| decoder.next(&mut cursor).transpose()).collect()
}

/// A file with one object, whose content starts at offset 0x20 of the file and 0x10 of the object.
fn file(object_type: u32, content: &[u64], tail: &[u8]) -> Vec<u8> {
    let size = 16 + 8 * content.len() as u64 + tail.len() as u64;
    let head = [0x5052_4f46_0001_0007, 16, u64::from(object_type) << 32 | 1, size];
    let words = head.iter().chain(content).flat_map(|word| word.to_be_bytes());
    words.chain(tail.iter().copied()).collect()
}

fn raw(counts: &[(u64, u64)]) -> Record {
    let bins = Bins::Sparse { bins: u64::MAX, counts: counts.to_vec() };
    Record::Histogram(Histogram::new(0..u64::MAX, Unit::seconds(0), bins).unwrap())
}

#[test]
fn samples_are_counted_by_address() {
    let buffer = [0x28, 4, 0xdead, 9, u64::MAX - 1, 7, 9];
    assert_eq!(decode(&file(1, &buffer, &[1, 2])), Ok([raw(&[(7, 1), (9, 2), (u64::MAX - 1, 1)])].to_vec()));
    assert_eq!(decode(&file(1, &[0x20, 0], &[])), Ok(Vec::new()));
    assert_eq!(decode(&file(u32::MAX, &[1, 2], &[3])), Ok(Vec::new()), "an object without a meaning");
}

/// The offsets of the object's first, second and third record.
const A: u64 = 0x18;
const B: u64 = A + 0x30;
const C: u64 = B + 0x30;

/// Two callees, of which the first has two callers. The records are not in the order of the chains.
fn calls() -> [u64; 19] {
    [
        A, // The first callee.
        C,
        B,
        0x14,
        0x1000,
        3,
        0xdead, // next_to, next_from, frompc, topc, count, next_hash
        0xdead,
        0,
        0x28,
        0x1000,
        u64::MAX,
        0, // next_to has a meaning only in the first record of a callee.
        0,
        0,
        0x1010,
        0x2000,
        0,
        0,
    ]
}

#[test]
fn callees_have_chains_of_callers() {
    let arcs = [(0x14, 0x1000, 3), (0x28, 0x1000, u64::MAX), (0x1010, 0x2000, 0)];
    let arcs = arcs.map(|(frompc, selfpc, count)| Record::Arc(Arc::new(frompc, selfpc, count)));
    assert_eq!(decode(&file(2, &calls(), &[])), Ok(arcs.to_vec()));
    assert_eq!(decode(&file(2, &[0], &[])), Ok(Vec::new()));
}

/// Two modules, of which the second is the first in the file.
const MODULES_OBJECT: [u64; 9] = [0x38, 0, 0x5b, 0x30, 0x40, 0x18, 0x58, 0x10, 0x20];

#[test]
fn modules_have_paths_and_ranges() {
    let module = |path: &[u8], range| Record::Image(Image::new(path).with_range(range));
    let expected = [module(b"/a", 0x10..0x20), module(b"", 0x30..0x40)];
    assert_eq!(decode(&file(3, &MODULES_OBJECT, b"/a\0\0padding")), Ok(expected.to_vec()));
    assert_eq!(decode(&file(3, &[0], &[])), Ok(Vec::new()));
}

#[test]
fn objects_follow_each_other() {
    let objects = [file(2, &calls(), &[]), file(u32::MAX, &[], &[]), file(1, &[0x20, 1, 5], &[])];
    let mut all = b"PROF\0\x01\xff\xff\0\0\0\0\0\0\0\x12\xaa\xaa".to_vec();
    objects.iter().for_each(|object| all.extend(&object[16..]));
    assert_eq!(decode(&all).unwrap().len(), 4);
    let ends = [18, 18 + 168, 18 + 168 + 16, all.len()];
    for length in 0..=all.len() {
        assert_eq!(decode(&all[..length]).is_ok(), ends.contains(&length), "{length}");
    }
}

#[test]
fn errors_in_the_header_and_in_objects() {
    let good = file(1, &[0x20, 1, 5], &[]);
    let of = |at: usize, bytes: &[u8]| {
        let mut file = good.clone();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        decode(&file).unwrap_err()
    };
    assert_eq!(of(3, b"G"), Error::BadMagic { magic: *b"PROG" });
    assert_eq!(of(4, &[0, 2]), Error::BadVersion { version: 2, offset: 4 });
    assert_eq!(of(15, &[15]), Error::TooSmall { part: Part::Header, size: 15, least: 16, offset: 8 });
    assert_eq!(of(8, &[0xff; 8]), Error::Truncated { part: Part::Header, needed: u64::MAX - 16, left: 40, offset: 16 });
    assert_eq!(of(16, &[0, 0, 0, 4]), Error::BadTag { tag: 4, offset: 16 });
    assert_eq!(of(20, &[0, 0, 0, 2]), Error::BadVersion { version: 2, offset: 20 });
    let small = |size, least| Error::TooSmall { part: Part::Object, size, least, offset: 24 };
    assert_eq!([of(31, &[0]), of(31, &[15]), of(31, &[31])], [small(0, 16), small(15, 16), small(31, 32)]);
    assert_eq!(of(24, &[0xff; 8]), Error::Truncated { part: Part::Object, needed: u64::MAX, left: 40, offset: 16 });
    let outside = |value| Error::BadOffset { part: Part::Samples, value, limit: 40, offset: 32 };
    assert_eq!([of(39, &[41]), of(32, &[0xff; 8])], [outside(41), outside(u64::MAX)]);
    let overrun = |needed| Error::Overrun { part: Part::Samples, needed, left: 8, offset: 48 };
    // 2^61 + 1 samples of 8 bytes have 8 bytes if the product overflows.
    assert_eq!([of(47, &[2]), of(40, &[0x20])], [overrun(16), overrun(u64::MAX)]);
    assert_eq!(of(48, &[0xff; 8]), Error::BadAddress { address: u64::MAX, offset: 48 });
}

#[test]
fn errors_in_chains_of_calls() {
    let of = |at: usize, value: u64| {
        let mut content = calls();
        content[at] = value;
        decode(&file(2, &content, &[])).unwrap_err()
    };
    let outside = |value, offset| Error::BadOffset { part: Part::Arc, value, limit: 0xa8, offset };
    assert_eq!(
        [of(0, 0xa9), of(1, u64::MAX), of(2, 0xb0)],
        [outside(0xa9, 32), outside(u64::MAX, 40), outside(0xb0, 48)]
    );
    let overrun = Error::Overrun { part: Part::Arc, needed: 48, left: 47, offset: 16 + 0x79 };
    assert_eq!(of(2, 0x79), overrun);
    // A callee that follows itself, a chain of callers that leads back, and chains that share records.
    let repeated = |value, offset| Error::Repeated { part: Part::Arc, value, offset };
    assert_eq!(of(1, A), repeated(B, 48));
    assert_eq!(of(8, A), repeated(B, 48));
    assert_eq!(of(8, B), repeated(B, 96));
    assert_eq!(of(14, B), repeated(B, 144));
    let small = Error::TooSmall { part: Part::Object, size: 16, least: 24, offset: 24 };
    assert_eq!(decode(&file(2, &[], &[])), Err(small));
}

#[test]
fn errors_in_modules() {
    let of = |at: usize, value: u64, paths: &[u8]| {
        let mut content = MODULES_OBJECT;
        content[at] = value;
        decode(&file(3, &content, paths)).unwrap_err()
    };
    assert_eq!(of(0, 0x60, b"/a\0\0"), Error::BadOffset { part: Part::Module, value: 0x60, limit: 0x5c, offset: 32 });
    assert_eq!(of(1, 0x38, b"/a\0\0"), Error::Repeated { part: Part::Module, value: 0x38, offset: 40 });
    assert_eq!(of(6, 0x5d, b"/a\0\0"), Error::BadOffset { part: Part::Path, value: 0x5d, limit: 0x5c, offset: 80 });
    assert_eq!(of(8, 0xf, b"/a\0\0"), Error::BadRange { lowpc: 0x10, highpc: 0xf, offset: 88 });
    assert_eq!(of(0, 0x38, b"/a"), Error::Unterminated { part: Part::Path, offset: 16 + 0x58 });
    // Two modules share a path: there is no room for two such paths.
    let long = [&[b'x'; 80][..], &[0]].concat();
    assert_eq!(of(2, 0x58, &long), Error::Repeated { part: Part::Path, value: 0x58, offset: 48 });
}
