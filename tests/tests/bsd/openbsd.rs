//! OpenBSD's start-up object, in programs that the kernel of the tests runs: the kernel samples into the runtime's
//! buffer, and writes the file when a process ends.
//!
//! `make runtime-openbsd-amd64` builds the object. If the object cannot be built, the tests print SKIPPED.

use std::collections::BTreeMap;
use std::fs;

use gmon_tests::bsd::System;
use gmon_tests::profiled::{Program, samples};
use gmon_tests::symbols::read;

const HEADER: usize = 40;
const ARC: usize = 24;
/// The file of the first process.
const FILE: &str = "gmon.profiled.1001.out";
const CHILD: &str = "gmon.profiled.1002.out";

/// Runs a part of the program `endings` as the superuser, and returns the calls of `leaf` and the ticks of `light` in
/// its file.
fn ending(program: &Program, part: &str, status: i32) -> (u64, u64) {
    const FILE: &str = "gmon.endings.1001.out";
    let _ = fs::remove_file(program.system.directory.join(FILE));
    let ran = program.run_with(&["--user", "0"], part, &[], status);
    assert_eq!(ran.stderr, "", "the runtime says nothing");
    let count = |counts: BTreeMap<String, u64>, name| counts.get(name).copied().unwrap_or(0);
    (count(program.calls(FILE), "calls leaf"), count(program.ticks(FILE), "light"))
}

#[test]
fn calls_of_threads_handlers_constructors_and_destructors_are_exact() {
    let Some(program) = Program::build(System::OpenBsd, "counts") else {
        return;
    };
    let ran = program.run("counts", 0);
    program.check_counts(&ran, FILE);
}

#[test]
fn samples_are_exact_in_threads_too_and_the_file_is_the_buffer() {
    let Some(program) = Program::build(System::OpenBsd, "samples") else {
        return;
    };
    program.run("samples", 0);
    assert_eq!(program.ticks(FILE), samples(&[("light", 600), ("heavy", 1300)]));
    let bytes = program.bytes(FILE);
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let long = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let (low, high, ncnt) = (long(0), long(8), word(16) as usize);
    assert_eq!((low % 4, high % 4), (0, 0), "whole counters");
    assert_eq!(ncnt - HEADER, (high - low) as usize / 2, "two bytes for each four of text");
    assert_eq!((word(20), word(24)), (0x0005_1879, 1000), "version and rate");
    let totarc = word(28) as usize;
    assert_eq!((bytes.len(), totarc % ARC, long(32)), (ncnt + totarc, 0, 0), "arcs end the file; spare words");
    let arcs: Vec<_> = bytes[ncnt..].chunks(ARC).map(<[u8]>::to_vec).collect();
    let number = |arc: &[u8], at: usize| u64::from_le_bytes(arc[at..at + 8].try_into().unwrap());
    assert!(arcs.iter().all(|arc| number(arc, 0) > low && number(arc, 8) > low && number(arc, 16) > 0), "no empty arc");
    let mut ends: Vec<_> = arcs.iter().map(|arc| arc[..16].to_vec()).collect();
    ends.sort();
    ends.dedup();
    assert_eq!(ends.len(), arcs.len(), "the arcs of all threads are merged");
}

#[test]
fn a_forked_child_has_a_profile_of_its_own() {
    let Some(program) = Program::build(System::OpenBsd, "forks") else {
        return;
    };
    program.run("forks", 0);
    assert_eq!(
        program.profiles(),
        [FILE, CHILD],
        "the child of the vfork, which has a copy of the counts, has no file"
    );
    let (parent, child) = (program.calls(FILE), program.calls(CHILD));
    assert_eq!(parent.get("arc middle leaf"), Some(&112), "constructor 1, 10, 1, destructor 100");
    assert_eq!(child.get("arc middle leaf"), Some(&104), "4, destructor 100");
    assert_eq!(program.ticks(FILE), samples(&[("light", 53)]));
    assert_eq!(program.ticks(CHILD), samples(&[("light", 20)]));
}

