//! Reports by line (`-l`), compared with the system's, and with what a made-up profile says.
#![allow(clippy::unwrap_used, reason = "the helpers of a test fail as loudly as it does")]

use std::fs;
use std::path::{Path, PathBuf};

use gmon::{Block, Encoding, Form, Histogram, Order, Profile, Word};
use gmon_tests::random::{Random, Stage};
use gmon_tests::{compare, compile, gprof, read, run};
use gprof::image::{Image, Names, Policy};

/// Command lines. `@` is a function of the program and `%` one of its source files.
const LINES: [&str; 29] = [
    "-l",
    "-l -z",
    "-l -p",
    "-l -p -z",
    "-l -p -q -a",
    "-l -p -z -a -D",
    "-l -L",
    "-l -T",
    "-l -c",
    "-l -p@",
    "-l -P@",
    "-l -p5",
    "-l -p%",
    "-l -p%:7",
    "-l -k @/@",
    "-l -n@",
    "-l -N@",
    "-l -e@",
    "-l -E@",
    "-l -f@",
    "-l -F@",
    "-l --no-demangle",
    "-l -w 130",
    "-l -C",
    "-l -C -z",
    "-l -A",
    "-l -A -x",
    "-l -A -x -z -m 100 -t 3",
    "-s -p",
];

/// A sample program with debug information. GNU's reader takes version 5 for version 4, and so names wrong files.
fn program(name: &str, source: &str, flags: &[&str]) -> PathBuf {
    compile(name, &[source], &[flags, &["-gdwarf-4"]].concat())
}

fn compare_all(image: &Path, profile: &Path, function: &str, file: &str) {
    for line in LINES {
        let line = line.replace('@', function).replace('%', file);
        let words: Vec<&str> = line.split(' ').collect();
        compare(image, &[profile], &[&["-b"], words.as_slice()].concat());
    }
}

/// A profile with samples, calls and counts of basic blocks all over a program.
fn made_up(image: &Path, seed: u64) -> PathBuf {
    let bytes = fs::read(image).unwrap();
    let mut random = Random::new(seed);
    let mut profile = Stage::of(&bytes).profile(&mut random);
    let room = Names::default();
    let read = Image::parse(&bytes, Policy::Compat, &room).unwrap();
    let lines = read.files.lines();
    let starts: Vec<u64> = lines.within(read.text.clone()).map(|range| range.start).collect();
    profile.blocks = (0..60)
        .map(|_| Block { addr: random.pick(&starts) + random.below(3), count: *random.pick(&[0, 1, 7, 100, 123_456]) })
        .collect();
    store(image, &profile, &format!("made.{seed}"))
}

fn store(image: &Path, profile: &Profile, name: &str) -> PathBuf {
    let path = image.with_file_name(name);
    let form = Encoding { form: Form::Gnu, word: Word::W64, order: Order::Little };
    fs::write(&path, gmon::write(profile, form).unwrap()).unwrap();
    path
}

#[test]
fn lines_of_c() {
    for (source, function) in [("calls.c", "even"), ("cycles.c", "b"), ("nested.c", "each"), ("clones.c", "work")] {
        for level in ["-O0", "-O2"] {
            let image = program(&format!("by_line_{source}{level}"), source, &[level]);
            compare_all(&image, &run(&image), function, source);
            for seed in 0..3 {
                compare_all(&image, &made_up(&image, seed), function, source);
            }
        }
    }
}

#[test]
fn lines_of_cpp() {
    // Of optimised C++ GNU says "somebody miscounted" and gives up.
    let image = program("by_line_cpp", "classes.cc", &["-O0"]);
    compare_all(&image, &run(&image), "main", "classes.cc");
}

/// What a line of source comes to when every bin of its code has one sample, as the report says: rows by line.
#[test]
fn samples_of_a_line_are_its_rows() {
    for (name, source, level) in [("by_line_rows_c", "calls.c", "-O2"), ("by_line_rows_cpp", "classes.cc", "-O2")] {
        let image = compile(name, &[source], &["-g", level]);
        let bytes = fs::read(&image).unwrap();
        let room = Names::default();
        let program = Image::parse(&bytes, Policy::Full, &room).unwrap();
        let (lowpc, highpc) = (program.text.start, program.text.end.next_multiple_of(2));
        let lines = program.files.lines();
        // One sample in each bin of two bytes: a line has half as many as bytes of code.
        let bins = vec![1; ((highpc - lowpc) / 2) as usize];
        let dimension = gmon::Dimension::SECONDS;
        let histogram = Histogram { lowpc, highpc, profrate: 100, dimension, abbrev: b's', signed: false, bins };
        let profile = Profile { histograms: vec![histogram], ..Profile::default() };
        let profile = store(&image, &profile, "even.gmon");
        let output =
            read(gprof(), image.parent().unwrap(), &["-b", "-l", "-p", "-L", "a.out", profile.to_str().unwrap()]);
        let text = String::from_utf8(output.stdout).unwrap();
        let rows: Vec<(f64, &str)> = text.lines().filter_map(row).collect();
        let total: f64 = rows.iter().map(|row| row.0).sum();
        let all = (highpc - lowpc) as f64 / 2.0 / 100.0;
        assert!((total - all).abs() <= 0.005 * rows.len() as f64, "{total} of {all} seconds");
        let places: Vec<_> = rows.iter().filter_map(|row| place(row.1)).collect();
        assert!(places.len() > 20, "{text}");
        for (address, file, line) in places {
            let known = lines.find(address).unwrap();
            assert_eq!(
                (u64::from(known.line), lines.path(known.file).full()),
                (line, file.into_bytes()),
                "{address:x}"
            );
        }
    }
}

/// Self time and the rest of a row of a flat profile.
fn row(text: &str) -> Option<(f64, &str)> {
    let mut words = text.split_whitespace();
    let seconds =
        (words.next()?.parse::<f64>().ok()?, words.next()?.parse::<f64>().ok()?, words.next()?.parse().ok()?).2;
    Some((seconds, text))
}

/// Address, file and line of a row by line.
fn place(text: &str) -> Option<(u64, String, u64)> {
    let (place, address) = text.strip_suffix(')')?.rsplit_once(" @ ")?;
    let (file, line) = place.rsplit_once(" (")?.1.rsplit_once(':')?;
    Some((u64::from_str_radix(address, 16).ok()?, file.to_owned(), line.parse().ok()?))
}
