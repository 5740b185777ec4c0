//! Tests of GNU files, byte by byte.

use crate::common::{called, found, sampled, seconds};
use gmon::{
    Arc, Block, DataModel, Dimension, Encoding, Error, ErrorKind, Form, Hints, Histogram, Order, Part, Profile, Unit,
    Word, read, read_as, write,
};

const fn gnu(model: DataModel, order: Order) -> Encoding {
    Encoding::new(Form::Gnu, model, order)
}

const LE32: Encoding = gnu(DataModel::Ilp32, Order::Little);
const BE32: Encoding = gnu(DataModel::Ilp32, Order::Big);
const LE64: Encoding = gnu(DataModel::Lp64, Order::Little);
const BE64: Encoding = gnu(DataModel::Lp64, Order::Big);

#[rustfmt::skip]
const FILE_LE32: &[u8] = &[
    b'g', b'm', b'o', b'n',             // 0x00 magic
    0x01, 0x00, 0x00, 0x00,             // 0x04 version
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, // 0x08 spare
    0x00,                               // 0x14 tag: histogram
    0x00, 0x10, 0x00, 0x00,             // 0x15 lowpc
    0x0c, 0x10, 0x00, 0x00,             // 0x19 highpc
    0x03, 0x00, 0x00, 0x00,             // 0x1d hist_size, in bins
    0x64, 0x00, 0x00, 0x00,             // 0x21 profrate
    b's', b'e', b'c', b'o', b'n', b'd', b's', 0, 0, 0, 0, 0, 0, 0, 0, // 0x25 dimension
    b's',                               // 0x34 abbreviation
    0x01, 0x00, 0x03, 0x02, 0x00, 0x00, // 0x35 bins
    0x01,                               // 0x3b tag: arc
    0x04, 0x10, 0x00, 0x00,             // 0x3c frompc
    0x08, 0x10, 0x00, 0x00,             // 0x40 selfpc
    0x04, 0x03, 0x02, 0x01,             // 0x44 count
    0x02,                               // 0x48 tag: basic blocks
    0x01, 0x00, 0x00, 0x00,             // 0x49 how many
    0x06, 0x10, 0x00, 0x00,             // 0x4d address
    0x05, 0x00, 0x00, 0x00,             // 0x51 count
];

#[rustfmt::skip]
const FILE_BE32: &[u8] = &[
    b'g', b'm', b'o', b'n',             // 0x00 magic
    0x00, 0x00, 0x00, 0x01,             // 0x04 version
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, // 0x08 spare
    0x00,                               // 0x14 tag: histogram
    0x00, 0x00, 0x10, 0x00,             // 0x15 lowpc
    0x00, 0x00, 0x10, 0x0c,             // 0x19 highpc
    0x00, 0x00, 0x00, 0x03,             // 0x1d hist_size, in bins
    0x00, 0x00, 0x00, 0x64,             // 0x21 profrate
    b's', b'e', b'c', b'o', b'n', b'd', b's', 0, 0, 0, 0, 0, 0, 0, 0, // 0x25 dimension
    b's',                               // 0x34 abbreviation
    0x00, 0x01, 0x02, 0x03, 0x00, 0x00, // 0x35 bins
    0x01,                               // 0x3b tag: arc
    0x00, 0x00, 0x10, 0x04,             // 0x3c frompc
    0x00, 0x00, 0x10, 0x08,             // 0x40 selfpc
    0x01, 0x02, 0x03, 0x04,             // 0x44 count
    0x02,                               // 0x48 tag: basic blocks
    0x00, 0x00, 0x00, 0x01,             // 0x49 how many
    0x00, 0x00, 0x10, 0x06,             // 0x4d address
    0x00, 0x00, 0x00, 0x05,             // 0x51 count
];

