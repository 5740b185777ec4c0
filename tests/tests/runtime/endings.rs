//! However a program ends, its profile is complete, and the ending is as without us.

use std::process::{Command, ExitStatus};

use crate::support::{Program, calls};

/// The program with our runtime, and without any runtime.
fn programs(name: &str, flags: &[&str]) -> [Program; 2] {
    let plain = Program::compile_with("cc", &format!("{name}-plain"), "ends.c", flags);
    [Program::compile(name, "ends.c", flags), plain]
}

/// The exit of a program that was told how to end; nothing else is printed.
fn end(program: &Program, arguments: &[&str]) -> ExitStatus {
    let output = program.command(arguments).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
    output.status
}

fn counted(program: &Program) -> u64 {
    calls(&program.profile(), program.symbols()).get("calls counted").copied().unwrap_or(0)
}

/// Ends both programs this way and checks that they end alike and that the profile has all calls.
fn ends(name: &str, flags: &[&str], ways: &[(&[&str], u64)]) {
    let [ours, plain] = programs(name, flags);
    for (arguments, calls) in ways {
        let _ = std::fs::remove_file(ours.directory.join("gmon.out"));
        assert_eq!(end(&ours, arguments), end(&plain, arguments), "{arguments:?}");
        assert_eq!(counted(&ours), *calls, "{arguments:?}");
    }
}

#[test]
fn by_the_ways_of_the_c_library() {
    let ways: [(&[&str], u64); 7] = [
        (&["return"], 5),
        (&["exit"], 5),
        (&["_exit"], 5),
        (&["_Exit"], 5),
        (&["quick_exit"], 5),
        (&["abort"], 5),
        (&["pthread_exit"], 8),
    ];
    ends("ends-library", &[], &ways);
    ends("ends-library-static", &["-static"], &ways);
}

#[test]
fn by_a_fault() {
    ends("ends-fault", &["-O0"], &[(&["null"], 5), (&["wild"], 5), (&["divide"], 5), (&["illegal"], 5)]);
}

#[test]
fn by_a_signal_that_kills() {
    let numbers: Vec<String> = [1, 2, 3, 6, 10, 11, 12, 13, 14, 15, 24, 31].iter().map(ToString::to_string).collect();
    let ways: Vec<[&str; 2]> = numbers.iter().flat_map(|number| [["raise", number], ["kill", number]]).collect();
    let ways: Vec<(&[&str], u64)> = ways.iter().map(|way| (&way[..], 5)).collect();
    ends("ends-signal", &[], &ways);
}

#[test]
fn the_programs_signal_handling_stays() {
    ends("ends-own", &[], &[(&["own"], 6), (&["ignored"], 5)]);
}

#[test]
fn a_signal_that_was_ignored_at_the_start_stays_ignored() {
    let [ours, _] = programs("ends-ignored", &[]);
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("trap '' TERM; exec {} raise 15", ours.executable.display())]);
    let status = shell.current_dir(&ours.directory).status().unwrap();
    assert_eq!(status.code(), Some(3));
    assert_eq!(counted(&ours), 5);
}

#[test]
fn signals_are_left_alone_on_request() {
    let [ours, _] = programs("ends-alone", &[]);
    let output = ours.command(&["raise", "15"]).env("GMON_SIGNALS", "none").output().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&output.status), Some(15));
    assert!(output.stderr.is_empty());
    // The superuser's file is opened at the start, but it is empty.
    assert!(std::fs::metadata(ours.directory.join("gmon.out")).map_or(true, |file| file.len() == 0));

    let output = ours.command(&["raise", "15"]).env("GMON_SIGNALS", "some").output().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&output.status), Some(15));
    let line = "gmon: GMON_SIGNALS=some is not all or none: using all\n";
    assert_eq!(String::from_utf8_lossy(&output.stderr), line);
    assert_eq!(counted(&ours), 5);
}

#[test]
fn main_returns_while_threads_run_five_hundred_times() {
    let [ours, plain] = programs("ends-threads", &["-O1"]);
    let expected = end(&plain, &["threads"]);
    for _ in 0..500 {
        assert_eq!(end(&ours, &["threads"]), expected);
        assert!(counted(&ours) >= 5);
    }
}

#[test]
fn a_thread_exits_while_another_is_in_its_last_destructor() {
    let [_, plain] = programs("ends-together-ways", &[]);
    if end(&plain, &["together", "1"]).code() == Some(77) {
        println!("\nSKIPPED: an exit while another thread exits: the C library's exit holds a lock");
        return;
    }
    let ways: [(&[&str], u64); 2] = [(&["together", "1"], 5), (&["together", "30"], 5)];
    ends("ends-together", &[], &ways);
    ends("ends-together-static", &["-static"], &ways);
}

#[test]
fn thirty_threads_exit_at_once() {
    let ways: [(&[&str], u64); 2] = [(&["crowd"], 5), (&["crowd", "quickly"], 5)];
    ends("ends-crowd", &[], &ways.repeat(100));
}
