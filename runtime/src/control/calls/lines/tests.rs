//! Line-number programs, byte by byte.

use super::*;

/// The bytes of a program: the header behind the version, and the program itself.
#[derive(Clone)]
struct Unit {
    version: u16,
    is_64: bool,
    /// From the tables of names on.
    tables: Vec<u8>,
    program: Vec<u8>,
}

const SPECIAL: u8 = 13;
const LINE_RANGE: u8 = 14;

impl Unit {
    fn bytes(&self) -> Vec<u8> {
        let size = |number: usize| {
            if self.is_64 { (number as u64).to_ne_bytes().to_vec() } else { (number as u32).to_ne_bytes().to_vec() }
        };
        let mut header = vec![1];
        if self.version >= 4 {
            header.push(1);
        }
        header.extend([1, 251, LINE_RANGE, SPECIAL]);
        header.extend([0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1]);
        header.extend(&self.tables);
        let mut rest = self.version.to_ne_bytes().to_vec();
        if self.version >= 5 {
            rest.extend([8, 0]);
        }
        rest.extend(size(header.len()));
        rest.extend(header);
        rest.extend(&self.program);
        let mut all = if self.is_64 { vec![0xff; 4] } else { Vec::new() };
        all.extend(size(rest.len()));
        all.extend(rest);
        all
    }
}

