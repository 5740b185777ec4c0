//! Tests of side files of programs that still run or were killed.

use crate::side::{code, small};
use gmon::layout::side_file::{LIVE, MARKED, RawNode, SETTLED};
use gmon::side_file::{Checksum, CutReason, ELSEWHERE, KERNEL, Kind, Mapping, Node, Object, Place, SideFile, THREAD};
use gmon::{Error, Order, Part};
use proptest::prelude::*;
use proptest::sample::Index;

/// The start of a live file: a program at 0x40_0000 and a shared object at 0x7f00_0000.
fn start(order: Order) -> Vec<u8> {
    let mut side = small();
    side.set_order(order);
    side.set_live(true);
    side.set_profile(Some(Checksum::of(b"header")));
    side.add_object(1, Object::new(Kind::Shared, b"/lib/libm.so.6")).unwrap();
    side.add_mapping(Mapping::new(0x40_0000..0x50_0000, 0x3f_f000, 0)).unwrap();
    side.add_mapping(Mapping::new(0x7f00_0000..0x7f10_0000, 0x7f00_0000, 1)).unwrap();
    let mut bytes = side.write();
    bytes.truncate(bytes.len() - 24);
    bytes
}

fn number<const N: usize>(little: [u8; N], order: Order) -> [u8; N] {
    let mut bytes = little;
    if order == Order::Big {
        bytes.reverse();
    }
    bytes
}

/// Adds a part of raw nodes.
fn push(bytes: &mut Vec<u8>, first: u64, nodes: &[RawNode], order: Order) {
    bytes.extend(b"NODE\0\0\0\0");
    bytes.extend(number((8 + 24 * nodes.len() as u64).to_le_bytes(), order));
    bytes.extend(number(first.to_le_bytes(), order));
    for node in nodes {
        bytes.extend(number(node.address.to_le_bytes(), order));
        bytes.extend(number(node.parent.to_le_bytes(), order));
        bytes.extend(number(node.next.to_le_bytes(), order));
        bytes.extend(number(node.ticks.to_le_bytes(), order));
    }
}

fn node(address: u64, parent: u32, ticks: u64) -> RawNode {
    RawNode { address, parent, next: 77, ticks }
}

const UNUSED: RawNode = RawNode { address: 0, parent: 0, next: 0, ticks: 0 };

#[test]
fn raw_nodes_become_places() {
    for order in [Order::Little, Order::Big] {
        let mut bytes = start(order);
        // Pieces may be in any order. A settled address is a place already.
        push(&mut bytes, 3, &[node(SETTLED | 1 << 48 | 0x123, 1, 4), UNUSED, node(0x1_0000, 3, 5)], order);
        push(&mut bytes, 0, &[UNUSED, node(0x40_0010, 0, 1), node(0x7f00_0020, 1, 2)], order);
        let length = bytes.len();
        for room in [0, 5, 8, 100, 4096] {
            bytes.resize(length + room, 0);
            let side = SideFile::parse(&bytes).unwrap();
            assert!(side.is_live());
            let nodes: Vec<_> =
                side.contexts().nodes().iter().map(|node| (node.parent(), node.place(), node.ticks())).collect();
            let other = |address| Place { object: 1, address };
            let elsewhere = Place { object: ELSEWHERE, address: 0x1_0000 };
            let (main, sine) = ((None, code(0x1010), 1), (Some(0), other(0x20), 2));
            assert_eq!(nodes, [main, sine, (Some(0), other(0x123), 4), (Some(2), elsewhere, 5)], "{order} {room}");
        }
    }
}

#[test]
fn a_chain_whose_outer_part_is_not_there_yet_is_cut() {
    let mut bytes = start(Order::Little);
    let nodes = [UNUSED, UNUSED, node(0x40_0010, 1, 3), node(0x40_0020, 1, 4), node(0x40_0030, 2, 5)];
    push(&mut bytes, 0, &nodes, Order::Little);
    let side = SideFile::parse(&bytes).unwrap();
    assert_eq!(side.contexts().inclusive(), [12, 8, 4, 5]);
    assert_eq!(side.cut_ticks().collect::<Vec<_>>(), [(CutReason::UNFINISHED, 12)]);
}

