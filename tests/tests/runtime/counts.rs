//! Calls are counted exactly.

use std::process::Command;

use crate::support::{Program, compare, library, read, ticks};

const LINK_MODES: [(&str, &[&str]); 4] =
    [("pie", &[]), ("no-pie", &["-no-pie", "-fno-pie"]), ("static", &["-static"]), ("static-pie", &["-static-pie"])];

/// Runs `calls` compiled this way, and compares its own counts with its profile.
fn calls_agree(name: &str, flags: &[&str], arguments: &[&str]) {
    let program = Program::compile(&format!("calls-{name}"), "calls.c", flags);
    let printed = program.run(arguments);
    compare(&printed, &program.profile(), program.symbols());
}

#[test]
fn in_every_link_mode_with_one_thread_and_with_four() {
    for (mode, link) in LINK_MODES {
        let program = Program::compile(&format!("calls-{mode}"), "calls.c", &[&["-O2"], link].concat());
        for threads in ["1", "4"] {
            let printed = program.run(&[threads]);
            compare(&printed, &program.profile(), program.symbols());
        }
    }
}

#[test]
fn at_every_optimization_level() {
    for level in ["-O0", "-O1", "-O2", "-O3", "-Os"] {
        calls_agree(&level[1..], &[level], &["2", "100"]);
    }
}

#[test]
fn in_the_other_calling_forms() {
    calls_agree("fentry", &["-O2", "-mfentry"], &["2", "100"]);
    calls_agree("fentry-no-pic", &["-O2", "-mfentry", "-fno-pie", "-no-pie"], &["2", "100"]);
    calls_agree("cf-protection", &["-O2", "-fcf-protection=full"], &["2", "100"]);
    calls_agree("avx", &["-O3", "-mavx2"], &["1", "1"]);
}

#[test]
fn as_clang_calls_it() {
    if Command::new("clang").arg("--version").output().is_err() {
        println!("\nSKIPPED: clang's way to call mcount: no clang here");
        return;
    }
    let objects = format!("-B{}", library().display());
    for flags in [&["-O0"][..], &["-O2"], &["-O2", "-no-pie", "-fno-pie"], &["-O2", "-static"], &["-O2", "-mfentry"]] {
        let name = format!("calls-clang{}", flags.concat());
        let flags = [&["-pg", &objects, "-Wno-unknown-attributes"], flags].concat();
        let program = Program::compile_with("clang", &name, "calls.c", &flags);
        let printed = program.run(&["2", "100"]);
        compare(&printed, &program.profile(), program.symbols());
    }
}

#[test]
fn as_glibc_counts_them_with_one_thread() {
    let ours = Program::compile("calls-ours", "calls.c", &["-O2"]);
    let theirs = Program::compile_with("cc", "calls-theirs", "calls.c", &["-pg", "-O2"]);
    for program in [&ours, &theirs] {
        let printed = program.run(&["1", "50"]);
        compare(&printed, &program.profile(), program.symbols());
    }
}

#[test]
fn four_threads_of_ten_million_calls_are_forty_million() {
    let program = Program::compile("forty-million", "forty_million.c", &["-O1"]);
    for _ in 0..3 {
        let printed = program.run(&[]);
        compare(&printed, &program.profile(), program.symbols());
    }
}

#[test]
fn many_threads_that_come_and_go() {
    calls_agree("many-threads", &["-O1"], &["64", "200"]);
}

#[test]
fn from_the_first_constructor_to_the_last_destructor() {
    for (mode, link) in LINK_MODES {
        let program = Program::compile(&format!("control-{mode}"), "control.c", link);
        let printed = program.run(&[]);
        compare(&printed, &program.profile(), program.symbols());
    }
}

#[test]
fn when_exceptions_pass_through_profiled_functions() {
    if Command::new("c++").arg("--version").output().is_err() {
        println!("\nSKIPPED: C++ exceptions: no c++ here");
        return;
    }
    let objects = format!("-B{}", library().display());
    let program = Program::compile_with("c++", "exceptions", "exceptions.cc", &["-pg", &objects, "-O1"]);
    let printed = program.run(&[]);
    compare(&printed, &program.profile(), program.symbols());
}

#[test]
fn in_each_process_of_its_own() {
    for (mode, link) in LINK_MODES {
        let program = Program::compile(&format!("forks-{mode}"), "forks.c", link);
        let printed = program.run(&["3"]);
        compare(&printed, &program.profile(), program.symbols());
        let mut files = 0;
        for entry in std::fs::read_dir(&program.directory).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            files += usize::from(name.starts_with("gmon.program.") && name.ends_with(".out"));
        }
        assert_eq!(files, 3, "children that executed other programs must leave no file");
        for line in printed.lines().filter_map(|line| line.strip_prefix("child ")) {
            let (pid, counted) = line.split_once(' ').unwrap();
            let profile = read(&program.directory.join(format!("gmon.program.{pid}.out")));
            compare(counted, &profile, program.symbols());
            let sampled: u64 = ticks(&profile, program.symbols()).values().sum();
            assert!(sampled >= 10, "the kernel notices 24 samples or more: {sampled}");
        }
    }
}
