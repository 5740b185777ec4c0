//! Damaged and hostile executables: an error or a report, no crash, and time and memory in proportion to the file.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};

use gmon::{Arc, DataModel, Encoding, Form, Histogram, Order, Profile, Unit};
use gmon_tests::random::Random;
use gmon_tests::{compile, directory};
use gprof::Terminal;
use gprof::internals::{Image, ImageStorage, Policy};

/// Reads a mutated image; only termination is expected.
fn read_all(bytes: &[u8]) -> usize {
    let room = ImageStorage::default();
    let Ok(image) = Image::parse(bytes, Policy::Full, &room) else {
        return 0;
    };
    let lines = image.files.lines();
    let paths: usize = lines.within(0..u64::MAX).take(1000).map(|range| lines.path(range.file).full().len()).sum();
    let names = image.files.base_names(image.symbols.iter().map(|symbol| symbol.address).collect()).len();
    let frames = image.files.frames().map_or(0, |frames| {
        let told = |address| frames.callers(address).len() + usize::from(frames.innermost(address).is_some());
        image.symbols.iter().take(100).map(|symbol| told(symbol.address)).sum::<usize>()
    });
    paths + names + frames
}

#[test]
fn damaged_images_are_refused_or_read() {
    for (name, flags) in [
        ("mutated_4", ["-gdwarf-4", "-O1"]),
        ("mutated_5", ["-gdwarf-5", "-O1"]),
        ("mutated_packed", ["-g", "-gz=zlib"]),
        ("mutated_old", ["-g", "-gz=zlib-gnu"]),
    ] {
        let bytes = fs::read(compile(name, &["inlined.c"], &flags)).unwrap();
        assert!(read_all(&bytes) > 0, "{name}");
        let sections = debug_sections(&bytes);
        let mut random = Random::new(7);
        for _ in 0..400 {
            let mut damaged = bytes.clone();
            for _ in 0..=random.below(12) {
                // Half of the damage is in the worst places.
                let range = if random.below(2) == 0 { 0..bytes.len() } else { random.pick(&sections).clone() };
                let at = range.start + random.below(range.len().max(1) as u64) as usize;
                let value = *random.pick(&[0, 1, 0x7f, 0x80, 0xff, random.clone().number() as u8]);
                damaged[at.min(bytes.len() - 1)] = value;
            }
            if random.below(10) == 0 {
                damaged.truncate(random.below(bytes.len() as u64) as usize);
            }
            read_all(&damaged);
        }
    }
}

/// The offsets of the debug sections in a little-endian file of 64 bits.
fn debug_sections(bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
    let number = |at: usize, size: usize| bytes[at..at + size].iter().rev().fold(0, |sum, b| sum << 8 | *b as usize);
    let (table, size, count, names) = (number(40, 8), number(58, 2), number(60, 2), number(62, 2));
    let names = number(table + names * size + 24, 8);
    let ranges = (0..count).map(|at| table + at * size).filter_map(|at| {
        let name = &bytes[names + number(at, 4)..];
        let is_debug = name.starts_with(b".debug_") || name.starts_with(b".zdebug_");
        is_debug.then(|| number(at + 24, 8)..number(at + 24, 8) + number(at + 32, 8))
    });
    let ranges: Vec<_> = ranges.collect();
    assert!(ranges.len() > 3);
    ranges
}