#[test]
fn what_is_not_described_yet_is_elsewhere() {
    let mut bytes = start(Order::Little);
    let settled = |number: u64, address| SETTLED | number << 48 | address;
    let nodes = [UNUSED, node(settled(9, 0x50), 0, 1), node(settled(THREAD.into(), 3), 0, 2)];
    push(&mut bytes, 0, &nodes, Order::Little);
    let side = SideFile::parse(&bytes).unwrap();
    let places: Vec<_> = side.contexts().nodes().iter().map(Node::place).collect();
    assert_eq!(places, [Place { object: ELSEWHERE, address: 0 }; 2], "an address in an unknown object says nothing");
}

#[test]
fn a_file_that_is_being_written_has_its_whole_parts() {
    let whole = start(Order::Little);
    let mut bytes = whole.clone();
    push(&mut bytes, 0, &[UNUSED, node(0x40_0010, 0, 1)], Order::Little);
    for length in whole.len()..bytes.len() {
        let side = SideFile::parse(&bytes[..length]).unwrap();
        assert_eq!((side.objects().count(), side.contexts().total()), (2, 0));
    }
    // Without the flag, it is a file that was cut.
    let mut cut = whole;
    cut[12] &= !(LIVE as u8);
    let offset = cut.len() as u64;
    assert_eq!(SideFile::parse(&cut), Err(Error::NoEnd { offset }));
}

#[test]
fn a_parent_is_before_its_child_and_pieces_are_in_a_row() {
    let bad = |field, value, at: u64| {
        let offset = start(Order::Little).len() as u64 + at;
        Err(Error::BadValue { part: field, value, offset })
    };
    let mut bytes = start(Order::Little);
    push(&mut bytes, 0, &[UNUSED, node(0x40_0010, 1, 1)], Order::Little);
    assert_eq!(SideFile::parse(&bytes), bad(Part::Parent, 1, 24 + 24));
    let mut bytes = start(Order::Little);
    push(&mut bytes, 0, &[UNUSED], Order::Little);
    push(&mut bytes, 2, &[UNUSED], Order::Little);
    assert_eq!(SideFile::parse(&bytes), bad(Part::FirstNode, 2, 48 + 24));
}

/// Adds a part of numbers of 64 bits.
fn push_numbers(bytes: &mut Vec<u8>, tag: &str, numbers: &[u64], order: Order) {
    bytes.extend(tag.as_bytes());
    bytes.extend([0; 4]);
    bytes.extend(number((8 * numbers.len() as u64).to_le_bytes(), order));
    numbers.iter().for_each(|value| bytes.extend(number(value.to_le_bytes(), order)));
}

#[test]
fn ticks_of_the_kernel_are_samples_of_the_kernel() {
    let mut bytes = start(Order::Little);
    let kernel = SETTLED | u64::from(KERNEL) << 48;
    push(&mut bytes, 0, &[UNUSED, node(0x40_0010, 0, 1), node(kernel, 1, 5)], Order::Little);
    push_numbers(&mut bytes, "SUMS", &[0x40_0000, 0x4e_0000, 3, 0, 0, 0, 0, 0], Order::Little);
    let outside = SideFile::parse(&bytes).unwrap().outside();
    assert_eq!((outside.kernel, outside.elsewhere), (5, 3));
}

