//! Tests of reading and writing side files.

use crate::side::{code, side_file, small};
use gmon::encode::side_file::{LARGEST_CONTEXT, Piece, context, padding, part};
use gmon::layout::side_file::{CONTEXTS, END, REQUIRED, Tag};
use gmon::side_file::{CUT, Checksum, CutReason, ELSEWHERE, Node, PROGRAM, Place, SideFile, THREAD};
use gmon::{Error, Part, Word};
use proptest::prelude::*;

/// The bytes of a file with other parts before the end, and a correct end.
fn with(side: &SideFile, parts: &[(Tag, u32, &[u8])]) -> Vec<u8> {
    let mut bytes = side.write();
    bytes.truncate(bytes.len() - 24);
    for (tag, flags, content) in parts {
        push(&mut bytes, *tag, *flags, content);
    }
    let sum = Checksum::of(&bytes).sum;
    push(&mut bytes, END, 0, &sum.to_le_bytes());
    bytes
}

fn push(bytes: &mut Vec<u8>, tag: Tag, flags: u32, content: &[u8]) {
    bytes.extend(tag);
    bytes.extend(flags.to_le_bytes());
    bytes.extend((content.len() as u64).to_le_bytes());
    bytes.extend(content);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
}

/// The error of a file with a part with this content, and the offset of the content.
fn refused(tag: &Tag, content: &[u8]) -> (Error, u64) {
    let side = small();
    let offset = side.write().len() as u64 - 24 + 16;
    (SideFile::parse(&with(&side, &[(*tag, 0, content)])).unwrap_err(), offset)
}

/// Checks that a part is refused for a value, at an offset in its content.
fn check(tag: &Tag, content: &[u8], field: Part, value: u64, at: u64) {
    let (error, offset) = refused(tag, content);
    let expected = Error::BadValue { part: field, value, offset: offset + at };
    assert_eq!(error, expected, "{content:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read(side in side_file()) {
        let bytes = side.write();
        prop_assert_eq!(bytes.len() % 8, 0);
        let read = SideFile::parse(&bytes).unwrap();
        prop_assert_eq!(&read, &side);
        prop_assert_eq!(read.write(), bytes);
    }

    #[test]
    fn a_truncated_file_is_an_error_with_an_offset(side in side_file(), at in any::<prop::sample::Index>()) {
        let mut side = side;
        let bytes = side.write();
        let cut = &bytes[..at.index(bytes.len())];
        let length = cut.len() as u64;
        if !side.is_live() {
            match SideFile::parse(cut).unwrap_err() {
                Error::Truncated { offset, needed, left, .. } => {
                    prop_assert!(offset <= length && left < needed && offset + needed <= bytes.len() as u64);
                }
                Error::NoEnd { offset } => prop_assert_eq!(offset, length),
                error => prop_assert!(false, "{}", error),
            }
        }
        // A live file is whole at every part.
        side.set_live(true);
        let bytes = side.write();
        let read = SideFile::parse(&bytes[..cut.len().max(32)]).unwrap();
        prop_assert!(read.contexts().total() == 0 || read.contexts() == side.contexts());
    }

    #[test]
    fn a_changed_byte_is_an_error(side in side_file(), at in any::<prop::sample::Index>(), change in 1..=255_u8) {
        let mut bytes = side.write();
        let at = at.index(bytes.len());
        bytes[at] ^= change;
        // The flags of the end mean nothing, and in a live file, a length that does not fit ends the file.
        let flags = bytes.len() - 20..bytes.len() - 16;
        prop_assert!(SideFile::parse(&bytes).is_err() || side.is_live() || flags.contains(&at), "{at:#x}");
    }
}

