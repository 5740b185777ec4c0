//! What is different when reports or warnings go to a terminal: colours, widths, and how far a long run has come.
//!
//! `script` makes the terminal. A run that takes long is one whose first profile comes through a pipe, from a test that
//! waits: gprof has begun when the pipe is open at both ends, and no machine is so slow that it matters.
#![allow(clippy::unwrap_used, reason = "the helpers of a test fail as loudly as it does")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use gmon_tests::{compile, directory, gprof, run};

/// A command whose standard streams are a terminal of 100 characters, or `None`, said loudly, when none can be made.
fn terminal(directory: &Path, command: &str) -> Option<Command> {
    let is_known = Command::new("script").arg("--version").output().is_ok_and(|output| output.status.success());
    if !is_known {
        eprintln!("SKIPPED: no script (util-linux) on this system: nothing makes a terminal");
        return None;
    }
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--command"]).arg(format!("stty cols 100 rows 30; {command}")).arg("/dev/null");
    script
        .current_dir(directory)
        .env("GPROF", gprof())
        .env("TERM", "xterm")
        .env("COLUMNS", "61")
        .env_remove("NO_COLOR");
    script.stdin(Stdio::null());
    Some(script)
}

/// What a terminal gets from a command, line ends as they were.
fn shown(mut script: Command) -> String {
    let output = script.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    text.replace("\r\n", "\n")
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/bsd")
}

const TABLE: &str = "$GPROF -b --table knots knots.gmon";

#[test]
fn tables_are_as_wide_as_the_terminal() {
    for (command, width) in [(TABLE, 74), ("stty cols 66; $GPROF -b --table knots knots.gmon", 66)] {
        let Some(script) = terminal(&data(), command) else {
            return;
        };
        let text = shown(script);
        let lines: Vec<usize> =
            text.lines().filter(|line| line.starts_with('┌')).map(|line| line.chars().count()).collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert_eq!(lines[1], width, "{text}");
    }
}

#[test]
fn colours_are_for_terminals_that_have_them() {
    let Some(script) = terminal(&data(), TABLE) else {
        return;
    };
    let coloured = shown(script);
    assert!(coloured.contains("│\x1b[1m   [1] ┆"), "{coloured}");
    let plain = |variable: &str, value: &str| {
        let mut script = terminal(&data(), TABLE).unwrap();
        script.env(variable, value);
        shown(script)
    };
    let bare = coloured.replace("\x1b[1m", "").replace("\x1b[31m", "").replace("\x1b[32m", "").replace("\x1b[0m", "");
    assert!(!bare.contains('\x1b'));
    assert_eq!(plain("NO_COLOR", "1"), bare);
    assert_eq!(plain("TERM", "dumb"), bare);
    assert_eq!(plain("NO_COLOR", ""), coloured, "a variable with nothing in it says nothing");
    let file = directory("terminals_colours").join("out");
    let to_file = format!("{TABLE} -w 100 > {}", file.display());
    shown(terminal(&data(), &to_file).unwrap());
    assert_eq!(fs::read_to_string(file).unwrap(), bare, "a file gets no colours");
}

/// A program and its profile, in a directory with an open end: a pipe that stands for another profile.
fn stage(name: &str) -> PathBuf {
    let image = compile(name, &["cycles.c"], &["-g"]);
    assert!(run(&image).exists());
    let directory = image.parent().unwrap().to_owned();
    assert!(Command::new("mkfifo").arg(directory.join("pipe")).status().unwrap().success());
    directory
}

/// Sends the profile through the pipe so late that gprof's patience is over.
fn late(directory: &Path) -> std::thread::JoinHandle<()> {
    let directory = directory.to_owned();
    std::thread::spawn(move || {
        let profile = fs::read(directory.join("gmon.out")).unwrap();
        // Opening waits for the reader, which has looked at its clock before.
        let mut pipe = fs::OpenOptions::new().write(true).open(directory.join("pipe")).unwrap();
        std::thread::sleep(Duration::from_millis(1100));
        std::io::Write::write_all(&mut pipe, &profile).unwrap();
    })
}

/// The texts of lines that were shown and erased, and what is left on the terminal behind them.
fn erased(text: &str) -> (Vec<&str>, String) {
    let mut parts: Vec<&str> = text.split("\r\x1b[K").collect();
    let left = [parts.remove(0), parts.pop().unwrap_or_default()].concat();
    (parts, left)
}

