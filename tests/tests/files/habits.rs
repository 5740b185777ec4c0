//! What people type without thinking: shell patterns, compressed files, pipes, and profiles without their program.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use gmon::Word;
use gmon::side_file::{Checksum, SideFile};
use gmon_tests::{compile, gprof, has_program};

use crate::small::{printed, profiled, run};

fn said(directory: &Path, line: &str) -> String {
    String::from_utf8(run(directory, line).stderr).unwrap()
}

/// `gmon.*` stands for the profile and for the files beside it.
#[test]
fn files_beside_a_profile_are_no_profiles() {
    let directory = profiled("habits_patterns");
    for beside in ["side", "objects"] {
        fs::write(directory.join(format!("gmon.out.{beside}")), "of another run").unwrap();
    }
    let all = "gmon.out gmon.out.objects gmon.out.side";
    assert_eq!(printed(&directory, &format!("prog {all}")), printed(&directory, "prog gmon.out"));
    assert_eq!(printed(&directory, &format!("--image prog {all}")), printed(&directory, "prog gmon.out"));
    let base = all.replace(' ', ",");
    let differences = [format!("--base={base} prog gmon.out"), "--base=gmon.out prog gmon.out".to_owned()];
    let [of_all, of_one] = differences.map(|line| printed(&directory, &line));
    assert_eq!(of_all, of_one);
    // Without the profile, such a file is an error.
    assert_eq!(run(&directory, "prog gmon.out.side").status.code(), Some(1));
    assert_eq!(run(&directory, "prog other.out gmon.out.side").status.code(), Some(1));
}

#[test]
fn compressed_profiles_are_named_so() {
    if !has_program("gzip", "compressed profiles") {
        return;
    }
    let directory = profiled("habits_compressed");
    assert!(Command::new("gzip").args(["-k", "gmon.out"]).current_dir(&directory).status().unwrap().success());
    let text = said(&directory, "prog gmon.out.gz");
    assert_eq!(text, "gprof: gmon.out.gz: the profile is compressed: 'zcat gmon.out.gz | gprof PROGRAM -' reads it\n");
    let shell = |line: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).arg(gprof()).current_dir(&directory).output().unwrap()
    };
    let text = String::from_utf8(shell("\"$0\" prog - <gmon.out.gz").stderr).unwrap();
    assert_eq!(text, "gprof: standard input: the profile is compressed: 'zcat | gprof PROGRAM -' reads it\n");
    for line in ["zcat gmon.out.gz | \"$0\" prog -", "exec <gmon.out.gz; zcat | \"$0\" prog -"] {
        assert_eq!(String::from_utf8(shell(line).stdout).unwrap(), printed(&directory, "prog gmon.out"), "{line}");
    }
    for (magic, tool) in [(&b"\x28\xb5\x2f\xfd"[..], "zstdcat"), (b"\xfd7zXZ\0", "xzcat"), (b"BZh9", "bzcat")] {
        fs::write(directory.join("packed"), [magic, &[7; 100]].concat()).unwrap();
        assert!(said(&directory, "prog packed").contains(&format!("'{tool} packed")), "{tool}");
    }
}

#[test]
fn an_empty_profile_is_explained() {
    let directory = profiled("habits_empty");
    fs::write(directory.join("gmon.out"), "").unwrap();
    let said = said(&directory, "prog gmon.out");
    assert!(said.starts_with("gprof: gmon.out: empty file: the program still runs, or was killed"), "{said}");
    assert!(said.contains("GMON_LIVE=1") && said.lines().count() == 1, "{said}");
}

