//! What the reader finds in executables: lines, inlined functions, compressed and separate debug information.

use std::fs;
use std::path::Path;
use std::process::Command;

use gmon_tests::{compare, compile, directory, gprof, read, run};
use gprof::internals::{Image, ImageStorage, Policy};

/// The address at which the code of `name` begins.
fn address(image: &Image<'_>, name: &str) -> u64 {
    image.symbols.iter().find(|symbol| symbol.name == name.as_bytes()).unwrap().address
}

/// The file name and the line at which a function begins.
fn begins_at(image: &Image<'_>, name: &str) -> Option<(String, u32)> {
    let lines = image.files.lines();
    let range = lines.find(address(image, name))?;
    Some((String::from_utf8(lines.path(range.file).full()).unwrap(), range.line))
}

/// The line of a program's source that contains a text.
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
        let room = ImageStorage::default();
        let image = Image::parse(&bytes, Policy::Compat, &room).unwrap();
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
fn sections_compressed_in_every_way() {
    let image = compile("packed", &["inlined.c"], &["-g"]);
    for way in ["none", "zlib", "zlib-gnu", "zlib-gabi", "zstd"] {
        let option = format!("--compress-debug-sections={way}");
        let mut objcopy = Command::new("objcopy");
        objcopy.args([&option, "a.out", "packed"]).current_dir(image.parent().unwrap());
        if !objcopy.output().unwrap().status.success() {
            eprintln!("SKIPPED: this objcopy cannot compress with {way}");
            continue;
        }
        let bytes = fs::read(image.with_file_name("packed")).unwrap();
        let room = ImageStorage::default();
        let image = Image::parse(&bytes, Policy::Compat, &room).unwrap();
        assert_eq!(begins_at(&image, "main").unwrap().1, line_of("inlined.c", "int main"), "{way}");
        let (frames, main) = (image.files.frames().unwrap(), address(&image, "main"));
        assert_eq!((frames.innermost(main), frames.callers(main).len()), (Some(&b"main"[..]), 0), "{way}");
    }
}

#[test]
fn inlined_functions_are_found() {
    for version in ["-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5"] {
        let image = compile(&format!("inlined{version}"), &["inlined.c"], &[version, "-O1"]);
        let bytes = fs::read(image).unwrap();
        let room = ImageStorage::default();
        let image = Image::parse(&bytes, Policy::Compat, &room).unwrap();
        let (lines, frames) = (image.files.lines(), image.files.frames().unwrap());
        let inner = line_of("inlined.c", "sum += n * n");
        let starts = lines.within(image.text.clone()).filter(|range| range.line == inner).map(|range| range.start);
        let names = |start| {
            let callers = frames.callers(start).into_iter().map(|caller| caller.function);
            std::iter::once(frames.innermost(start).unwrap()).chain(callers).collect()
        };
        let found: Vec<Vec<&[u8]>> = starts.map(names).collect();
        assert!(found.contains(&vec![b"square", b"outer"]), "{version}: {found:?}");
        let main = lines.find(address(&image, "main")).unwrap();
        assert_eq!(main.line, line_of("inlined.c", "int main"));
        assert_eq!(lines.path(main.file).full(), source("inlined.c").into_bytes());
        for nowhere in [1, u64::MAX] {
            assert!(frames.innermost(nowhere).is_none() && frames.callers(nowhere).is_empty());
        }
    }
}

#[test]
fn lines_cover_the_code_once_and_in_order() {
    let bytes = fs::read(compile("line_order", &["classes.cc"], &["-g", "-O2"])).unwrap();
    let room = ImageStorage::default();
    let image = Image::parse(&bytes, Policy::Compat, &room).unwrap();
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

/// Runs a binutils tool in the directory of an image.
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
        let room = ImageStorage::default();
        let mut image = Image::parse(&bytes, Policy::Compat, &room).unwrap();
        let path = image.find_debug_file(&directory.join(name), &stores, Policy::Compat, &room);
        (path, begins_at(&image, "main").map(|(_, line)| line))
    };
    let line = Some(line_of("inlined.c", "int main"));
    assert_eq!(found("a.out"), (None, line));
    assert_eq!(found("unlinked"), (None, None));
    // By name: beside the program, or in a directory for debug files; and only if the checksum matches.
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
    // By build ID, if it is the same.
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

