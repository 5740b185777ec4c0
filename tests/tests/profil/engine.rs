//! The engine that all dialects use.

use std::process::Command;

use gmon_tests::chance::DEVIATIONS;

use crate::support::{How, command, directory, has, plain, program, try_one, went_well};

const PROGRAM: How = plain("engine.c");

trials! { PROGRAM;
    buffers_change_under_four_threads
    it_is_switched_off_and_on_under_four_threads
    dialects_take_turns_under_four_threads
    four_threads_call_it
    a_signal_handler_calls_it
    sigprof_is_blocked_in_the_caller
    forks_under_four_threads
    a_handler_of_its_own_gets_its_signals
    a_handler_that_calls_ours_does_not_go_round
    a_late_tick_does_no_harm
    ticks_that_had_to_wait_count
    frequent_calls_do_not_keep_the_clock_away
    turning_it_on_and_off_often_does_not_keep_the_clock_away
}

/// Trials that check when ticks come and when they stay away.
const CLOCK: [&str; 5] = [
    "all_threads_are_counted",
    "it_is_off_after_exec",
    "it_is_on_in_parent_and_child_after_fork",
    "a_tick_is_10_milliseconds",
    "nothing_counts_once_it_is_off",
];

#[test]
fn shares_are_those_of_the_cpu_time() {
    let printed = try_one(PROGRAM, &["shares_are_those_of_the_cpu_time"]);
    let numbers: Vec<f64> = printed.split_whitespace().map(|number| number.parse().unwrap()).collect();
    let [major, minor, major_used, minor_used, squares] = numbers[..] else { panic!("{printed}") };
    let ticks = major + minor;
    let share = major_used / (major_used + minor_used);
    // At worst, each tick falls at random, together with all ticks that the kernel notices at the same time.
    let deviation = (squares * share * (1.0 - share)).sqrt();
    assert!((major - ticks * share).abs() < DEVIATIONS * deviation + 1.0, "{printed}: {deviation}");
}

#[test]
fn buffers_change_under_valgrind() {
    if !has("valgrind") {
        return;
    }
    for trial in
        ["buffers_change_under_four_threads", "dialects_take_turns_under_four_threads", "a_signal_handler_calls_it"]
    {
        // If the kernel does not write for us, valgrind sees every access.
        for way in ["", "direct"] {
            let mut valgrind = Command::new("valgrind");
            valgrind.args(["-q", "--error-exitcode=9"]).arg(program(PROGRAM)).args([trial, "1000", way]);
            went_well(&valgrind.current_dir(directory()).output().unwrap());
        }
    }
}

#[test]
fn timers_that_tick_in_the_main_thread_work() {
    // The program believes that it runs on a Linux before 6.4.
    let old = |how, words: &[&str]| {
        let mut setarch = Command::new("setarch");
        setarch.arg("--uname-2.6").arg(program(how)).args(words).current_dir(directory());
        went_well(&setarch.output().unwrap());
    };
    if has("setarch") {
        for trial in CLOCK {
            old(plain("bsd.c"), &[trial]);
        }
        for trial in [
            "buffers_change_under_four_threads",
            "forks_under_four_threads",
            "a_handler_of_its_own_gets_its_signals",
            "a_handler_that_calls_ours_does_not_go_round",
            "a_late_tick_does_no_harm",
        ] {
            old(PROGRAM, &[trial]);
        }
    }
}

#[test]
fn it_is_the_same_however_the_program_is_linked() {
    for flags in [&["-static"][..], &["-no-pie"], &["-static-pie"]] {
        for trial in CLOCK {
            try_one(How { flags, ..plain("bsd.c") }, &[trial]);
        }
        try_one(How { flags, ..PROGRAM }, &["buffers_change_under_four_threads"]);
    }
}

#[test]
fn an_unknown_trial_is_none() {
    let output = command(&program(PROGRAM), &["no such thing"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "a test with a wrong name must fail");
}