#[rustfmt::skip]
const FILE_LE64: &[u8] = &[
    b'g', b'm', b'o', b'n',                         // 0x00 magic
    0x01, 0x00, 0x00, 0x00,                         // 0x04 version
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,             // 0x08 spare
    0x00,                                           // 0x14 tag: histogram
    0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, // 0x15 lowpc
    0x0c, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, // 0x1d highpc
    0x03, 0x00, 0x00, 0x00,                         // 0x25 hist_size, in bins
    0x64, 0x00, 0x00, 0x00,                         // 0x29 profrate
    b's', b'e', b'c', b'o', b'n', b'd', b's', 0, 0, 0, 0, 0, 0, 0, 0, // 0x2d dimension
    b's',                                           // 0x3c abbreviation
    0x01, 0x00, 0x03, 0x02, 0x00, 0x00,             // 0x3d bins
    0x01,                                           // 0x43 tag: arc
    0x04, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, // 0x44 frompc
    0x08, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, // 0x4c selfpc
    0x04, 0x03, 0x02, 0x01,                         // 0x54 count: 32 bits in every file
    0x02,                                           // 0x58 tag: basic blocks
    0x01, 0x00, 0x00, 0x00,                         // 0x59 how many
    0x06, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, // 0x5d address
    0x05, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, // 0x65 count: of the word size
];

#[rustfmt::skip]
const FILE_BE64: &[u8] = &[
    b'g', b'm', b'o', b'n',                         // 0x00 magic
    0x00, 0x00, 0x00, 0x01,                         // 0x04 version
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,             // 0x08 spare
    0x00,                                           // 0x14 tag: histogram
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x00, // 0x15 lowpc
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x0c, // 0x1d highpc
    0x00, 0x00, 0x00, 0x03,                         // 0x25 hist_size, in bins
    0x00, 0x00, 0x00, 0x64,                         // 0x29 profrate
    b's', b'e', b'c', b'o', b'n', b'd', b's', 0, 0, 0, 0, 0, 0, 0, 0, // 0x2d dimension
    b's',                                           // 0x3c abbreviation
    0x00, 0x01, 0x02, 0x03, 0x00, 0x00,             // 0x3d bins
    0x01,                                           // 0x43 tag: arc
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x04, // 0x44 frompc
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x08, // 0x4c selfpc
    0x01, 0x02, 0x03, 0x04,                         // 0x54 count: 32 bits in every file
    0x02,                                           // 0x58 tag: basic blocks
    0x00, 0x00, 0x00, 0x01,                         // 0x59 how many
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x06, // 0x5d address
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x05, // 0x65 count: of the word size
];

fn content() -> Profile {
    Profile::of_samples(vec![seconds(0x1000, 0x100c, &[1, 0x0203, 0])])
        .unwrap()
        .with_arcs(vec![Arc::new(0x1004, 0x1008, 0x0102_0304)])
        .with_blocks(vec![Block::new(0x1006, 5)])
}

/// The 64-bit file with some bytes replaced.
fn patched(at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut file = FILE_LE64.to_vec();
    file[at..at + bytes.len()].copy_from_slice(bytes);
    file
}

/// The header and the requested records.
fn file_of(records: &[&[u8]]) -> Vec<u8> {
    [&FILE_LE64[..0x14]].iter().chain(records).flat_map(|part| part.to_vec()).collect()
}

const HISTOGRAM: std::ops::Range<usize> = 0x14..0x43;
const ARC: std::ops::Range<usize> = 0x43..0x58;

#[test]
fn reads_and_writes_every_word_and_order() {
    for (file, encoding) in [(FILE_LE32, LE32), (FILE_BE32, BE32), (FILE_LE64, LE64), (FILE_BE64, BE64)] {
        assert_eq!(found(file, &Hints::default()), Ok(encoding));
        assert_eq!(read_as(file, encoding), Ok(content()), "{encoding}");
        assert_eq!(write(&content(), encoding).unwrap(), file, "{encoding}");
    }
}

#[test]
fn records_come_in_any_order() {
    let file = file_of(&[&FILE_LE64[0x58..], &FILE_LE64[ARC], &FILE_LE64[HISTOGRAM]]);
    assert_eq!(read(&file, &Hints::default()), Ok(content()));
}