#[test]
fn symbols_in_a_file_of_their_own() {
    let image = compile("separate_symbols", &["kinds.cc"], &["-no-pie"]);
    let whole = names(&fs::read(&image).unwrap(), Policy::Full);
    tool(&image, &["objcopy", "--only-keep-debug", "a.out", "a.debug"]);
    tool(&image, &["objcopy", "--strip-all", "--add-gnu-debuglink=a.debug", "a.out", "linked"]);
    let bytes = fs::read(image.with_file_name("linked")).unwrap();
    let room = ImageStorage::default();
    let mut stripped = Image::parse(&bytes, Policy::Full, &room).unwrap();
    assert!(stripped.warning().is_some());
    assert!(stripped.find_debug_file(&image.with_file_name("linked"), &[], Policy::Full, &room).is_some());
    assert!(stripped.warning().is_none());
    let sorted = |names: Vec<String>| names.into_iter().collect::<std::collections::BTreeSet<String>>();
    let found = stripped.symbols.iter().map(|symbol| String::from_utf8(symbol.name.to_vec()).unwrap());
    assert_eq!(sorted(found.collect()), sorted(whole));
}

#[test]
fn directories_for_debug_information_are_named_on_the_command_line() {
    let image = compile("debug_directories", &["same_one.c", "same_two.c"], &["-g", "-Wl,--build-id=0x34abcdef"]);
    let directory = image.parent().unwrap().canonicalize().unwrap();
    assert!(run(&image).exists());
    tool(&image, &["objcopy", "--only-keep-debug", "a.out", "a.debug"]);
    tool(&image, &["objcopy", "--strip-all", "--add-gnu-debuglink=a.debug", "a.out", "linked"]);
    let whole = read(gprof(), &directory, &["-bz", "a.out", "gmon.out"]).stdout;
    // Whether these arguments give the same output as the whole program, and whether there is a warning.
    let shown = |words: &[&str]| {
        let output = read(gprof(), &directory, &[words, &["-bz", "linked", "gmon.out"]].concat());
        assert!(output.status.success());
        (output.stdout == whole, String::from_utf8(output.stderr).unwrap().contains("was stripped"))
    };
    let store = |path: &str| {
        let path = directory.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(directory.join("a.debug"), path).unwrap();
    };
    // By build ID, in the second of the directories.
    store("by_id/.build-id/34/abcdef.debug");
    // By name, at the program's path from the root.
    store(&format!("by_name/{}/a.debug", directory.strip_prefix("/").unwrap().display()));
    fs::remove_file(directory.join("a.debug")).unwrap();
    assert_eq!(shown(&[]), (false, true));
    assert_eq!(shown(&["--debug-dir", "by_id"]), (true, false));
    assert_eq!(shown(&["--debug-dir=no-such", "--debug-dir=by_id"]), (true, false));
    assert_eq!(shown(&["--debug-dir=by_name"]), (true, false));
    assert_eq!(shown(&["--debug-dir=no-such"]), (false, true));
    // Files of another build are ignored.
    let other = fs::read(directory.join("by_id/.build-id/34/abcdef.debug")).unwrap();
    let id = other.windows(4).position(|bytes| bytes == [0x34, 0xab, 0xcd, 0xef]).unwrap();
    let other = [&other[..id], &[0x35], &other[id + 1..]].concat();
    fs::write(directory.join("by_id/.build-id/34/abcdef.debug"), other).unwrap();
    assert_eq!(shown(&["--debug-dir=by_id"]), (false, true));
    assert_eq!(shown(&["--debug-dir=by_id", "--debug-dir=by_name"]), (true, false));
}