/// Directories, and files with the numbers of their directories, as versions 2 to 4 have them.
fn plain(directories: &[&str], files: &[(&str, u8)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for directory in directories {
        bytes.extend([directory.as_bytes(), b"\0"].concat());
    }
    bytes.push(0);
    for (name, directory) in files {
        bytes.extend([name.as_bytes(), &[0, *directory, 0x80, 1, 0]].concat());
    }
    bytes.push(0);
    bytes
}

/// An operation with an address.
fn set_address(address: u64) -> Vec<u8> {
    [&[0, 9, 2][..], &address.to_ne_bytes()].concat()
}

const END: [u8; 3] = [0, 1, 1];

/// A row, and then a step of this many bytes to the end of the sequence.
fn function(address: u64, file: u8, size: u8) -> Vec<u8> {
    [&set_address(address)[..], &[4, file, 1, 2, size], &END].concat()
}

/// The paths of the files of functions at these addresses.
fn paths_in(sections: &Sections<'_>, addresses: &[usize]) -> Vec<String> {
    let mut functions: Vec<_> =
        addresses.iter().map(|address| Located { address: *address, ..Located::default() }).collect();
    let mut names = vec![Name::default(); sections.most_names()];
    sections.locate(&mut names, &mut functions);
    let path = |function| String::from_utf8_lossy(sections.path(function).as_bytes()).into_owned();
    functions.iter().map(path).collect()
}

fn paths(lines: &[u8], addresses: &[usize]) -> Vec<String> {
    paths_in(&Sections { lines, ..Sections::default() }, addresses)
}

/// A program with all operations: rows at 0x1000 (file 1), 0x1003 (file 2), 0x1014 (file 1), 0x1025, and an end at
/// 0x1125; and code in a sequence of its own, whose file is in a directory.
fn unit(version: u16, is_64: bool) -> Unit {
    let mut program = set_address(0x1000);
    program.extend([
        1, // a row
        4,
        2,
        1,                        // another row at the same address, of file 2
        SPECIAL + 3 * LINE_RANGE, // a row 3 bytes later
        3,
        0x7f,
        5,
        3,
        6,
        7,
        10,
        11,
        12,
        1, // line, column, statement, block, prologue, epilogue, set of instructions
        8,
        4,
        1,
        1, // as far as special opcode 255: 17 bytes; a row of file 1
        0,
        5,
        0x80,
        1,
        2,
        3,
        4, // an unknown extended operation
        2,
        0x11,
        1, // 17 bytes; a row
        9,
    ]);
    program.extend(0x100_u16.to_ne_bytes());
    program.extend(END);
    program.extend(function(0x2000, 3, 8));
    Unit { version, is_64, tables: plain(&["src", "/usr"], &[("a.c", 0), ("b.h", 2), ("c.c", 1)]), program }
}

#[test]
fn each_function_has_the_file_of_its_first_row() {
    let addresses = [0xfff, 0x1000, 0x1003, 0x1013, 0x1014, 0x1025, 0x1124, 0x1125, 0x2000, 0x2007, 0x2008];
    for (version, is_64) in [(2, false), (3, false), (3, true), (4, false), (4, true)] {
        let bytes = unit(version, is_64).bytes();
        for (address, expected) in addresses
            .iter()
            .zip(["", "/a.c", "/usr/b.h", "/usr/b.h", "/a.c", "/a.c", "/a.c", "", "/src/c.c", "/src/c.c", ""])
        {
            assert_eq!(paths(&bytes, &[*address]), [expected], "{version} {address:x}");
        }
        // All at once; of two functions in one range, the first has a file.
        let all = paths(&bytes, &[0x1000, 0x1003, 0x1014, 0x1025, 0x1124, 0x2000, 0x3000]);
        assert_eq!(all, ["/a.c", "/usr/b.h", "/a.c", "/a.c", "", "/src/c.c", ""]);
    }
}

#[test]
fn version_5_describes_its_names() {
    for is_64 in [false, true] {
        let offset = |offset: u8| -> Vec<u8> {
            if is_64 { u64::from(offset).to_ne_bytes().to_vec() } else { u32::from(offset).to_ne_bytes().to_vec() }
        };
        // Directories: a name in .debug_line_str. Files: a name in .debug_str, the directory, an MD5 sum, the size in
        // eight bytes, and a block.
        let mut tables = vec![1, 1, 0x1f, 2];
        tables.extend([offset(0), offset(6)].concat());
        tables.extend([5, 1, 0x0e, 2, 0x0b, 5, 0x1e, 3, 0x07, 0x81, 0x40, 0x09, 2]);
        for (name, directory) in [(0, 0), (4, 1)] {
            tables.extend(offset(name));
            tables.push(directory);
            tables.extend([7; 24]);
            tables.extend([2, 0, 0]);
        }
        let program = [function(0x1000, 0, 4), function(0x1004, 1, 4), function(0x1008, 2, 4)].concat();
        let lines = Unit { version: 5, is_64, tables, program }.bytes();
        let sections = Sections { lines: &lines, line_strings: b"/make\0src\0", strings: b"a.c\0b.c\0" };
        assert_eq!(paths_in(&sections, &[0x1000, 0x1004, 0x1008]), ["/make/a.c", "/make/src/b.c", ""]);
        let mut located = [Located { address: 0x1000, ..Located::default() }];
        assert!(!located[0].needs_strings());
        sections.locate(&mut [Name::default(); 4], &mut located);
        assert!(located[0].needs_strings());
    }
    // Strings in the header, with numbers of directories in all forms.
    for form in [0x0b_u8, 0x05, 0x06, 0x07, 0x0f] {
        let number = match form {
            0x05 => 1_u16.to_ne_bytes().to_vec(),
            0x06 => 1_u32.to_ne_bytes().to_vec(),
            0x07 => 1_u64.to_ne_bytes().to_vec(),
            _ => vec![1],
        };
        let tables = [b"\x01\x01\x08\x02/w\0d\0\x02\x01\x08\x02", &[form, 1][..], b"e.c\0", &number].concat();
        let lines = Unit { version: 5, is_64: false, tables, program: function(0x1000, 0, 4) }.bytes();
        assert_eq!(paths(&lines, &[0x1000]), ["/w/d/e.c"], "{form:x}");
    }
}

#[test]
fn wrong_programs_are_skipped_and_others_are_read() {
    let good = Unit { version: 4, is_64: false, tables: plain(&[], &[("a.c", 0)]), program: function(0x1000, 1, 4) };
    let with = |tables: &[u8], version| Unit { version, is_64: false, tables: tables.to_vec(), program: vec![1] };
    for bad in [
        Unit { version: 1, ..good.clone() },
        Unit { version: 6, ..good.clone() },
        with(b"no end", 4),
        // Names without fields, an unknown form, and more names than bytes.
        with(&[0, 0xff, 0xff, 0xff, 0xff, 0x0f], 5),
        with(&[1, 1, 0x30, 1, 0], 5),
        with(&[1, 1, 8, 0xff, 0xff, 0xff, 0xff, 0x0f, 0], 5),
        Unit { program: vec![0, 200, 2], ..good.clone() },
        Unit { program: vec![0, 3, 2, 1, 1], ..good.clone() },
        Unit { program: vec![2, 0x80], ..good.clone() },
    ] {
        let bytes = [bad.bytes(), good.bytes()].concat();
        assert_eq!(paths(&bytes, &[0x1000]), ["/a.c"]);
    }
    // A file and a directory that are not there.
    let lacks = Unit { program: [function(0x1000, 9, 4), function(0x1004, 1, 4)].concat(), ..good.clone() };
    assert_eq!(paths(&lacks.bytes(), &[0x1000, 0x1004]), ["", "/a.c"]);
    let lacks = Unit { tables: plain(&[], &[("a.c", 7)]), ..good.clone() };
    assert_eq!(paths(&lacks.bytes(), &[0x1000]), ["/a.c"]);
    // Without a range of lines, special opcodes mean nothing.
    let mut bytes = Unit { program: [set_address(0x1000), vec![1, 200, 200]].concat(), ..good.clone() }.bytes();
    let range = bytes.iter().position(|byte| *byte == LINE_RANGE).unwrap();
    bytes[range] = 0;
    assert_eq!(paths(&bytes, &[0x1000]), [""]);
}

#[test]
fn code_that_the_linker_has_discarded_has_no_file() {
    let files = plain(&[], &[("a.c", 0), ("gone.c", 0)]);
    for tombstone in [0, u64::MAX, u64::MAX - 1] {
        let gone = [&set_address(tombstone)[..], &[4, 2, 1, 2, 0xf0, 0x1f, 1, 2, 0xf0, 0x1f], &END].concat();
        let program = [function(0x1000, 1, 4), gone].concat();
        let bytes = Unit { version: 4, is_64: false, tables: files.clone(), program }.bytes();
        assert_eq!(paths(&bytes, &[0x800, 0x1000]), ["", "/a.c"]);
    }
}

/// A mutation that forgets to check an end panics here, or takes a byte from the next program.
#[test]
fn torn_and_changed_sections_end_quietly() {
    let line_strings = b"/make\0src";
    let mut all = [unit(2, false), unit(4, true)].map(|unit| unit.bytes()).concat();
    let tables = vec![1, 1, 0x1f, 1, 0, 0, 0, 0, 2, 1, 0x08, 2, 0x0b, 1, b'f', 0, 0];
    all.extend(Unit { version: 5, is_64: false, tables, program: function(0x5000, 0, 9) }.bytes());
    let addresses = [0x1000, 0x1003, 0x1124, 0x2000, 0x5000];
    for length in 0..all.len() {
        let sections = Sections { lines: &all[..length], line_strings, strings: b"" };
        paths_in(&sections, &addresses);
    }
    for index in 0..all.len() {
        for change in [1, 0x80, 0xff] {
            let mut changed = all.clone();
            changed[index] ^= change;
            let sections = Sections { lines: &changed, line_strings, strings: b"" };
            if sections.most_names() < 1 << 16 {
                paths_in(&sections, &addresses);
            }
        }
    }
    // A string without an end.
    let sections = Sections { lines: &all, line_strings: b"/make", strings: b"" };
    assert_eq!(paths_in(&sections, &[0x5000]), ["/f"]);
}

#[test]
fn paths_have_no_dots() {
    let directories = ["src/..", "./src/.", "../../up", "/top/../.."];
    let files = [("a.c", 1), ("../lib/./a.c", 2), ("a.c", 3), ("a.c", 4), ("/a.c", 2)];
    let program = [1, 2, 3, 4, 5].map(|number| function(0x1000 + 4 * u64::from(number), number, 4)).concat();
    let bytes = Unit { version: 4, is_64: false, tables: plain(&directories, &files), program }.bytes();
    let expected = ["/a.c", "/lib/a.c", "/up/a.c", "/a.c", "/a.c"];
    assert_eq!(paths(&bytes, &[0x1004, 0x1008, 0x100c, 0x1010, 0x1014]), expected);
}

#[test]
fn the_files_of_long_paths_are_unknown() {
    let directory = "d".repeat(500);
    let long = plain(&[&directory], &[("some-file.c", 1), ("a.c", 1)]);
    let program = [function(0x1000, 1, 4), function(0x1004, 2, 4)].concat();
    let bytes = Unit { version: 3, is_64: false, tables: long, program }.bytes();
    assert_eq!(paths(&bytes, &[0x1000, 0x1004]), [String::new(), format!("/{directory}/a.c")]);
}
