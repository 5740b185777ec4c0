//! Debug information that several files share (`dwz`).

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use gmon_tests::random::Random;
use gmon_tests::{compile, gprof, has_program, read};
use gprof::internals::{Image, ImageStorage, Policy};

use super::{ADDRESS, CODE, Files, INLINED, VERSIONS, sample_everything, tool};

/// What the debug information tells.
#[derive(Debug, PartialEq, Eq)]
struct Told {
    /// The function that is inlined at [`ADDRESS`].
    inlined: Option<String>,
    /// The path of the source file at the beginning of the code.
    source: String,
    /// The warning, if some was needed and is missing.
    warning: Option<String>,
    /// The ID of the file that is missing.
    missing: Option<String>,
}

fn told(files: &Files) -> Told {
    let bytes = fs::read(&files.program).unwrap();
    let room = ImageStorage::default();
    let mut image = Image::parse(&bytes, Policy::Full, &room).unwrap();
    let found = image.find_debug_file(&files.program, std::slice::from_ref(&files.store), Policy::Full, &room);
    assert_eq!(found.as_ref(), Some(&files.debug));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let inlined = image.files.frames().and_then(|frames| frames.inlined(ADDRESS).map(text));
    let lines = image.files.lines();
    let source = lines.find(CODE.start).map(|range| text(&lines.path(range.file).full())).unwrap_or_default();
    Told { inlined, source, warning: image.files.missing_names().map(str::to_owned), missing: image.files.missing_id() }
}

impl Told {
    fn is_whole(&self) -> bool {
        self.inlined.as_deref() == Some(INLINED) && self.source == "/source/first.c" && self.warning.is_none()
    }
}

/// The path in the link of the debug file.
fn linked(version: u32) -> String {
    format!("dwarf-{version}.shared")
}

#[test]
fn a_shared_file_beside_the_debug_file() {
    for version in VERSIONS {
        let files = Files::new("beside", version);
        let without = told(&files);
        assert_eq!(without.inlined, None);
        let name = linked(version);
        let expected = format!("some names of its debug information are in {name}, which is missing: ");
        assert!(without.warning.as_ref().unwrap().starts_with(&expected), "{without:?}");
        // Before DWARF 5, the working directory of the compiler is in the shared file.
        assert_eq!(without.source == "/source/first.c", version == 5, "{without:?}");
        fs::copy(&files.shared, files.debug.with_file_name(&name)).unwrap();
        assert!(told(&files).is_whole(), "{:?}", told(&files));
        // A link to a debug file leads to the directory with the shared file.
        let real = files.store.join("real");
        fs::create_dir(&real).unwrap();
        fs::rename(&files.debug, real.join("program.debug")).unwrap();
        fs::rename(files.debug.with_file_name(&name), real.join(&name)).unwrap();
        symlink("../../real/program.debug", &files.debug).unwrap();
        assert!(told(&files).is_whole(), "{:?}", told(&files));
    }
}

#[test]
fn a_shared_file_in_a_directory_of_debug_files() {
    for version in VERSIONS {
        let files = Files::new("by_id", version);
        let id = told(&files).missing.unwrap();
        let place = files.store.join(".build-id").join(&id[..2]).join(format!("{}.debug", &id[2..]));
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::copy(&files.shared, &place).unwrap();
        assert!(told(&files).is_whole(), "{:?}", told(&files));
    }
}

#[test]
fn absolute_paths_of_shared_files() {
    let files = Files::new("absolute", 4);
    let content = |path: &Path| {
        let id = told(&files).missing.unwrap();
        let id = (0..id.len() / 2).map(|at| u8::from_str_radix(&id[2 * at..2 * at + 2], 16).unwrap());
        [path.as_os_str().as_encoded_bytes(), &[0], &id.collect::<Vec<u8>>()].concat()
    };
    let debug = files.debug.to_str().unwrap();
    let link = |path: &Path| {
        fs::write(files.directory.join("link"), content(path)).unwrap();
        tool(&files.directory, &["objcopy", "--update-section", ".gnu_debugaltlink=link", debug]);
    };
    // Packages unpacked below another directory than the system's.
    link(Path::new("/usr/lib/debug/.dwz/of-a-test-of-gmon.debug"));
    assert_eq!(told(&files).inlined, None);
    fs::create_dir(files.store.join(".dwz")).unwrap();
    fs::copy(&files.shared, files.store.join(".dwz/of-a-test-of-gmon.debug")).unwrap();
    assert!(told(&files).is_whole(), "{:?}", told(&files));
    fs::remove_dir_all(files.store.join(".dwz")).unwrap();
    link(&files.shared);
    assert!(told(&files).is_whole(), "{:?}", told(&files));
}