/// The names that an image has for functions.
fn names(bytes: &[u8], policy: Policy) -> Vec<String> {
    let room = ImageStorage::default();
    let image = Image::parse(bytes, policy, &room).unwrap();
    image.symbols.iter().map(|symbol| String::from_utf8(symbol.name.to_vec()).unwrap()).collect()
}

#[test]
fn every_kind_of_symbol() {
    let bytes = fs::read(compile("kinds", &["kinds.cc"], &["-no-pie"])).unwrap();
    let compat = names(&bytes, Policy::Compat);
    let full = names(&bytes, Policy::Full);
    let bsd = names(&bytes, Policy::Bsd { statics: true, dots: true });
    let global = names(&bytes, Policy::Bsd { statics: false, dots: false });
    for (name, expected) in [
        ("main", [true, true, true, true]),
        ("weak_one", [true, true, true, true]),
        ("_ZL3onev", [true, true, true, false]),
        ("chosen", [false, true, false, false]),
        ("unique_one", [false, true, false, false]),
        ("copy_of.part.0", [false, true, true, false]),
        ("printf@plt", [false, true, false, false]),
        ("data_start", [true, false, false, false]),
        ("printf@GLIBC_2.2.5", [false, false, true, false]),
    ] {
        let has = [&compat, &full, &bsd, &global].map(|names| names.iter().any(|other| other == name));
        assert_eq!(has, expected, "{name}: {full:?}");
    }
}

