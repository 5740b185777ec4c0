//! Checks the limits for large images. A fuzz target has inputs of a few kilobytes, for which the constant part of a
//! limit is enough in any case, so the targets cannot find memory that grows too fast with the length of the input.
#![allow(clippy::unwrap_used, reason = "a test fails loudly")]

use std::ops::Range;

use gprof::internals::{Image, ImageStorage, Policy};

/// One more than a power of two: a vector that grows has then just doubled its memory. The images are so large that the
/// constant part of a limit does not matter.
const MANY: u32 = (1 << 16) + 1;

/// The addresses of the code.
const CODE: Range<u32> = 0x1000..0x1000_0000;

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A name in a field of a fixed length.
fn named(name: &str, length: usize) -> Vec<u8> {
    name.bytes().chain(std::iter::repeat(0)).take(length).collect()
}

/// A Mach-O file with functions whose names begin at these offsets in the string table, one function for each 16 bytes
/// of code.
fn macho(is_wide: bool, names: &[u32], strings: &[u8]) -> Vec<u8> {
    // A word of the file's size, at a place where both sizes are aligned.
    let word = |value: u32| if is_wide { words(&[value, 0]) } else { words(&[value]) };
    let (header, segment, section, entry) = if is_wide { (32, 72, 80, 16) } else { (28, 56, 68, 12) };
    let (commands, table) = (segment + section + 24, 24);
    let symbols = header + commands;
    let magic = if is_wide { 0xfeed_facf } else { 0xfeed_face };
    let processor = if is_wide { 0x0100_0007 } else { 7 };
    let size = CODE.end - CODE.start;
    let mut file = words(&[magic, processor, 3, 2, 2, commands, 0]);
    file.resize(header as usize, 0);
    // A segment for all addresses that may be read and executed, with one section of code without content.
    file.extend([words(&[if is_wide { 0x19 } else { 1 }, segment + section]), named("__TEXT", 16)].concat());
    file.extend([word(0), word(CODE.end), word(0), word(0), words(&[5, 5, 1, 0])].concat());
    file.extend([named("__text", 16), named("__TEXT", 16), word(CODE.start), word(size)].concat());
    file.extend(words(&[0, 4, 0, 0, 0x8000_0400, 0, 0]));
    file.resize((header + segment + section) as usize, 0);
    let count = names.len() as u32;
    file.extend(words(&[2, table, symbols, count, symbols + count * entry, strings.len() as u32]));
    // The type says: in a section, and only visible in this file. The section follows.
    file.extend((0..).zip(names).flat_map(|(at, name)| {
        let head = [&name.to_le_bytes()[..], &[0x0e, 1, 0, 0]].concat();
        [head, word(CODE.start + 16 * at)].concat()
    }));
    file.extend(strings);
    file
}

/// A PE file with a function for each 16 bytes of code, and with the path of a PDB file. Some functions have the type
/// for functions.
fn pe(functions: u32, is_typed: impl Fn(u32) -> bool, path: &[u8]) -> Vec<u8> {
    const HEADER: usize = 64;
    const DIRECTORIES: usize = 16;
    let optional = 112 + 8 * DIRECTORIES;
    let start = HEADER + 24 + optional + 40;
    // The content of the section is the debug directory, and the information to which the directory points.
    let (entry, information) = (28, [b"RSDS", &[1; 20][..], path, &[0]].concat());
    let place = start as u32 + entry;
    let directory = words(&[0, 0, 0, 2, information.len() as u32, CODE.start + entry, place]);
    let content = [directory, information].concat();
    let mut file = [named("MZ", 60), words(&[HEADER as u32]), b"PE\0\0".to_vec()].concat();
    file.extend([0x8664_u16, 1].map(u16::to_le_bytes).concat());
    file.extend(words(&[0, (start + content.len()) as u32, functions]));
    file.extend([optional as u16, 0x22].map(u16::to_le_bytes).concat());
    let mut header = vec![0; optional];
    header[..2].copy_from_slice(&[0x0b, 0x02]);
    header[108] = DIRECTORIES as u8;
    header[112 + 6 * 8..][..8].copy_from_slice(&words(&[CODE.start, entry]));
    file.extend(header);
    file.extend(named(".text", 8));
    file.extend(words(&[CODE.end - CODE.start, CODE.start, content.len() as u32, start as u32, 0, 0, 0, 0x6000_0020]));
    file.extend(content);
    for at in 0..functions {
        let kind = if is_typed(at) { 0x20_u16 } else { 0 };
        file.extend([&b"function"[..], &(16 * at).to_le_bytes(), &1_u16.to_le_bytes(), &kind.to_le_bytes()].concat());
        file.extend([2, 0]);
    }
    file.extend(words(&[4]));
    file
}

/// Checks the limits of an image that has functions.
fn check(name: &str, file: &[u8]) {
    assert!(Image::parse(file, Policy::Full, &ImageStorage::default()).is_ok(), "{name}");
    let result = std::panic::catch_unwind(|| gmon_fuzz_checks::symbols(file));
    assert!(result.is_ok(), "{name}");
}

#[test]
fn many_symbols() {
    for is_wide in [false, true] {
        check("Mach-O", &macho(is_wide, &vec![1; MANY as usize], b"\0_function\0"));
    }
    check("PE", &pe(MANY, |_| true, b""));
    check("PE, types for some symbols", &pe(MANY, |at| at % 8 != 0, b""));
}

#[test]
fn strings_without_characters() {
    let strings = [b"\0_function".to_vec(), vec![0; MANY as usize]].concat();
    check("ends of strings", &macho(false, &[1], &strings));
    // Names that are made up if the next name in the table is.
    let strings = [b"\0".to_vec(), b".\0".repeat(MANY as usize)].concat();
    check("numbers of copies", &macho(false, &[1], &strings));
}

#[test]
fn a_path_of_a_pdb_file() {
    let file = pe(0, |_| true, &[b'a'; 1 << 20]);
    gmon_fuzz_checks::symbols(&file);
    let error = Image::parse(&file, Policy::Full, &ImageStorage::default()).err().unwrap().to_string();
    assert!(error.contains("in the PDB file aaaa") && error.len() < 5000, "{} bytes", error.len());
}