#[test]
fn repeated_histograms_are_summed_and_repeated_arcs_kept() {
    let (histogram, arc) = (&FILE_LE64[HISTOGRAM], &FILE_LE64[ARC]);
    let profile = read(&file_of(&[histogram, arc, histogram, arc]), &Hints::default()).unwrap();
    assert_eq!(profile.histograms(), [seconds(0x1000, 0x100c, &[2, 0x0406, 0])]);
    assert_eq!(profile.arcs(), [content().arcs()[0]; 2]);
}

#[test]
fn version_0_is_read_in_the_order_that_fits() {
    for (file, encoding) in [(FILE_LE32, LE32), (FILE_BE32, BE32), (FILE_LE64, LE64), (FILE_BE64, BE64)] {
        // Without the blocks, which had another layout in that version.
        let blocks = if encoding.word() == Word::W32 { 0x48 } else { 0x58 };
        let mut old = file.to_vec();
        old[4..8].fill(0);
        assert!(read_as(&old, encoding).is_err(), "the blocks have another layout");
        old.truncate(blocks);
        assert_eq!(found(&old, &Hints::default()), Ok(encoding));
        // Also without the histogram.
        let arc = if encoding.word() == Word::W32 { 0x3b } else { 0x43 };
        old.drain(0x14..arc);
        assert_eq!(found(&old, &Hints::default()), Ok(encoding));
    }
}

#[test]
fn spare_bytes_may_be_rubbish() {
    assert_eq!(read(&patched(8, &[0x58, 0x12, 0x40, 0, 1, 2, 3, 4]), &Hints::default()), Ok(content()));
}

#[test]
fn a_dimension_may_fill_its_field() {
    let profile = read(&patched(0x2d, b"fifteen-letters"), &Hints::default()).unwrap();
    assert_eq!(profile.histograms()[0].unit().dimension.as_bytes(), b"fifteen-letters");
    assert_eq!(write(&profile, LE64).unwrap(), patched(0x2d, b"fifteen-letters"));
}

#[test]
fn a_histogram_without_range_and_bins_says_nothing() {
    let mut file = patched(0x1d, &[0x00]);
    file[0x25] = 0;
    file.drain(0x3d..0x43);
    assert_eq!(read_as(&file, LE64).unwrap().histograms(), []);
}

#[test]
fn rejects_what_cannot_be() {
    let error = |file: &[u8]| read_as(file, LE64).unwrap_err();
    assert_eq!(error(b"gmoo"), Error::Truncated { part: Part::Header, needed: 20, left: 4, offset: 0 });
    assert_eq!(error(&patched(3, b"o")), Error::BadMagic { magic: *b"gmoo" });
    assert_eq!(error(&patched(4, &[2])), Error::BadVersion { version: 2, offset: 4 });
    assert_eq!(error(&patched(0x14, &[3])), Error::BadTag { tag: 3, offset: 0x14 });
    assert_eq!(error(&patched(0x1e, &[0])), Error::BadRange { lowpc: 0x1000, highpc: 0xc, offset: 0x15 });
    assert_eq!(error(&patched(0x1d, &[0])), Error::NoRange { bins: 3, lowpc: 0x1000, offset: 0x15 });
    assert_eq!(error(&patched(0x25, &[0])), Error::NoBins { range: 0x1000..0x100c, offset: 0x15 });
    let left = FILE_LE64.len() as u64;
    let huge = Error::Truncated { part: Part::Histogram, needed: 2 * 0xffff_ffff, left: left - 0x3d, offset: 0x3d };
    assert_eq!(error(&patched(0x25, &[0xff; 4])), huge);
    let blocks = Error::Truncated { part: Part::Blocks, needed: 16 * 0xffff_ffff, left: 16, offset: 0x5d };
    assert_eq!(error(&patched(0x59, &[0xff; 4])), blocks);
    let arc = Error::Truncated { part: Part::Arc, needed: 20, left: 3, offset: 0x44 };
    assert_eq!(error(&FILE_LE64[..0x47]), arc);
}

