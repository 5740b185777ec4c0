//! Images that are not ELF files: PE, as MinGW's tools write it, and Mach-O. testdata/foreign has the images, and the
//! test makes their profiles.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

use gmon::{Arc, DataModel, Encoding, Form, Histogram, Order, Profile, Unit, Word};
use gmon_tests::{directory, gprof, read};
use gprof::internals::{Image, ImageStorage, Policy};
use object::{Object as _, ObjectSymbol as _};

/// The images: file, and size of an address.
const IMAGES: [(&str, Word); 3] =
    [("pe-x86_64.exe", Word::W64), ("pe-i386.exe", Word::W32), ("macho-x86_64", Word::W64)];

/// The functions of the program in the order of calls: the name in the symbol table, the name in the source, the
/// samples in units of ten, and the calls.
const FUNCTIONS: [(&str, &str, u64, u64); 4] = [
    ("main", "main", 1, 0),
    ("twice", "twice", 2, 1),
    ("_ZN6shapes4areaEi", "shapes::area(int)", 3, 2),
    ("_ZL4burnm", "burn(unsigned long)", 4, 2),
];

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/foreign")
}

/// The address of a function, as another reader of the file finds the address.
fn address(bytes: &[u8], name: &str) -> u64 {
    let file = object::File::parse(bytes).unwrap();
    // (The underscore of compilers is before the name.)
    let is_named = |found: &[u8]| found == name.as_bytes() || found.strip_prefix(b"_") == Some(name.as_bytes());
    file.symbols().find(|symbol| is_named(symbol.name_bytes().unwrap())).unwrap().address()
}

/// A profile in which each function of the program has samples, and calls by the function before it.
fn profile(image: &[u8]) -> Profile {
    let addresses = FUNCTIONS.map(|(name, ..)| address(image, name));
    let lowpc = addresses.iter().min().unwrap() & !3;
    let bins = (addresses.iter().max().unwrap() - lowpc) / 4 + 8;
    let mut samples = vec![0_u64; bins as usize];
    for (address, (.., count, _)) in addresses.iter().zip(FUNCTIONS) {
        samples[((address + 4 - lowpc) / 4) as usize] += 10 * count;
    }
    let calls = addresses.iter().zip(&addresses[1..]).zip(&FUNCTIONS[1..]);
    let arcs = calls.map(|((caller, callee), (.., count))| Arc::new(caller + 8, *callee, *count));
    sampled(lowpc..lowpc + bins * 4, samples).with_arcs(arcs)
}

/// A profile with these samples and no calls.
fn sampled(range: Range<u64>, bins: Vec<u64>) -> Profile {
    Profile::of_samples([Histogram::new(range, Unit::seconds(100), bins).unwrap()]).unwrap()
}

/// Puts an image into a directory of its own, with its debug file, its source file, and its profile.
fn staged(test: &str, name: &str, word: Word) -> PathBuf {
    let place = directory(&format!("foreign-{test}-{name}"));
    for file in [name, "program.cc"] {
        fs::copy(data().join(file), place.join(file)).unwrap();
    }
    let inside = format!("{name}.dSYM/Contents/Resources/DWARF");
    if data().join(&inside).exists() {
        fs::create_dir_all(place.join(&inside)).unwrap();
        fs::copy(data().join(&inside).join(name), place.join(&inside).join(name)).unwrap();
    }
    let bytes = fs::read(place.join(name)).unwrap();
    write(&place, &profile(&bytes), word, Order::Little);
    place
}

fn write(place: &Path, profile: &Profile, word: Word, order: Order) {
    let bytes = gmon::write(profile, Encoding::new(Form::Gnu, word.into(), order)).unwrap();
    fs::write(place.join("gmon.out"), bytes).unwrap();
}

