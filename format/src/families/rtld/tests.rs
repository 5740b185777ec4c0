//! Tests of the run-time linker's profiles, field by field.

use alloc::vec::Vec;

use super::*;
use crate::Bins;

/// The file's records, or the error.
fn decode(file: &[u8], word: Word) -> Result<Vec<Record>> {
    let (mut cursor, mut decoder) = (Cursor::new(file, word, Order::Big), RtldDecoder::new());
    core::iter::from_fn(|| decoder.next(&mut cursor).transpose()).collect()
}

#[rustfmt::skip]
const FILE_32: [u8; 52 + 4 + 2 * 16] = [
    0xff, 0xff, 0xff, 0xff, // 0x00 magic
    0, 0, 0, 1,             // 0x04 version
    9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, // 0x08 lock
    9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9,
    0, 0, 0, 8,             // 0x20 hpc
    0, 0, 0, 4,             // 0x24 psize
    0, 0, 0, 88,            // 0x28 fsize
    0, 0, 0, 9,             // 0x2c ncndx
    0, 0, 0, 2,             // 0x30 lcndx
    1, 2, 0, 3,             // 0x34 bins
    0, 0, 0, 4,             // 0x38 from
    0, 0, 0, 5,             // 0x3c to
    0x80, 0, 0, 6,          // 0x40 count
    0, 0, 0, 1,             // 0x44 next
    0, 0, 0, 7,             // 0x48 from
    0, 0, 0, 8,             // 0x4c to
    0, 0, 0, 0,             // 0x50 count
    0, 0, 0, 1,             // 0x54 next
];

#[rustfmt::skip]
const FILE_64: [u8; 56 + 4 + 24] = [
    0xff, 0xff, 0xff, 0xff,                // 0x00 magic
    0, 0, 0, 2,                            // 0x04 version
    9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9,    // 0x08 lock
    9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9,
    0, 0, 0, 1, 0, 0, 0, 8,                // 0x20 hpc
    0, 0, 0, 4,                            // 0x28 psize
    0, 0, 0, 84,                           // 0x2c fsize
    0, 0, 0, 0,                            // 0x30 ncndx
    0, 0, 0, 1,                            // 0x34 lcndx
    1, 2, 0, 3,                            // 0x38 bins
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, // 0x3c from
    2, 0, 0, 0, 0, 0, 0, 5,                // 0x44 to
    0, 0, 0, 6,                            // 0x4c count
    0, 0, 0, 0,                            // 0x50 next
];

fn content(highpc: u64, frompc: u64, selfpc: u64, count: u64) -> Vec<Record> {
    let bins = Histogram::new(0..highpc, Unit::seconds(0), Bins::U16([0x102, 3].to_vec())).unwrap();
    [Record::Histogram(bins), Record::Arc(Arc::new(frompc, selfpc, count))].to_vec()
}

fn patched(file: &[u8], at: usize, byte: u8) -> Vec<u8> {
    let mut file = file.to_vec();
    file[at] = byte;
    file
}

#[test]
fn both_word_sizes() {
    assert_eq!(decode(&FILE_32, Word::W32), Ok(content(8, 4, 5, 0x8000_0006)));
    assert_eq!(decode(&FILE_64, Word::W64), Ok(content((1 << 32) + 8, 0, (2 << 56) + 5, 6)), "a caller outside");
    assert_eq!(decode(&patched(&FILE_64, 0x43, 0xfe), Word::W64).unwrap()[1], content(8, 0, (2 << 56) + 5, 6)[1]);
    let known = content(8, u64::MAX - 2, (2 << 56) + 5, 6);
    assert_eq!(decode(&patched(&FILE_64, 0x43, 0xfd), Word::W64).unwrap()[1], known[1]);
    // A SPARC aligns the lock to eight bytes.
    let padded = [&FILE_32[..52], &[7; 4], &FILE_32[52..]].concat();
    assert_eq!(decode(&patched(&padded, 0x2b, 92), Word::W32), Ok(content(8, 4, 5, 0x8000_0006)));
}

#[test]
fn errors() {
    let of = |at, byte| decode(&patched(&FILE_32, at, byte), Word::W32).unwrap_err();
    assert_eq!(of(3, 0), Error::BadMagic { magic: [0xff, 0xff, 0xff, 0] });
    assert_eq!(of(7, 2), Error::BadVersion { version: 2, offset: 4 });
    let size = |size, expected| Error::WrongSize { part: Part::File, size, expected, offset: 0x28 };
    assert_eq!([of(0x2b, 87), of(0x2b, 93), of(0x33, 3)], [size(87, 88), size(93, 88), size(88, 104)]);
    assert_eq!(of(0x30, 0xff), size(88, 56 + 0xff00_0002 * 16));
    assert_eq!(of(0x23, 0), Error::NoRange { bins: 2, lowpc: 0, offset: 0x20 });
    let odd = patched(&patched(&FILE_32, 0x27, 3), 0x2b, 87);
    assert_eq!(decode(&odd, Word::W32), Err(Error::PartialBin { size: 3, width: 2, offset: 0x34 }));
    let longer = [&FILE_32[..], &[0]].concat();
    assert_eq!(decode(&longer, Word::W32), Err(Error::Trailing { left: 1, offset: 88 }));
    assert!((0..FILE_32.len()).all(|length| decode(&FILE_32[..length], Word::W32).is_err()));
    assert!((0..FILE_64.len()).all(|length| decode(&FILE_64[..length], Word::W64).is_err()));
}