#[test]
fn the_header_is_checked() {
    let changed = |at: usize, value: u8| {
        let mut bytes = small().write();
        bytes[at] = value;
        SideFile::parse(&bytes).unwrap_err()
    };
    let bad = |field, value, offset| Error::BadValue { part: field, value, offset };
    assert_eq!(changed(5, b'\n'), Error::NotASideFile { magic: *b"\x89gmon\n\n\x1a" });
    assert_eq!(changed(8, 2), Error::BadVersion { version: 2, offset: 8 });
    assert_eq!(changed(10, 5), bad(Part::WordSize, 5, 10));
    assert_eq!(changed(11, 0), bad(Part::ByteOrder, 0, 11));
    let size = Error::Truncated { part: Part::Header, needed: 32, left: 3, offset: 0 };
    assert_eq!(SideFile::parse(b"\x89gm"), Err(size));
    let side_file = gmon::detect(&small().write(), &gmon::Hints::default()).unwrap_err();
    assert_eq!(side_file.to_string(), "the side file of a profile, not a profile");
}

#[test]
fn a_newer_minor_version_is_read() {
    let mut bytes = small().write();
    bytes.truncate(bytes.len() - 24);
    bytes[9] = 200;
    let sum = Checksum::of(&bytes).sum;
    push(&mut bytes, END, 0, &sum.to_le_bytes());
    assert_eq!(SideFile::parse(&bytes).unwrap(), small());
}

#[test]
fn an_unknown_part_is_skipped_unless_a_reader_must_know_it() {
    let side = small();
    let offset = side.write().len() as u64 - 24;
    assert_eq!(SideFile::parse(&with(&side, &[(*b"NEW1", 0, &[0xff; 13])])).unwrap(), side);
    let error = SideFile::parse(&with(&side, &[(*b"NEW1", REQUIRED, b"")])).unwrap_err();
    assert_eq!(error, Error::UnknownPart { tag: *b"NEW1", offset });
    // The flag says nothing about parts that the reader knows.
    assert!(SideFile::parse(&with(&side, &[(*b"CUTS", REQUIRED, &[1, 5]), (*b"PAD ", REQUIRED, &[0; 40])])).is_ok());
}

#[test]
fn the_end_is_the_end() {
    let mut bytes = small().write();
    let length = bytes.len() as u64;
    bytes.extend([0; 8]);
    assert_eq!(SideFile::parse(&bytes), Err(Error::BehindEnd { left: 8, offset: length }));
    bytes.truncate(bytes.len() - 8);
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    assert!(matches!(
        SideFile::parse(&bytes),
        Err(Error::BadChecksum { offset, .. }) if offset == length - 8
    ));
}

/// The highest number.
const WIDE: [u8; 10] = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];