#[test]
fn stubs_are_where_objdump_shows_them() {
    for (name, flags) in [
        ("stubs_lazy", ["-no-pie", "-Wl,-z,lazy"].as_slice()),
        ("stubs_marked", &["-fcf-protection=full", "-Wl,-z,ibtplt"]),
        ("stubs_now", &["-pie", "-fPIE", "-Wl,-z,now"]),
        ("stubs_static", &["-static"]),
    ] {
        let image = compile(name, &["kinds.cc"], flags);
        let output = Command::new("objdump").arg("-d").arg(&image).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        // `0000000000001030 <puts@plt>:`, but not `<*ABS*+0x1136@plt>`, which has no name.
        let heads = text.lines().filter_map(|line| line.strip_suffix("@plt>:")?.split_once(" <"));
        let expected: Vec<(u64, String)> = heads
            .filter(|(_, name)| !name.starts_with('*'))
            .map(|(address, name)| (u64::from_str_radix(address, 16).unwrap(), format!("{name}@plt")))
            .collect();
        assert!(!expected.is_empty() || name == "stubs_static");
        let bytes = fs::read(&image).unwrap();
        let room = ImageStorage::default();
        let image = Image::parse(&bytes, Policy::Full, &room).unwrap();
        let stubs = image.symbols.iter().filter(|symbol| symbol.name.ends_with(b"@plt"));
        let mut found: Vec<_> =
            stubs.map(|symbol| (symbol.address, String::from_utf8(symbol.name.to_vec()).unwrap())).collect();
        found.sort();
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn a_stripped_program_is_reported_by_exports_and_unwind_tables() {
    let image = compile("stripped", &["inlined.c"], &["-rdynamic"]);
    let profile = run(&image);
    // With a new time, the program could be newer than its profile by so much that gprof warns of another build.
    tool(&image, &["strip", "--preserve-dates", "a.out"]);
    let output = read(gprof(), image.parent().unwrap(), &["-b", "a.out", "gmon.out"]);
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success() && profile.exists(), "{err}");
    assert!(err.starts_with("gprof: warning: a.out: the file was stripped") && err.lines().count() == 1, "{err}");
    assert!(out.contains("outer [") && out.contains("main ["), "{out}");
    // Without exported functions, only addresses remain.
    let image = compile("stripped_bare", &["inlined.c"], &[]);
    let bytes = fs::read(&image).unwrap();
    let room = ImageStorage::default();
    let outer = address(&Image::parse(&bytes, Policy::Compat, &room).unwrap(), "outer");
    assert!(run(&image).exists());
    tool(&image, &["strip", "a.out"]);
    let output = read(gprof(), image.parent().unwrap(), &["-b", "a.out", "gmon.out"]);
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(out.contains(&format!("func_0x{outer:x} [")), "{out}");
}

/// `strip -K` leaves a symbol table without functions: the unwind tables then give the functions, however long.
#[test]
fn a_symbol_table_without_functions_counts_as_missing() {
    const FUNCTIONS: usize = 4000;
    let directory = directory("stripped_but_one");
    let functions = (0..FUNCTIONS).map(|at| format!("int f{at}(void) {{ return {at}; }}\n"));
    let source: String = functions.chain(["int kept; int main(void) { return f7() - 7; }\n".to_owned()]).collect();
    fs::write(directory.join("source.c"), source).unwrap();
    let image = directory.join("a.out");
    tool(&image, &["cc", "-pg", "-O0", "-fasynchronous-unwind-tables", "source.c"]);
    assert!(run(&image).exists());
    tool(&image, &["strip", "-K", "kept", "-o", "one", "a.out"]);
    tool(&image, &["strip", "-o", "none", "a.out"]);
    let [one, none] = ["one", "none"].map(|name| {
        let output = read(gprof(), &directory, &["-b", "-p", "-z", name, "gmon.out"]);
        let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert!(output.status.success(), "{name}: {err}");
        assert!(out.matches("func_0x").count() >= FUNCTIONS, "{name}: {out}");
        // The start-up code tells where `main` is. gprof reads no other part of such a long section of code.
        for found in [" _start\n", " main\n"] {
            assert_eq!(out.matches(found).count(), 1, "{name}: {found}");
        }
        out
    });
    assert_eq!(one, none);
    let length = |name| fs::metadata(directory.join(name)).unwrap().len();
    assert!(length("one") > length("none"), "a symbol table must remain");
}

#[test]
fn functions_unknown_to_gnu_are_shown_without_compat() {
    let image = compile("kinds_shown", &["kinds.cc"], &["-no-pie"]);
    assert!(run(&image).exists());
    let shown = |words: &[&str]| {
        let output = read(gprof(), image.parent().unwrap(), words);
        let text = String::from_utf8(output.stdout).unwrap();
        (output.status.success(), ["printf@plt [", "chosen [", "copy_of.part.0 ["].map(|name| text.contains(name)))
    };
    assert_eq!(shown(&["-b", "-z"]), (true, [true; 3]));
    assert_eq!(shown(&["--compat=gnu", "-b", "-z"]), (true, [false; 3]));
    tool(&image, &["strip", "a.out"]);
    assert_eq!(shown(&["-b", "-z"]), (true, [true, false, false]));
    assert_eq!(shown(&["--compat=gnu", "-b", "-z"]), (false, [false; 3]));
}

#[test]
fn a_shared_object_is_an_image() {
    let bytes = fs::read(compile("shared", &["inlined.c"], &["-shared", "-fPIC", "-g"])).unwrap();
    let room = ImageStorage::default();
    let image = Image::parse(&bytes, Policy::Full, &room).unwrap();
    assert!(image.text.contains(&address(&image, "outer")));
    assert_eq!(begins_at(&image, "main").unwrap().1, line_of("inlined.c", "int main"));
}

#[test]
fn separate_debug_information_works_as_in_the_systems_reader() {
    let image = compile("separate_compared", &["same_one.c", "same_two.c"], &["-g"]);
    let profile = run(&image);
    tool(&image, &["objcopy", "--only-keep-debug", "a.out", "a.debug"]);
    tool(&image, &["objcopy", "--strip-debug", "--add-gnu-debuglink=a.debug", "a.out", "linked"]);
    for options in [["-b"], ["-bz"], ["-bC"]] {
        compare(&image.with_file_name("linked"), &[&profile], &options);
    }
    let output = read(gprof(), image.parent().unwrap(), &["-b", "linked", "gmon.out"]);
    assert!(String::from_utf8(output.stdout).unwrap().contains("(same_one.c)"));
}