/// gprof's standard output; gprof must succeed and say this on standard error.
fn report(place: &Path, said: &str, words: &[&str]) -> String {
    let output = read(gprof(), place, words);
    assert!(output.status.success(), "{words:?} {output:?}");
    assert_eq!(String::from_utf8(output.stderr).unwrap(), said, "{words:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Checks that a flat profile has the samples and the calls of all functions.
fn has_functions(printed: &str) {
    for (_, name, samples, calls) in FUNCTIONS {
        let line =
            printed.lines().find(|line| line.ends_with(&format!("  {name}"))).unwrap_or_else(|| panic!("{printed}"));
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words[2], format!("0.{samples}0"), "{line}");
        if calls > 0 {
            assert_eq!(words[3], calls.to_string(), "{line}");
        }
    }
}

#[test]
fn functions_and_calls() {
    for (name, word) in IMAGES {
        let place = staged("functions", name, word);
        has_functions(&report(&place, "", &["-b", "-p", name]));
        let graph = report(&place, "", &["-b", "-q", name]);
        assert!(graph.contains("2/2           burn(unsigned long) ["), "{graph}");
        assert!(graph.contains("burn(unsigned long) (program.cc)"), "the file of a local function: {graph}");
        let raw = report(&place, "", &["-b", "-p", "--no-demangle", name]);
        assert!(raw.contains("  _ZN6shapes4areaEi\n"), "without the underscore that compilers add: {raw}");
        // The BSDs' reports, which know only symbols of functions.
        let bsd = report(&place, "", &["--bsd", "-b", name]);
        assert!(bsd.contains("2/2           twice [") && bsd.contains("  _ZL4burnm ["), "{bsd}");
        let static_calls = report(&place, "", &["-b", "-q", "-c", name]);
        assert_eq!(static_calls.contains("__main ("), name.starts_with("pe"), "{static_calls}");
    }
}

#[test]
fn lines_inlined_functions_and_sources() {
    for (name, word) in IMAGES {
        let place = staged("lines", name, word);
        let lines = report(&place, "", &["-b", "-p", "-l", name]);
        assert!(lines.contains("(program.cc:37 @ "), "{lines}");
        let inlined = report(&place, "", &["-b", "-p", "--inlines", name]);
        assert!(inlined.contains("[inlined in burn(unsigned long)]"), "{inlined}");
        let sources = report(&place, "", &["-b", "-A", "--source-times", name]);
        assert!(sources.contains("sink += i;"), "{sources}");
    }
    // Without the bundle, or with that of another build, Mach-O has no lines.
    let place = staged("bundle", "macho-x86_64", Word::W64);
    let debug_file = place.join("macho-x86_64.dSYM/Contents/Resources/DWARF/macho-x86_64");
    let bytes = fs::read(&debug_file).unwrap();
    let uuid = object::File::parse(&*bytes).unwrap().mach_uuid().unwrap().unwrap();
    let at = bytes.windows(16).position(|window| *window == uuid).unwrap();
    let mut other = bytes.clone();
    other[at] ^= 1;
    fs::write(&debug_file, other).unwrap();
    let said = "gprof: warning: macho-x86_64: no line tables, so -l reports functions: \
                compile with -g, or name a file with --debug-dir\n";
    let lines = report(&place, said, &["-b", "-p", "-l", "macho-x86_64"]);
    assert!(!lines.contains("program.cc"), "{lines}");
}

/// `--compat=gnu` prints the flat profile and the call graph of GNU gprof 2.40 for PE files.
#[test]
fn what_gnu_gprof_printed() {
    for (name, word) in &IMAGES[..2] {
        let place = staged("gnu", name, *word);
        let ours = report(&place, "", &["-b", "--compat=gnu", name]);
        let golden = data().join(format!("{name}.txt"));
        if std::env::var_os("GOLDENS").is_some_and(|value| value == "write")
            && let Some(theirs) = gmon_tests::multiarch_gprof()
        {
            fs::write(&golden, read(theirs, &place, &["-b", name]).stdout).unwrap();
        }
        gmon_tests::assert_same(&fs::read(golden).unwrap(), ours.as_bytes(), name);
    }
}

/// MinGW writes 4.4BSD's form, in which a C `long` counts the calls: four bytes, also on 64-bit Windows. Whatever the
/// bytes after such a count are, they are not a part of the count.
#[test]
fn profiles_of_windows() {
    for (name, model) in [("pe-x86_64.exe", DataModel::Llp64), ("pe-i386.exe", DataModel::Ilp32)] {
        let place = staged("windows", name, model.word());
        let profile = profile(&fs::read(place.join(name)).unwrap());
        let mut bytes = gmon::write(&profile, Encoding::new(Form::Bsd, model, Order::Little)).unwrap();
        if model == DataModel::Llp64 {
            // The arcs are at the end, 24 bytes each; an ELF program could have made so many calls.
            let start = bytes.len() - 24 * profile.arcs().len();
            for (number, arc) in bytes[start..].chunks_mut(24).enumerate() {
                arc[20] = number as u8;
            }
        }
        fs::write(place.join("gmon.out"), bytes).unwrap();
        has_functions(&report(&place, "", &["-b", "-p", name]));
    }
}

/// Windows loads programs at other addresses than those of the linker.
#[test]
fn programs_that_windows_moved() {
    for (name, word, slide) in [("pe-x86_64.exe", Word::W64, 0x7ff5_0123_0000), ("pe-i386.exe", Word::W32, 0x20_0000)] {
        let place = staged("moved", name, word);
        let bytes = fs::read(place.join(name)).unwrap();
        let profile = profile(&bytes);
        let [histogram] = profile.histograms() else { panic!("{profile:?}") };
        let sampled = address(&bytes, "__eprol") & !3..address(&bytes, "etext").next_multiple_of(4);
        let mut bins = vec![0; ((sampled.end - sampled.start) / 4) as usize];
        for (bin, count) in histogram.hit() {
            bins[(histogram.lowpc() / 4 + bin - sampled.start / 4) as usize] = u64::try_from(count).unwrap();
        }
        let arcs = profile.arcs().iter().map(|arc| Arc::new(arc.frompc + slide, arc.selfpc + slide, arc.count));
        write(
            &place,
            &self::sampled(sampled.start + slide..sampled.end + slide, bins).with_arcs(arcs),
            word,
            Order::Little,
        );
        has_functions(&report(&place, "", &["-b", "-p", name]));
    }
}

/// MinGW's linker may define the end of the sampled code behind the last section of code.
#[test]
fn programs_that_sample_more_than_their_code() {
    const SYMBOL: usize = 18;
    for (slide, word) in [(0, Word::W64), (0x7ff5_0123_0000, Word::W64)] {
        let name = "pe-x86_64.exe";
        let place = staged("beyond", name, word);
        let mut bytes = fs::read(place.join(name)).unwrap();
        let at = bytes.windows(8).position(|symbol| symbol == b"etext\0\0\0").unwrap();
        let value: &mut [u8; 4] = bytes[at..at + SYMBOL][8..].first_chunk_mut().unwrap();
        *value = (u32::from_le_bytes(*value) + 0x3000).to_le_bytes();
        fs::write(place.join(name), &bytes).unwrap();
        let sampled = address(&bytes, "__eprol") & !3..address(&bytes, "etext").next_multiple_of(4);
        let bins = vec![1; ((sampled.end - sampled.start) / 4) as usize];
        let moved = sampled.start + slide..sampled.end + slide;
        write(&place, &self::sampled(moved.clone(), bins.clone()), word, Order::Little);
        for options in [&["-b", "-p", name][..], &["--bsd", "-b", name]] {
            report(&place, "", options);
        }
        // A longer profile is of another program.
        let bins = [bins, vec![1; 1024]].concat();
        write(&place, &self::sampled(moved.start..moved.end + 4096, bins), word, Order::Little);
        let output = read(gprof(), &place, &["-b", "-p", name]);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains("is it the profile of another program?"), "{slide:x}: {text}");
    }
}

