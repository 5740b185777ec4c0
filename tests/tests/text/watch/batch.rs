//! One table after the other, and processes by their numbers.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use gmon_tests::gprof;

use crate::watch::kit::{Told, build};

/// Starts gprof in a directory, and ends the program after the first table. Returns all that gprof printed.
fn watched(directory: &Path, words: &[&str], told: Told) -> String {
    let mut command = Command::new(gprof());
    command.arg("--watch=0.1").args(words).current_dir(directory).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    while !text.ends_with("\n\n") {
        assert!(output.read_line(&mut text).unwrap() > 0, "{text}");
    }
    told.end();
    std::io::Read::read_to_string(&mut output, &mut text).unwrap();
    assert!(child.wait().unwrap().success());
    text
}

#[test]
fn without_a_terminal_there_is_one_table_after_the_other() {
    let image = build("batch");
    let mut told = Told::start(&image, &[]);
    told.obey("burn 200");
    let text = watched(image.parent().unwrap(), &["--top=2", "a.out"], told);
    let tables: Vec<&str> = text.split_terminator("\n\n").collect();
    assert!(tables.len() > 1 && !text.contains('\x1b'), "{text}");
    assert!(
        tables[0].contains("  running\n") && tables.last().unwrap().contains("  the program has ended\n"),
        "{text}"
    );
    for table in tables {
        let lines: Vec<&str> = table.lines().collect();
        assert!(lines.len() == 5 && lines[1].contains(" samples") && lines[2].contains("▼self s"), "{table}");
        assert!(lines[3].ends_with("  burn"), "{table}");
    }
}

#[test]
fn a_process_is_found_by_its_number() {
    let image = build("pid");
    let elsewhere = gmon_tests::directory("watch_pid_elsewhere");
    let prefix = elsewhere.join("profile");
    for (variables, is_operand) in [(vec![], true), (vec![("GMON_OUT_PREFIX", prefix.to_str().unwrap())], false)] {
        let told = Told::start(&image, &variables);
        let pid = told.child.id();
        let word = if is_operand { pid.to_string() } else { format!("--pid={pid}") };
        let text = watched(&elsewhere, &[&word], told);
        let start = format!("{}  pid {pid}  running\n", image.display());
        assert!(text.starts_with(&start) && text.contains("  burn\n"), "{text}");
        assert!(text.contains("  the program has ended\n"), "{text}");
    }
}

#[test]
fn a_process_without_a_live_profile_says_what_to_do() {
    let image = build("not_live");
    let told = Told::start(&image, &[("GMON_LIVE", "0")]);
    let of = |words: &[&str]| {
        let output = Command::new(gprof()).args(words).current_dir(image.parent().unwrap()).output().unwrap();
        assert!(!output.status.success() && output.stdout.is_empty());
        String::from_utf8(output.stderr).unwrap()
    };
    let pid = told.child.id();
    let expected = format!("gprof: process {pid}: it has no live profile: start the program with GMON_LIVE=1\n");
    assert_eq!(of(&["--watch", &pid.to_string()]), expected);
    told.end();
    assert!(of(&["--watch", "--pid=4294967295"]).ends_with("there is no such process\n"));
    // A program that cannot be read is an error at once, though there is no profile.
    fs::remove_file(image.with_file_name("gmon.out")).unwrap();
    assert!(of(&["--watch", "missing"]).starts_with("gprof: missing: "));
    assert!(of(&["--watch", "/dev/null"]).starts_with("gprof: /dev/null: "));
}