#[test]
fn a_program_that_ends_in_any_way_leaves_all_its_counts() {
    let Some(program) = Program::build(System::OpenBsd, "ends") else {
        return;
    };
    for (part, status, ticks) in [("leave", 3, 60), ("die", 128 + 15, 60), ("killed", 128 + 9, 24_384)] {
        let _ = fs::remove_file(program.system.directory.join(FILE));
        program.run(part, status);
        assert_eq!(program.ticks(FILE), samples(&[("light", ticks)]), "{part}");
        assert_eq!(program.calls(FILE).get("arc middle leaf"), Some(&7), "{part}");
    }
}

#[test]
fn threads_fork_children_of_their_own() {
    let Some(program) = Program::build(System::OpenBsd, "forking_threads") else {
        return;
    };
    program.run("forking_threads", 0);
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
    let Some(program) = Program::build(System::OpenBsd, "executes") else {
        return;
    };
    program.run("executes", 3);
    assert_eq!(program.ticks(FILE), samples(&[("light", 60)]));
    assert_eq!(program.calls(FILE).get("arc middle leaf"), Some(&7));
}

#[test]
fn moncontrol_stops_and_starts() {
    let Some(program) = Program::build(System::OpenBsd, "control") else {
        return;
    };
    program.run("control", 0);
    assert_eq!(program.ticks(FILE), samples(&[("light", 20)]));
    assert_eq!(program.calls(FILE).get("arc middle leaf"), Some(&103), "constructor 1, 2, destructor 100");
}

#[test]
fn a_pledged_program_and_another_directory_keep_the_profile() {
    let Some(program) = Program::build(System::OpenBsd, "places") else {
        return;
    };
    program.run("confined", 0);
    assert_eq!(program.ticks(FILE), samples(&[("light", 30)]));
    assert_eq!(program.calls(FILE).get("arc middle leaf"), Some(&105));
    fs::remove_file(program.system.directory.join(FILE)).unwrap();
    program.run("confined_threads", 0);
    assert_eq!(program.ticks(FILE), samples(&[("light", 30)]));
    assert_eq!(program.calls(FILE).get("arc middle leaf"), Some(&201));
    fs::remove_file(program.system.directory.join(FILE)).unwrap();
    program.run("elsewhere", 0);
    assert_eq!(program.calls(FILE).get("arc middle leaf"), Some(&110));
}

#[test]
fn a_program_without_files_and_rights_keeps_its_whole_profile() {
    let Some(program) = Program::of(System::OpenBsd, "jailed", "endings") else {
        return;
    };
    fs::create_dir(program.system.directory.join("below")).unwrap();
    assert_eq!(ending(&program, "jailed", 0), (12, 120), "chroot, unveil, another user, pledge");
}

#[test]
fn signals_exits_and_failures_of_exec_keep_the_whole_profile() {
    let Some(program) = Program::of(System::OpenBsd, "endings", "endings") else {
        return;
    };
    assert_eq!(ending(&program, "aborts", 128 + 6), (6, 60));
    assert_eq!(ending(&program, "leaves", 4), (6, 60));
    assert_eq!(ending(&program, "killed", 128 + 9), (6, 60));
    assert_eq!(ending(&program, "fails_to_execute", 5), (12, 120));
    assert_eq!(ending(&program, "ends_threads", 0), (12, 120));
}

#[test]
fn a_stack_overflow_keeps_the_whole_profile() {
    const CHILD: &str = "gmon.endings.1002.out";
    let Some(program) = Program::of(System::OpenBsd, "overflow", "endings") else {
        return;
    };
    let ran = program.run("overflows", 0);
    let said: u64 = ran.stdout.trim().strip_prefix("descends ").unwrap().parse().unwrap();
    let calls = program.calls(CHILD);
    // The program may be ended between the record of the last call and the program's own count.
    let recorded = calls["calls descends"];
    assert!(said > 1000 && [said, said + 1].contains(&recorded), "{said} calls, {recorded} recorded");
    assert_eq!((calls["calls leaf"], program.ticks(CHILD)), (6, samples(&[("light", 60)])));
}

