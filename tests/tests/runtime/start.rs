//! What the start and the end of a program cost.

use std::os::unix::fs::MetadataExt;

use crate::support::Program;

/// The signals for which the runtime installs a handler, each by one system call.
const FATAL_SIGNALS: u32 = 21;
/// What the other things cost a superuser more: the files that are opened at the start.
const OF_THE_SUPERUSER: u32 = 15;

/// The system calls of a program in a run without a tick: a tick's place must be looked up at the end.
fn system_calls(counter: &Program, program: &Program, variable: (&str, &str)) -> u32 {
    for _ in 0..200 {
        let path = program.executable.to_str().unwrap();
        // Without the files of an earlier run, which would have to be removed.
        let _ = std::fs::remove_file(counter.directory.join("gmon.out"));
        let _ = std::fs::remove_file(counter.directory.join("gmon.out.side"));
        let output = counter.command(&[path]).env(variable.0, variable.1).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let printed = String::from_utf8(output.stdout).unwrap();
        let numbers: Vec<u32> =
            printed.lines().last().unwrap().split(' ').map(|number| number.parse().unwrap()).collect();
        let [calls, ticks] = numbers[..] else { panic!("{printed}") };
        if ticks == 0 {
            return calls;
        }
    }
    panic!("each run has a tick")
}

#[test]
fn a_short_program_makes_few_system_calls_more_than_without_the_runtime() {
    let counter = Program::compile_with("cc", "start-counter", "system_calls.c", &["-O2"]);
    let without = Program::compile_with("cc", "start-without", "short.c", &[]);
    let without = system_calls(&counter, &without, ("GMON_SIGNALS", "all"));
    let with = Program::compile("start-with", "short.c", &[]);
    let [all, no_signals] =
        ["all", "none"].map(|signals| system_calls(&counter, &with, ("GMON_SIGNALS", signals)) - without);
    let is_root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    let most = 48 + if is_root { OF_THE_SUPERUSER } else { 0 };
    assert!(no_signals <= most, "{no_signals} system calls more than the {without} without the runtime");
    // A signal that was ignored at the start takes a second call.
    assert!((FATAL_SIGNALS..2 * FATAL_SIGNALS).contains(&(all - no_signals)), "{all} - {no_signals}");
    // A program that the user does not want to be profiled makes none.
    assert_eq!(system_calls(&counter, &with, ("GMON_ONLY", "!program")), without);
}

#[test]
fn a_pattern_chooses_the_programs_that_are_profiled() {
    let program = Program::compile("start-only", "children.c", &[]);
    let profiles = |pattern: &str| {
        let output = program.command(&["2"]).env("GMON_ONLY", pattern).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        let paths = std::fs::read_dir(&program.directory).unwrap().map(|entry| entry.unwrap().path());
        let profiles: Vec<_> =
            paths.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("gmon")).collect();
        profiles.iter().for_each(|path| std::fs::remove_file(path).unwrap());
        profiles.len()
    };
    // A profile and a side file for the program and for each of its two children.
    for pattern in ["program", "pro*m", "p??????", "!other", ""] {
        assert_eq!(profiles(pattern), 6, "{pattern}");
    }
    for pattern in ["other", "pro", "!program", "!*", "start-only*"] {
        assert_eq!(profiles(pattern), 0, "{pattern}");
    }
}

#[test]
fn a_program_that_is_left_out_cannot_start_profiling() {
    let program = Program::compile("start-again", "starts_again.c", &[]);
    let has_profile = |pattern: &str| {
        let _ = std::fs::remove_file(program.directory.join("gmon.out"));
        assert!(program.command(&[]).env("GMON_ONLY", pattern).status().unwrap().success());
        program.directory.join("gmon.out").exists()
    };
    assert_eq!(["program", "!program"].map(has_profile), [true, false]);
}