#[test]
fn samples_outside_the_profile_are_those_of_nodes_and_a_sum() {
    for order in [Order::Little, Order::Big] {
        let mut bytes = start(order);
        let settled = SETTLED | 1 << 48 | 0x26;
        let nodes = [
            UNUSED,
            node(0x40_0010, 0, 1),
            node(0x7f00_0020, 1, 2),
            node(0x7f00_0022, 1, 4),
            node(settled, 1, 8),
            node(MARKED | 0x7f00_0100, 1, 16),
            node(0x1_0000, 1, 32),
            node(0x4f_0000, 1, 64),
            node(0x60_0004, 1, 128),
        ];
        push(&mut bytes, 0, &nodes, order);
        // The bins are a part of the program's mapping.
        push_numbers(&mut bytes, "SUMS", &[0x40_0000, 0x4e_0000, 3, 0, 5, 0, 0, 9], order);
        push_numbers(&mut bytes, "AREA", &[0, 0, 0, 0, 0x60_0000, 0x61_0000, 0x5f_0000, 2, 0x40_0000, 0, 7, 7], order);
        let whole = bytes.len();
        bytes.extend(b"OBJS\0\0\0\0");
        bytes.extend(number(8_u64.to_le_bytes(), order));
        bytes.extend([2, 0, 0, 0, 0x10, 0, 1, b'x']);
        let side = SideFile::parse(&bytes).unwrap();
        let found: Vec<_> =
            side.samples().iter().map(|part| (part.object(), part.bins().collect::<Vec<_>>())).collect();
        let bins = vec![(0x20..0x24, 6), (0x24..0x28, 8), (0x100..0x104, 16)];
        let elsewhere = vec![(0..4, 3 + 64), (0x1_0000..0x1_0004, 32)];
        assert_eq!(found, [(1, bins), (2, vec![(0x1_0004..0x1_0008, 128)]), (ELSEWHERE, elsewhere)]);
        let cuts: Vec<_> = side.unwalked().map(|(reason, ticks)| (reason.code(), ticks)).collect();
        assert_eq!(cuts, [(1, 5), (4, 9)]);
        // The mapping is there before the object.
        let side = SideFile::parse(&bytes[..whole]).unwrap();
        assert_eq!(side.outside().elsewhere, 3 + 32 + 64 + 128);
    }
}

#[test]
fn samples_beyond_64_bits_are_refused_at_the_sums() {
    let mut bytes = start(Order::Little);
    push(&mut bytes, 0, &[UNUSED, node(0x7f00_0020, 0, u64::MAX)], Order::Little);
    let offset = bytes.len() as u64 + 16;
    push_numbers(&mut bytes, "SUMS", &[0x40_0000, 0x4e_0000, 3], Order::Little);
    let error = Error::BadValue { part: Part::Count, value: 3, offset };
    assert_eq!(SideFile::parse(&bytes), Err(error));
}

#[test]
fn threads_have_the_ticks_of_their_nodes() {
    for order in [Order::Little, Order::Big] {
        let mut bytes = start(order);
        let thread = |index: u64| SETTLED | u64::from(THREAD) << 48 | index;
        let nodes =
            [UNUSED, node(thread(1), 0, 0), node(0x40_0010, 1, 5), node(thread(3), 0, 0), node(0x40_0010, 3, 7)];
        push(&mut bytes, 0, &nodes, order);
        let name = |text: [u8; 8]| match order {
            Order::Little => u64::from_le_bytes(text),
            Order::Big => u64::from_be_bytes(text),
        };
        let head = |number: u32| match order {
            Order::Little => u64::from(number) | 1 << 32,
            Order::Big => u64::from(number) << 32 | 1,
        };
        let (one, other) = ([head(4711), name(*b"one\0abcd"), 0], [head(0), name(*b"12345678"), name(*b"9012345\0")]);
        push_numbers(&mut bytes, "TIDS", &[[0; 3], one, [0; 3], other].concat(), order);
        let side = SideFile::parse(&bytes).unwrap();
        let threads: Vec<_> = side
            .threads()
            .iter()
            .map(|thread| (thread.number, &thread.name[..], thread.threads, thread.ticks))
            .collect();
        assert_eq!(threads, [(4711, &b"one"[..], 1, 5), (0, b"123456789012345", 0, 7)]);
        let places: Vec<_> = side.contexts().nodes().iter().map(Node::place).collect();
        let thread = |address| Place { object: THREAD, address };
        assert_eq!(places, [thread(0), code(0x1010), thread(1), code(0x1010)]);
    }
}