#[test]
fn reports_by_line_need_line_tables() {
    let directory = profiled("habits_lines");
    for (options, option) in
        [("-l", "-l"), ("--inlines", "--inlines"), ("--source-times", "--source-times"), ("-A", "-A")]
    {
        let text = said(&directory, &format!("{options} prog gmon.out"));
        assert!(text.starts_with(&format!("gprof: warning: prog: no line tables, so {option} ")), "{options}: {text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
    assert_eq!(said(&directory, "prog gmon.out"), "");
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/gnu");
    assert!(!said(&data, "-l inlined inlined.gmon").contains("no line tables"));
}

#[test]
fn stabs_are_named() {
    let image = compile("habits_stabs", &["stabs.c"], &[]);
    let profile = gmon_tests::run(&image);
    let line = |options: &str| format!("{options}a.out {}", profile.file_name().unwrap().display());
    let place = image.parent().unwrap();
    for option in ["-l", "-A"] {
        let text = said(place, &line(&format!("{option} ")));
        let expected = format!("has stabs, which gprof does not read: {option} needs DWARF: compile with -gdwarf");
        assert_eq!(text, format!("gprof: warning: a.out: {expected}\n"));
    }
    assert_eq!(said(place, &line("")), "");
    // A part of the program has lines.
    let mixed = compile("habits_stabs_mixed", &["stabs.c"], &["-g"]);
    fs::copy(&profile, mixed.with_file_name("gmon.out")).unwrap();
    let text = said(mixed.parent().unwrap(), &line("-l "));
    assert!(text.lines().any(|line| line.contains("a.out: has stabs")) && !text.contains("no line tables"), "{text}");
}

/// Without a program, `-i` tells what a file is.
#[test]
fn the_contents_of_a_profile_need_no_program() {
    let directory = profiled("habits_contents");
    let (alone, with) = (printed(&directory, "-i gmon.out"), printed(&directory, "-i prog gmon.out"));
    let rest = alone.strip_prefix(&with).unwrap_or_else(|| panic!("{with}\n{alone}"));
    let profile = fs::read(directory.join("gmon.out")).unwrap();
    let lines: Vec<&str> = rest.lines().collect();
    assert_eq!(lines.len(), 3, "{rest}");
    assert_eq!(lines[0], format!("\tsize: {} bytes", profile.len()));
    let parsed = gmon::read(&profile, &gmon::Hints::default()).unwrap();
    let (histogram, calls) = (&parsed.histograms()[0], parsed.arcs().iter().map(|arc| arc.count).sum::<u64>());
    let range = format!("at 0x{:x}..0x{:x} in {} bins", histogram.lowpc(), histogram.highpc(), histogram.len());
    assert!(lines[1].starts_with(&format!("\tsamples: {} {range}", histogram.total())), "{rest}");
    assert!(lines[1].ends_with(&format!(", {} in a second", histogram.unit().profrate)), "{rest}");
    assert_eq!(lines[2], format!("\tcalls: {calls} on {} arcs", parsed.arcs().len()));
    // Several profiles, and outputs.
    fs::copy(directory.join("gmon.out"), directory.join("other")).unwrap();
    let both = printed(&directory, "-i gmon.out other");
    assert!(both.starts_with(&alone) && both.contains("File `other'"), "{both}");
    printed(&directory, "-i gmon.out -o a.txt");
    assert_eq!(fs::read_to_string(directory.join("a.txt")).unwrap(), alone);
    // Another report needs the program.
    assert_eq!(run(&directory, "-i -p gmon.out").status.code(), Some(1));
}

/// `-i gmon.*` tells each file once, and how to read a compressed profile.
#[test]
fn the_contents_of_files_beside_a_profile_are_told_once() {
    let directory = profiled("habits_contents_beside");
    let mut side = SideFile::new(Word::W64);
    side.set_profile(Some(Checksum::of(&fs::read(directory.join("gmon.out")).unwrap())));
    let without = printed(&directory, "-i gmon.out");
    fs::write(directory.join("gmon.out.side"), side.write()).unwrap();
    fs::write(directory.join("gmon.out.objects"), "of another run").unwrap();
    let with = printed(&directory, "-i gmon.out");
    assert!(with.starts_with(&without) && with != without, "{with}");
    assert_eq!(printed(&directory, "-i gmon.out gmon.out.objects gmon.out.side"), with);
    if !has_program("gzip", "the contents of compressed profiles") {
        return;
    }
    assert!(Command::new("gzip").args(["-k", "gmon.out"]).current_dir(&directory).status().unwrap().success());
    assert!(said(&directory, "-i gmon.out.gz").contains("the profile is compressed"));
    // Before a profile, a compressed file may be the program.
    assert!(!said(&directory, "-i gmon.out.gz gmon.out").contains("the profile is compressed"));
}

/// A pipe whose writer waits: after a while, the run says what it reads.
#[test]
fn a_pipe_that_does_not_end_is_told() {
    if !has_program("mkfifo", "profiles from pipes") {
        return;
    }
    let directory = profiled("habits_pipe");
    assert!(Command::new("mkfifo").arg(directory.join("pipe")).status().unwrap().success());
    for options in ["-b", "--bsd=freebsd"] {
        let mut command = Command::new(gprof());
        command.args([options, "prog", "pipe"]).current_dir(&directory).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (sender, receiver) = mpsc::channel();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        thread::spawn(move || {
            let mut line = String::new();
            errors.read_line(&mut line).unwrap();
            sender.send(line).unwrap();
        });
        // The message comes before the pipe has a writer. A run that stays silent gets no more time than this.
        let line = receiver.recv_timeout(Duration::from_secs(100));
        fs::write(directory.join("pipe"), fs::read(directory.join("gmon.out")).unwrap()).unwrap();
        assert_eq!(
            line.as_deref(),
            Ok("gprof: reading profiles: waiting for the end of pipe, which is a pipe\n"),
            "{options}"
        );
        let mut text = String::new();
        child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        assert!(child.wait().unwrap().success());
        assert_eq!(text, printed(&directory, &format!("{options} prog gmon.out")));
    }
}
