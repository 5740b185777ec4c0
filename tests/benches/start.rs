//! What the start and the end of a short program cost, in milliseconds from its start to its end: `make bench`, or
//! `cargo bench --package gmon-tests --bench start`.
//!
//! The programs take turns, so a change of the machine's speed hits all of them. Each figure is the median of the
//! differences to the run without -pg in the same turn.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot run says why and stops")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const RUNS: usize = 1000;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let made = Command::new("make").arg("runtime").current_dir(root).env("CARGO_TARGET_DIR", target).output().unwrap();
    assert!(made.status.success(), "make runtime: {}", String::from_utf8_lossy(&made.stderr));
    let ours = format!("-B{}", target.join("dist/lib/gmon").display());
    let source = root.join("tests/programs/short.c");
    let programs =
        [build("none", &source, &[]), build("ours", &source, &["-pg", &ours]), build("glibc", &source, &["-pg"])];

    let mut differences = [Vec::new(), Vec::new()];
    let mut plain = Vec::new();
    for _ in 0..RUNS {
        let [none, ours, glibc] = programs.each_ref().map(|program| milliseconds(program));
        plain.push(none);
        differences[0].push(ours - none);
        differences[1].push(glibc - none);
    }
    let [ours, glibc] = differences.each_mut().map(|figures| median(figures));
    println!("| runs | no -pg | ours over no -pg | glibc over no -pg |");
    println!("|---|---|---|---|");
    println!("| {RUNS} | {:.2} | **{ours:.2}** | {glibc:.2} |", median(&mut plain));
}

/// Builds the program in a directory of its own, which gets its files.
fn build(name: &str, source: &Path, flags: &[&str]) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("start").join(name);
    fs::create_dir_all(&directory).unwrap();
    let program = directory.join("program");
    let output = Command::new("cc").args(["-O2", "-o"]).args([&program, source]).args(flags).output().unwrap();
    assert!(output.status.success(), "cc {flags:?}: {}", String::from_utf8_lossy(&output.stderr));
    program
}

/// The time of a run that leaves new files.
fn milliseconds(program: &Path) -> f64 {
    let directory = program.parent().unwrap();
    for file in ["gmon.out", "gmon.out.side"] {
        let _ = fs::remove_file(directory.join(file));
    }
    let mut command = Command::new(program);
    command.current_dir(directory).stdout(Stdio::null());
    let start = Instant::now();
    let status = command.status().unwrap();
    let time = start.elapsed();
    assert!(status.success(), "{}", program.display());
    time.as_secs_f64() * 1000.0
}

fn median(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