#[test]
fn a_shared_file_of_another_build_is_refused() {
    for version in VERSIONS {
        let files = Files::new("other", version);
        let id = told(&files).missing.unwrap();
        let digits: Vec<u8> =
            (0..id.len() / 2).map(|at| u8::from_str_radix(&id[2 * at..2 * at + 2], 16).unwrap()).collect();
        let mut bytes = fs::read(&files.shared).unwrap();
        let at = bytes.windows(digits.len()).position(|window| window == digits).unwrap();
        bytes[at] ^= 0xff;
        let place = files.debug.with_file_name(linked(version));
        fs::write(&place, &bytes).unwrap();
        let other = format!("{:02x}{}", digits[0] ^ 0xff, &id[2..]);
        let refused = told(&files);
        let expected = format!(
            "some names of its debug information are missing: {} is of another build (build ID {other}, not {id}): \
             install the debug packages of one build",
            place.display()
        );
        assert_eq!((refused.inlined, refused.warning), (None, Some(expected)), "{version}");
        // The right file is found elsewhere all the same.
        let right = files.store.join(".build-id").join(&id[..2]).join(format!("{}.debug", &id[2..]));
        fs::create_dir_all(right.parent().unwrap()).unwrap();
        fs::copy(&files.shared, &right).unwrap();
        assert!(told(&files).is_whole(), "{:?}", told(&files));
    }
}

#[test]
fn damaged_shared_files() {
    for version in VERSIONS {
        let files = Files::new("damaged", version);
        let place = files.debug.with_file_name(linked(version));
        let bytes = fs::read(&files.shared).unwrap();
        fs::write(&place, &bytes[..bytes.len() / 2]).unwrap();
        let damaged = told(&files).warning.unwrap();
        assert!(damaged.ends_with(&format!("{} is damaged: install its package again", place.display())), "{damaged}");
        // A file that is no ELF file is not read.
        fs::write(&place, b"text").unwrap();
        assert!(told(&files).warning.unwrap().contains("which is missing"));
        let (mut random, mut whole) = (Random::new(u64::from(version)), 0);
        for _ in 0..300 {
            let mut damaged = bytes.clone();
            for _ in 0..=random.below(3) {
                let at = random.below(bytes.len() as u64) as usize;
                damaged[at] = *random.pick(&[0, 1, 0x7f, 0x80, 0xff]);
            }
            fs::write(&place, damaged).unwrap();
            whole += usize::from(told(&files).is_whole());
        }
        assert!((1..300).contains(&whole), "{whole}");
    }
}

#[test]
fn the_warning_comes_with_reports_that_need_the_names() {
    let files = Files::new("warning", 4);
    files.write_profile(3);
    let printed = |words: &[&str]| {
        let output =
            read(gprof(), &files.directory, &[&["-b", "--debug-dir=store"], words, &["program", "gmon.out"]].concat());
        assert!(output.status.success());
        (String::from_utf8(output.stdout).unwrap().contains(INLINED), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(printed(&["-p"]), (false, String::new()));
    let (has_name, warning) = printed(&["-p", "--inlines"]);
    let expected = "gprof: warning: program: some names of its debug information are in dwarf-4.shared, which is \
                    missing: install all of its debug packages, or name their directory with --debug-dir\n";
    assert_eq!((has_name, warning.as_str()), (false, expected));
    fs::copy(&files.shared, files.debug.with_file_name(linked(4))).unwrap();
    assert_eq!(printed(&["-p", "--inlines"]), (true, String::new()));
}

/// The whole way, with `dwz` and a program of the compiler.
#[test]
fn what_dwz_moves_is_found() {
    if !has_program("dwz", "debug information that several files share") {
        return;
    }
    let image = compile("debug_packages_dwz", &["inlined.c"], &["-g", "-O2", "-Wl,--build-id=0x56abcdef00112233"]);
    let directory = image.parent().unwrap();
    sample_everything(&image);
    let printed = |words: &[&str]| {
        let output = read(gprof(), directory, &[&["-b", "-p", "-z", "--inlines"], words, &["gmon.out"]].concat());
        assert!(output.status.success());
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let whole = printed(&["a.out"]);
    assert!(whole.0.contains("square"), "{}", whole.0);
    fs::create_dir_all(directory.join("store/.build-id/56")).unwrap();
    tool(directory, &["objcopy", "--only-keep-debug", "a.out", "one.debug"]);
    fs::copy(directory.join("one.debug"), directory.join("two.debug")).unwrap();
    let shared = directory.canonicalize().unwrap().join("shared");
    tool(directory, &["dwz", "-m", "shared", "-M", shared.to_str().unwrap(), "one.debug", "two.debug"]);
    fs::copy(directory.join("one.debug"), directory.join("store/.build-id/56/abcdef00112233.debug")).unwrap();
    tool(directory, &["strip", "--preserve-dates", "-s", "a.out", "-o", "stripped"]);
    assert_eq!(printed(&["--debug-dir=store", "stripped"]), whole);
    fs::rename(&shared, directory.join("moved")).unwrap();
    let (out, err) = printed(&["--debug-dir=store", "stripped"]);
    assert!(out != whole.0 && err.contains("/shared, which is missing"), "{out} {err}");
}