#[test]
fn profdir_names_the_directory_and_set_id_programs_write_nothing() {
    let Some(program) = Program::build(System::OpenBsd, "names") else {
        return;
    };
    let _ = program.run_with(&["--set-id"], "leave", &[("PROFDIR", "below")], 3);
    assert_eq!(program.profiles(), [""; 0]);
    fs::create_dir(program.system.directory.join("below")).unwrap();
    let _ = program.run_with(&[], "leave", &[("PROFDIR", "below")], 3);
    assert_eq!(program.profiles(), [""; 0]);
    assert_eq!(program.calls(&format!("below/{FILE}")).get("arc middle leaf"), Some(&7));
    let ran = program.run_with(&[], "leave", &[("PROFDIR", "nowhere")], 3);
    let said = "gmon: PROFDIR=nowhere: cannot open, using the current directory: no such file or directory (error 2)\n";
    assert_eq!(ran.stderr, said);
    assert_eq!(program.profiles(), [FILE]);
}

#[test]
fn counters_that_ran_over_are_reported() {
    let Some(program) = Program::build(System::OpenBsd, "many") else {
        return;
    };
    let ran = program.run_with(&[], "many", &[], 0);
    // 500,000 and 670,000 ticks in two counters of 16 bits each.
    let ticks = program.ticks(FILE);
    assert_eq!(ticks, samples(&[("light", 500_000 % 65_536), ("heavy", 670_000 % 65_536)]));
    let missing = 500_000 / 65_536 * 65_536 + 670_000 / 65_536 * 65_536;
    let why = "samples are missing: the kernel's counters have 16 bits and became 0 after 65,535";
    assert_eq!(ran.stderr, format!("gmon: {missing} {why}\n"));
}

#[test]
fn of_too_many_arcs_the_most_frequent_stay() {
    let Some(program) = Program::of(System::OpenBsd, "many_arcs", "many_arcs") else {
        return;
    };
    const MOST: usize = 65_534;
    let ran = program.run_with(&[], "end", &[], 0);
    let profile = read(&program.system.directory.join("gmon.many_arcs.1001.out"));
    assert_eq!(profile.arcs().len(), MOST);
    assert_eq!(profile.arcs().iter().filter(|arc| arc.count == 3).count(), 1000, "the frequent ones");
    // 90,000 arcs between the addresses, and one more for `main`.
    let lost = 90_000 + 1 - MOST;
    let why = "calls are not in the file: the file has only room for the most frequent arcs";
    assert_eq!(ran.stderr, format!("gmon: {lost} {why}\n"));
    // A killed process leaves what the tables in the buffer had.
    let _ = program.run_with(&[], "killed", &[], 128 + 9);
    let killed = read(&program.system.directory.join("gmon.many_arcs.1001.out"));
    let calls: u64 = killed.arcs().iter().map(|arc| arc.count).sum();
    assert!(killed.arcs().len() <= MOST && calls > 0 && killed.arcs().iter().all(|arc| arc.count <= 3), "{calls}");
}

#[test]
fn all_readers_read_the_file() {
    let Some(program) = Program::build(System::OpenBsd, "readers") else {
        return;
    };
    let directory = &program.system.directory;
    for (part, status) in [("samples", 0), ("killed", 128 + 9)] {
        program.run(part, status);
        let bsd = gmon_tests::read(gmon_tests::gprof(), directory, &["--bsd", "-b", "profiled", FILE]);
        let ours = gmon_tests::read(gmon_tests::gprof(), directory, &["-b", "-p", "profiled", FILE]);
        for output in [&bsd, &ours] {
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            assert!(text.lines().any(|line| line.contains("light")), "{text}");
        }
        gmon_tests::compare(&program.image, &[&directory.join(FILE)], &["-b"]);
    }
}

#[test]
fn programs_of_mfentry_have_the_same_counts() {
    let Some(program) = Program::with(System::OpenBsd, "mfentry", "profiled", &["-O1", "-pg", "-mfentry"]) else {
        return;
    };
    let ran = program.run("counts", 0);
    program.check_printed_calls(&ran, FILE);
    // Nested functions of gcc, and handlers, whose caller is the kernel's code.
    let Some(program) =
        Program::with(System::OpenBsd, "fentry", "fentry", &["-O1", "-pg", "-mfentry", "-mno-red-zone"])
    else {
        return;
    };
    program.run("", 0);
    let calls = program.calls("gmon.fentry.1001.out");
    let count = |what: &str| calls.get(what).copied().unwrap_or(0);
    assert_eq!((count("arc outer nested"), count("calls nested")), (5, 5), "{calls:?}");
    assert_eq!((count("arc handler leaf"), count("calls handler"), count("arc main leaf")), (2, 2, 1), "{calls:?}");
}