#[test]
fn what_contradicts_itself_is_refused_with_value_and_offset() {
    check(b"HEAD", &[3, b'=', b'a', b'b'], Part::Property, 3, 0);
    check(b"HEAD", &[1, b'a'], Part::Property, 1, 0);
    check(b"OBJS", &[0, 1, 0, 0, 0, 0, 0], Part::ObjectNumber, 0, 0);
    check(b"OBJS", &[0xf0, 0xff, 1, 0, 0, 0, 0, 0, 0], Part::ObjectNumber, 0x7ff0, 0);
    check(b"OBJS", &[5, 3, 0, 0, 0, 0, 0], Part::ObjectFlags, 3, 1);
    check(b"OBJS", &[5, 1, 0, 0, 0, 0, 0], Part::ObjectFlags, 5, 0);
    check(b"OBJS", &[5, 0, 0, 0, 0, 3, 0], Part::IdentityKind, 3, 5);
    check(b"MAPS", &[1, 1, 0, 9], Part::Object, 9, 0);
    check(b"HIST", &[0, 9, 4], Part::Object, 9, 0);
    check(b"HIST", &[0, 0, 0], Part::BinSize, 0, 0);
    check(b"HIST", &[1, 0, 4], Part::Thread, 0, 0);
    check(b"ARCS", &[2], Part::Thread, 1, 0);
    check(b"ARCS", &[0, 0, 2, 7, 2, 1], Part::Object, 7, 1);
    check(b"HISC", &[0, 9, 4], Part::Object, 9, 0);
    check(b"CALL", &[0, 1, 9, 2, 0], Part::Object, 9, 2);
    check(b"CALL", &[1, b'a', 2, 0, 8, 0, 0, 0], Part::CountedFunction, 4, 5);
    check(b"CALL", &[1, b'a', 2, 0, 8, 0, 1, 0], Part::CountedFunction, 3, 5);
    check(b"ESTM", &[&[0xc1, 0x84, 0x3d][..], &[1, 1, 1]].concat(), Part::Share, 1_000_001, 0);
    check(b"ESTM", &[1, 9, 9, 9, 0, 9, 2, 1, 1, 0, 0], Part::Object, 9, 4);
    check(b"ESTM", &[1, 9, 9, 9, 1, 4, 0, 2, 1, 1, 0, 0], Part::EstimatedFunction, 1, 4);
    check(b"ESTM", &[1, 9, 9, 9, 0, 0, 2, 0, 1, 0, 0], Part::SeenWindows, 0, 4);
    check(b"ESTM", &[1, 9, 9, 9, 0, 0, 2, 10, 1, 0, 0], Part::SeenWindows, 10, 4);
    let first = [1, 9, 9, 9, 0, 0, 8, 1, 1, 0, 1];
    for (second, field, value) in [
        (&[0, 0, 0, 1, 1, 0, 0][..], Part::EstimatedFunction, 4),
        (&[0, 0, 1, 1, 1, 0, 0], Part::EstimatedFunction, 3),
        (&[1, 4, 0, 2, 1, 1, 0, 0], Part::EstimatedFunction, 5),
        (&[8, 4, 0, 0, 1, 1, 0, 0], Part::Object, 7),
        (&[&[0, 0, 2, 1][..], &WIDE, &[0, 0]].concat(), Part::Count, u64::MAX),
        (&[&[0, 0, 2, 1, 1][..], &WIDE, &WIDE].concat(), Part::Count, 1),
    ] {
        check(b"ESTM", &[&first[..], second].concat(), field, value, 11);
    }
    let twice = [&first[..], &[1, 4, 0, 0, 1, 1, 0, 0], &[1, 0, 0, 0, 1, 1, 0, 0]].concat();
    check(b"ESTM", &twice, Part::EstimatedFunction, 4, 19);
    check(b"CTXT", &[1, 0, 0], Part::Parent, 1, 0);
    check(b"CTXT", &[0, 15, 0, 0], Part::Object, 7, 0);
    check(b"CTXT", &[0, 2, 1, 2, 2, 1], Part::Parent, 2, 3);
    let number = |value: u32| {
        let code = value << 1 | 1;
        [code as u8 | 0x80, (code >> 7) as u8 | 0x80, (code >> 14) as u8]
    };
    check(b"CTXT", &[&[0][..], &number(THREAD), &[0, 0]].concat(), Part::Thread, 0, 0);
    check(b"CTXT", &[&[0][..], &number(CUT), &WIDE, &[0]].concat(), Part::Code, u64::MAX, 0);
    check(b"CUTS", &[&[1][..], &WIDE, &[1, 1]].concat(), Part::Count, 1, 11);
    check(b"HIST", &[&[0, 0, 2][..], &WIDE, &[0]].concat(), Part::Bin, u64::MAX, 3);
    check(b"CALL", &[&[0, 0, 2, 1, 1][..], &WIDE, &[0]].concat(), Part::Interval, u64::MAX, 5);
    check(b"CALL", &[&[0, 0, 1, 1][..], &WIDE].concat(), Part::Interval, u64::MAX, 3);
    check(b"NODE", &[0; 12], Part::NodesSize, 4, 8);
    check(b"NODE", &[1; 8], Part::FirstNode, u64::from_le_bytes([1; 8]), 8);
}

#[test]
fn a_number_has_at_most_64_bits() {
    let (error, offset) = refused(b"CUTS", &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0]);
    assert_eq!(error, Error::WideNumber { offset });
    let (error, offset) = refused(b"CUTS", &[0x80; 11]);
    assert_eq!(error, Error::WideNumber { offset });
    let (error, offset) = refused(b"CUTS", &[1, 0x80, 0x80]);
    let expected = Error::Truncated { part: Part::Cuts, needed: 3, left: 2, offset: offset + 1 };
    assert_eq!(error, expected);
    // Useless bytes are possible: a writer may replace the number in place.
    let padded = with(&small(), &[(*b"CUTS", 0, &[1, 0x85, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0])]);
    let unwalked: Vec<_> = SideFile::parse(&padded).unwrap().unwalked().collect();
    assert_eq!(unwalked, [(CutReason::NO_STACK, 5)]);
}