/// A PE file for x86-64 that imports these libraries.
fn importing(bytes: &[u8], libraries: &[&str]) -> Vec<u8> {
    const ENTRY: usize = 20;
    let mut file = bytes.to_vec();
    let number = |at: usize| u32::from_le_bytes(*bytes[at..].first_chunk().unwrap()) as usize;
    let header = number(0x3c);
    let sections = header + 24 + number(header + 20) % 0x1_0000;
    // The section of imports has room up to its end in the file.
    let section = (sections..).step_by(40).find(|at| bytes[*at..].starts_with(b".idata\0")).unwrap();
    let (address, length, offset) = (number(section + 12), number(section + 16), number(section + 20));
    let mut names = ENTRY * (libraries.len() + 1);
    file[offset..offset + names].fill(0);
    for (library, entry) in libraries.iter().zip((offset..).step_by(ENTRY)) {
        file[entry + 12..entry + 16].copy_from_slice(&((address + names) as u32).to_le_bytes());
        file[offset + names..][..library.len()].copy_from_slice(library.as_bytes());
        file[offset + names + library.len()] = 0;
        names += library.len() + 1;
    }
    assert!(names <= length);
    file[section + 8..section + 12].copy_from_slice(&(names as u32).to_le_bytes());
    // The second data directory.
    file[header + 24 + 120..][..4].copy_from_slice(&(address as u32).to_le_bytes());
    file
}

