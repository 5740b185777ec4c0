//! Reports by line (`-l`), compared with the system's gprof and with known synthetic profiles.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gmon::{Arc, Block, DataModel, Encoding, Form, Histogram, Order, Profile, Unit};
use gmon_tests::random::{Random, Stage};
use gmon_tests::{compare, compile, gprof, read, run};
use gprof::internals::{Image, ImageStorage, Policy};

/// Command lines. `@` is a function of the program and `%` one of its source files.
const LINES: [&str; 31] = [
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
    "-l -r",
    "-i -l",
    "-s -p",
];

/// A sample program with debug information.
fn program(name: &str, source: &str, flags: &[&str]) -> PathBuf {
    compile(name, &[source], &[&["-gdwarf-4"], flags].concat())
}

fn compare_all(image: &Path, profile: &Path, function: &str, file: &str) {
    for line in LINES {
        let line = line.replace('@', function).replace('%', file);
        let words: Vec<&str> = line.split(' ').collect();
        compare(image, &[profile], &[&["-b"], words.as_slice()].concat());
    }
}

/// A profile with samples, calls, and basic-block counts all over a program.
fn made_up(image: &Path, seed: u64) -> PathBuf {
    let bytes = fs::read(image).unwrap();
    let mut random = Random::new(seed);
    let mut profile = Stage::of(&bytes).profile(&mut random);
    let room = ImageStorage::default();
    let read = Image::parse(&bytes, Policy::Compat, &room).unwrap();
    let lines = read.files.lines();
    let starts: Vec<u64> = lines.within(read.text.clone()).map(|range| range.start).collect();
    profile.take_blocks();
    let block = |_| Block::new(random.pick(&starts) + random.below(3), *random.pick(&[0, 1, 7, 100, 123_456]));
    profile.add_blocks((0..60).map(block));
    store(image, &profile, &format!("made.{seed}"))
}

fn store(image: &Path, profile: &Profile, name: &str) -> PathBuf {
    let path = image.with_file_name(name);
    let form = Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little);
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

/// Where the debug information names no function, the symbol table does. Of several symbols at one address, GNU's
/// choice counts, and GNU does not know functions that are chosen at run time.
#[test]
fn lines_of_code_that_only_symbols_name() {
    for (source, function) in [("aliases.c", "alpha"), ("kinds.cc", "main"), ("labels.c", "first")] {
        for flags in [["-O0", "-gdwarf-4"], ["-O2", "-gdwarf-4"], ["-O1", "-g0"]] {
            let image = program(&format!("by_line_symbols_{source}{}{}", flags[0], flags[1]), source, &flags);
            compare_all(&image, &run(&image), function, source);
            if flags[1] != "-g0" {
                compare_all(&image, &made_up(&image, 1), function, source);
            }
        }
    }
}

#[test]
fn lines_of_cpp() {
    // For optimized C++, GNU prints "somebody miscounted" and stops.
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let image = program(&format!("by_line_cpp{version}"), "classes.cc", &["-O0", version]);
        compare_all(&image, &run(&image), "main", "classes.cc");
    }
}

/// A profile with one sample in each bin of two bytes of code, so the bytes of any code equal twice its samples.
fn even(image: &Path, program: &Image<'_>) -> PathBuf {
    let (lowpc, highpc) = (program.text.start, program.text.end.next_multiple_of(2));
    let bins = vec![1_u16; ((highpc - lowpc) / 2) as usize];
    let histogram = Histogram::new(lowpc..highpc, Unit::seconds(100), bins).unwrap();
    store(image, &Profile::of_samples(vec![histogram]).unwrap(), "even.gmon")
}

/// The rows of the flat profile of a program in which every byte of code took the same time.
fn rows_of_even(image: &Path, program: &Image<'_>, options: &[&str]) -> Vec<(f64, String)> {
    let profile = even(image, program);
    let words = [options, &["a.out", profile.to_str().unwrap()]].concat();
    let output = read(gprof(), image.parent().unwrap(), &words);
    String::from_utf8(output.stdout).unwrap().lines().filter_map(row).collect()
}