#[test]
fn a_string_is_inside_its_part() {
    let (error, offset) = refused(b"HEAD", &[9, b'a', b'=', b'b']);
    assert_eq!(error, Error::Truncated { part: Part::Properties, needed: 9, left: 3, offset: offset + 1 });
}

#[test]
fn an_address_fits_the_words_of_the_file() {
    let mut side = SideFile::new(Word::W32);
    let place = |address| Place { object: ELSEWHERE, address };
    let wide = Error::Impossible { part: Part::Address, value: 1 << 32 };
    assert_eq!(side.add_context(None, place(1 << 32), 1), Err(wide.clone()));
    assert_eq!(side.add_context(None, place((1 << 32) - 1), 1), Ok(0));
    assert_eq!(side.add_samples(None, ELSEWHERE, 4, 1 << 30, 1), Err(wide));
    assert_eq!(SideFile::parse(&side.write()), Ok(side));
}

#[test]
fn lists_go_on_in_further_parts() {
    let mut side = small();
    let (mut bytes, mut buffer) = (side.write(), [0; LARGEST_CONTEXT]);
    bytes.truncate(bytes.len() - 24);
    for index in 0..1000_u64 {
        let mut piece = Piece::new(&mut buffer);
        let base = (index > 0).then(|| code(0x1000 + index / 2));
        let parent = index.checked_sub(index / 2 + 1).map(|parent| parent as usize);
        let distance = parent.map_or(0, |parent| index as usize - parent) as u32;
        let base = parent.and(base).map(|_| side.contexts().nodes()[parent.unwrap()].place());
        context(&mut piece, distance, base, code(0x1000 + index), index);
        part(&mut Bytes(&mut bytes), CONTEXTS, 0, piece.content().len() as u64);
        bytes.extend(piece.content());
        padding(&mut Bytes(&mut bytes), piece.content().len() as u64);
        side.add_context(parent, code(0x1000 + index), index).unwrap();
    }
    let sum = Checksum::of(&bytes).sum;
    push(&mut bytes, END, 0, &sum.to_le_bytes());
    assert_eq!(SideFile::parse(&bytes).unwrap(), side);
}

/// A little-endian sink.
struct Bytes<'a>(&'a mut Vec<u8>);

impl gmon::encode::Sink for Bytes<'_> {
    type Error = ();

    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
    }

    fn u32(&mut self, value: u32) {
        self.0.extend(value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.0.extend(value.to_le_bytes());
    }

    fn word(&mut self, value: u64) -> Result<(), ()> {
        self.0.extend(value.to_le_bytes());
        Ok(())
    }
}

#[test]
fn a_chain_and_its_ticks() {
    let mut side = small();
    let cut = side.add_context(None, CutReason::BAD_FRAME.place(), 0).unwrap();
    let main = side.add_context(None, code(0x1010), 1).unwrap();
    let inner = side.add_context(Some(main), code(0x1020), 2).unwrap();
    side.add_context(Some(cut), code(0x1020), 4).unwrap();
    side.add_cut(CutReason::NO_MEMORY, 8).unwrap();
    let tree = side.contexts();
    assert_eq!((tree.total(), tree.inclusive()), (7, vec![4, 3, 2, 4]));
    let chain: Vec<_> = tree.callers(inner).map(Node::place).collect();
    assert_eq!(chain, [code(0x1020), code(0x1010)]);
    let cuts: Vec<_> = side.cut_ticks().collect();
    assert_eq!(cuts, [(CutReason::NO_MEMORY, 8), (CutReason::BAD_FRAME, 4)]);
    assert_eq!(side.object(PROGRAM).map(|program| program.path.as_slice()), Some(&b"/bin/program"[..]));
}