#[test]
fn ticks_of_a_thread_that_is_not_used_yet_are_no_other_threads() {
    let mut bytes = start(Order::Little);
    let thread = |index: u64| SETTLED | u64::from(THREAD) << 48 | index;
    let nodes = [UNUSED, node(thread(2), 0, 0), node(0x40_0010, 1, 5), node(thread(0), 0, 0), node(0x40_0010, 3, 7)];
    push(&mut bytes, 0, &nodes, Order::Little);
    // In memory, the first thread is not used yet. In the file, the second thread is the first.
    let used = |number: u64| [number | 1 << 32, 0, 0];
    push_numbers(&mut bytes, "TIDS", &[[0; 3], used(21), used(22)].concat(), Order::Little);
    let side = SideFile::parse(&bytes).unwrap();
    let threads: Vec<_> = side.threads().iter().map(|thread| (thread.number, thread.ticks)).collect();
    assert_eq!(threads, [(21, 0), (22, 5)]);
    let unknown = Place { object: ELSEWHERE, address: 0 };
    assert_eq!(side.contexts().nodes().iter().map(Node::place).nth(2), Some(unknown));
}

#[test]
fn a_node_without_an_address_has_no_place_for_its_ticks() {
    let mut bytes = start(Order::Little);
    push(&mut bytes, 0, &[UNUSED, node(0, 0, 3)], Order::Little);
    let side = SideFile::parse(&bytes).unwrap();
    assert_eq!(side.contexts().total(), 0);
    assert_eq!(side.cut_ticks().collect::<Vec<_>>(), [(CutReason::UNFINISHED, 3)]);
}

/// A file of a program that was adding nodes: each node was read at one moment, and later nodes at later moments. Of a
/// node that is being added, the ticks may be there without the address.
fn torn() -> impl Strategy<Value = Vec<RawNode>> {
    let address = prop_oneof![
        1 => Just(0),
        4 => 0x40_0000..0x40_0400_u64,
        2 => 0x7f00_0000..0x7f00_0400_u64,
        1 => any::<u64>().prop_map(|bits| bits | SETTLED),
        1 => any::<u64>().prop_map(|bits| bits & !SETTLED | MARKED),
    ];
    prop::collection::vec((address, any::<u32>(), 0..1_u64 << 40), 0..200).prop_map(|nodes| {
        let nodes = (1..).zip(nodes).map(|(number, (address, parent, ticks))| node(address, parent % number, ticks));
        [UNUSED].into_iter().chain(nodes).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_tick_of_a_torn_file_is_found(nodes in torn(), split in any::<Index>(), length in any::<Index>()) {
        let mut bytes = start(Order::Little);
        push_numbers(&mut bytes, "SUMS", &[0x40_0000, 0x40_0400, 7, 0, 0, 0, 7], Order::Little);
        let (first, second) = nodes.split_at(1 + split.index(nodes.len()));
        push(&mut bytes, 0, first, Order::Little);
        let whole = bytes.len();
        push(&mut bytes, first.len() as u64, second, Order::Little);
        let side = SideFile::parse(&bytes).unwrap();
        let cut: u64 = side.unwalked().map(|(_, ticks)| ticks).sum();
        prop_assert_eq!(side.contexts().total() + cut, nodes.iter().map(|node| node.ticks).sum::<u64>() + 7);
        let is_in_profile = |node: &&RawNode| {
            let address = node.address & !MARKED;
            node.address == 0 || (node.address & SETTLED == 0 && (0x40_0000..0x40_0400).contains(&address))
        };
        let in_profile: u64 = nodes.iter().filter(is_in_profile).map(|node| node.ticks).sum();
        let outside: u64 = side.samples().iter().map(gmon::side_file::Samples::total).sum();
        prop_assert_eq!(side.contexts().total() + cut - outside, in_profile);
        // A part that is not whole is not there yet.
        let cut = whole + length.index(bytes.len() - whole + 1).min(bytes.len() - whole - 1);
        let side = SideFile::parse(&bytes[..cut]).unwrap();
        prop_assert!(side.contexts().total() <= first.iter().map(|node| node.ticks).sum());
    }
}

#[test]
fn a_live_file_belongs_to_the_start_of_its_profile() {
    let side = SideFile::parse(&start(Order::Little)).unwrap();
    assert!(side.is_of(b"header") && side.is_of(b"header and samples") && !side.is_of(b"head"));
    let mut ended = side;
    ended.set_live(false);
    assert!(ended.is_of(b"header") && !ended.is_of(b"header and samples"));
    ended.set_profile(None);
    assert!(!ended.is_of(b"header"));
}