#[test]
fn a_long_run_says_how_far_it_is_and_leaves_nothing_behind() {
    for (name, options) in [("gnu", "-b"), ("bsd", "--bsd -b"), ("sum", "-s")] {
        let directory = stage(&format!("terminals_long_{name}"));
        let command = format!("$GPROF {options} a.out pipe gmon.out gmon.out gmon.out > out");
        let Some(script) = terminal(&directory, &command) else {
            return;
        };
        let late = late(&directory);
        let text = shown(script);
        late.join().unwrap();
        let (lines, left) = erased(&text);
        assert!(lines.contains(&"gprof: reading profiles [#####---------------] 1 of 4"), "{text:?}");
        assert_eq!(left, "", "{text:?}");
        let without = Command::new("sh")
            .args(["-c", &format!("$GPROF {options} a.out gmon.out gmon.out gmon.out gmon.out")])
            .current_dir(&directory)
            .env("GPROF", gprof())
            .output()
            .unwrap();
        assert_eq!(fs::read(directory.join("out")).unwrap(), without.stdout, "{name}: the report is the same");
        assert!(without.stderr.is_empty(), "{name}");
    }
}

#[test]
fn where_reports_go_to_the_same_terminal_they_stand_alone() {
    let directory = stage("terminals_both");
    let Some(script) = terminal(&directory, "$GPROF -b a.out pipe gmon.out") else {
        return;
    };
    let late = late(&directory);
    let text = shown(script);
    late.join().unwrap();
    let (lines, left) = erased(&text);
    assert!(lines.contains(&"gprof: reading profiles [##########----------] 1 of 2"), "{text:?}");
    let words = ["-b", "a.out", "gmon.out", "gmon.out"];
    assert_eq!(left.as_bytes(), gmon_tests::read(gprof(), &directory, &words).stdout);
}

#[test]
fn a_warning_and_an_error_have_their_own_lines() {
    let directory = stage("terminals_warning");
    // A profile of another program, and no profile at all.
    let other = directory.join("other.gmon");
    fs::copy(data().join("basic.gmon"), &other).unwrap();
    for (profile, said) in [
        (other.to_str().unwrap(), ["gprof: warning: ", "histograms differ"].as_slice()),
        ("nothing", &["gprof: nothing: No such file or directory"]),
    ] {
        let Some(script) = terminal(&directory, &format!("$GPROF -b a.out pipe {profile} > out; true")) else {
            return;
        };
        let late = late(&directory);
        let text = shown(script);
        late.join().unwrap();
        assert!(text.starts_with("\r\x1b[Kgprof: reading profiles"), "{text:?}");
        // What is left of each line when all that was erased is gone.
        let left: Vec<&str> = text.trim_end().split('\n').map(|line| line.rsplit("\r\x1b[K").next().unwrap()).collect();
        assert_eq!(left.len(), said.len(), "{text:?}");
        assert!(left.iter().zip(said).all(|(line, said)| line.contains(said)), "{text:?}");
    }
}

#[test]
fn nothing_is_said_to_what_is_no_terminal() {
    let directory = stage("terminals_none");
    for (terms, command) in [
        ("xterm", "$GPROF -b a.out pipe gmon.out > out 2> err; cat err"),
        ("dumb", "$GPROF -b a.out pipe gmon.out > out"),
    ] {
        let Some(mut script) = terminal(&directory, command) else {
            return;
        };
        script.env("TERM", terms);
        let late = late(&directory);
        let text = shown(script);
        late.join().unwrap();
        assert_eq!(text, "", "{terms}");
    }
}

#[test]
fn a_short_run_leaves_the_terminal_as_a_long_one_does() {
    let image = compile("terminals_short", &["cycles.c"], &["-g"]);
    assert!(run(&image).exists());
    let directory = image.parent().unwrap();
    let Some(script) = terminal(directory, "$GPROF -b a.out gmon.out") else {
        return;
    };
    // That nothing is shown in the first second is told by the tests of the module, which have clocks of their own.
    let (_, left) = erased(&shown(script));
    assert_eq!(left.as_bytes(), gmon_tests::read(gprof(), directory, &["-b", "a.out", "gmon.out"]).stdout);
}