/// On 64-bit Windows, a C `long` has four bytes, but eight in programs of Cygwin and MSYS. The imported libraries tell.
#[test]
fn the_image_tells_the_size_of_a_long() {
    let name = "pe-x86_64.exe";
    let plain = fs::read(data().join(name)).unwrap();
    let many = 5_u64 << 32 | 2;
    for (libraries, is_wide) in [
        (&["cygwin1.dll"][..], true),
        (&["KERNEL32.dll", "CYGWIN1.DLL"], true),
        (&["msys-2.0.dll", "KERNEL32.dll"], true),
        (&["KERNEL32.dll", "msvcrt.dll"], false),
        (&["cygwin1.dllx", "xcygwin1.dll", "msys-2.0.dl"], false),
        (&[], false),
    ] {
        let place = staged("long", name, Word::W64);
        fs::write(place.join(name), importing(&plain, libraries)).unwrap();
        let mut profile = profile(&plain);
        profile.arcs_mut().iter_mut().for_each(|arc| arc.count = many);
        let form = Encoding::new(Form::Bsd, DataModel::Lp64, Order::Little);
        fs::write(place.join("gmon.out"), gmon::write(&profile, form).unwrap()).unwrap();
        let graph = report(&place, "", &["-b", "-q", name]);
        let calls = if is_wide { many } else { 2 };
        assert!(graph.contains(&format!("{calls}/{calls} ")), "{libraries:?}: {graph}");
    }
}

/// A 32-bit big-endian Mach-O file with two functions, `_first` at 0x1000 and `_second` at 0x1040.
fn macho_of_powerpc() -> Vec<u8> {
    const TEXT: u32 = 1;
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>();
    let named = |name: &str| name.bytes().chain(std::iter::repeat(0)).take(16).collect::<Vec<u8>>();
    let names = b"\0_first\0_second\0";
    let (segment, table) = (56 + 68, 24);
    let start = 28 + segment + table;
    let header = words(&[0xfeed_face, 18, 0, 2, 2, segment + table, 0]);
    let segment_command = [
        words(&[1, segment]),
        named("__TEXT"),
        words(&[0, 0x2000, 0, start + 24, 7, 5, 1, 0]),
        named("__text"),
        named("__TEXT"),
        words(&[0x1000, 0x80, 0, 2, 0, 0, 0x8000_0400, 0, 0]),
    ];
    let table_command = words(&[2, table, start, 2, start + 24, names.len() as u32]);
    // The type says: in a section, and visible in other files. The section follows.
    let symbol = |name: u32, value: u32| words(&[name, 0x0f00_0000 | TEXT << 16, value]);
    let symbols = [symbol(1, 0x1000), symbol(8, 0x1040)].concat();
    [header, segment_command.concat(), table_command, symbols, names.to_vec()].concat()
}

/// A universal file: processor and content of each slice.
fn universal(slices: &[(u32, &[u8])]) -> Vec<u8> {
    let mut file: Vec<u8> = [0xcafe_babe_u32, slices.len() as u32].iter().flat_map(|word| word.to_be_bytes()).collect();
    let mut offset = 0x1000;
    for (machine, bytes) in slices {
        let size = bytes.len() as u32;
        file.extend([*machine, 3, offset, size, 12].iter().flat_map(|word| word.to_be_bytes()));
        offset = (offset + size).next_multiple_of(0x1000);
    }
    for (_, bytes) in slices {
        file.resize(file.len().next_multiple_of(0x1000), 0);
        file.extend(*bytes);
    }
    file
}

