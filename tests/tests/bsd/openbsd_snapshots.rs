//! `gmon_dump` on OpenBSD: the file while the program runs, the promises of pledge(2), and counters that wrap.
//!
//! `make runtime-openbsd-amd64` builds the object. If the object cannot be built, the tests print SKIPPED.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use gmon_tests::bsd::System;
use gmon_tests::profiled::{Program, samples};

const FILE: &str = "gmon.snapshots.1001.out";
const CHILD: &str = "gmon.snapshots.1002.out";

fn built(name: &str) -> Option<Program> {
    Program::of(System::OpenBsd, &format!("snapshots_{name}"), "snapshots")
}

/// The calls of `leaf` by a function.
fn leaves(program: &Program, file: &str, caller: &str) -> u64 {
    program.calls(file).get(&format!("arc {caller} leaf")).copied().unwrap_or(0)
}

#[test]
fn a_snapshot_has_all_counts_so_far_and_the_kernels_file_replaces_it() {
    let Some(program) = built("dumps") else {
        return;
    };
    program.run("dumps", 0);
    for (file, calls, ticks) in [("first", 1, 30), ("second", 2, 35), (FILE, 3, 42)] {
        assert_eq!(leaves(&program, file, "dumps"), calls, "{file}");
        assert_eq!(program.ticks(file), samples(&[("light", ticks)]), "{file}");
    }
    assert_eq!(program.profiles(), [FILE]);
    let mode = fs::metadata(program.system.directory.join(FILE)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "the kernel refuses other modes");
    // Each arc once: the tables are not in the snapshot.
    let profile = gmon_tests::symbols::read(&program.system.directory.join("first"));
    let mut ends: Vec<_> = profile.arcs().iter().map(|arc| (arc.frompc, arc.selfpc)).collect();
    ends.dedup();
    assert_eq!(ends.len(), profile.arcs().len());
    assert!(profile.arcs().iter().all(|arc| arc.count > 0));
}

#[test]
fn a_snapshot_stays_when_the_process_executes_another_program() {
    let Some(program) = built("executes") else {
        return;
    };
    fs::hard_link(&program.image, program.system.directory.join("other")).unwrap();
    program.run("executes", 5);
    assert_eq!(program.profiles(), ["gmon.other.1001.out", FILE]);
    assert_eq!((leaves(&program, FILE, "executes"), program.ticks(FILE)), (1, samples(&[("light", 30)])));
}

#[test]
fn a_snapshot_has_the_name_of_the_kernels_file() {
    let Some(program) = built("named") else {
        return;
    };
    // The kernel keeps 23 bytes of the name.
    let image = program.system.directory.join("a_program_with_a_long_name");
    fs::hard_link(&program.image, &image).unwrap();
    let ran = program.system.run(&image, &[], &["named"], &[]).expect(0);
    assert_eq!(
        (ran.stderr.as_str(), program.profiles()),
        ("", vec!["gmon.a_program_with_a_long_n.1001.out".to_owned()])
    );
}

#[test]
fn without_promises_a_snapshot_fails_with_a_message_and_the_process_lives() {
    let Some(program) = built("pledged") else {
        return;
    };
    let refused = "gmon: gmon.snapshots.1001.out: cannot open without the promises rpath, wpath and cpath, \
                   set GMON_LIVE=1 to open it at the start: operation not permitted (error 1)\n";
    let ran = program.run_with(&[], "pledged", &[], 0);
    assert_eq!(ran.stderr, refused.repeat(2));
    assert_eq!(leaves(&program, FILE, "pledged"), 2, "the kernel writes the file all the same");
    assert_eq!(program.ticks(FILE), samples(&[("light", 34)]));
    let ran = program.run_with(&[], "drops", &[], 0);
    assert_eq!(ran.stderr, refused);
}

#[test]
fn with_promises_a_snapshot_is_written() {
    let Some(program) = built("promised") else {
        return;
    };
    program.run("promised", 0);
    assert_eq!(leaves(&program, "first", "promised"), 1);
    assert_eq!(program.ticks("first"), samples(&[("light", 30)]));
    assert_eq!(leaves(&program, FILE, "promised"), 2);
}