/// A little-endian executable of 64 bits with a function `main` at 0x1000 and these sections.
fn executable(debug: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut names = b"\0main\0.text\0.symtab\0.strtab\0".to_vec();
    let symbol =
        [&[0; 24][..], &[1, 0, 0, 0, 0x12, 0, 1, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0]].concat();
    // Name, type, flags, address, bytes, link, and entry size.
    let mut sections =
        vec![(6, 1, 6, 0x1000, vec![0x90; 4096], 0, 0), (12, 2, 0, 0, symbol, 3, 24), (20, 3, 0, 0, Vec::new(), 0, 0)];
    for (name, bytes) in debug {
        sections.push((names.len() as u32, 1, 0, 0, bytes.clone(), 0, 0));
        names.extend(name.as_bytes());
        names.push(0);
    }
    sections[2].4 = names;
    let (mut file, mut heads) = (vec![0; 64], vec![0; 64]);
    for (name, kind, flags, address, bytes, link, entry) in sections {
        heads.extend([name, kind].map(u32::to_le_bytes).concat());
        heads.extend([flags, address, file.len() as u64, bytes.len() as u64].map(u64::to_le_bytes).concat());
        heads.extend([link, 1].map(u32::to_le_bytes).concat());
        heads.extend([1, entry].map(u64::to_le_bytes).concat());
        file.extend(bytes);
    }
    let count = (heads.len() / 64) as u16;
    let start = file.len() as u64;
    file.extend(heads);
    file[..20].copy_from_slice(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x3e\0");
    file[40..48].copy_from_slice(&start.to_le_bytes());
    file[52..64].copy_from_slice(&[64, 0, 0, 0, 0, 0, 64, 0, count as u8, 0, 3, 0]);
    file
}

/// A DWARF 4 unit with these entries, with its abbreviations at an offset.
fn unit(abbreviations: u32, entries: &[u8]) -> Vec<u8> {
    let length = entries.len() as u32 + 7;
    [&length.to_le_bytes()[..], &[4, 0], &abbreviations.to_le_bytes(), &[8], entries].concat()
}

/// Abbreviations: 1 is a unit that covers the function, 2 a function with a list of ranges, 3 an inlined function with
/// children, 4 a function with a name elsewhere, 5 a unit with a line table.
const ABBREVIATIONS: &[u8] = &[
    1, 0x11, 1, 0x11, 0x01, 0x12, 0x07, 0, 0, //
    2, 0x2e, 0, 0x55, 0x17, 0, 0, //
    3, 0x1d, 1, 0, 0, //
    4, 0x2e, 0, 0x03, 0x0e, 0, 0, //
    5, 0x11, 0, 0x10, 0x17, 0, 0, 0,
];

/// A unit's entry for the addresses from 0x1000 to 0x2000, with entries below it.
fn covering(entries: &[u8]) -> Vec<u8> {
    let root = [&[1][..], &0x1000_u64.to_le_bytes(), &0x1000_u64.to_le_bytes()].concat();
    [&root, entries, &[0]].concat()
}

/// Whether the reader shows the inlined functions of a program with this debug information.
fn is_read(debug: &[(&str, Vec<u8>)]) -> bool {
    let bytes = executable(debug);
    let room = ImageStorage::default();
    let image = Image::parse(&bytes, Policy::Full, &room).unwrap();
    assert_eq!(image.symbols.len(), 1);
    let _ = image.files.lines();
    let frames = image.files.frames();
    frames.map(|frames| frames.callers(0x1000).len()).is_some()
}

#[test]
fn functions_that_share_one_list_of_ranges() {
    let ranges = |count: u64| {
        let pairs = (1..=count).flat_map(|n| [2 * n, 2 * n + 1]).chain([0, 0]);
        pairs.flat_map(u64::to_le_bytes).collect::<Vec<u8>>()
    };
    let functions = |count: usize| covering(&[2, 0, 0, 0, 0].repeat(count));
    for (count, expected) in [(1, true), (20, true), (20_000, false)] {
        let debug = [
            (".debug_info", unit(0, &functions(count))),
            (".debug_abbrev", ABBREVIATIONS.to_vec()),
            (".debug_ranges", ranges(count as u64)),
        ];
        assert_eq!(is_read(&debug), expected, "{count}");
    }
}

#[test]
fn inlined_functions_without_end() {
    for (depth, expected) in [(100, true), (200, false), (1100, false), (1_000_000, false)] {
        let entries = covering(&[vec![3; depth], vec![0; depth]].concat());
        let debug = [(".debug_info", unit(0, &entries)), (".debug_abbrev", ABBREVIATIONS.to_vec())];
        assert_eq!(is_read(&debug), expected, "{depth}");
    }
}

#[test]
fn functions_that_share_one_long_name() {
    for (length, expected) in [(60_000, true), (70_000, false)] {
        let debug = [
            (".debug_info", unit(0, &covering(&[4, 0, 0, 0, 0].repeat(10)))),
            (".debug_abbrev", ABBREVIATIONS.to_vec()),
            (".debug_str", vec![b'a'; length]),
        ];
        assert_eq!(is_read(&debug), expected, "{length}");
    }
}

#[test]
fn units_that_share_one_line_table() {
    // A version 4 table with one file and a line program that only emits rows.
    let head =
        [&[1, 1, 1, 0xfb, 14, 13][..], &[0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1], &[0], b"a.c\0\0\0\0", &[0]].concat();
    let rows = vec![1; 100_000];
    let table = [&4_u16.to_le_bytes()[..], &(head.len() as u32).to_le_bytes(), &head, &rows].concat();
    let table = [&(table.len() as u32).to_le_bytes()[..], &table].concat();
    for (count, expected) in [(10, true), (10_000, false)] {
        let debug = [
            (".debug_info", unit(0, &[5, 0, 0, 0, 0]).repeat(count)),
            (".debug_abbrev", ABBREVIATIONS.to_vec()),
            (".debug_line", table.clone()),
        ];
        assert_eq!(is_read(&debug), expected, "{count}");
    }
}

/// Rows cover all functions. Each function is named once and not examined again for every row.
#[test]
fn rows_that_share_their_code() {
    let name = "a".repeat(4000);
    let head = [&[1, 1, 1, 0xfb, 14, 13][..], &[0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1], &[0]].concat();
    let head = [&head[..], name.as_bytes(), &[0, 0, 0, 0, 0]].concat();
    // A row at 0x1000 and the end of its code 0x10000 bytes after it.
    let row = [&[0, 9, 2][..], &0x1000_u64.to_le_bytes(), &[1, 2, 0x80, 0x80, 4, 0, 1, 1]].concat();
    let table = [&4_u16.to_le_bytes()[..], &(head.len() as u32).to_le_bytes(), &head, &row.repeat(30_000)].concat();
    let table = [&(table.len() as u32).to_le_bytes()[..], &table].concat();
    let bytes = executable(&[(".debug_line", table)]);
    let room = ImageStorage::default();
    let image = Image::parse(&bytes, Policy::Full, &room).unwrap();
    let names = image.files.base_names((0x800..0x1_1800).collect());
    assert_eq!((names.len(), names.get(&0xfff), names.get(&0x1_1000)), (0x1_0000, None, None));
    assert!([0x1000, 0x8000, 0x1_0fff].iter().all(|address| names.get(address) == Some(&name.as_bytes())));
}

#[test]
fn functions_that_share_one_long_numbered_name() {
    // DWARF 5: names are indexes into a table of offsets.
    let abbreviations = [1, 0x11, 1, 0x72, 0x17, 0, 0, 2, 0x2e, 0, 0x03, 0x25, 0, 0, 0];
    let entries = [&[1, 8, 0, 0, 0][..], &[2, 0].repeat(10), &[0]].concat();
    let head = [&5_u16.to_le_bytes()[..], &[1, 8, 0, 0, 0, 0]].concat();
    let unit = [&((head.len() + entries.len()) as u32).to_le_bytes()[..], &head, &entries].concat();
    for (length, expected) in [(60_000, true), (70_000, false)] {
        let debug = [
            (".debug_info", unit.clone()),
            (".debug_abbrev", abbreviations.to_vec()),
            (".debug_str_offsets", vec![8, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0]),
            (".debug_str", vec![b'a'; length]),
        ];
        assert_eq!(is_read(&debug), expected, "{length}");
    }
}

#[test]
fn files_that_share_one_long_path() {
    // A version 5 table without rows, whose files all have one name that is stored elsewhere.
    let table = |files: u16| {
        let head = [1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1];
        // One directory and these files, each with a path (1) stored elsewhere (0x1f); the number has two bytes of
        // seven bits.
        let number = [files as u8 | 0x80, (files >> 7) as u8];
        let names =
            [&[1, 1, 0x1f, 1, 0, 0, 0, 0][..], &[1, 1, 0x1f], &number, &vec![0; 4 * usize::from(files)]].concat();
        let rest = [&((head.len() + names.len()) as u32).to_le_bytes()[..], &head, &names].concat();
        let table = [&[5, 0, 8, 0][..], &rest].concat();
        [&(table.len() as u32).to_le_bytes()[..], &table].concat()
    };
    for (files, length, expected) in [(10_000, 100, true), (3, 1 << 20, true), (10_000, 1 << 20, false)] {
        let debug = [
            (".debug_info", unit(0, &[5, 0, 0, 0, 0])),
            (".debug_abbrev", ABBREVIATIONS.to_vec()),
            (".debug_line", table(files)),
            (".debug_line_str", vec![b'a'; length]),
        ];
        assert_eq!(is_read(&debug), expected, "{files} {length}");
    }
}

#[test]
fn split_units_without_end() {
    let directory = directory("hostile_split");
    let unit = |kind: u8, entries: &[u8]| {
        let head = [&5_u16.to_le_bytes()[..], &[kind, 8, 0, 0, 0, 0], &7_u64.to_le_bytes()].concat();
        [&((head.len() + entries.len()) as u32).to_le_bytes()[..], &head, entries].concat()
    };
    // The image has a skeleton (4) for its code. The other file (5) holds the function, part of which was inlined.
    let code = [0x1000_u64, 0x1000].map(u64::to_le_bytes).concat();
    let image = executable(&[
        (".debug_info", unit(4, &[&[1][..], b"unit.dwo\0", &code].concat())),
        (".debug_abbrev", vec![1, 0x4a, 0, 0x76, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0, 0]),
    ]);
    let path = directory.join("image");
    let function = [1, 0x11, 1, 0, 0, 2, 0x2e, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0, 3, 0x1d, 1, 0, 0];
    let is_read = |name: &[u8], depth: usize, abbreviations: &[u8]| {
        let entries = [&[1, 2][..], name, &[0], &code, &vec![3; depth], &vec![0; depth + 2]].concat();
        let debug = [(".debug_info.dwo", unit(5, &entries)), (".debug_abbrev.dwo", abbreviations.to_vec())];
        fs::write(directory.join("unit.dwo"), executable(&debug)).unwrap();
        let room = ImageStorage::default();
        let mut image = Image::parse(&image, Policy::Full, &room).unwrap();
        let _ = image.find_debug_file(&path, &[], Policy::Full, &room);
        let frames = image.files.frames().unwrap();
        frames.innermost(0x1800) == Some(name) || frames.callers(0x1800).iter().any(|caller| caller.function == name)
    };
    let plain = [&function[..], &[0]].concat();
    assert!(is_read(b"f", 1, &plain) && is_read(b"f", 100, &plain) && is_read(&[b'f'; 60_000], 1, &plain));
    assert!(!is_read(b"f", 200, &plain) && !is_read(b"f", 1_000_000, &plain));
    assert!(!is_read(&[b'f'; 70_000], 1, &plain));
    // Invalid abbreviations, and abbreviations without end.
    assert!(!is_read(b"f", 1, &[0x80; 100]) && !is_read(b"f", 1, &function.repeat(100_000)));
}

#[test]
fn units_with_overlapping_abbreviations() {
    // The table has no end, and every unit's begins one byte later.
    let table = [1, 0x11, 0, 0x10, 0x17].into_iter().chain(std::iter::repeat_n(0x11, 40_000)).collect::<Vec<u8>>();
    for (count, expected) in [(10, true), (30_000, false)] {
        let units: Vec<u8> = (0..count).flat_map(|at| unit(at, &[1, 0, 0, 0, 0])).collect();
        let debug = [(".debug_info", units), (".debug_abbrev", table.clone())];
        assert_eq!(is_read(&debug), expected, "{count}");
    }
}

#[test]
fn files_with_paths_without_end() {
    // Every file is in a directory whose name is too long for a directory name.
    let head = [&[1, 1, 1, 0xfb, 14, 13][..], &[0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1]].concat();
    let names = [&vec![b'd'; 5000][..], b"\0\0", b"a.c\0\x01\0\0", b"\0"].concat();
    // To 0x1000, one row, and the end four bytes later.
    let program = [&[0, 9, 2][..], &0x1000_u64.to_le_bytes(), &[1, 2, 4, 0, 1, 1]].concat();
    let length = (head.len() + names.len()) as u32;
    let table = [&4_u16.to_le_bytes()[..], &length.to_le_bytes(), &head, &names, &program].concat();
    let table = [&(table.len() as u32).to_le_bytes()[..], &table].concat();
    let bytes = executable(&[(".debug_line", table)]);
    let room = ImageStorage::default();
    let image = Image::parse(&bytes, Policy::Full, &room).unwrap();
    let lines = image.files.lines();
    let range = lines.find(0x1003).unwrap();
    assert_eq!((range.start, range.end, range.line), (0x1000, 0x1004, 1));
    assert_eq!(lines.path(range.file).full(), b"a.c");
}

/// An executable with these names and with functions named by offsets into the names, one for each byte from 0x1000.
/// The names begin with those of its sections.
fn with_functions(names: &[u8], is_local: bool, offsets: impl Iterator<Item = u32>) -> Vec<u8> {
    let functions = (0..).zip(offsets).flat_map(|(n, name): (u64, u32)| {
        let head = [&name.to_le_bytes()[..], &[if is_local { 0x02 } else { 0x12 }, 0, 1, 0]].concat();
        [&head[..], &(0x1000 + n).to_le_bytes(), &[0; 8]].concat()
    });
    let symbols: Vec<u8> = [0; 24].into_iter().chain(functions).collect();
    let mut file = executable(&[]);
    let heads = u64::from_le_bytes(file[40..48].try_into().unwrap()) as usize;
    for (section, bytes) in [(2, &symbols), (3, &names.to_vec())] {
        let (at, size) = (file.len() as u64, bytes.len() as u64);
        file[heads + section * 64 + 24..][..8].copy_from_slice(&at.to_le_bytes());
        file[heads + section * 64 + 32..][..8].copy_from_slice(&size.to_le_bytes());
        file.extend(bytes);
    }
    file
}

/// The section names that [`with_functions`] puts first.
const SECTIONS: &[u8] = b"\0main\0.text\0.symtab\0.strtab\0";

#[test]
fn symbols_that_share_one_long_name() {
    // A hundred thousand symbols with one name of a megabyte: reading each to its end would take minutes.
    let names = [SECTIONS, &vec![b'x'; 1 << 20]].concat();
    let file = with_functions(&names, false, std::iter::repeat_n(SECTIONS.len() as u32, 100_000));
    let room = ImageStorage::default();
    let image = Image::parse(&file, Policy::Compat, &room).unwrap();
    assert_eq!(image.symbols.len(), 100_000);
    assert!(image.symbols.iter().all(|symbol| symbol.name.len() == 1 << 16));
}

/// Counts the bytes that are written.
struct Counter(u64);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The bytes in all reports of an executable whose first function calls all others and is called by all others.
fn report_length(name: &str, image: &[u8], functions: u64, options: &[&str]) -> u64 {
    let directory = directory(name);
    let arcs = (0x1000..0x1000 + functions).flat_map(|address| [(0x1000, address), (address, 0x1000)]);
    let arcs = arcs.map(|(frompc, selfpc)| Arc::new(frompc, selfpc, 1)).collect::<Vec<_>>();
    let histogram = Histogram::new(0x1000..0x2000, Unit::seconds(100), vec![1_u16; 1024]).unwrap();
    let profile = Profile::of_samples(vec![histogram]).unwrap().with_arcs(arcs);
    let encoding = Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little);
    let paths = [directory.join("image"), directory.join("profile")];
    fs::write(&paths[0], image).unwrap();
    fs::write(&paths[1], gmon::write(&profile, encoding).unwrap()).unwrap();
    let words = ["gprof"].iter().chain(options).map(OsString::from).chain(paths.map(OsString::from));
    let mut counter = Counter(0);
    gprof::run(words, &mut counter, &mut io::sink(), &Terminal::default()).unwrap();
    fs::remove_dir_all(directory).unwrap();
    counter.0
}

