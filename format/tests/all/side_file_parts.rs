//! Tests of what a side file says about itself, and of its parts.

use crate::side::{code, small};
use gmon::encode::Sink;
use gmon::encode::side_file::{LARGEST_CONTEXT, Piece, context};
use gmon::layout::side_file::{
    CALLS, CONTEXTS, COUNTED_SAMPLES, CUTS, END, MAPPINGS, OBJECTS, PROPERTIES, RAW_MAPPINGS, RAW_NODES, RAW_SUMS,
    RAW_THREADS, REQUIRED, SAMPLES, SELECTIONS, THREADS, Tag,
};
use gmon::side_file::{
    Accumulator, Call, Calls, Checksum, CutReason, ELSEWHERE, KERNEL, Kind, Mapping, Object, PROGRAM, Place, SideFile,
    THREAD, Thread,
};
use gmon::{Error, Part};

/// The size of a header, and of the header of a part.
const HEADER: usize = 32;
const PART_HEADER: usize = 16;

fn part(tag: Tag, flags: u32, length: u64) -> Vec<u8> {
    [&tag[..], &flags.to_le_bytes(), &length.to_le_bytes()].concat()
}

#[test]
fn a_file_says_whether_it_is_live_and_of_which_profile() {
    let mut side = small();
    assert!(!side.is_live());
    side.set_live(true);
    assert!(side.is_live());
    let profile = Checksum::of(b"gmon");
    side.set_profile(Some(profile));
    assert_eq!(side.profile(), Some(profile));
    side.set_profile(None);
    assert_eq!(side.profile(), None);
}

#[test]
fn counts_say_of_which_thread_they_are() {
    let mut side = small();
    side.add_thread(Thread::new(1, b"main"));
    let thread = Some(side.add_thread(Thread::new(2, b"worker")));
    side.add_samples(thread, PROGRAM, 4, 0x400, 3).unwrap();
    side.add_samples(None, PROGRAM, 8, 0x200, 5).unwrap();
    side.add_call(thread, Call { caller: code(0x1000), callee: code(0x1010), count: 7 }).unwrap();
    side.add_call(None, Call { caller: code(0x1000), callee: code(0x1010), count: 9 }).unwrap();
    let mut samples: Vec<_> = side.samples().iter().map(|samples| (samples.thread(), samples.bin_size())).collect();
    samples.sort_unstable();
    assert_eq!(samples, [(None, 8), (thread, 4)]);
    let mut calls: Vec<_> = side.calls().iter().map(Calls::thread).collect();
    calls.sort_unstable();
    assert_eq!(calls, [None, thread]);
}

#[test]
fn a_mapping_may_be_empty_but_does_not_end_before_its_start() {
    let mut side = small();
    side.add_mapping(Mapping::new(0x1000..0x1000, 0, PROGRAM)).unwrap();
    side.add_mapping(Mapping::new(0x1000..0x2000, 0, PROGRAM)).unwrap();
    let (start, end) = (0x2000, 0x1000);
    let backwards = side.add_mapping(Mapping::new(start..end, 0, PROGRAM));
    assert_eq!(backwards, Err(Error::Impossible { part: Part::Size, value: end }));
}

#[test]
fn an_error_names_the_part_that_is_cut_short() {
    for (tag, part_of_tag) in [
        (PROPERTIES, Part::Properties),
        (OBJECTS, Part::Objects),
        (THREADS, Part::Threads),
        (RAW_THREADS, Part::Threads),
        (MAPPINGS, Part::Mappings),
        (RAW_MAPPINGS, Part::Mappings),
        (SAMPLES, Part::Samples),
        (COUNTED_SAMPLES, Part::Samples),
        (CALLS, Part::Calls),
        (SELECTIONS, Part::Selections),
        (CUTS, Part::Cuts),
        (RAW_SUMS, Part::Cuts),
        (CONTEXTS, Part::Contexts),
        (RAW_NODES, Part::Contexts),
        (END, Part::End),
        (*b"????", Part::Other),
    ] {
        let file = [&small().write()[..HEADER], &part(tag, 0, 8), &[0; 3]].concat();
        let offset = (HEADER + PART_HEADER) as u64;
        let expected = Error::Truncated { part: part_of_tag, needed: 8, left: 3, offset };
        assert_eq!(SideFile::parse(&file), Err(expected), "{}", tag.escape_ascii());
    }
}

#[test]
fn a_tag_of_nuls_ends_a_live_file_only() {
    let unknown = part(*b"????", REQUIRED, 0);
    let file = |is_live| {
        let mut side = small();
        side.set_live(is_live);
        [&side.write()[..HEADER], &part([0; 4], 0, 0), &unknown].concat()
    };
    let offset = (HEADER + PART_HEADER) as u64;
    assert_eq!(SideFile::parse(&file(false)), Err(Error::UnknownPart { tag: *b"????", offset }));
    assert!(SideFile::parse(&file(true)).is_ok());
}

#[test]
fn a_place_near_its_parent_takes_few_bytes() {
    let mut buffer = [0; LARGEST_CONTEXT];
    let mut piece = Piece::new(&mut buffer);
    context(&mut piece, 1, Some(code(0x1000)), code(0x1002), 5);
    assert_eq!(piece.content(), [1, 4 << 1, 5]);
}

