//! Profiles that glibc's dynamic linker writes for a shared object (`LD_PROFILE`), without `-pg`: gprof reads them, and
//! finds the calls that the program made. Where `sprof`, glibc's reader, works, it must find the same calls.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gmon::{Arc, Form, Hints, Profile};
use gmon_tests::{directory, gprof};
use serde_json::Value;

/// The calls by caller and function. A caller outside of the object has no name.
type Calls = BTreeMap<(String, String), u64>;

const LIBRARY: &str = "libloaded.so";

/// A library without profiling code, and a program that uses the library.
struct Build {
    directory: PathBuf,
}

impl Build {
    fn new(name: &str, flags: &[&str]) -> Build {
        let directory = directory(name);
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
        let compile = |words: &[&str], source: &str| {
            let mut compiler = Command::new("cc");
            compiler.args(["-O1", "-g", "-Wl,-z,lazy"]).args(flags).arg(programs.join(source)).args(words);
            let output = compiler.current_dir(&directory).output().unwrap();
            assert!(output.status.success(), "{source}: {}", String::from_utf8_lossy(&output.stderr));
        };
        compile(&["-fPIC", "-shared", "-Wl,-soname,libloaded.so", "-o", LIBRARY], "loader_library.c");
        compile(&[LIBRARY, "-Wl,-rpath,$ORIGIN", "-o", "program"], "loader_program.c");
        Build { directory }
    }

    /// Runs the program under the dynamic linker's profiler, and returns the calls that the program made. Prints
    /// SKIPPED if the linker wrote no profile.
    fn run(&self, rounds: u64) -> Option<Calls> {
        let mut program = Command::new(self.directory.join("program"));
        program.env("LD_PROFILE", LIBRARY).env("LD_PROFILE_OUTPUT", &self.directory).arg(rounds.to_string());
        let output = program.output().unwrap();
        assert!(output.status.success());
        if !self.profile().exists() {
            eprintln!("SKIPPED: LD_PROFILE: this system's dynamic linker writes no profiles");
            return None;
        }
        let text = String::from_utf8(output.stdout).unwrap();
        let numbers: Vec<u64> = text.split_whitespace().map(|number| number.parse().unwrap()).collect();
        let [outer, inner, leaf] = numbers[..] else { panic!("{text}") };
        assert_eq!((outer, inner, leaf), (rounds, rounds + 5, 5 * rounds + 15));
        let made = [("", "outer", outer), ("", "inner", inner - outer), ("outer", "inner", outer)];
        let more = [("inner", "leaf", 3 * inner), ("outer", "leaf", 2 * outer)];
        let made = made.into_iter().chain(more);
        Some(made.map(|(from, to, count)| ((from.to_owned(), to.to_owned()), count)).collect())
    }

    fn profile(&self) -> PathBuf {
        self.directory.join("libloaded.so.profile")
    }