#[test]
fn reports_of_names_that_overlap() {
    // Each name is a suffix of one megabyte. Unshortened, the names would make a report of a hundred gigabytes.
    let names = [SECTIONS, &vec![b'x'; 1 << 20]].concat();
    let offsets = || (0..40_000).map(|at| SECTIONS.len() as u32 + 25 * at);
    for (is_local, options) in
        [(false, ["-b", "--merge-clones"].as_slice()), (true, &["-bz", "--compat=gnu"]), (true, &["--bsd", "-b", "-u"])]
    {
        let image = with_functions(&names, is_local, offsets());
        let length = report_length("overlapping_names", &image, 40_000, options);
        assert!((40_000 * 1024..400 << 20).contains(&length), "{options:?}: {length}");
    }
}

#[test]
fn reports_of_a_long_name_that_is_everywhere() {
    // The first function has a long name, and all others call it.
    let mut names = [SECTIONS, &vec![b'y'; 60_000], b"\0"].concat();
    let mut offsets = vec![SECTIONS.len() as u32];
    for n in 1..20_000 {
        offsets.push(names.len() as u32);
        names.extend(format!("f{n}\0").bytes());
    }
    let image = with_functions(&names, false, offsets.into_iter());
    let length = report_length("long_name", &image, 20_000, &["-b"]);
    // A quarter of a gigabyte, and then only the beginning of each name.
    assert!((256 << 20..350 << 20).contains(&length), "{length}");
}

#[test]
fn reports_of_names_that_stand_for_too_much() {
    // A function with a quarter of a million lifetimes, and with types of types, each of two.
    let rust = "_RMC0FGZZZ_Eu".to_owned();
    let pairs: String = (1..10).map(|at| format!("ES0_IS{at}_S{at}_")).collect();
    let cpp = format!("_Z1fISt4pairIii{pairs}EEvv");
    let unbounded = gmon_demangle::Options { max_length: usize::MAX, ..Default::default() };
    assert!(gmon_demangle::demangle_with(cpp.as_bytes(), &unbounded).len() > 10_000);
    for (name, most) in [(rust, 4 << 20), (cpp, 150 << 20)] {
        let names = [SECTIONS, name.as_bytes(), b"\0"].concat();
        let image = with_functions(&names, false, std::iter::repeat_n(SECTIONS.len() as u32, 3000));
        let length = report_length("expanding_names", &image, 3000, &["-b", "-p"]);
        assert!((3000 * 60..most).contains(&length), "{name}: {length}");
    }
}