/// A sink with the methods that the trait provides.
struct Native(Vec<u8>);

impl Sink for Native {
    type Error = core::convert::Infallible;

    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
    }
}

#[test]
fn a_sink_writes_numbers_as_this_machine_stores_them() {
    let mut sink = Native(Vec::new());
    sink.u32(1);
    sink.u64(2);
    sink.word(3).unwrap();
    assert_eq!(sink.0, [&1_u32.to_ne_bytes()[..], &2_u64.to_ne_bytes(), &3_usize.to_ne_bytes()].concat());
}

/// A live file with this part at its end. Such a file needs no end marker.
fn live_with(mut side: SideFile, tag: Tag, content: &[u8]) -> Vec<u8> {
    side.set_live(true);
    let mut bytes = side.write();
    bytes.truncate(bytes.len() - 24);
    bytes.extend(part(tag, 0, content.len() as u64));
    bytes.extend(content);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes
}

#[test]
fn raw_entries_without_content_are_skipped() {
    let used = [0x1000_u64, 0x2000, 0x10, PROGRAM.into()].map(u64::to_le_bytes).concat();
    let side = SideFile::parse(&live_with(small(), RAW_MAPPINGS, &[&[0; 32], &used[..]].concat())).unwrap();
    assert_eq!(side.mappings(), [Mapping::new(0x1000..0x2000, 0x10, PROGRAM)]);

    let entry = |number: u32, is_used: u32| [&number.to_le_bytes()[..], &is_used.to_le_bytes(), &[0; 16]].concat();
    let threads = [entry(0, 0), entry(7, 1), entry(0, 1)].concat();
    let side = SideFile::parse(&live_with(small(), RAW_THREADS, &threads)).unwrap();
    let names: Vec<_> = side.threads().iter().map(|thread| (thread.number, thread.name.as_slice())).collect();
    assert_eq!(names, [(7, &b""[..]), (0, b"(all other threads)")]);
}

/// The error of a file whose tree has two nodes at these places, the second one below the first one.
fn error_of_nodes(side: SideFile, parent: Place, child: Place) -> Error {
    let mut content = Vec::new();
    for (distance, base, place) in [(0, None, parent), (1, Some(parent), child)] {
        let mut buffer = [0; LARGEST_CONTEXT];
        let mut piece = Piece::new(&mut buffer);
        context(&mut piece, distance, base, place, 0);
        content.extend(piece.content());
    }
    SideFile::parse(&live_with(side, CONTEXTS, &content)).unwrap_err()
}

#[test]
fn the_place_of_each_node_is_checked() {
    let error = error_of_nodes(small(), code(0x1000), Place { object: 7, address: 0 });
    assert!(matches!(error, Error::BadValue { part: Part::Object, value: 7, .. }), "{error}");
    let mut side = small();
    side.add_thread(Thread::new(1, b"main"));
    let thread = |address| Place { object: THREAD, address };
    let error = error_of_nodes(side, thread(0), thread(1));
    assert!(matches!(error, Error::BadValue { part: Part::Thread, value: 1, .. }), "{error}");
    // A distance of 0, the number 2^33 with the mark of an object, and an address.
    let wide = [0, 0x81, 0x80, 0x80, 0x80, 0x80, 0x01, 0, 0];
    let error = SideFile::parse(&live_with(small(), CONTEXTS, &wide)).unwrap_err();
    let expected = 1 << 34;
    assert!(matches!(error, Error::BadValue { part: Part::Object, value, .. } if value == expected), "{error}");
}

#[test]
fn a_cut_without_ticks_is_no_loss() {
    let mut side = small();
    side.add_context(None, CutReason::BAD_FRAME.place(), 0).unwrap();
    assert_eq!(side.cut_ticks().count(), 0);
}

#[test]
fn sums_of_files_forget_addresses_outside_of_objects() {
    let mut side = small();
    for (object, ticks) in [(KERNEL, 3), (ELSEWHERE, 4)] {
        side.add_context(None, Place { object, address: 0x10 }, ticks).unwrap();
    }
    let mut sum = Accumulator::new();
    sum.add(&side).unwrap();
    let sum = sum.finish();
    let mut places: Vec<_> =
        sum.contexts().nodes().iter().map(|node| (node.place().object, node.place().address)).collect();
    places.sort_unstable();
    let mut expected = [(KERNEL, 0), (ELSEWHERE, 0)];
    expected.sort_unstable();
    assert_eq!(places, expected);
}

#[test]
fn an_object_that_one_run_closed_is_closed_in_the_sum() {
    let file = |is_closed| {
        let mut side = small();
        let mut object = Object::new(Kind::Shared, b"/lib/plugin.so");
        object.is_closed = is_closed;
        side.add_object(1, object).unwrap();
        side
    };
    for (first, second) in [(false, true), (true, false)] {
        let mut sum = Accumulator::new();
        sum.add(&file(first)).unwrap();
        sum.add(&file(second)).unwrap();
        let sum = sum.finish();
        let objects: Vec<_> = sum.objects().map(|(_, object)| (object.path.as_slice(), object.is_closed)).collect();
        assert_eq!(objects, [(&b"/bin/program"[..], false), (b"/lib/plugin.so", true)]);
    }
}