#[test]
fn another_user_leaves_no_snapshot_and_the_kernels_file_is_whole() {
    let Some(program) = built("other_user") else {
        return;
    };
    let ran = program.run_with(&["--user", "0"], "other_user", &[], 0);
    let why = "cannot open as another user, set GMON_LIVE=1 to open it at the start";
    assert!(ran.stderr.contains(why) && ran.stderr.lines().count() == 1, "{}", ran.stderr);
    assert_eq!((leaves(&program, FILE, "other_user"), program.ticks(FILE)), (2, samples(&[("light", 30)])));
    // With the file open from the start, the snapshot is written, and the kernel replaces it.
    let ran = program.run_with(&["--user", "0"], "other_user", &[("GMON_LIVE", "1")], 0);
    assert_eq!((ran.stderr.as_str(), leaves(&program, FILE, "other_user")), ("", 2));
}

#[test]
fn without_any_promise_the_runtime_makes_no_call_and_the_file_has_all_counts() {
    let Some(program) = built("silent") else {
        return;
    };
    program.run("silent", 0);
    assert_eq!(leaves(&program, FILE, "silent"), 1);
    assert_eq!(leaves(&program, FILE, "calling_worker"), 50);
    assert_eq!(program.ticks(FILE), samples(&[("light", 30)]));
}

#[test]
fn a_file_that_is_opened_at_the_start_needs_no_promise_but_stdio() {
    let Some(program) = built("live") else {
        return;
    };
    let ran = program.run_with(&[], "pledged", &[("GMON_LIVE", "1")], 0);
    assert_eq!((ran.stderr.as_str(), leaves(&program, FILE, "pledged")), ("", 2));
    let ran = program.run_with(&[], "live", &[("GMON_DUMP_SIGNAL", "USR1")], 128 + 9);
    assert_eq!(ran.stderr, "");
    assert_eq!(program.ticks("empty"), samples(&[]), "a profile from the start");
    for (file, calls, ticks) in [("first", 1, 30), ("second", 2, 37), (FILE, 3, 37)] {
        assert_eq!(leaves(&program, file, "live"), calls, "{file}");
        assert_eq!(program.ticks(file), samples(&[("light", ticks)]), "{file}");
    }
}

#[test]
fn children_have_snapshots_of_their_own() {
    let Some(program) = built("forks") else {
        return;
    };
    program.run("forks", 0);
    assert_eq!((leaves(&program, FILE, "forks"), leaves(&program, "child", "forks")), (1, 2));
    assert_eq!(program.ticks("child"), samples(&[("light", 8)]));
    assert_eq!((leaves(&program, "parent", "forks"), leaves(&program, CHILD, "forks")), (1, 2));
    assert_eq!(program.ticks(FILE), samples(&[("light", 30)]));
}

#[test]
fn the_directory_is_that_of_profdir_or_of_the_first_snapshot() {
    let Some(program) = built("elsewhere") else {
        return;
    };
    let below = program.system.directory.join("below");
    fs::create_dir_all(&below).unwrap();
    program.run("elsewhere", 0);
    assert_eq!(leaves(&program, FILE, "elsewhere"), 1, "the kernel's file is where the program started");
    assert_eq!(leaves(&program, &format!("below/{FILE}"), "elsewhere"), 1);
    fs::remove_file(below.join(FILE)).unwrap();
    for environment in [("GMON_LIVE", "1"), ("PROFDIR", "."), ("GMON_DUMP_SIGNAL", "INFO")] {
        let ran = program.run_with(&[], "elsewhere", &[environment], 0);
        assert_eq!((ran.stderr.as_str(), below.join(FILE).exists()), ("", false), "{environment:?}");
    }
}

#[test]
fn a_counter_that_was_seen_to_wrap_ends_as_the_highest_value() {
    let Some(program) = built("wraps") else {
        return;
    };
    let said = |samples: u64| {
        let beyond = samples - 65_535;
        format!("gmon: {beyond} samples do not fit the file, where counters have 16 bits and end at 65,535\n")
    };
    let ran = program.run_with(&[], "wraps", &[], 0);
    assert_eq!(program.ticks("first"), samples(&[("light", 65_535)]));
    assert_eq!(program.ticks(FILE), samples(&[("light", 65_535), ("heavy", 5)]));
    assert_eq!(program.ticks(CHILD), samples(&[("light", 20)]), "the child's counters did not wrap");
    assert_eq!(ran.stderr, said(66_000) + &said(66_011));
    let ran = program.run_with(&[], "wraps_before_threads", &[], 0);
    assert_eq!(program.ticks(FILE), samples(&[("light", 2 * 8200), ("heavy", 65_535)]));
    assert_eq!(ran.stderr, said(66_000));
}
