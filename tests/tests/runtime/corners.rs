//! Corner cases of the runtime.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command};

use crate::support::{Program, calls, compare, quiet, read};

fn compile(name: &str) -> Program {
    Program::compile(&format!("corners-{name}"), "corners.c", &["-O1"])
}

fn counted(program: &Program) -> u64 {
    calls(&program.profile(), program.symbols()).get("calls counted").copied().unwrap_or(0)
}

#[test]
fn a_signal_unblocked_only_for_a_wait_still_kills() {
    let program = compile("waits");
    let status = program.command(&["waits"]).status().unwrap();
    assert_eq!(status.signal(), Some(15));
    program.profile();
}

#[test]
fn a_fatal_signal_on_the_smallest_stack_leaves_a_complete_file() {
    let program = compile("small");
    for size in ["8192", "12288", "16384"] {
        let status = program.command(&["small", size]).status().unwrap();
        assert_eq!(status.signal(), Some(15), "{size}");
        assert_eq!(counted(&program), 1, "{size}");
    }
    let status = program.command(&["thread"]).status().unwrap();
    assert_eq!(status.code(), Some(3));
    assert_eq!(counted(&program), 1);
}

#[test]
fn a_handler_that_calls_the_previous_handler() {
    let program = compile("chains");
    assert_eq!(program.command(&["chains"]).status().unwrap().signal(), Some(15));
    program.profile();
}

#[test]
fn the_child_of_a_vfork_takes_no_threads_table() {
    let program = compile("vfork");
    let output = program.command(&["vfork"]).output().unwrap();
    assert!(output.status.success());
    compare(&String::from_utf8(output.stdout).unwrap(), &program.profile(), program.symbols());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("gmon: 1 calls were not recorded"), "{said}");
}

#[test]
fn a_signal_in_the_middle_of_a_threads_first_call() {
    let program = compile("first");
    let printed = program.run(&["first", "3000"]);
    compare(&printed, &program.profile(), program.symbols());
}

/// If signals cannot be blocked, the program's own handlers run while the file is written, and they need the program's
/// stack.
#[test]
fn program_handlers_run_on_the_programs_stack_while_the_file_is_written() {
    let program = Program::compile("corners-stacks", "stacks.c", &["-O1"]);
    let output = program.command(&[]).output().unwrap();
    if output.status.code() == Some(77) {
        println!("\nSKIPPED: forbidden system calls: no system-call filters here");
        return;
    }
    assert_eq!(quiet(&output), "handled some, on the stack all\n");
}

/// valgrind gives a handler for the alternate stack no room on any other stack.
#[test]
fn samples_at_any_stack_depth_under_valgrind() {
    let program = Program::compile("corners-deepens", "deepens.c", &["-O1"]);
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("\nSKIPPED: samples under valgrind: no valgrind here");
        return;
    }
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["-q", "--tool=none"]).arg(&program.executable).args(["2000", "20000"]);
    let printed = quiet(&valgrind.current_dir(&program.directory).output().unwrap());
    assert_eq!(printed, "calls counted 2001\n");
    let profile = program.profile();
    assert_eq!(calls(&profile, program.symbols()).get("calls counted"), Some(&2001));
    assert!(!profile.histograms().is_empty());
    // Fatal signals end it as without us, and with a profile.
    let program = Program::compile("corners-valgrind", "ends.c", &["-O1"]);
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["-q", "--tool=none"]).arg(&program.executable).args(["raise", "15"]);
    let status = valgrind.current_dir(&program.directory).status().unwrap();
    assert_eq!(status.signal(), Some(15));
    assert_eq!(calls(&program.profile(), program.symbols()).get("calls counted"), Some(&5));
    // valgrind's memory checker, which looks at stacks, does not warn of another stack either.
    let mut valgrind = Command::new("valgrind");
    valgrind.arg(&program.executable).arg("return");
    let output = valgrind.current_dir(&program.directory).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("Command:") && !said.contains("Warning"), "{said}");
}

#[test]
fn a_second_fatal_signal_does_not_truncate_the_file() {
    let program = compile("twice");
    for _ in 0..20 {
        let status = program.command(&["twice"]).status().unwrap();
        assert!(matches!(status.signal(), Some(2 | 15)), "{status:?}");
        assert_eq!(counted(&program), 1);
    }
}

#[test]
fn a_file_with_our_descriptor_number_is_left_alone() {
    let program = compile("reused");
    for live in ["0", "1"] {
        let output = program.command(&["reused"]).env("GMON_LIVE", live).output().unwrap();
        assert!(output.status.success(), "GMON_LIVE={live}: {output:?}");
        assert_eq!(fs::read(program.directory.join("data")).unwrap(), b"hello\n");
    }
}

#[test]
fn a_fork_in_a_signal_handler() {
    let program = compile("forks");
    for live in ["0", "1"] {
        let printed = quiet(&program.command(&["forks", "200"]).env("GMON_LIVE", live).output().unwrap());
        compare(&printed, &program.profile(), program.symbols());
    }
}

#[test]
fn two_processes_in_one_directory_do_not_share_a_live_file() {
    let program = Program::compile("corners-two", "live.c", &["-O1"]);
    let mut first = program.command(&["first", "2"]).env("GMON_LIVE", "1").spawn().unwrap();
    let wait = |child: &mut Child, name: &str| {
        let counters = program.directory.join(name);
        while !fs::read(&counters).is_ok_and(|bytes| bytes.iter().any(|byte| *byte != 0)) {
            assert!(child.try_wait().unwrap().is_none(), "{name} ended by itself");
        }
    };
    wait(&mut first, "first");
    for live in ["1", "0"] {
        let name = format!("second-{live}");
        let mut second = program.command(&[&name, "2"]).env("GMON_LIVE", live).spawn().unwrap();
        wait(&mut second, &name);
        // One that writes its file at the end is to get there.
        let killed = Command::new("kill").args(["-TERM", &second.id().to_string()]).status().unwrap();
        assert!(killed.success());
        assert_eq!(second.wait().unwrap().signal(), Some(15));
        read(&program.directory.join("gmon.out"));
        assert!(first.try_wait().unwrap().is_none(), "the other process ended the program");
    }
    first.kill().unwrap();
    assert_eq!(first.wait().unwrap().signal(), Some(9));
}

#[test]
fn a_file_size_limit_does_not_kill_a_live_program() {
    let program = Program::compile("corners-limit", "control.c", &[]);
    for blocks in ["1", "16", "64"] {
        let script = format!("ulimit -f {blocks}; GMON_LIVE=1 exec {} x", program.executable.display());
        let output = Command::new("sh").args(["-c", &script]).current_dir(&program.directory).output().unwrap();
        assert_eq!(output.status.code(), Some(7), "{blocks}: {output:?}");
    }
}
