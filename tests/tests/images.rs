//! What the reader finds in executables: lines, inlined functions, packed and separate debug information.
#![allow(clippy::unwrap_used, reason = "the helpers of a test fail as loudly as it does")]

use std::fs;
use std::path::Path;
use std::process::Command;

use gmon_tests::compile;
use gmon_tests::random::Random;
use gprof::image::Image;

/// Where the code of `name` begins.
fn address(image: &Image<'_>, name: &str) -> u64 {
    image.symbols.iter().find(|symbol| symbol.name == name.as_bytes()).unwrap().address
}

/// The name of the file and the line that a function begins at.
fn begins_at(image: &Image<'_>, name: &str) -> Option<(String, u32)> {
    let lines = image.files.lines();
    let range = lines.find(address(image, name))?;
    Some((String::from_utf8(lines.path(range.file).full()).unwrap(), range.line))
}

/// The line of a program's source on which a text stands.
fn line_of(program: &str, text: &str) -> u32 {
    let source = fs::read_to_string(source(program)).unwrap();
    source.lines().position(|line| line.contains(text)).unwrap() as u32 + 1
}

fn source(program: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs").join(program).to_str().unwrap().to_owned()
}

#[test]
fn every_form_of_line_tables() {
    for flags in [
        ["-gdwarf-2", "-gno-strict-dwarf"],
        ["-gdwarf-3", "-gno-strict-dwarf"],
        ["-gdwarf-4", "-gno-strict-dwarf"],
        ["-gdwarf-5", "-gno-strict-dwarf"],
        ["-g", "-gz=zlib"],
        ["-g", "-gz=zlib-gnu"],
        ["-gdwarf-5", "-gsplit-dwarf"],
        ["-g", "-gdwarf64"],
        ["-g", "-m32"],
    ] {
        if flags[1] == "-m32" && !can_compile_for_32_bits() {
            eprintln!("SKIPPED: no C library of 32 bits");
            continue;
        }
        let name = format!("lines{}{}", flags[0], flags[1]);
        let bytes = fs::read(compile(&name, &["inlined.c"], &flags)).unwrap();
        let image = Image::parse(&bytes).unwrap();
        let expected = (source("inlined.c"), line_of("inlined.c", "int main"));
        assert_eq!(begins_at(&image, "main"), Some(expected), "{flags:?}");
        let bases = image.files.base_names(vec![address(&image, "outer"), 1]);
        assert_eq!(bases.into_iter().collect::<Vec<_>>(), [(address(&image, "outer"), b"inlined.c".as_slice())]);
    }
}

fn can_compile_for_32_bits() -> bool {
    let output = std::env::temp_dir().join(format!("gmon-tests-m32-{}", std::process::id()));
    let mut compiler = Command::new("cc");
    compiler.args(["-m32", "-pg", "-o"]).arg(&output).arg(source("inlined.c"));
    let can = compiler.output().unwrap().status.success();
    let _ = fs::remove_file(output);
    can
}

#[test]
fn inlined_functions_are_told() {
    for version in ["-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5"] {
        let image = compile(&format!("inlined{version}"), &["inlined.c"], &[version, "-O1"]);
        let bytes = fs::read(image).unwrap();
        let image = Image::parse(&bytes).unwrap();
        let (lines, frames) = (image.files.lines(), image.files.frames().unwrap());
        let inner = line_of("inlined.c", "sum += n * n");
        let starts = lines.within(image.text.clone()).filter(|range| range.line == inner).map(|range| range.start);
        let found: Vec<Vec<String>> = starts
            .map(|start| frames.at(start).iter().map(|frame| frame.function.clone().unwrap().into_owned()).collect())
            .collect();
        assert!(found.contains(&vec!["square".to_owned(), "outer".to_owned()]), "{version}: {found:?}");
        let frame = &frames.at(address(&image, "main"))[0];
        assert_eq!(frame.line, Some(line_of("inlined.c", "int main")));
        assert_eq!(frame.file.as_deref(), Some(source("inlined.c").as_str()));
        assert!(frames.at(1).is_empty() && frames.at(u64::MAX).is_empty());
    }
}