#[test]
fn rejects_histograms_that_do_not_go_together() {
    let error = |at: usize, byte: u8| {
        let other = patched(at, &[byte]);
        read_as(&file_of(&[&FILE_LE64[HISTOGRAM], &other[HISTOGRAM]]), LE64).unwrap_err()
    };
    // Two bins less, so that bins keep their size.
    let (first, second) = (0x1000..0x100c, 0x1008..0x100c);
    let mut part = patched(0x15, &[0x08]);
    part[0x25] = 1;
    let file = file_of(&[&FILE_LE64[HISTOGRAM], &part[0x14..0x3f]]);
    // The record of the second histogram, which is at this offset, contradicts the first.
    let offset = HISTOGRAM.end as u64;
    let refused = |error: Error| Error::Histograms { error: Box::new(error), offset };
    let overlap = refused(Error::Overlap { first: first.clone(), second });
    assert_eq!((overlap.kind(), overlap.offset()), (ErrorKind::Incompatible, Some(0x43)));
    assert!(overlap.to_string().ends_with(", in the record at offset 0x43"), "{overlap}");
    assert_eq!(read_as(&file, LE64), Err(overlap));
    let scales = Error::ScalesDiffer { first, first_bins: 3, second: 0x1004..0x100c, second_bins: 3 };
    assert_eq!(error(0x15, 4), refused(scales));
    assert_eq!(error(0x29, 99), refused(Error::RatesDiffer { first: 100, second: 99 }));
    assert_eq!(error(0x3c, b't'), refused(Error::AbbrevsDiffer { first: b's', second: b't' }));
    let second = Dimension::from_field(*b"Seconds\0\0\0\0\0\0\0\0");
    assert_eq!(error(0x2d, b'S'), refused(Error::DimensionsDiffer { first: Dimension::SECONDS, second }));
}

#[test]
fn a_cut_file_is_reported_where_it_is_cut() {
    for file in [FILE_LE32, FILE_BE32, FILE_LE64, FILE_BE64] {
        let arc = if file.len() == FILE_LE32.len() { 0x3b } else { 0x43 };
        let Err(Error::Truncated { part, left, offset, .. }) = read(&file[..arc + 7], &Hints::default()) else {
            panic!("a cut file was read");
        };
        assert_eq!((part, left, offset), (Part::Arc, 6, arc as u64 + 1));
    }
}

#[test]
fn other_versions_are_named_whatever_the_order() {
    let error = |version: [u8; 4]| found(&patched(4, &version), &Hints::default()).unwrap_err();
    assert_eq!(error([2, 0, 0, 0]), Error::BadVersion { version: 2, offset: 4 });
    assert_eq!(error([0, 0, 0, 2]), Error::BadVersion { version: 2, offset: 4 });
    assert_eq!(error([3, 1, 0, 0]), Error::BadVersion { version: 0x103, offset: 4 });
}

#[test]
fn high_counts_take_more_records() {
    let profile = Profile::of_samples(vec![seconds(0x1000, 0x1008, &[3 * 65535 + 1, 65536])])
        .unwrap()
        .with_arcs(vec![Arc::new(1, 2, (2 << 32) + 7)])
        .with_blocks(vec![Block::new(9, u64::MAX)]);
    let file = write(&profile, LE64).unwrap();
    assert_eq!(file.len(), 20 + 4 * (41 + 4) + 3 * 21 + 5 + 16);
    let back = read(&file, &Hints::default()).unwrap();
    assert_eq!((back.histograms(), back.blocks()), (profile.histograms(), profile.blocks()));
    let counts: Vec<u64> = back.arcs().iter().map(|arc| arc.count).collect();
    assert_eq!(counts, [0xffff_ffff, 0xffff_ffff, 9]);

    let blocks = Profile::new().with_blocks(vec![Block::new(9, 1 << 32)]);
    let back = read(&write(&blocks, BE32).unwrap(), &Hints::default()).unwrap();
    assert_eq!(back.blocks(), [Block::new(9, 0xffff_ffff), Block::new(9, 1)]);
}