    /// What gprof prints. gprof must have nothing to warn about.
    fn gprof(&self, words: &[&str]) -> String {
        let output = gmon_tests::read(gprof(), &self.directory, words);
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{words:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    /// The calls that gprof finds in a profile, and the number of samples.
    fn calls(&self, profile: &str) -> (Calls, u64) {
        let json: Value = serde_json::from_str(&self.gprof(&["--format=json", LIBRARY, profile])).unwrap();
        let name = |id: &Value| {
            let function = json["functions"].as_array().unwrap().iter().find(|function| function["id"] == *id);
            function.map_or("", |function| function["name"].as_str().unwrap()).to_owned()
        };
        let mut calls = Calls::new();
        for entry in json["call_graph"].as_array().unwrap() {
            for caller in entry["above"].as_array().unwrap() {
                // A function that has samples and no callers, such as a stub of the PLT, has a line without calls.
                let Some(count) = caller["calls"].as_u64() else { continue };
                calls.insert((name(&caller["function"]), name(&entry["function"])), count);
            }
        }
        (calls, json["statistics"]["samples"].as_u64().unwrap())
    }

    /// The calls that `sprof` finds. Prints SKIPPED if `sprof` does not work.
    fn calls_of_sprof(&self) -> Option<Calls> {
        // Without the library in memory, sprof of glibc 2.36 fails with an assertion of the dynamic linker.
        let mut sprof = Command::new("sprof");
        sprof.env("LD_PRELOAD", self.directory.join(LIBRARY)).current_dir(&self.directory);
        let output = sprof.args(["-c", LIBRARY, "libloaded.so.profile"]).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if !output.status.success() || text.is_empty() {
            eprintln!("SKIPPED: LD_PROFILE: sprof does not work here");
            return None;
        }
        let mut calls = Calls::new();
        for line in text.lines() {
            let [from, to, count] = line.split_whitespace().collect::<Vec<_>>()[..] else { panic!("{line}") };
            let from = if from == "<UNKNOWN>" { "" } else { from };
            *calls.entry((from.to_owned(), to.to_owned())).or_default() += count.parse::<u64>().unwrap();
        }
        Some(calls)
    }
}

/// The calls with each count multiplied by a factor.
fn times(calls: &Calls, factor: u64) -> Calls {
    calls.iter().map(|(arc, count)| (arc.clone(), count * factor)).collect()
}

#[test]
fn gprof_finds_the_calls_of_a_shared_object() {
    let build = Build::new("ld_profile", &[]);
    let Some(made) = build.run(100_000) else { return };
    let (found, samples) = build.calls("libloaded.so.profile");
    assert_eq!(found, made);
    let bytes = fs::read(build.profile()).unwrap();
    let profile = gmon::read(&bytes, &Hints::default()).unwrap();
    assert_eq!(profile.histograms()[0].total(), i128::from(samples));
    // The sum of two copies of a profile has twice the calls and samples.
    build.gprof(&["-s", LIBRARY, "libloaded.so.profile", "libloaded.so.profile"]);
    assert_eq!(build.calls("gmon.sum"), (times(&made, 2), 2 * samples));
    // The linker adds the next run to the same file.
    build.run(100_000);
    assert_eq!(build.calls("libloaded.so.profile").0, times(&made, 2));
}

#[test]
fn sprof_finds_the_same_calls() {
    // sprof takes the distance from the start of the code for an address, so its names are right only if the code
    // starts at address 0.
    let build = Build::new("ld_profile_sprof", &["-Wl,-z,noseparate-code"]);
    let Some(made) = build.run(1000) else { return };
    assert_eq!(build.calls("libloaded.so.profile").0, made);
    let Some(theirs) = build.calls_of_sprof() else { return };
    assert_eq!(theirs, made);
}

#[test]
fn the_dynamic_linker_and_sprof_take_a_written_file() {
    let build = Build::new("ld_profile_written", &["-Wl,-z,noseparate-code"]);
    let Some(made) = build.run(1000) else { return };
    let bytes = fs::read(build.profile()).unwrap();
    let encoding = gmon::detect(&bytes, &Hints::default()).unwrap().encoding();
    assert_eq!(encoding.form, Form::LdProfile);
    let profile = gmon::read_as(&bytes, encoding).unwrap();
    assert!(gmon::write(&profile, encoding).unwrap() == bytes, "the written file differs from that of the linker");
    // The crate writes a file in which each call counts three times. sprof reads this file, and the linker adds the
    // next run to it.
    let mut thrice = Profile::new();
    profile.histograms().iter().for_each(|histogram| thrice.add_histogram(histogram.clone()).unwrap());
    profile.arcs().iter().for_each(|arc| thrice.add_arc(Arc::new(arc.frompc, arc.selfpc, 3 * arc.count)));
    fs::write(build.profile(), gmon::write(&thrice, encoding).unwrap()).unwrap();
    if let Some(theirs) = build.calls_of_sprof() {
        assert_eq!(theirs, times(&made, 3));
    }
    build.run(1000);
    assert_eq!(build.calls("libloaded.so.profile").0, times(&made, 4));
}