#[test]
fn lines_cover_the_code_once_and_in_order() {
    let bytes = fs::read(compile("line_order", &["classes.cc"], &["-g", "-O2"])).unwrap();
    let image = Image::parse(&bytes).unwrap();
    let lines = image.files.lines();
    let all: Vec<_> = lines.within(0..u64::MAX).copied().collect();
    assert!(all.len() > 20);
    assert!(all.iter().all(|range| range.start < range.end));
    assert!(all.is_sorted_by(|one, next| one.end <= next.start));
    for range in &all {
        assert_eq!(lines.find(range.start), Some(range));
        assert_eq!(lines.find(range.end - 1), Some(range));
    }
    assert_eq!(lines.find(all[0].start - 1), None);
    assert_eq!(lines.within(all[3].start + 1..all[5].start + 1).count(), 3);
}

/// What the reader makes of an image, for mutations of which nothing is expected but an end.
fn read_all(bytes: &[u8]) -> usize {
    let Ok(image) = Image::parse(bytes) else {
        return 0;
    };
    let lines = image.files.lines();
    let paths: usize = lines.within(0..u64::MAX).take(1000).map(|range| lines.path(range.file).full().len()).sum();
    let names = image.files.base_names(image.symbols.iter().map(|symbol| symbol.address).collect()).len();
    let frames = image.files.frames().map_or(0, |frames| {
        image.symbols.iter().take(100).map(|symbol| frames.at(symbol.address).len()).sum::<usize>()
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
                // Half of the damage goes where it is worst.
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

/// Where the sections of debug information lie in a little-endian file of 64 bits.
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

/// Runs a tool of binutils in the directory of an image.
fn tool(image: &Path, words: &[&str]) {
    let output = Command::new(words[0]).args(&words[1..]).current_dir(image.parent().unwrap()).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn debug_information_in_a_file_of_its_own() {
    let image = compile("separate", &["inlined.c"], &["-g", "-Wl,--build-id=0x12abcdef"]);
    let directory = image.parent().unwrap();
    tool(&image, &["objcopy", "--only-keep-debug", "a.out", "a.debug"]);
    tool(&image, &["objcopy", "--strip-debug", "--add-gnu-debuglink=a.debug", "a.out", "linked"]);
    tool(&image, &["objcopy", "--strip-debug", "a.out", "unlinked"]);
    let stores = [directory.join("no-such"), directory.join("store")];
    let found = |name: &str| {
        let bytes = fs::read(directory.join(name)).unwrap();
        let mut image = Image::parse(&bytes).unwrap();
        let path = image.find_debug_file(&directory.join(name), &stores);
        (path, begins_at(&image, "main").map(|(_, line)| line))
    };
    let line = Some(line_of("inlined.c", "int main"));
    assert_eq!(found("a.out"), (None, line));
    assert_eq!(found("unlinked"), (None, None));
    // By its name: beside the program, or in a directory for such files; and only if it is the right one.
    let beside = directory.canonicalize().unwrap().join("a.debug");
    assert_eq!(found("linked"), (Some(beside.clone()), line));
    let debug = fs::read(&beside).unwrap();
    let mut other = debug.clone();
    other.push(0);
    fs::write(&beside, other).unwrap();
    assert_eq!(found("linked"), (None, None));
    fs::remove_file(&beside).unwrap();
    fs::create_dir(directory.join(".debug")).unwrap();
    fs::write(directory.join(".debug/a.debug"), &debug).unwrap();
    assert_eq!(found("linked").1, line);
    // By the identifier, if that is the same.
    let by_id = stores[1].join(".build-id/12/abcdef.debug");
    fs::create_dir_all(by_id.parent().unwrap()).unwrap();
    fs::write(&by_id, &debug).unwrap();
    assert_eq!(found("unlinked"), (Some(by_id.clone()), line));
    let id = debug.windows(4).position(|bytes| bytes == [0x12, 0xab, 0xcd, 0xef]).unwrap();
    let mut other = debug;
    other[id] = 0x13;
    fs::write(&by_id, other).unwrap();
    assert_eq!(found("unlinked"), (None, None));
}
