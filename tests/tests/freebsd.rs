//! Tests of FreeBSD's start-up object with programs in the tests' kernel. Counts and samples are exact, because programs request ticks
//! with a system call.
//!
//! `make runtime-freebsd-amd64` builds the object. If the object is not built, the tests print SKIPPED.
#![allow(clippy::unwrap_used, reason = "a test fails loudly")]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use gmon_tests::bsd::{Bsd, Ran, Start, System};
use gmon_tests::symbols::{Symbols, read};

/// The profiled program in a test's directory.
struct Program {
    system: Bsd,
    image: PathBuf,
    symbols: Symbols,
}

/// The process ID of the first process, as the file's name has it.
const FIRST: &str = "1001";

impl Program {
    /// Builds the program; `None` if a tool or the start-up object is missing.
    fn build(name: &str) -> Option<Program> {
        let object = gmon_tests::distribution().join("lib/gmon/freebsd-amd64/gcrt1.o");
        if !object.exists() {
            eprintln!("SKIPPED: FreeBSD's start-up object is not built: make runtime-freebsd-amd64");
            return None;
        }
        let system = Bsd::new(System::FreeBsd, &format!("freebsd_{name}"))?;
        let image = system.build("profiled", &["profiled.c"], &["-O1", "-pg"], Start::Object(&object));
        let symbols = Symbols::of(&image);
        Some(Program { system, image, symbols })
    }

    /// Runs a part of the program. The kernel must not have refused a call.
    fn run(&self, part: &str, environment: &[(&str, &str)], status: i32) -> Ran {
        self.run_with(&[], part, environment, status)
    }

    fn run_with(&self, options: &[&str], part: &str, environment: &[(&str, &str)], status: i32) -> Ran {
        let ran = self.system.run(&self.image, options, &[part], environment).expect(status);
        assert_eq!(ran.stderr, "", "the runtime must print nothing");
        ran
    }

    /// Returns the names of the profiles in the directory.
    fn profiles(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.system.directory).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = entries.filter_map(|name| name.into_string().ok()).collect();
        names.retain(|name| name.ends_with(".gmon"));
        names.sort();
        names
    }

    fn calls(&self, file: &str) -> BTreeMap<String, u64> {
        self.symbols.calls(&read(&self.system.directory.join(file)))
    }

    fn ticks(&self, file: &str) -> BTreeMap<String, u64> {
        self.symbols.ticks(&read(&self.system.directory.join(file)))
    }
}

/// The expected result of `ticks`.
fn samples(expected: &[(&str, u64)]) -> BTreeMap<String, u64> {
    expected.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
}

const FILE: &str = "profiled.gmon";

#[test]
fn calls_of_threads_handlers_constructors_and_destructors_are_exact() {
    let Some(program) = Program::build("counts") else {
        return;
    };
    let ran = program.run("counts", &[], 0);
    let calls = program.calls(FILE);
    let lines: Vec<_> = ran.stdout.lines().map(|line| line.rsplit_once(' ').unwrap()).collect();
    assert_eq!(lines.len(), 6, "{}", ran.stdout);
    for (what, count) in lines {
        assert_eq!(calls.get(what).copied().unwrap_or(0), count.parse().unwrap(), "{what}: {calls:?}");
    }
    assert_eq!(calls.get("arc constructor middle"), Some(&1));
    assert_eq!(calls.get("arc destructor middle"), Some(&1));
    assert_eq!(program.profiles(), [FILE]);
}

