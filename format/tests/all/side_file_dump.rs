//! The examples of docs/side-file.md: what the text says, what testdata has, and what the library writes are the same.

use std::fs;
use std::path::PathBuf;

use gmon::Word;
use gmon::side_file::{
    Call, Checksum, CutReason, EstimatedCalls, Identity, KERNEL, Kind, Mapping, Object, PROGRAM, Place, Selection,
    SideFile, THREAD, Thread, Windows, property,
};

fn path(inside: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").join(inside)
}

/// A run of a program with one thread, in which `main` calls `sin`.
fn example() -> SideFile {
    let mut side = SideFile::new(Word::W64);
    side.set_profile(Some(Checksum { length: 0x1234, sum: 0x0123_4567_89ab_cdef }));
    side.add_property(property::RATE, b"100").unwrap();
    side.add_property(property::CLOCK, b"cpu").unwrap();
    let mut program = Object::new(Kind::Program, b"/bin/sine");
    program.identity = Identity::BuildId(vec![0xbe, 0xef, 0xf0, 0x0d]);
    program.code = 0x1040..0x1240;
    side.add_object(PROGRAM, program).unwrap();
    let mut libm = Object::new(Kind::Shared, b"/lib/libm.so.6");
    libm.identity = Identity::BuildId(vec![0xfe, 0xed, 0xfa, 0xce]);
    libm.code = 0xe000..0x8_e000;
    side.add_object(1, libm).unwrap();
    let mut main = Thread::new(4711, b"sine");
    (main.ticks, main.calls) = (9, 1000);
    side.add_thread(main);
    side.add_mapping(Mapping::new(0x7f00_0000_e000..0x7f00_0008_e000, 0x7f00_0000_0000, 1)).unwrap();
    for (index, ticks) in [(0x4000, 5), (0x4003, 1)] {
        side.add_samples(None, 1, 4, index, ticks).unwrap();
    }
    side.add_samples(None, KERNEL, 1, 0, 2).unwrap();
    let at = |object, address| Place { object, address };
    side.add_call(None, Call { caller: at(PROGRAM, 0x1100), callee: at(1, 0x1_0000), count: 1000 }).unwrap();
    let thread = side.add_context(None, at(THREAD, 0), 0).unwrap();
    let main = side.add_context(Some(thread), at(PROGRAM, 0x1100), 0).unwrap();
    let sine = side.add_context(Some(main), at(1, 0x1_0004), 5).unwrap();
    side.add_context(Some(sine), at(KERNEL, 0), 2).unwrap();
    let cut = side.add_context(Some(thread), CutReason::NO_TABLE.place(), 0).unwrap();
    side.add_context(Some(cut), at(1, 0x1_000c), 1).unwrap();
    side.add_cut(CutReason::NO_STACK, 1).unwrap();
    side
}

/// A run of ten seconds. The calls of two functions were counted for three seconds.
fn example_on_demand() -> SideFile {
    let mut side = SideFile::new(Word::W64);
    side.set_profile(Some(Checksum { length: 0x1234, sum: 0x0123_4567_89ab_cdef }));
    side.add_property(property::ELAPSED, b"10000000000").unwrap();
    let mut program = Object::new(Kind::Program, b"/bin/parser");
    program.code = 0x1040..0x1240;
    side.add_object(PROGRAM, program).unwrap();
    let functions = [0x1100, 0x1180].map(|address| Place { object: PROGRAM, address });
    let intervals = vec![2_000_000_000..4_000_000_000, 7_000_000_000..8_000_000_000];
    side.add_selection(Selection::new(b"parse*", functions.to_vec(), intervals)).unwrap();
    for (index, ticks) in [(0x442, 180), (0x461, 20)] {
        side.add_counted_samples(None, PROGRAM, 4, index, ticks).unwrap();
    }
    side
}

/// A run of 100 seconds of CPU time. The calls of three functions were estimated from 100 windows.
fn example_estimates() -> SideFile {
    let mut side = SideFile::new(Word::W64);
    side.set_profile(Some(Checksum { length: 0x1234, sum: 0x0123_4567_89ab_cdef }));
    let mut program = Object::new(Kind::Program, b"/bin/parser");
    program.code = 0x1040..0x1240;
    side.add_object(PROGRAM, program).unwrap();
    let at = |address| Place { object: PROGRAM, address };
    side.add_selection(Selection::new(b"parse*", [0x1100, 0x1180, 0x11c0].map(at).to_vec(), vec![])).unwrap();
    let windows = Windows { share: 10_000, number: 100, covered: 1_002_000_000, time: 100_000_000_000 };
    side.set_windows(windows).unwrap();
    for (callee, caller, seen, calls, variance) in [
        (0x1100, None, 98, 60_000_000_000, 25_000_000_000_000_000_000),
        (0x1100, Some(0x1060), 98, 60_000_000_000, 25_000_000_000_000_000_000),
        (0x1180, None, 3, 500, 90_000),
        (0x1180, Some(0x1110), 2, 300, 45_000),
        (0x1180, Some(0x1118), 1, 200, 40_000),
    ] {
        let (callee, caller) = (at(callee), caller.map(at));
        side.add_estimate(EstimatedCalls { callee, caller, seen, calls, variance }).unwrap();
    }
    side
}

/// The headings in the document, the files, and their contents.
fn examples() -> [(&'static str, &'static str, SideFile); 3] {
    [
        ("An example", "testdata/side/sine.side", example()),
        ("An example of calls on demand", "testdata/side/on-demand.side", example_on_demand()),
        ("An example of estimated calls", "testdata/side/estimates.side", example_estimates()),
    ]
}

/// The bytes in a dump of the document: each line has an offset, bytes, two spaces, and an explanation.
fn dump(heading: &str) -> Vec<u8> {
    let text = fs::read_to_string(path("docs/side-file.md")).unwrap();
    let dump = text.split_once(&format!("\n### {heading}\n")).unwrap().1.lines();
    let mut bytes = Vec::new();
    for line in dump.skip_while(|line| !line.starts_with("    0000")).take_while(|line| line.starts_with("    ")) {
        let (offset, rest) = line.trim_start().split_once("  ").unwrap();
        let (hexadecimal, explanation) = rest.split_once("  ").unwrap();
        assert_eq!(usize::from_str_radix(offset, 16).unwrap(), bytes.len(), "{line}");
        assert!(!explanation.trim().is_empty(), "{line}");
        bytes.extend(hexadecimal.split(' ').map(|byte| u8::from_str_radix(byte, 16).unwrap()));
    }
    bytes
}

#[test]
fn the_library_writes_the_examples() {
    for (_, file, side) in examples() {
        let golden = path(file);
        if std::env::var_os("GOLDENS").is_some_and(|wish| wish == "write") {
            fs::write(&golden, side.write()).unwrap();
        }
        let bytes = fs::read(&golden).unwrap();
        assert_eq!(SideFile::parse(&bytes).as_ref(), Ok(&side), "{file}");
        assert_eq!(side.write(), bytes, "{file}");
    }
}

#[test]
fn the_document_explains_each_byte_of_the_examples() {
    for (heading, _, side) in examples() {
        assert_eq!(dump(heading), side.write(), "{heading}");
    }
}

#[test]
fn the_ticks_of_the_example_are_those_of_its_run() {
    let side = example();
    let [samples, kernel] = side.samples() else { panic!("{:?}", side.samples()) };
    let unwalked: u64 = side.unwalked().map(|(_, ticks)| ticks).sum();
    let all = side.contexts().total() + unwalked;
    assert_eq!((all, samples.total() + kernel.total()), (side.threads()[0].ticks, 8));
}
