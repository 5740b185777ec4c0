//! What the start and the end of a program cost.

use std::os::unix::fs::MetadataExt;

use crate::support::Program;

/// The signals for which the runtime installs a handler, each by one system call.
const FATAL_SIGNALS: u32 = 21;
/// What the other things cost a superuser more: the files that are opened at the start.
const OF_THE_SUPERUSER: u32 = 15;

/// The system calls of a program in a run without a tick: a tick's place must be looked up at the end.
fn system_calls(counter: &Program, program: &Program, signals: &str) -> u32 {
    for _ in 0..200 {
        let path = program.executable.to_str().unwrap();
        // Without the files of an earlier run, which would have to be removed.
        let _ = std::fs::remove_file(counter.directory.join("gmon.out"));
        let _ = std::fs::remove_file(counter.directory.join("gmon.out.side"));
        let output = counter.command(&[path]).env("GMON_SIGNALS", signals).output().unwrap();
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
    let without = system_calls(&counter, &Program::compile_with("cc", "start-without", "short.c", &[]), "all");
    let with = Program::compile("start-with", "short.c", &[]);
    let [all, no_signals] = ["all", "none"].map(|signals| system_calls(&counter, &with, signals) - without);
    let is_root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    let most = 48 + if is_root { OF_THE_SUPERUSER } else { 0 };
    assert!(no_signals <= most, "{no_signals} system calls more than the {without} without the runtime");
    // A signal that was ignored at the start takes a second call.
    assert!((FATAL_SIGNALS..2 * FATAL_SIGNALS).contains(&(all - no_signals)), "{all} - {no_signals}");
}