#[test]
fn samples_are_exact_in_threads_too() {
    let Some(program) = Program::build("samples") else {
        return;
    };
    program.run("samples", &[], 0);
    assert_eq!(program.ticks(FILE), samples(&[("light", 600), ("heavy", 1300)]));
    let bytes = fs::read(program.system.directory.join(FILE)).unwrap();
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!((word(20), word(24)), (0x0005_1879, 8128), "version and rate of the header");
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
fn a_forked_child_has_a_profile_of_its_own() {
    let Some(program) = Program::build("forks") else {
        return;
    };
    program.run("forks", &[], 0);
    assert_eq!(program.profiles(), ["profiled.1002.gmon", FILE]);
    let (parent, child) = (program.calls(FILE), program.calls("profiled.1002.gmon"));
    assert_eq!(parent.get("arc middle leaf"), Some(&112), "constructor 1, 10, 1, destructor 100");
    assert_eq!(child.get("arc middle leaf"), Some(&104), "4, destructor 100");
    assert_eq!(program.ticks(FILE), samples(&[("light", 53)]));
    assert_eq!(program.ticks("profiled.1002.gmon"), samples(&[("light", 20)]));
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
        assert_eq!(program.calls(FILE).get("arc middle leaf"), Some(&7), "{part}");
    }
}

#[test]
fn a_thread_that_ends_the_process_leaves_the_calls_of_all_threads() {
    let Some(program) = Program::build("thread_leaves") else {
        return;
    };
    program.run("thread_leaves", &[], 3);
    let calls = program.calls(FILE);
    assert_eq!(calls.get("arc middle leaf"), Some(&1001), "constructor 1, threads 100 + 200 + 300 + 400");
    assert_eq!(calls.get("arc leaving_worker middle"), Some(&4));
    assert_eq!(program.ticks(FILE), samples(&[("light", 1000)]));
}

#[test]
fn threads_fork_children_of_their_own() {
    let Some(program) = Program::build("forking_threads") else {
        return;
    };
    program.run("forking_threads", &[], 0);
    assert_eq!(program.calls(FILE).get("arc middle leaf"), Some(&301), "constructor 1, 200 in threads, destructor 100");
    let children: Vec<_> = program.profiles().into_iter().filter(|name| name != FILE).collect();
    assert_eq!(children.len(), 4, "{children:?}");
    for child in children {
        assert_eq!(program.calls(&child).get("arc middle leaf"), Some(&7), "{child}");
        assert_eq!(program.ticks(&child), samples(&[("light", 9)]), "{child}");
    }
}

#[test]
fn an_executed_program_is_profiled_for_itself() {
    let Some(program) = Program::build("executes") else {
        return;
    };
    program.run("executes", &[], 3);
    assert_eq!(program.ticks(FILE), samples(&[("light", 60)]));
    assert_eq!(program.calls(FILE).get("arc middle leaf"), Some(&7));
}

#[test]
fn moncontrol_stops_and_starts() {
    let Some(program) = Program::build("control") else {
        return;
    };
    program.run("control", &[], 0);
    assert_eq!(program.ticks(FILE), samples(&[("light", 20)]));
    assert_eq!(program.calls(FILE).get("arc middle leaf"), Some(&103), "constructor 1, 2, destructor 100");
}

#[test]
fn a_live_file_has_all_calls_of_a_killed_program() {
    let Some(program) = Program::build("live") else {
        return;
    };
    program.run("killed", &[("GMON_LIVE", "1")], 128 + 9);
    assert_eq!(program.calls(FILE).get("arc middle leaf"), Some(&7));
    // The program uses three seconds of CPU time before SIGKILL, and the runtime's reader collects ticks at least every two seconds.
    // The remaining ticks wait until the woken reader sleeps again, so scheduling has no influence.
    let ticks = program.ticks(FILE);
    let light = ticks.get("light").copied().unwrap_or(0);
    assert!((8128..=24_384).contains(&light), "{ticks:?}");
    assert_eq!(ticks.values().sum::<u64>(), light, "{ticks:?}");
}

#[test]
fn capability_mode_and_another_directory_keep_the_profile() {
    let Some(program) = Program::build("places") else {
        return;
    };
    program.run("confined", &[], 0);
    assert_eq!(program.ticks(FILE), samples(&[("light", 30)]));
    assert_eq!(program.calls(FILE).get("arc middle leaf"), Some(&105));
    fs::remove_file(program.system.directory.join(FILE)).unwrap();
    program.run("elsewhere", &[], 0);
    assert_eq!(program.calls(FILE).get("arc middle leaf"), Some(&110));
}

