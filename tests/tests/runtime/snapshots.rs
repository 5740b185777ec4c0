//! Snapshots while the program runs, and profiling that several threads turn off and on at once.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Program, calls, compare, quiet};

fn compile(name: &str) -> Program {
    Program::compile(&format!("snapshots-{name}"), "dumps.c", &["-O1"])
}

fn counted(program: &Program) -> Option<u64> {
    let bytes = std::fs::read(program.directory.join("gmon.out")).ok()?;
    let profile = gmon::read(&bytes, &gmon::Hints::default()).ok()?;
    calls(&profile, program.symbols()).get("calls counted").copied()
}

#[test]
fn the_file_is_as_the_profile_was_then() {
    let program = compile("call");
    for live in ["0", "1"] {
        let output = program.command(&["call"]).env("GMON_LIVE", live).output().unwrap();
        assert_eq!(quiet(&output), "calls counted 5\n");
        // A live file updates itself.
        assert_eq!(counted(&program), Some(if live == "1" { 5 } else { 3 }));
    }
}

#[test]
fn a_signal_writes_a_snapshot() {
    let program = compile("signal");
    for (name, number) in [("USR1", "10"), ("SIGWINCH", "28"), ("17", "17"), ("RTMIN+2", "36"), ("PROF", "27")] {
        let output = program.command(&["signal", number]).env("GMON_DUMP_SIGNAL", name).output().unwrap();
        assert_eq!(quiet(&output), "calls counted 5\n");
        assert_eq!(counted(&program), Some(3), "{name}");
        std::fs::remove_file(program.directory.join("gmon.out")).unwrap();
    }
}

#[test]
fn a_signal_from_another_process_writes_a_snapshot() {
    let program = compile("wait");
    let mut command = program.command(&["wait"]);
    command.env("GMON_DUMP_SIGNAL", "USR1").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "ready");
    let status = Command::new("kill").args(["-USR1", &child.id().to_string()]).status().unwrap();
    assert!(status.success());
    let start = Instant::now();
    while counted(&program) != Some(3) {
        assert!(start.elapsed() < Duration::from_secs(60), "no file");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.stdin.take().unwrap().write_all(b"x").unwrap();
    assert_eq!(lines.next().unwrap().unwrap(), "calls counted 5");
    assert!(child.wait().unwrap().success());
    assert_eq!(counted(&program), Some(5));
}

#[test]
fn signals_that_cannot_be_used_are_reported() {
    let program = compile("nonsense");
    let said = |name: &str| {
        let output = program.command(&["call"]).env("GMON_DUMP_SIGNAL", name).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    for name in ["KILL", "SIGSTOP", "SEGV", "11", "BUS", "FPE", "ILL", "TRAP", "ABRT", "SYS", "32", "33", "60"] {
        let expected = format!("gmon: GMON_DUMP_SIGNAL={name} is a signal that cannot write the file: using none\n");
        assert_eq!(said(name), expected);
    }
    for name in ["USR3", "usr1", "0", "65", "-1", "RTMIN+31", "SIG"] {
        assert_eq!(said(name), format!("gmon: GMON_DUMP_SIGNAL={name} is not a signal: using none\n"));
    }
}

#[test]
fn the_last_moncontrol_wins() {
    let program = compile("storm");
    for what in ["storm", "off"] {
        for sampler in ["timer", "itimer", "perf"] {
            let output = program.command(&[what]).env("GMON_SAMPLER", sampler).output().unwrap();
            assert!(output.status.success(), "{sampler}: {output:?}");
            let printed = String::from_utf8(output.stdout).unwrap();
            compare(&printed, &program.profile(), program.symbols());
        }
    }
}
