//! The cost of a call with each runtime, in nanoseconds of the calling thread's CPU time, and its cost over an mcount
//! that only returns: `make bench`, or `cargo bench --package gmon-tests --bench mcount`.
//!
//! The runtimes take turns, so a change of the machine's speed hits all of them; each figure is the median of the
//! turns.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot run says why and stops")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROUNDS: usize = 7;
const CASES: [(&str, &str); 4] = [
    ("m1", "one call site, one callee"),
    ("m2", "10,000 sites and callees"),
    ("m3", "one site, 64 callees in turn"),
    ("m4", "the same, in random order"),
];

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let made = Command::new("make").arg("runtime").current_dir(root).env("CARGO_TARGET_DIR", target).output().unwrap();
    assert!(made.status.success(), "make runtime: {}", String::from_utf8_lossy(&made.stderr));
    let runtimes = build(root, &target.join("dist/lib/gmon"));

    println!("| case | threads | no -pg | empty mcount | ours | ours over empty | glibc | glibc over empty |");
    println!("|---|---|---|---|---|---|---|---|");
    for threads in ["1", "2"] {
        for (case, what) in CASES {
            let mut figures = vec![Vec::new(); runtimes.len()];
            for _ in 0..ROUNDS {
                for (runtime, figures) in runtimes.iter().zip(&mut figures) {
                    figures.push(measure(runtime, case, threads));
                }
            }
            let [none, empty, ours, glibc] = [0, 1, 2, 3].map(|runtime| median(&mut figures[runtime]));
            println!(
                "| {case}, {what} | {threads} | {none:.2} | {empty:.2} | {ours:.2} | **{:.2}** | {glibc:.2} | {:.2} |",
                ours - empty,
                glibc - empty
            );
        }
    }
}

/// Builds the program without -pg, with an empty mcount, with our runtime, and with the C library's.
fn build(root: &Path, ours: &Path) -> [PathBuf; 4] {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mcount");
    fs::create_dir_all(&directory).unwrap();
    let path = |name: &str| directory.join(name);
    let source = root.join("tests/benches/mcount.c");
    fs::write(path("empty.s"), ".globl mcount\n.p2align 6\nmcount: ret\n.section .note.GNU-stack,\"\",@progbits\n")
        .unwrap();
    cc(&["-O2", "-c", "-o"], &[&path("plain.o"), &source]);
    cc(&["-O2", "-pg", "-c", "-o"], &[&path("profiled.o"), &source]);
    cc(&["-o"], &[&path("none"), &path("plain.o")]);
    cc(&["-o"], &[&path("empty"), &path("profiled.o"), &path("empty.s")]);
    cc(&["-pg", &format!("-B{}", ours.display()), "-o"], &[&path("ours"), &path("profiled.o")]);
    cc(&["-pg", "-o"], &[&path("glibc"), &path("profiled.o")]);
    ["none", "empty", "ours", "glibc"].map(path)
}

fn cc(flags: &[&str], files: &[&Path]) {
    let output = Command::new("cc").args(flags).args(files).arg("-lpthread").output().unwrap();
    assert!(output.status.success(), "cc {flags:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn measure(program: &Path, case: &str, threads: &str) -> f64 {
    // The profile goes to the program's directory. A runtime whose table overflows says so and counts on.
    let output = Command::new(program).args([case, threads]).current_dir(program.parent().unwrap()).output().unwrap();
    assert!(output.status.success(), "{}: {}", program.display(), String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
}

fn median(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
