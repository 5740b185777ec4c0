//! profil together with the runtime of `cc -pg`, the C library's function of the same name, and C++.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gmon::Hints;

use crate::support::{How, command, directory, program, root, try_one, went_well, with};

const PG: &[&str] = &["-pg", "-B$LIBRARY"];

/// Runs a trial of a program with the start-up object; returns its image, the directory with its profile, and its
/// output.
fn with_runtime(source: &'static str, trial: &str) -> (PathBuf, PathBuf, String) {
    let (image, directory) = (program(with(source, PG)), directory());
    let output = command(&image, &[trial]).current_dir(&directory).output().unwrap();
    (image, directory, went_well(&output))
}

/// The number of samples and calls of each function in a profile, by the names in the image.
fn counted(image: &Path, profile: &Path) -> (BTreeMap<String, u64>, BTreeMap<String, u64>) {
    let listed = Command::new("nm").arg("--defined-only").arg(image).output().unwrap();
    let mut functions = BTreeMap::new();
    for line in String::from_utf8(listed.stdout).unwrap().lines() {
        let [address, kind, name] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        if matches!(kind, "t" | "T" | "W") && !name.ends_with("_pc") {
            functions.insert(u64::from_str_radix(address, 16).unwrap(), name.to_owned());
        }
    }
    let function =
        |address: u64| functions.range(..=address).next_back().map_or(String::new(), |(_, name)| name.clone());
    let profile = gmon::read(&fs::read(profile).unwrap(), &Hints::default()).unwrap();
    let (mut samples, mut calls) = (BTreeMap::new(), BTreeMap::new());
    for histogram in profile.histograms() {
        let size = (histogram.highpc() - histogram.lowpc()) / histogram.len();
        for (bin, count) in histogram.hit() {
            *samples.entry(function(histogram.lowpc() + bin * size)).or_default() += count as u64;
        }
    }
    for arc in profile.arcs() {
        *calls.entry(function(arc.selfpc)).or_default() += arc.count;
    }
    (samples, calls)
}

/// The samples that a clock may add.
const CLOCK: u64 = 300;

fn is_about(found: Option<&u64>, sent: u64) -> bool {
    (sent..=sent + CLOCK).contains(found.unwrap_or(&0))
}

#[test]
fn the_runtime_and_a_profile_of_the_programs_have_each_its_ticks() {
    let (image, directory, _) = with_runtime("together.c", "each_has_its_own_ticks");
    let (samples, calls) = counted(&image, &directory.join("gmon.out"));
    assert!(is_about(samples.get("sampled_here"), 1500) && is_about(samples.get("sampled_there"), 500), "{samples:?}");
    // Ticks that the program sends its own profile are not counted in the runtime's.
    assert!(is_about(samples.get("here"), 0) && is_about(samples.get("there"), 0), "{samples:?}");
    assert_eq!(calls.get("counted"), Some(&1234));
}

#[test]
fn neither_gets_the_others_ticks() {
    let (image, directory, printed) = with_runtime("together.c", "each_has_its_own_clock");
    let (samples, _) = counted(&image, &directory.join("gmon.out"));
    let (burnt, due) = (samples["burn_until"] as f64, printed.trim().parse::<f64>().unwrap());
    // The ticks of the program's own profile would double the number of samples. The work may begin and end between two
    // ticks.
    assert!((due - 2.0..due + 1.0).contains(&burnt), "expected 100 Hz, that is {due}: {burnt}");
}

#[test]
fn switching_and_forking_does_not_disturb_the_runtime() {
    let (image, directory, printed) = with_runtime("together.c", "switches_and_forks");
    let (samples, calls) = counted(&image, &directory.join("gmon.out"));
    assert!(is_about(samples.get("sampled_here"), 1500) && is_about(samples.get("sampled_there"), 3000), "{samples:?}");
    assert_eq!(calls.get("counted"), Some(&300));
    let child = directory.join(format!("gmon.together.{}.out", printed.trim()));
    let (samples, calls) = counted(&image, &child);
    assert!(is_about(samples.get("sampled_there"), 400), "{samples:?}");
    assert_eq!(calls.get("counted"), Some(&7));
}

#[test]
fn the_runtime_has_made_openbsds_first_call() {
    let (image, directory, _) = with_runtime("openbsd.c", "the_runtime_has_made_the_first_call");
    let (samples, _) = counted(&image, &directory.join("gmon.out"));
    // 1000 before it was stopped, and 200 since moncontrol; none in between.
    assert!(is_about(samples.get("sampled_here"), 1200), "{samples:?}");
    assert!(samples.get("sampled_there").is_none_or(|found| *found <= CLOCK), "{samples:?}");
}

#[test]
fn the_start_up_object_brings_the_note() {
    for flags in [&["-pg", "-B$LIBRARY", "-DWITHOUT_NOTE"][..], &["-pg", "-B$LIBRARY", "-DWITHOUT_NOTE", "-static"]] {
        let image = program(with("openbsd.c", flags));
        let output =
            command(&image, &["the_runtime_has_made_the_first_call"]).current_dir(directory()).output().unwrap();
        went_well(&output); // no EPERM
    }
}

#[test]
fn a_start_up_object_without_the_note_may_not_profile() {
    let stripped = directory();
    let object = gmon_tests::start_objects().join("gcrt1.o");
    let mut objcopy = Command::new("objcopy");
    objcopy.arg("--remove-section=.note.gmon.profil").arg(object).arg(stripped.join("gcrt1.o"));
    went_well(&objcopy.output().unwrap());
    let image = stripped.join("a.out");
    let source = root().join("tests/programs/leaf.c");
    let mut compiler = Command::new("cc");
    compiler.arg("-pg").arg(format!("-B{}", stripped.display())).arg("-o").arg(&image).arg(source);
    went_well(&compiler.output().unwrap());
    let output = command(&image, &[]).current_dir(&stripped).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said, "gmon: not profiling: profil: operation not permitted (error 1)\n");
    assert!(output.status.success() && !stripped.join("gmon.out").exists());
}

#[test]
fn profil_itself_is_the_c_librarys_with_four_arguments() {
    for flags in [&[][..], &["-static"], PG, &["-pg", "-B$LIBRARY", "-static"]] {
        let image = program(with("host.c", flags));
        let trial = "profil_itself_is_the_c_librarys_with_four_arguments";
        went_well(&command(&image, &[trial]).current_dir(directory()).output().unwrap());
    }
}

#[test]
fn a_programs_own_profil_is_its_own() {
    for flags in [&["-DOWN"][..], &["-DOWN", "-static"], &["-DOWN", "-pg", "-B$LIBRARY"]] {
        try_one(with("host.c", flags), &["a_programs_own_profil_is_its_own"]);
    }
}

#[test]
fn the_headers_are_for_cpp_too() {
    for flags in [
        &[][..],
        &["-DGMON_PROFIL_BSD"],
        &["-DGMON_PROFIL_OPENBSD"],
        &["-DGMON_PROFIL_ILLUMOS"],
        &["-DGMON_PROFIL_AIX"],
    ] {
        try_one(How { compiler: "c++", ..with("headers.cc", flags) }, &[]);
    }
}

#[test]
fn two_dialects_in_one_file_are_an_error() {
    let include = root().join("runtime/include");
    let words = ["-fsyntax-only", "-DGMON_PROFIL_BSD", "-DGMON_PROFIL_AIX", "-include", "gmon.h", "-xc", "/dev/null"];
    let output = Command::new("cc").arg("-I").arg(include).args(words).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("one dialect of profil only"), "{said}");
}