#[test]
fn names_follow_the_environment_and_set_id_programs_write_nothing() {
    let Some(program) = Program::build("names") else {
        return;
    };
    program.run_with(&["--set-id"], "leave", &[], 3);
    assert_eq!(program.profiles(), [""; 0]);
    program.run("leave", &[("PROFIL_USE_PID", "")], 3);
    assert_eq!(program.profiles(), [format!("profiled.{FIRST}.gmon")]);
}

#[test]
fn a_program_has_its_own_timer() {
    let Some(program) = Program::build("timer") else {
        return;
    };
    program.run("own_timer", &[], 0);
    assert_eq!(program.ticks(FILE), samples(&[("light", 8128)]));
}

#[test]
fn another_rate_is_the_interval_timers() {
    let Some(program) = Program::build("rate") else {
        return;
    };
    // At 8128 ticks per second, 600 and 1300 ticks are 73 and 159 ms. The timer expires every 10 ms of the sum, in either function.
    program.run("samples", &[("GMON_HZ", "100")], 0);
    let ticks = program.ticks(FILE);
    assert_eq!(ticks.values().sum::<u64>(), 23, "{ticks:?}");
    assert_eq!(read(&program.system.directory.join(FILE)).histograms[0].profrate, 100);
}

#[test]
fn a_program_without_start_up_object_profiles_itself() {
    let library = gmon_tests::distribution().join("lib/gmon/freebsd-amd64/libgmon.a");
    if !library.exists() {
        eprintln!("SKIPPED: FreeBSD's libgmon.a is not built: make runtime-freebsd-amd64");
        return;
    }
    let Some(system) = Bsd::new(System::FreeBsd, "freebsd_by_hand") else {
        return;
    };
    let image = system.build("by_hand", &["by_hand.c"], &["-O1", "-pg"], Start::Library(&library));
    let program = Program { system, symbols: Symbols::of(&image), image };
    for (environment, file) in [(&[][..], "by_hand.gmon"), (&[("PROFIL_USE_PID", "")], "by_hand.1001.gmon")] {
        let ran = program.system.run(&program.image, &[], &[], environment).expect(0);
        assert_eq!(ran.stderr, "", "the runtime says nothing");
        let mut names = [file, "by_hand.1002.gmon"];
        names.sort_unstable();
        assert_eq!(program.profiles(), names);
        let files = [(file, [None, Some(30), None], 70_000), ("by_hand.1002.gmon", [None, None, Some(40)], 20)];
        for (file, expected, ticks) in files {
            let calls = program.calls(file);
            let counts = ["before", "parents", "childs"].map(|name| calls.get(&format!("calls {name}")).copied());
            assert_eq!((counts, program.ticks(file)), (expected, samples(&[("light", ticks)])), "{file}");
            fs::remove_file(program.system.directory.join(file)).unwrap();
        }
    }
    // A process with other rights than its user's is not profiled.
    let _ = program.system.run(&program.image, &["--set-id"], &[], &[]).expect(0);
    assert_eq!(program.profiles(), [""; 0]);
}

#[test]
fn both_readers_read_the_file() {
    let Some(program) = Program::build("readers") else {
        return;
    };
    program.run("samples", &[("GMON_FORMAT", "gnu")], 0);
    let words = ["-b", "-p", "profiled", FILE];
    let bsd = gmon_tests::read(gmon_tests::gprof(), &program.system.directory, &["--bsd", "-b", "profiled", FILE]);
    let ours = gmon_tests::read(gmon_tests::gprof(), &program.system.directory, &words);
    for output in [&bsd, &ours] {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    // 1300 of 1900 samples.
    let has_heavy = |text: &str| text.lines().any(|line| line.contains(" 68.4") && line.contains("heavy"));
    assert!(has_heavy(&String::from_utf8_lossy(&bsd.stdout)), "{}", String::from_utf8_lossy(&bsd.stdout));
    assert!(has_heavy(&String::from_utf8_lossy(&ours.stdout)), "{}", String::from_utf8_lossy(&ours.stdout));
    let directory = &program.system.directory;
    gmon_tests::compare(&program.image, &[&directory.join(FILE)], &["-b"]);
}
