//! With `GMON_LIVE=1`, the file is a profile at every moment.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};

use gmon_tests::random::Random;

use crate::support::{Program, calls, compare, quiet, read};

#[test]
fn a_program_killed_at_any_moment_loses_no_call() {
    let program = Program::compile("live-killed", "live.c", &["-O1"]);
    let counters = program.directory.join("counters");
    let mut random = Random::new(1);
    let mut killed_after_calls = 0;
    for round in 0..300 {
        let threads = 1 + round % 4;
        let _ = fs::remove_file(&counters);
        let mut command = program.command(&["counters", &threads.to_string()]);
        let mut child = command.env("GMON_LIVE", "1").spawn().unwrap();
        // Half of the programs are killed at any moment from before main to a few milliseconds into main, the other
        // half once they have counted. What is tested is the same at all moments.
        while round % 2 == 1 && counted(&counters) == 0 {
            assert!(child.try_wait().unwrap().is_none(), "the program ended by itself");
        }
        std::thread::sleep(Duration::from_micros(random.below(8000)));
        child.kill().unwrap();
        child.wait().unwrap();
        let own = counted(&counters);
        if own == 0 {
            continue; // There may be no profile yet.
        }
        killed_after_calls += 1;
        let counted = calls(&program.profile(), program.symbols())["calls counted"];
        assert!((own..=own + threads).contains(&counted), "own {own}, profile {counted}");
    }
    assert!(killed_after_calls >= 150, "only {killed_after_calls} of the programs had made calls");
}

/// How many calls a program's own counters show; 0 before the program has made the file of the counters.
fn counted(counters: &Path) -> u64 {
    let bytes = fs::read(counters).unwrap_or_default();
    bytes.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap())).sum()
}

#[test]
fn a_live_file_is_always_a_complete_profile() {
    let program = Program::compile("live-whole", "calls.c", &["-O1"]);
    let file = program.directory.join("gmon.out");
    let done = AtomicBool::new(false);
    let looked = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut looked = 0;
            while !done.load(SeqCst) {
                match fs::read(&file) {
                    Ok(bytes) => {
                        let profile = gmon::read(&bytes, &gmon::Hints::default());
                        assert!(profile.is_ok(), "{} bytes: {profile:?}", bytes.len());
                        looked += 1;
                    }
                    Err(error) => assert_eq!(error.kind(), ErrorKind::NotFound),
                }
            }
            looked
        });
        let stop = Stop(&done);
        for round in 0..200 {
            if round % 2 == 0 {
                let _ = fs::remove_file(&file);
            }
            quiet(&program.command(&["1"]).env("GMON_LIVE", "1").output().unwrap());
        }
        drop(stop);
        watcher.join().unwrap()
    });
    assert!(looked > 200, "looked {looked} times");
    // The temporary file that it was made from is gone too.
    let names =
        fs::read_dir(&program.directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.filter(|name| name.contains("new")).count(), 0);
}

/// Stops a watcher, however the watched program ends.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

#[test]
fn the_profile_can_be_read_while_the_program_runs() {
    let program = Program::compile("live-running", "live.c", &["-O1"]);
    let _child = Killed(program.command(&["counters", "2"]).env("GMON_LIVE", "1").spawn().unwrap());
    let start = Instant::now();
    let counted = || calls(&program.profile(), program.symbols()).get("calls counted").copied().unwrap_or(0);
    while !program.directory.join("gmon.out").exists() || counted() == 0 {
        assert!(start.elapsed() < Duration::from_secs(60), "the program does not start");
    }
    let first = counted();
    while counted() == first {
        assert!(start.elapsed() < Duration::from_secs(60), "the profile does not change");
    }
}

/// A program that does not outlive the test, however the test ends.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_program_that_exits_normally_has_the_same_profile_in_live_mode() {
    for (mode, link) in [("pie", &["-O1"][..]), ("no-pie", &["-O1", "-no-pie"]), ("static", &["-O1", "-static-pie"])] {
        let program = Program::compile(&format!("live-{mode}"), "calls.c", link);
        for threads in ["1", "4"] {
            let printed = quiet(&program.command(&[threads]).env("GMON_LIVE", "1").output().unwrap());
            compare(&printed, &program.profile(), program.symbols());
        }
    }
    let program = Program::compile("live-fentry", "nested.c", &["-O1", "-mfentry", "-Wl,-z,execstack"]);
    let printed = quiet(&program.command(&[]).env("GMON_LIVE", "1").output().unwrap());
    compare(&printed, &program.profile(), program.symbols());
}

#[test]
fn tables_grow_in_the_file() {
    let program = Program::compile("live-arcs", "extremes.c", &["-O1"]);
    let printed = quiet(&program.command(&["arcs"]).env("GMON_LIVE", "1").output().unwrap());
    compare(&printed, &program.profile(), program.symbols());
}

#[test]
fn children_have_files_of_their_own() {
    let program = Program::compile("live-forks", "forks.c", &[]);
    let printed = quiet(&program.command(&["3"]).env("GMON_LIVE", "1").output().unwrap());
    compare(&printed, &program.profile(), program.symbols());
    for line in printed.lines().filter_map(|line| line.strip_prefix("child ")) {
        let (pid, counted) = line.split_once(' ').unwrap();
        compare(counted, &read(&program.directory.join(format!("gmon.program.{pid}.out"))), program.symbols());
    }
}

#[test]
fn under_strict_seccomp() {
    // Nothing more can be written, but the contents of the file stay.
    let program = Program::compile("live-seccomp", "places.c", &[]);
    let output = program.command(&["seccomp"]).env("GMON_LIVE", "1").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(calls(&program.profile(), program.symbols())["calls counted"], 5);
}

#[test]
fn impossible_settings_are_reported_and_the_file_is_written_at_the_end() {
    let program = Program::compile("live-not", "places.c", &[]);
    let said = |live: &str, format: &str| {
        let output = program.command(&[]).env("GMON_LIVE", live).env("GMON_FORMAT", format).output().unwrap();
        assert!(output.status.success());
        compare(&String::from_utf8(output.stdout).unwrap(), &program.profile(), program.symbols());
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(said("yes", ""), "gmon: GMON_LIVE=yes is not 0 or 1: using 0\n");
    assert_eq!(said("1", "gnu"), "gmon: GMON_FORMAT=gnu does not work with GMON_LIVE=1: using bsd\n");
    assert_eq!(said("0", "gnu"), "");
}

/// Waits until a child has stopped itself by a signal.
pub(crate) fn wait_until_stopped(child: &mut Child) {
    let stat = format!("/proc/{}/stat", child.id());
    while !fs::read_to_string(&stat).unwrap().rsplit_once(") ").unwrap().1.starts_with('T') {
        assert!(child.try_wait().unwrap().is_none(), "the program ended before it stopped itself");
        std::thread::sleep(Duration::from_millis(1));
    }
}
