//! Split DWARF: units in separate files are found, must belong to the image, and are read within bounds.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gmon_tests::random::Random;
use gmon_tests::{compile, directory, gprof, read, run};
use gprof::internals::{Image, ImageStorage, Policy};

/// The names of the functions that contain the code of the line `sum += n * n`, found in each possible way.
fn told(path: &Path, policy: Policy) -> Vec<Vec<String>> {
    let bytes = fs::read(path).unwrap();
    let room = ImageStorage::default();
    let mut image = Image::parse(&bytes, policy, &room).unwrap();
    let _ = image.find_debug_file(path, &[], policy, &room);
    let source = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/inlined.c")).unwrap();
    let line = source.lines().position(|line| line.contains("sum += n * n")).unwrap() as u32 + 1;
    let (lines, frames) = (image.files.lines(), image.files.frames());
    let Some(frames) = frames else {
        return Vec::new();
    };
    let starts = lines.within(image.text.clone()).filter(|range| range.line == line).map(|range| range.start);
    let names = |start| {
        let callers = frames.callers(start).into_iter().map(|caller| caller.function);
        let names = std::iter::once(frames.innermost(start).unwrap_or_default()).chain(callers);
        names.map(|name| String::from_utf8_lossy(name).into_owned()).collect()
    };
    starts.map(names).collect()
}

fn is_told(path: &Path) -> bool {
    told(path, Policy::Full).contains(&vec!["square".to_owned(), "outer".to_owned()])
}

/// An image with split units, and the file with these units.
fn split(name: &str, version: &str) -> (PathBuf, PathBuf) {
    let image = compile(&format!("split{name}{version}"), &["inlined.c"], &[version, "-gsplit-dwarf", "-O1"]);
    let files = fs::read_dir(image.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    let file = files.into_iter().find(|path| path.extension().is_some_and(|end| end == "dwo")).unwrap();
    (image, file)
}

const VERSIONS: [&str; 2] = ["-gdwarf-4", "-gdwarf-5"];

#[test]
fn functions_in_files_of_their_own() {
    for version in VERSIONS {
        let (image, file) = split("_found", version);
        assert!(is_told(&image), "{version}");
        // GNU's reader does not look there.
        let nobody = told(&image, Policy::Compat);
        assert!(nobody.iter().flatten().all(String::is_empty), "{version}: {nobody:?}");
        // If both are moved together, the file is found beside the image; an image moved alone has no file.
        let elsewhere = directory(&format!("split_moved{version}"));
        let (moved, beside) = (elsewhere.join("program"), elsewhere.join(file.file_name().unwrap()));
        fs::copy(&image, &moved).unwrap();
        fs::rename(&file, &beside).unwrap();
        assert!(is_told(&moved) && !is_told(&image), "{version}");
        // A file of another build is ignored, and so is a missing file.
        let bytes = fs::read(&beside).unwrap();
        fs::remove_file(&beside).unwrap();
        fs::create_dir(&beside).unwrap();
        assert!(!is_told(&moved), "{version}");
        fs::remove_dir(&beside).unwrap();
        let (_, other) = split("_other", version);
        fs::copy(other, &beside).unwrap();
        let same = fs::read(&beside).unwrap() == bytes;
        assert_eq!(is_told(&moved), same, "{version}");
        fs::write(&beside, b"\x7fELF").unwrap();
        assert!(!is_told(&moved), "{version}");
    }
}

#[test]
fn lines_and_times_of_split_units() {
    let (image, _) = split("_lines", "-gdwarf-5");
    assert!(run(&image).exists());
    let text = |options: &[&str]| {
        let output = read(gprof(), image.parent().unwrap(), &[options, &["a.out", "gmon.out"]].concat());
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(text(&["-b", "-z", "-p", "-l"]).contains("square (inlined.c:7 @ "));
    assert!(!text(&["--compat=gnu", "-b", "-z", "-p", "-l"]).contains("square"));
}

#[test]
fn packages() {
    for version in VERSIONS {
        let (image, file) = split("_package", version);
        let package = image.with_extension("out.dwp");
        let is_made = ["llvm-dwp", "llvm-dwp-14", "llvm-dwp-19", "dwp"].iter().any(|tool| {
            let words = [Path::new("-e"), &image, Path::new("-o"), &package];
            let made = Command::new(tool).args(words).output().is_ok_and(|output| output.status.success());
            made && package.exists()
        });
        if !is_made {
            eprintln!("SKIPPED: packages of split units: no tool on this system makes them ({version})");
            continue;
        }
        fs::remove_file(&file).unwrap();
        assert!(is_told(&image), "{version}");
        damage(&package, &image, 3);
    }
}

#[test]
fn damaged_files() {
    for version in VERSIONS {
        let (image, file) = split("_damaged", version);
        damage(&file, &image, 5);
    }
}

/// Reads an image whose split units are damaged in many ways; only termination is expected.
fn damage(file: &Path, image: &Path, seed: u64) {
    let bytes = fs::read(file).unwrap();
    let mut random = Random::new(seed);
    let mut read = 0;
    for _ in 0..300 {
        let mut damaged = bytes.clone();
        for _ in 0..=random.below(6) {
            let at = random.below(bytes.len() as u64) as usize;
            damaged[at] = *random.pick(&[0, 1, 0x7f, 0x80, 0xff]);
        }
        if random.below(10) == 0 {
            damaged.truncate(random.below(bytes.len() as u64) as usize);
        }
        fs::write(file, damaged).unwrap();
        read += usize::from(is_told(image));
    }
    assert!((1..300).contains(&read), "{read}");
}
