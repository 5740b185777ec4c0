//! Tests of side files of programs that still run or were killed.
#![allow(clippy::unwrap_used)] // A test fails loudly.

mod side;

use gmon::layout::side_file::{LIVE, RawNode, SETTLED};
use gmon::side_file::{Checksum, CutReason, ELSEWHERE, Kind, Mapping, Node, Object, Place, SideFile, THREAD};
use gmon::{Error, Field, Order, SideFileError};
use side::{code, small};

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
    assert_eq!(side.cut_ticks().into_iter().collect::<Vec<_>>(), [(CutReason::UNFINISHED, 12)]);
}

#[test]
fn what_is_not_described_yet_is_elsewhere() {
    let mut bytes = start(Order::Little);
    let settled = |number: u64, address| SETTLED | number << 48 | address;
    let nodes = [UNUSED, node(settled(9, 0x50), 0, 1), node(settled(THREAD.into(), 3), 0, 2)];
    push(&mut bytes, 0, &nodes, Order::Little);
    let side = SideFile::parse(&bytes).unwrap();
    let places: Vec<_> = side.contexts().nodes().iter().map(Node::place).collect();
    assert_eq!(places, [0x50, 3].map(|address| Place { object: ELSEWHERE, address }));
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
    assert_eq!(SideFile::parse(&cut), Err(SideFileError::NoEnd { offset }.into()));
}

#[test]
fn a_parent_is_before_its_child_and_pieces_are_in_a_row() {
    let bad = |field, value, at: u64| {
        let offset = start(Order::Little).len() as u64 + at;
        Err(Error::SideFile(SideFileError::BadValue { field, value, offset }))
    };
    let mut bytes = start(Order::Little);
    push(&mut bytes, 0, &[UNUSED, node(0x40_0010, 1, 1)], Order::Little);
    assert_eq!(SideFile::parse(&bytes), bad(Field::Parent, 1, 24 + 24));
    let mut bytes = start(Order::Little);
    push(&mut bytes, 0, &[UNUSED], Order::Little);
    push(&mut bytes, 2, &[UNUSED], Order::Little);
    assert_eq!(SideFile::parse(&bytes), bad(Field::FirstNode, 2, 48 + 24));
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