#[test]
fn the_writer_rejects_what_the_form_does_not_hold() {
    let error = |profile: &Profile, encoding| write(profile, encoding).unwrap_err();
    let wide = called(&[(1 << 32, 0, 1)]);
    assert_eq!(error(&wide, LE32), Error::WideAddress { address: 1 << 32, offset: 0x15 });
    let signed = Histogram::new(0..4, Unit::seconds(100), vec![-3_i64]).unwrap();
    assert_eq!(error(&sampled(signed), LE32), Error::WideBin { bin: 0, count: -3, offset: 0x35 });
    let huge = called(&[(0, 0, u64::MAX)]);
    assert_eq!(error(&huge, LE64), Error::TooManyRepeats { size: 21 * 0x1_0000_0000 });
    let huge = sampled(seconds(0, 4, &[u64::MAX]));
    assert!(matches!(error(&huge, LE64), Error::TooManyRepeats { .. }));
}

#[test]
fn records_are_counted_as_they_stand() {
    // The records a second time at the end of the file: their histograms become one with twice as many samples.
    let bytes = [FILE_LE32, &FILE_LE32[0x14..]].concat();
    let counts = gmon::count_records(&bytes, LE32).unwrap();
    assert_eq!((counts.histograms, counts.arcs, counts.blocks), (2, 2, 2));
    assert_eq!(read_as(&bytes, LE32).unwrap().histograms().len(), 1);
    assert!(gmon::count_records(&bytes[..bytes.len() - 1], LE32).is_err());
}

/// The bytes of a 64-bit file with histograms of ticks: lowpc, highpc, and the bins.
fn ticks(histograms: &[(u64, u64, &[u16])]) -> Vec<u8> {
    let mut file = [&b"gmon\x01"[..], &[0; 15]].concat();
    for (lowpc, highpc, bins) in histograms {
        file.push(0);
        file.extend([lowpc.to_le_bytes(), highpc.to_le_bytes()].concat());
        file.extend([(bins.len() as u32).to_le_bytes(), 1000_u32.to_le_bytes()].concat());
        file.extend(b"ticks\0\0\0\0\0\0\0\0\0\0t");
        file.extend(bins.iter().flat_map(|bin| bin.to_le_bytes()));
    }
    file
}

/// Catches a reader that takes the last address of eu-stackprof for the end of the range, one that does so for other
/// writers, and a comparison of bin sizes that rounds ranges of an odd length.
#[test]
fn the_range_of_eu_stackprof_ends_with_the_last_address() {
    let file = ticks(&[(0x1000, 0x1004, &[3, 0, 0, 1, 7]), (0x2000, 0x2000, &[2]), (0x3000, 0x3001, &[1, 1])]);
    let profile = read(&file, &Hints::new()).unwrap();
    let ranges: Vec<_> = profile.histograms().iter().map(Histogram::range).collect();
    assert_eq!(ranges, [0x1000..0x1005, 0x2000..0x2001, 0x3000..0x3002]);
    assert_eq!(profile.histograms()[1].hit().collect::<Vec<_>>(), [(0, 2)]);
    let detection = gmon::detect(&file, &Hints::new()).unwrap();
    assert!(detection.evidence().contains(&gmon::Evidence::ByteBins), "{:?}", detection.evidence());
    // The crate writes the end of the range, and reads the file again.
    let encoding = detection.encoding();
    assert_eq!(read_as(&write(&profile, encoding).unwrap(), encoding), Ok(profile));
    // Fewer bins are those of other writers, and the range of no bins is empty.
    let usual = read(&ticks(&[(0x1000, 0x1004, &[3, 1])]), &Hints::new()).unwrap();
    assert_eq!(usual.histograms()[0].range(), 0x1000..0x1004);
    assert!(read(&ticks(&[(0x1000, 0x1004, &[])]), &Hints::new()).is_err());
    // The last address of all has no address after it.
    assert!(read(&ticks(&[(u64::MAX, u64::MAX, &[2])]), &Hints::new()).is_err());
    let seconds: Vec<u8> = file.iter().map(|byte| if *byte == b't' { b'T' } else { *byte }).collect();
    assert!(read(&seconds, &Hints::new()).is_err(), "another dimension");
}