#[test]
fn universal_files() {
    const POWERPC: u32 = 18;
    const X86_64: u32 = 0x0100_0007;
    let place = directory("foreign-universal");
    let (old, new) = (macho_of_powerpc(), fs::read(data().join("macho-x86_64")).unwrap());
    // All programs are older than the profiles.
    fs::write(place.join("both"), universal(&[(POWERPC, &old), (X86_64, &new)])).unwrap();
    fs::write(place.join("one"), universal(&[(POWERPC, &old)])).unwrap();
    fs::write(place.join("twins"), universal(&[(POWERPC, &old), (POWERPC, &old)])).unwrap();
    write(&place, &profile(&new), Word::W64, Order::Little);
    let said =
        |name| format!("gprof: both: universal file with the slices ppc, x86_64: only {name} fits the profile\n");
    has_functions(&report(&place, &said("x86_64"), &["-b", "-p", "both"]));
    let mut bins = vec![0_u64; 32];
    (bins[4], bins[20]) = (30, 70);
    write(&place, &sampled(0x1000..0x1080, bins), Word::W32, Order::Big);
    let printed = report(&place, &said("ppc"), &["-b", "-p", "both"]);
    assert!(printed.contains("0.70     0.70  ") && printed.contains("  second\n"), "{printed}");
    // A profile without samples and calls fits both slices, and the command line chooses.
    let empty = [&b"gmon"[..], &[0; 16]].concat();
    fs::write(place.join("empty"), empty).unwrap();
    for (known, name) in [("gnu,ilp32", "ppc"), ("gnu,big", "ppc"), ("auto,little", "x86_64"), ("gnu,lp64", "x86_64")] {
        let output = read(gprof(), &place, &[&format!("--profile-form={known}"), "both", "empty"]);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.starts_with(&said(name)), "{known}: {text}");
    }
    // A file with one slice needs no choice. An error says if two slices fit, and if a pipe has the profile, because
    // gprof cannot read the profile for the choice and again for the report.
    assert!(report(&place, "", &["-b", "-p", "one"]).contains("  first\n"));
    let pipe = gprof().to_str().unwrap().to_owned() + " both <(cat gmon.out)";
    let by_shell = (Path::new("bash"), &["-c", &pipe][..]);
    for (program, words) in
        [(gprof(), &["twins"][..]), (gprof(), &["both", "-"]), (gprof(), &["both", "empty"]), by_shell]
    {
        let output = read(program, &place, words);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && text.contains("universal Mach-O file with the slices ppc, "), "{text}");
    }
}

#[test]
fn files_without_functions() {
    let place = directory("foreign-stripped");
    let mut bytes = fs::read(data().join("pe-x86_64.exe")).unwrap();
    let header = u32::from_le_bytes(*bytes[0x3c..].first_chunk().unwrap()) as usize;
    bytes[header + 12..header + 20].fill(0);
    fs::write(place.join("stripped.exe"), &bytes).unwrap();
    let said = |name: &str| String::from_utf8(read(gprof(), &place, &[name]).stderr).unwrap();
    assert_eq!(said("stripped.exe"), "gprof: stripped.exe: no symbols of functions: the file was stripped\n");
    // Microsoft's tools, and clang with Microsoft's target, put the symbols into a PDB file.
    let source = data().join("program.cc");
    let run = |tool: &str, words: &[&str]| {
        let run = Command::new(tool).current_dir(&place).args(words).output();
        run.is_ok_and(|output| output.status.success())
    };
    let compile =
        ["-target", "x86_64-pc-windows-msvc", "-g", "-gcodeview", "-c", source.to_str().unwrap(), "-o", "x.obj"];
    // MinGW's linker defines etext.
    let etext = "/alternatename:etext=main";
    let link = ["/nodefaultlib", "/entry:main", "/subsystem:console", "/debug", etext, "/out:windows.exe", "x.obj"];
    if !run("clang++", &compile) || !run("lld-link", &link) {
        eprintln!("SKIPPED: no clang++ and lld-link that make programs with PDB files");
        return;
    }
    let text = said("windows.exe");
    assert!(text.starts_with("gprof: windows.exe: no symbols of functions: they are in the PDB file "), "{text}");
    let text = said("windows.pdb");
    assert!(text.contains("PDB (debug information of Microsoft's tools) files are not supported"), "{text}");
}

/// A truncated file, and a file with a changed byte, leads to a result or an error, but not to a panic.
#[test]
fn damaged_files() {
    let images = IMAGES.map(|(name, _)| fs::read(data().join(name)).unwrap()).into_iter();
    for bytes in images.chain([macho_of_powerpc()]) {
        let parse = |bytes: &[u8]| {
            for policy in [Policy::Full, Policy::Compat] {
                let storage = ImageStorage::default();
                if let Ok(image) = Image::parse(bytes, policy, &storage) {
                    let _ = (image.every_symbol(), image.nearest(), image.local_files(), image.files.lines());
                }
            }
        };
        for length in (0..bytes.len()).step_by(197).chain((0..bytes.len().min(1024)).step_by(5)) {
            parse(&bytes[..length]);
        }
        // The first bytes are headers, whose changes have more effects than those of symbols and names.
        for at in 0..bytes.len().min(1024) {
            for value in [0xff, bytes[at] ^ 0x01] {
                let mut damaged = bytes.clone();
                damaged[at] = value;
                parse(&damaged);
            }
        }
    }
}
