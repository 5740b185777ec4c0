//! The cost of profiling a real program: the demo's second of SQLite with each runtime, in seconds of CPU time; `make
//! bench`, or `cargo bench --package gmon-tests --bench sqlite`.
//!
//! The runtimes take turns; each figure is the median of the turns.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot run says why and stops")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROUNDS: usize = 7;

fn main() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sqlite");
    fs::create_dir_all(&directory).unwrap();
    let programs = build(&directory);
    let mut figures = vec![Vec::new(); programs.len()];
    for _ in 0..ROUNDS {
        for (program, figures) in programs.iter().zip(&mut figures) {
            figures.push(cpu_seconds(program));
        }
    }
    let [none, empty, ours, glibc] = [0, 1, 2, 3].map(|program| median(&mut figures[program]));
    println!("| no -pg | empty mcount | ours | glibc | ours over no -pg and the empty mcount's cost |");
    println!("|---|---|---|---|---|");
    // Ours is compared with the time without -pg; the empty mcount's part belongs to the compiler.
    println!("| {none:.2} | {empty:.2} | {ours:.2} | {glibc:.2} | **{:.2}x** |", (ours - (empty - none)) / none);
}

/// Builds the program without -pg, with an empty mcount, with our runtime, and with the C library's.
fn build(directory: &Path) -> [PathBuf; 4] {
    let path = |name: &str| directory.join(name);
    let sqlite = gmon_tests::crate_of("libsqlite3-sys").join("sqlite3");
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("demo/driver.c");
    fs::write(path("empty.s"), ".globl mcount\n.p2align 6\nmcount: ret\n.section .note.GNU-stack,\"\",@progbits\n")
        .unwrap();
    let include = format!("-I{}", sqlite.display());
    let omit = ["-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION", "-w"];
    for (kind, flags) in [("plain", &["-O1"][..]), ("profiled", &["-O1", "-pg"])] {
        let all = [flags, &omit, &[&include, "-c", "-o"]].concat();
        cc(&all, &[&path(&format!("{kind}-sqlite.o")), &sqlite.join("sqlite3.c")]);
        cc(&all, &[&path(&format!("{kind}-driver.o")), &driver]);
    }
    let objects = |kind: &str| [path(&format!("{kind}-sqlite.o")), path(&format!("{kind}-driver.o"))];
    let ([plain, plain_driver], [profiled, driver]) = (objects("plain"), objects("profiled"));
    let ours = format!("-B{}", gmon_tests::start_objects().display());
    cc(&["-o"], &[&path("none"), &plain, &plain_driver]);
    cc(&["-o"], &[&path("empty"), &profiled, &driver, &path("empty.s")]);
    cc(&["-pg", &ours, "-o"], &[&path("ours"), &profiled, &driver]);
    cc(&["-pg", "-o"], &[&path("glibc"), &profiled, &driver]);
    ["none", "empty", "ours", "glibc"].map(path)
}

fn cc(flags: &[&str], files: &[&Path]) {
    let output = Command::new("cc").args(flags).args(files).arg("-lm").output().unwrap();
    assert!(output.status.success(), "cc {flags:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The CPU time of a run, from the shell.
fn cpu_seconds(program: &Path) -> f64 {
    let script = format!("{} >/dev/null; times", program.display());
    let output = Command::new("sh").args(["-c", &script]).current_dir(program.parent().unwrap()).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    // The second line is the children's: user and system time, as 0m1.380s.
    let times = printed.lines().nth(1).unwrap().split_whitespace();
    let seconds = times.map(|time| {
        let (minutes, seconds) = time.trim_end_matches('s').split_once('m').unwrap();
        minutes.parse::<f64>().unwrap() * 60.0 + seconds.parse::<f64>().unwrap()
    });
    seconds.sum()
}

fn median(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
