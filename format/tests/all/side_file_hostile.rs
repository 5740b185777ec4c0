//! Tests of damaged and hostile side files: nothing panics, and memory stays below a small multiple of the file's size.

use crate::counting::peak;
use crate::side::{side_file, small};
use gmon::layout::side_file::{END, LIVE, RAW_NODE_SIZE};
use gmon::side_file::{Accumulator, Checksum, SideFile};
use proptest::prelude::*;

/// The maximum number of allocated bytes for each byte of the file: a bin of two bytes becomes 16, an object of 7
/// becomes about 100 and an entry of a map, and a growing vector temporarily has three times the size.
const MULTIPLE: usize = 32;
/// The same for a sum, which has several maps.
const SUM_MULTIPLE: usize = 80;
/// Allocated bytes that do not count.
const FREE: usize = 4096;

/// Reads a file, and checks the memory that this takes. What can be read can be used, written, read again, and added
/// up.
fn read(file: &[u8]) {
    let mut side = None;
    let used = peak(|| side = SideFile::parse(file).ok());
    assert!(used <= MULTIPLE * file.len() + FREE, "{used} bytes for {}", file.len());
    let Some(side) = side else { return };
    let again = SideFile::parse(&side.write()).unwrap();
    assert_eq!(again, side);
    assert_eq!(side.contexts().inclusive().len(), side.contexts().nodes().len());
    let _ = (side.outside(), side.cut_ticks().count(), side.is_of(file), side.rate(), side.runs());
    let used = peak(|| {
        let mut sum = Accumulator::new();
        sum.add(&side).map(|()| sum.finish())
    });
    assert!(used <= SUM_MULTIPLE * file.len() + FREE, "{used} bytes for the sum of {}", file.len());
}

