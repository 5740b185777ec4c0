//! Tests of FreeBSD's start-up object for arm64: programs run in an emulator of the processor, where a host program serves FreeBSD's
//! system calls by Linux's calls (`tests/bsd-kernel/aarch64`). Counts and samples are exact, because programs request ticks with a
//! system call.
#![allow(clippy::unwrap_used, reason = "a test fails loudly")]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use gmon_tests::bsd::{Bsd, Ran, Start, System};
use gmon_tests::start_objects_for;
use gmon_tests::symbols::{Symbols, read};

/// The profiled program in a test's directory.
struct Program {
    system: Bsd,
    image: PathBuf,
    symbols: Symbols,
}

const FILE: &str = "profiled.gmon";

impl Program {
    /// Builds the program; `None` if a tool or the start-up object is missing.
    fn build(name: &str) -> Option<Program> {
        let object = start_objects_for("freebsd-aarch64")?.join("gcrt1.o");
        let system = Bsd::new(System::FreeBsdArm64, &format!("freebsd_arm64_{name}"))?;
        let image = system.build("profiled", &["profiled.c"], &["-O1", "-pg"], Start::Object(&object));
        let symbols = Symbols::of(&image);
        Some(Program { system, image, symbols })
    }

    /// Runs a part of the program. Neither the runtime nor the host may print a message.
    fn run(&self, part: &str, environment: &[(&str, &str)], status: i32) -> Ran {
        let ran = self.system.run(&self.image, &[], &[part], environment).expect(status);
        assert_eq!(ran.stderr, "", "the runtime and the host print nothing");
        ran
    }

    /// The profiles in the directory, without the first process's file.
    fn children(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.system.directory).unwrap().map(|entry| entry.unwrap().file_name());
        let names = entries.filter_map(|name| name.into_string().ok());
        names.filter(|name| name.ends_with(".gmon") && name != FILE).collect()
    }

    fn calls(&self, file: &str, name: &str) -> u64 {
        let calls = self.symbols.calls(&read(&self.system.directory.join(file)));
        calls.get(name).copied().unwrap_or(0)
    }

    fn ticks(&self, file: &str) -> BTreeMap<String, u64> {
        self.symbols.ticks(&read(&self.system.directory.join(file)))
    }
}

/// The expected result of `ticks`.
fn samples(expected: &[(&str, u64)]) -> BTreeMap<String, u64> {
    expected.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
}

#[test]
fn calls_of_threads_handlers_constructors_and_destructors_are_exact() {
    let Some(program) = Program::build("counts") else {
        return;
    };
    let ran = program.run("counts", &[], 0);
    let lines: Vec<_> = ran.stdout.lines().map(|line| line.rsplit_once(' ').unwrap()).collect();
    assert_eq!(lines.len(), 6, "{}", ran.stdout);
    for (what, count) in lines {
        assert_eq!(program.calls(FILE, what), count.parse().unwrap(), "{what}");
    }
    assert_eq!(program.calls(FILE, "arc constructor middle"), 1);
    assert_eq!(program.calls(FILE, "arc destructor middle"), 1);
    assert_eq!(program.children(), [""; 0]);
}

#[test]
fn samples_are_exact_and_both_readers_read_the_file() {
    let Some(program) = Program::build("samples") else {
        return;
    };
    program.run("samples", &[], 0);
    assert_eq!(program.ticks(FILE), samples(&[("light", 600), ("heavy", 1300)]));
    let directory = &program.system.directory;
    for words in [&["--bsd", "-b", "profiled", FILE][..], &["-b", "-p", "profiled", FILE]] {
        let output = gmon_tests::read(gmon_tests::gprof(), directory, words);
        let text = String::from_utf8_lossy(&output.stdout);
        // 1300 of 1900 samples.
        assert!(text.lines().any(|line| line.contains(" 68.4") && line.contains("heavy")), "{text}");
    }
}

#[test]
fn counters_of_16_bits_that_run_over_lose_nothing() {
    let Some(program) = Program::build("many") else {
        return;
    };
    program.run("many", &[], 0);
    assert_eq!(program.ticks(FILE), samples(&[("light", 500_000), ("heavy", 670_000)]));
}

#[test]
fn forked_children_have_profiles_of_their_own() {
    let Some(program) = Program::build("forks") else {
        return;
    };
    program.run("forks", &[], 0);
    assert_eq!(program.calls(FILE, "arc middle leaf"), 112, "constructor 1, 10, 1, destructor 100");
    assert_eq!(program.ticks(FILE), samples(&[("light", 53)]));
    let children = program.children();
    let child = children.iter().find(|child| program.calls(child, "arc middle leaf") > 0).unwrap();
    assert_eq!(program.calls(child, "arc middle leaf"), 104, "4, destructor 100");
    assert_eq!(program.ticks(child), samples(&[("light", 20)]));
}

#[test]
fn threads_fork_children_of_their_own() {
    let Some(program) = Program::build("forking_threads") else {
        return;
    };
    program.run("forking_threads", &[], 0);
    assert_eq!(program.calls(FILE, "arc middle leaf"), 301, "constructor 1, 200 in threads, destructor 100");
    let children = program.children();
    assert_eq!(children.len(), 4, "{children:?}");
    for child in children {
        assert_eq!(program.calls(&child, "arc middle leaf"), 7, "{child}");
        assert_eq!(program.ticks(&child), samples(&[("light", 9)]), "{child}");
    }
}

#[test]
fn a_program_that_ends_early_leaves_its_profile() {
    let Some(program) = Program::build("ends") else {
        return;
    };
    for (part, status) in [("leave", 3), ("die", 128 + 15)] {
        let _ = fs::remove_file(program.system.directory.join(FILE));
        program.run(part, &[], status);
        assert_eq!(program.ticks(FILE), samples(&[("light", 60)]), "{part}");
        assert_eq!(program.calls(FILE, "arc middle leaf"), 7, "{part}");
    }
}

#[test]
fn moncontrol_stops_and_starts() {
    let Some(program) = Program::build("control") else {
        return;
    };
    program.run("control", &[], 0);
    assert_eq!(program.ticks(FILE), samples(&[("light", 20)]));
    assert_eq!(program.calls(FILE, "arc middle leaf"), 103, "constructor 1, 2, destructor 100");
}

#[test]
fn an_executed_program_is_profiled_for_itself() {
    let Some(program) = Program::build("executes") else {
        return;
    };
    program.run("executes", &[], 3);
    assert_eq!(program.ticks(FILE), samples(&[("light", 60)]));
    assert_eq!(program.calls(FILE, "arc middle leaf"), 7);
}

#[test]
fn a_live_file_has_all_calls_of_a_killed_program() {
    let Some(program) = Program::build("live") else {
        return;
    };
    program.run("killed", &[("GMON_LIVE", "1")], 128 + 9);
    assert_eq!(program.calls(FILE, "arc middle leaf"), 7);
    // Three seconds of CPU time. The runtime's reader collects ticks at least every two seconds.
    let ticks = program.ticks(FILE);
    let light = ticks.get("light").copied().unwrap_or(0);
    assert!((8128..=24_384).contains(&light), "{ticks:?}");
}