#[test]
fn samples_of_a_line_are_its_rows() {
    for (name, source) in [("by_line_rows_c", "calls.c"), ("by_line_rows_cpp", "classes.cc")] {
        let image = compile(name, &[source], &["-g", "-O2"]);
        let bytes = fs::read(&image).unwrap();
        let room = ImageStorage::default();
        let program = Image::parse(&bytes, Policy::Full, &room).unwrap();
        let rows = rows_of_even(&image, &program, &["-b", "-l", "-p", "-L"]);
        let total: f64 = rows.iter().map(|row| row.0).sum();
        let all = program.text.end.next_multiple_of(2).abs_diff(program.text.start) as f64 / 200.0;
        assert!((total - all).abs() <= 0.005 * rows.len() as f64, "{total} of {all} seconds");
        let places: Vec<_> = rows.iter().filter_map(|row| place(&row.1)).collect();
        assert!(places.len() > 20, "{rows:?}");
        let lines = program.files.lines();
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

/// Each inlined function has the time of the bytes that `addr2line -i` assigns to it.
#[test]
fn inlined_functions_have_rows() {
    let image = compile("by_line_inlines", &["classes.cc"], &["-g", "-O2"]);
    let bytes = fs::read(&image).unwrap();
    let room = ImageStorage::default();
    let program = Image::parse(&bytes, Policy::Full, &room).unwrap();
    let (frames, lines) = (program.files.frames().unwrap(), program.files.lines());
    let mut expected: BTreeMap<String, u64> = BTreeMap::new();
    for address in program.text.clone().filter(|address| lines.find(*address).is_some_and(|range| range.line != 0)) {
        if let Some(name) = frames.inlined(address) {
            *expected.entry(String::from_utf8_lossy(name).into_owned()).or_default() += 1;
        }
    }
    assert!(expected.len() > 20, "{expected:?}");
    let mut shown: BTreeMap<String, f64> = BTreeMap::new();
    for (seconds, text) in rows_of_even(&image, &program, &["-b", "-p", "--inlines", "--no-demangle"]) {
        // Names begin in one column and contain blanks.
        if let Some((name, _)) = text.get(54..).and_then(|name| name.split_once(" [inlined in ")) {
            *shown.entry(name.to_owned()).or_default() += seconds;
        }
    }
    let missing: Vec<_> = expected.keys().filter(|name| !shown.contains_key(*name)).collect();
    assert_eq!((missing.len(), shown.len()), (0, expected.len()), "{missing:?}");
    let (shown, expected) = (shown.values().sum::<f64>(), expected.values().sum::<u64>() as f64 / 200.0);
    assert!((shown - expected).abs() < 0.02 * expected, "{shown} of {expected} seconds");
}

/// The functions that the system's addr2line reports for the code at an address, in our format.
fn callers_by_addr2line(image: &Path, address: u64) -> String {
    let mut command = Command::new("addr2line");
    let output = command.args(["-i", "-f", "-s", "-e"]).arg(image).arg(format!("{address:x}")).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    // One line with the function, and one with file and line, for each function from the inside out.
    let lines: Vec<&str> = text.lines().map(|line| line.split(" (discriminator").next().unwrap()).collect();
    lines.chunks(2).skip(1).map(|frame| format!(" in {} ({})", frame[0], frame[1])).collect()
}

/// With `-l`, lines name the function that they were inlined into, and lines that were inlined twice are separate.
#[test]
fn lines_say_where_they_were_inlined() {
    let image = compile("by_line_callers", &["inlined.c"], &["-g", "-O2"]);
    let bytes = fs::read(&image).unwrap();
    let room = ImageStorage::default();
    let program = Image::parse(&bytes, Policy::Full, &room).unwrap();
    let rows = rows_of_even(&image, &program, &["-b", "-l", "-p", "--inlines"]);
    let mut told = 0;
    for (_, text) in rows.iter().filter(|(_, text)| text.contains(" @ ")) {
        let (_, rest) = text.split_once(" @ ").unwrap();
        let (address, callers) = rest.split_once(')').unwrap();
        let address = u64::from_str_radix(address, 16).unwrap();
        let expected = callers_by_addr2line(&image, address);
        assert_eq!(callers, expected, "{text}");
        told += usize::from(!expected.is_empty());
    }
    assert!(told > 0, "{rows:?}");
}

/// With `-l -A -x`, each line has the calls of the function that owns the code, wherever the function was inlined.
#[test]
fn annotated_lines_show_the_calls_of_their_function() {
    for level in ["-O0", "-O2"] {
        let image = compile(&format!("by_line_annotated{level}"), &["inlined.c"], &["-g", level]);
        let bytes = fs::read(&image).unwrap();
        let room = ImageStorage::default();
        let program = Image::parse(&bytes, Policy::Full, &room).unwrap();
        let lines = program.files.lines();
        // Code outside the program called each function as often as the function's index in the program.
        let mut functions: Vec<_> =
            program.symbols.iter().filter(|symbol| symbol.is_func && program.text.contains(&symbol.address)).collect();
        functions.sort_by_key(|symbol| symbol.address);
        functions.dedup_by_key(|symbol| symbol.address);
        let calls = (1..).zip(&functions).map(|(count, symbol)| Arc::new(0, symbol.address, count));
        let profile = store(&image, &Profile::new().with_arcs(calls), "called.gmon");
        let words = ["-b", "-l", "-A", "-x", "a.out", profile.to_str().unwrap()];
        let output = read(gprof(), image.parent().unwrap(), &words);
        let text = String::from_utf8(output.stdout).unwrap();
        let file = text.split("*** File ").find(|file| file.split(':').next().unwrap().ends_with("inlined.c")).unwrap();
        let mut labelled = 0;
        for (line, text) in (1_u32..).zip(file.lines().skip(1)) {
            let Some((label, _)) = text.split_once(" -> ") else { continue };
            let Ok(label) = label.trim().parse::<usize>() else { continue };
            let first = lines.within(program.text.clone()).find(|range| range.line == line).unwrap().start;
            let owner = functions.partition_point(|symbol| symbol.address <= first);
            // A function that begins on the line comes first.
            let begins =
                functions.iter().position(|symbol| lines.find(symbol.address).is_some_and(|range| range.line == line));
            assert_eq!(label, begins.map_or(owner, |at| at + 1), "{text}");
            labelled += 1;
        }
        assert!(labelled >= 5, "{text}");
    }
}

/// Rows of a discarded function's line table begin at 0 (GNU's linker, gold) or at the end of the address space
/// (LLVM's). They must not cover the first functions of the program.
#[test]
fn lines_of_functions_that_the_linker_discarded() {
    let mut tried = 0;
    for linker in ["", "-fuse-ld=bfd", "-fuse-ld=gold", "-fuse-ld=lld"] {
        let name = linker.trim_start_matches("-fuse-ld=");
        if !linker.is_empty() && Command::new(format!("ld.{name}")).arg("--version").output().is_err() {
            eprintln!("SKIPPED: ld.{name} is not installed");
            continue;
        }
        for version in ["-gdwarf-4", "-gdwarf-5"] {
            let flags = ["-O0", "-ffunction-sections", "-Wl,--gc-sections", version, linker];
            let flags: Vec<&str> = flags.into_iter().filter(|flag| !flag.is_empty()).collect();
            let image =
                compile(&format!("by_line_comdat{name}{version}"), &["comdat_one.cc", "comdat_other.cc"], &flags);
            let profile = run(&image);
            let words = ["-b", "-l", "-q", "a.out", profile.to_str().unwrap()];
            let text = String::from_utf8(read(gprof(), image.parent().unwrap(), &words).stdout).unwrap();
            for line in ["first(int) (comdat_one.cc:6 @", "main (comdat_one.cc:13 @", "other() (comdat_other.cc:6 @"] {
                assert!(text.contains(line), "{name} {version}: {line}: {text}");
            }
            compare(&image, &[&profile], &["-b", "-l", "-q"]);
            compare(&image, &[&profile], &["-b", "-q", "--inline-file-names"]);
            tried += 1;
        }
    }
    assert!(tried >= 2);
}

/// Functions beyond the section `.text` call functions in it.
#[test]
fn calls_from_beyond_the_section() {
    let image = program("by_line_beyond", "calls.c", &["-O1"]);
    let bytes = fs::read(&image).unwrap();
    let room = ImageStorage::default();
    let read = Image::parse(&bytes, Policy::Compat, &room).unwrap();
    let at = |name: &str| read.symbols.iter().find(|symbol| symbol.name == name.as_bytes()).unwrap().address;
    let (outer, called) = (at("_fini"), at("even"));
    assert!(outer >= read.text.end && read.text.contains(&called));
    let calls = [0, 2, 8, 9, 200].map(|offset| Arc::new(outer + offset, called, 5 + offset));
    // The samples up to the end of the section count as before.
    let samples = even(&image, &read);
    let samples = gmon::read(&fs::read(samples).unwrap(), &gmon::Hints::new()).unwrap();
    let profile = store(&image, &samples.with_arcs(calls), "beyond.gmon");
    for line in ["-l", "-l -q -z", "-l -p", "-l -c", "-q"] {
        let words: Vec<&str> = line.split(' ').collect();
        compare(&image, &[&profile], &[&["-b"], words.as_slice()].concat());
    }
    let words = ["--compat=gnu", "-b", "-l", "-q", "a.out", profile.to_str().unwrap()];
    let text = String::from_utf8(gmon_tests::read(gprof(), image.parent().unwrap(), &words).stdout).unwrap();
    assert!(text.contains("/244         _fini ["), "{text}");
}

/// In DWARF 2, an inlined function whose code has several ranges has an empty one. Functions that were inlined into it
/// are found.
#[test]
fn inlined_functions_inside_of_one_without_a_range() {
    let flags = ["-O2", "-gdwarf-2", "-gstrict-dwarf"];
    let image = compile("by_line_scattered", &["scattered.c"], &flags);
    for seed in 0..3 {
        for options in [["-b", "-l", "-p"], ["-b", "-l", "-q"]] {
            compare(&image, &[&made_up(&image, seed)], &options);
        }
    }
    let bytes = fs::read(&image).unwrap();
    let room = ImageStorage::default();
    let program = Image::parse(&bytes, Policy::Full, &room).unwrap();
    compare(&image, &[&even(&image, &program)], &["-b", "-l", "-p"]);
    let frames = program.files.frames().unwrap();
    let main = program.symbols.iter().find(|symbol| symbol.name == b"main").unwrap().address;
    let names = |address| -> (Vec<&str>, Vec<&str>, Option<&str>) {
        let text = |name| str::from_utf8(name).unwrap();
        let callers = frames.callers(address).into_iter().map(|caller| text(caller.function)).collect();
        (frames.all_inlined(address).into_iter().map(text).collect(), callers, frames.inlined(address).map(text))
    };
    let all: Vec<_> = (main..main + 0x100).map(names).collect();
    for expected in [
        (vec!["total", "square"], vec!["total", "main"], Some("square")),
        (vec!["total", "scale"], vec!["total", "main"], Some("scale")),
        (vec![], vec![], None),
    ] {
        assert!(all.contains(&expected), "{expected:?}: {all:?}");
    }
    let rows = rows_of_even(&image, &program, &["-b", "-l", "-p", "--inlines"]);
    assert!(rows.iter().any(|(_, row)| row.contains("  scale (") && row.ends_with(") in total in main")), "{rows:?}");
}

/// All code of a copy that gcc makes has the copy's name, as in reports of functions, but inlined code has its own
/// name: also where the copy begins.
#[test]
fn copies_have_one_name() {
    let image = compile("by_line_copies", &["copied.c"], &["-g", "-O2"]);
    let bytes = fs::read(&image).unwrap();
    let room = ImageStorage::default();
    let program = Image::parse(&bytes, Policy::Full, &room).unwrap();
    let mut symbols: Vec<_> = program.symbols.iter().filter(|symbol| symbol.is_func).collect();
    symbols.sort_by_key(|symbol| symbol.address);
    let rows = rows_of_even(&image, &program, &["-b", "-l", "-p"]);
    let (mut of_copies, mut inlined_starts) = (0, 0);
    for (_, text) in rows.iter().filter(|(_, text)| text.contains("copied.c:")) {
        let (address, ..) = place(text).unwrap();
        let name = text.get(54..).unwrap().split(' ').next().unwrap();
        let symbol = symbols[symbols.partition_point(|symbol| symbol.address <= address) - 1];
        // The innermost function comes first.
        let mut command = Command::new("addr2line");
        let output = command.args(["-i", "-f", "-e"]).arg(&image).arg(format!("{address:x}")).output().unwrap();
        let output = String::from_utf8(output.stdout).unwrap();
        let told: Vec<&str> = output.lines().step_by(2).collect();
        let of_symbol = str::from_utf8(symbol.name).unwrap();
        assert_eq!(name, if told.len() > 1 { told[0] } else { of_symbol }, "{text}: {told:?}");
        of_copies += usize::from(told.len() == 1 && of_symbol.ends_with(".cold"));
        inlined_starts += usize::from(told.len() > 1 && of_symbol.ends_with(".cold") && symbol.address == address);
    }
    assert!(of_copies >= 3 && inlined_starts == 1, "{of_copies} {inlined_starts} {rows:?}");
    // Copies that count for their functions have the names of the functions.
    let merged = rows_of_even(&image, &program, &["-b", "-l", "-p", "--merge-clones"]);
    assert!(merged.len() > 10 && !merged.iter().any(|(_, text)| text.contains(".cold")), "{merged:?}");
}

/// A function whose time was all in inlined functions has no time left.
#[test]
fn no_time_is_below_zero() {
    let image = compile("by_line_rounding", &["classes.cc"], &["-g", "-O2"]);
    let bytes = fs::read(&image).unwrap();
    let room = ImageStorage::default();
    let program = Image::parse(&bytes, Policy::Full, &room).unwrap();
    let (frames, lines) = (program.files.frames().unwrap(), program.files.lines());
    let is_inlined =
        |address| lines.find(address).is_some_and(|range| range.line != 0) && !frames.callers(address).is_empty();
    let mut random = Random::new(7);
    for size in [3, 5, 6, 7, 9, 11, 13] {
        let (lowpc, length) = (program.text.start, program.text.end - program.text.start);
        // All samples are in inlined code, in bins that several functions share.
        let bin = |at| {
            let first = lowpc + size * at;
            if (first..first + size).all(is_inlined) { random.below(1000) } else { 0 }
        };
        let bins: Vec<u64> = (0..length.div_ceil(size)).map(bin).collect();
        let highpc = lowpc + size * bins.len() as u64;
        let histogram = Histogram::new(lowpc..highpc, Unit::seconds(100), bins).unwrap();
        let profile = Profile::of_samples(vec![histogram]).unwrap();
        let profile = store(&image, &profile, "rounding.gmon");
        let output =
            read(gprof(), image.parent().unwrap(), &["-b", "-p", "--inlines", "a.out", profile.to_str().unwrap()]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("[inlined in ") && !text.contains("-0.00"), "{size}: {text}");
    }
}

/// The self time and the rest of a row of a flat profile.
fn row(text: &str) -> Option<(f64, String)> {
    let mut words = text.split_whitespace();
    let seconds =
        (words.next()?.parse::<f64>().ok()?, words.next()?.parse::<f64>().ok()?, words.next()?.parse().ok()?).2;
    Some((seconds, text.to_owned()))
}

/// The address, file, and line of a row by line.
fn place(text: &str) -> Option<(u64, String, u64)> {
    let (place, address) = text.strip_suffix(')')?.rsplit_once(" @ ")?;
    let (file, line) = place.rsplit_once(" (")?.1.rsplit_once(':')?;
    Some((u64::from_str_radix(address, 16).ok()?, file.to_owned(), line.parse().ok()?))
}