/// Gives a file a correct end, so that the reader looks at everything.
fn finish(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    let sum = Checksum::of(&bytes).sum;
    bytes.extend(END);
    bytes.extend([0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend(sum.to_le_bytes());
    bytes
}

/// A file with some bytes changed, removed or added, and a correct end.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let value = prop_oneof![any::<u8>(), Just(0), Just(0xff), Just(0x7f), Just(1)];
    let changes = prop::collection::vec((any::<prop::sample::Index>(), value), 0..6);
    let tail = prop_oneof![3 => Just(vec![]), 1 => prop::collection::vec(any::<u8>(), 0..30)];
    (side_file(), changes, any::<prop::sample::Index>(), any::<bool>(), tail).prop_map(
        |(mut side, changes, length, cut, tail)| {
            side.set_order(gmon::Order::Little);
            let mut file = side.write();
            file.truncate(file.len() - 24);
            for (at, value) in changes {
                *at.get_mut(&mut file) = value;
            }
            if cut {
                file.truncate(length.index(file.len()));
            }
            file.extend(tail);
            finish(file)
        },
    )
}

/// Parts with the tags of known parts, whose content is mostly small numbers.
fn random() -> impl Strategy<Value = Vec<u8>> {
    let tags = [
        "HEAD", "OBJS", "THRD", "MAPS", "HIST", "ARCS", "CALL", "HISC", "ESTM", "CTXT", "CUTS", "NODE", "SUMS", "AREA",
        "TIDS", "END ", "WHAT",
    ];
    let tag = prop::sample::select(tags.to_vec());
    let byte = prop_oneof![6 => 0..4_u8, 1 => any::<u8>()];
    let part = (tag, prop::collection::vec(byte, 0..60));
    (prop::collection::vec(part, 0..8), any::<bool>()).prop_map(|(parts, is_live)| {
        let mut file = small().write();
        file.truncate(file.len() - 24);
        file[12] = if is_live { LIVE as u8 } else { 0 };
        for (tag, mut content) in parts {
            if tag == "NODE" {
                content.resize(8 + content.len() / RAW_NODE_SIZE * RAW_NODE_SIZE, 0);
                content[..8].fill(0);
            }
            file.extend(tag.as_bytes());
            file.extend([0; 4]);
            file.extend((content.len() as u64).to_le_bytes());
            file.extend(content);
            file.resize(file.len().next_multiple_of(8), 0);
        }
        finish(file)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_files_do_no_harm(file in mutated()) {
        read(&file);
    }

    #[test]
    fn random_parts_do_no_harm(file in random()) {
        read(&file);
    }

    #[test]
    fn random_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read(&bytes);
        read(&[b"\x89gmon\r\n\x1a\x01\x00\x08\x01", &bytes[..]].concat());
    }
}

/// A file with one large part.
fn one_part(tag: &str, content: &[u8]) -> Vec<u8> {
    let mut file = small().write();
    file.truncate(file.len() - 24);
    file.extend(tag.as_bytes());
    file.extend([0; 4]);
    file.extend((content.len() as u64).to_le_bytes());
    file.extend(content);
    finish(file)
}

#[test]
fn the_smallest_items_take_linear_memory() {
    let number = |value: usize| [value as u8 & 0x7f | 0x80, (value >> 7) as u8 & 0x7f | 0x80, (value >> 14) as u8];
    let objects: Vec<u8> = (1..30_000).flat_map(|at| [&number(at)[..], &[0; 6]].concat()).collect();
    let calls: Vec<u8> = [0].into_iter().chain([0, 2, 0, 2, 1].repeat(20_000)).collect();
    let raw: Vec<u8> = [vec![0; 8], [[1; 8], [0; 8], [0; 8]].concat().repeat(5000)].concat();
    let behind = [vec![0; 8 + 24], vec![1; 24]].concat();
    // Mappings inside of another one, which they split.
    let inside: Vec<u8> = (1..20_000).flat_map(|at| [&number(20 * at)[..], &[1, 0, 0]].concat()).collect();
    let split = [&[0, 0xff, 0xff, 0xff, 0x7f, 0, 0][..], &inside].concat();
    let areas = (1..5000_u64).flat_map(|at| [16 * at, 16 * at + 1, 0, 0]).flat_map(u64::to_le_bytes);
    let areas: Vec<u8> = [0, u64::MAX, 0, 0].into_iter().flat_map(u64::to_le_bytes).chain(areas).collect();
    for (tag, content) in [
        ("HEAD", [2, b'a', b'='].repeat(30_000)),
        ("OBJS", objects),
        ("THRD", vec![0; 100_000]),
        ("MAPS", [1, 1, 0, 0].repeat(20_000)),
        ("HIST", [&[0, 0, 1][..], &[0; 100_000]].concat()),
        ("HISC", [&[0, 0, 1][..], &[0; 100_000]].concat()),
        ("ARCS", calls),
        ("CALL", vec![0; 99_999]),
        ("CALL", (0..20_000).flat_map(|at| [&[3][..], &number(at), &[0, 1, 1, 1]].concat()).collect()),
        ("CALL", [&[1, b'a'][..], &number(40_000), &[0, 2].repeat(40_000), &[0]].concat()),
        ("CALL", [&[0, 0][..], &number(40_000), &[1].repeat(80_000)].concat()),
        ("ESTM", [&[0, 3, 9, 9][..], &[0, 0, 2, 1, 1, 0, 0].repeat(20_000)].concat()),
        ("ESTM", [&[0, 3, 9, 9, 0, 0, 2, 1, 1, 0, 0][..], &[1, 2, 0, 0, 1, 1, 0, 0].repeat(20_000)].concat()),
        ("CTXT", vec![0; 99_999]),
        ("CTXT", [&[0, 0, 0][..], &[1, 0, 0].repeat(30_000)].concat()),
        ("CUTS", vec![1; 100_000]),
        ("NODE", raw),
        ("MAPS", split),
        ("AREA", areas),
        ("TIDS", vec![1; 24 * 5000]),
        ("SUMS", [1, 0, 0, 0, 0, 0, 0, 0].repeat(12_500)),
    ] {
        let file = one_part(tag, &content);
        assert!(SideFile::parse(&file).is_ok(), "{tag}: {}", SideFile::parse(&file).unwrap_err());
        read(&file);
    }
    assert!(SideFile::parse(&one_part("NODE", &behind)).is_err(), "a parent behind its child");
}

#[test]
fn many_small_parts_take_linear_memory() {
    for (tag, content) in [
        ("HIST", &[0, 0, 1, 0, 1][..]),
        ("ARCS", &[0, 0, 2, 0, 2, 1]),
        ("HISC", &[0, 0, 1, 0, 1]),
        ("CALL", &[0; 6]),
        ("CTXT", &[0, 2, 1]),
    ] {
        let part = [tag.as_bytes(), &[0; 4], &[content.len() as u8, 0, 0, 0, 0, 0, 0, 0], content].concat();
        let part = [&part[..], &[0; 8][content.len()..]].concat();
        let mut file = small().write();
        file.truncate(file.len() - 24);
        file.extend(part.repeat(5000));
        let file = finish(file);
        assert!(SideFile::parse(&file).is_ok());
        read(&file);
    }
}

#[test]
fn sizes_that_a_file_only_claims_take_no_memory() {
    let mut file = small().write();
    let used = peak(|| SideFile::parse(&file));
    file.truncate(file.len() - 24);
    file.extend(b"CTXT\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\x7f");
    assert!(SideFile::parse(&file).is_err());
    assert!(peak(|| SideFile::parse(&file)) <= used);
    // A string that claims to be longer than its part.
    let file = one_part("OBJS", &[5, 0, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0x0f]);
    assert!(SideFile::parse(&file).is_err());
    assert!(peak(|| SideFile::parse(&file)) <= used + 200);
}
