//! The cost of sampling for a program that does nothing else, of a thread, and of much code: `make bench`, or
//! `cargo bench --package gmon-tests --bench sampling`.
//!
//! The alternatives take turns. Other work on the machine can only make the times longer, so each figure is the minimum
//! of the turns.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot run says why and stops")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// One way to profile: its name, the program, and the runtime's variables.
type Way<'a> = (&'a str, &'a Path, &'a [(&'a str, &'a str)]);

fn main() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sampling");
    let programs = Programs::build(&directory);
    // The number of rounds that takes about a quarter of a second.
    let rounds = (25.0 / printed(&("", &programs.empty, &[]), "work", "100")).ceil().to_string();
    let ways: [Way<'_>; 7] = [
        ("empty mcount", &programs.empty, &[]),
        ("timers, 100 Hz", &programs.ours, &[]),
        ("timers, the kernel's rate", &programs.ours, &[("GMON_SAMPLER", "timer"), ("GMON_HZ", "10000")]),
        ("the process's timer, 100 Hz", &programs.ours, &[("GMON_SAMPLER", "itimer")]),
        ("ring, 100 Hz", &programs.ours, &[("GMON_SAMPLER", "perf")]),
        ("ring, 1000 Hz", &programs.ours, &[("GMON_HZ", "1000")]),
        ("glibc, 100 Hz", &programs.glibc, &[]),
    ];
    println!("| sampled by | seconds of CPU time | over an empty mcount |");
    println!("|---|---|---|");
    let seconds = turns(41, &ways, |way| printed(way, "work", &rounds));
    for ((name, ..), time) in ways.iter().zip(&seconds) {
        println!("| {name} | {time:.4} | **{:+.2} %** |", (time / seconds[0] - 1.0) * 100.0);
    }

    let ways: [Way<'_>; 4] = [
        ("empty mcount", &programs.empty, &[]),
        ("timers", &programs.ours, &[]),
        ("ring", &programs.ours, &[("GMON_SAMPLER", "perf")]),
        ("glibc", &programs.glibc, &[]),
    ];
    println!("\n| sampled by | microseconds of CPU time for a thread | over an empty mcount |");
    println!("|---|---|---|");
    let threads = turns(21, &ways, |way| printed(way, "threads", "500"));
    for ((name, ..), time) in ways.iter().zip(&threads) {
        println!("| {name} | {time:.2} | **{:+.2}** |", time - threads[0]);
    }

    let [empty, ours, glibc] = programs.large(&directory);
    let ways: [Way<'_>; 3] = [("empty mcount", &empty, &[]), ("ours", &ours, &[]), ("glibc", &glibc, &[])];
    println!("\n| 100 MB of text | milliseconds from start to end | over an empty mcount |");
    println!("|---|---|---|");
    let large = turns(15, &ways, |way| {
        let start = Instant::now();
        let _ = printed_text(way, &["little"]);
        start.elapsed().as_secs_f64() * 1e3
    });
    for ((name, ..), time) in ways.iter().zip(&large) {
        println!("| {name} | {time:.2} | **{:+.2}** |", time - large[0]);
    }
    // Half a gigabyte.
    fs::remove_dir_all(&directory).unwrap();
}

struct Programs {
    empty: PathBuf,
    ours: PathBuf,
    glibc: PathBuf,
}

impl Programs {
    /// Builds the program with an empty mcount, with our runtime, and with the C library's, each in a directory of its
    /// own, so that none pays for another's file.
    fn build(directory: &Path) -> Programs {
        fs::create_dir_all(directory).unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/sampling.c");
        cc(&["-O2", "-pg", "-c", "-o"], &[&directory.join("profiled.o"), &source]);
        let assembly = ".globl mcount\nmcount: ret\n.section .note.GNU-stack,\"\",@progbits\n";
        fs::write(directory.join("empty.s"), assembly).unwrap();
        let [empty, ours, glibc] = link(directory, "small", &[]);
        Programs { empty, ours, glibc }
    }

    /// The same with a hundred million bytes of code that never runs.
    fn large(&self, directory: &Path) -> [PathBuf; 3] {
        let filler = directory.join("filler.s");
        let code = ".text\n.globl filler\n.type filler, @function\nfiller: .skip 100000000, 0x90\n    ret\n\
                    .section .note.GNU-stack,\"\",@progbits\n";
        fs::write(&filler, code).unwrap();
        let object = directory.join("filler.o");
        cc(&["-c", "-o"], &[&object, &filler]);
        link(directory, "large", &[&object])
    }
}

fn link(directory: &Path, name: &str, more: &[&Path]) -> [PathBuf; 3] {
    let ours = format!("-B{}", gmon_tests::start_objects().display());
    let (profiled, empty) = (directory.join("profiled.o"), directory.join("empty.s"));
    let kinds =
        [("empty", vec![], vec![&*empty]), ("ours", vec!["-pg", &ours], vec![]), ("glibc", vec!["-pg"], vec![])];
    kinds.map(|(kind, flags, files)| {
        let place = directory.join(format!("{name}-{kind}"));
        fs::create_dir_all(&place).unwrap();
        let program = place.join("program");
        cc(&[&flags[..], &["-o"]].concat(), &[&[&*program, &*profiled], &files[..], more].concat());
        program
    })
}

fn cc(flags: &[&str], files: &[&Path]) {
    let output = Command::new("cc").args(flags).args(files).arg("-lpthread").output().unwrap();
    assert!(output.status.success(), "cc {flags:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn printed_text(way: &Way<'_>, arguments: &[&str]) -> String {
    let (_, program, variables) = way;
    let mut command = Command::new(program);
    command.args(arguments).envs(variables.iter().copied()).current_dir(program.parent().unwrap());
    let output = command.stderr(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", program.display());
    String::from_utf8(output.stdout).unwrap()
}

fn printed(way: &Way<'_>, what: &str, number: &str) -> f64 {
    printed_text(way, &[what, number]).trim().parse().unwrap()
}

/// The minimum of each way; they take turns.
fn turns(number: usize, ways: &[Way<'_>], measure: impl Fn(&Way<'_>) -> f64) -> Vec<f64> {
    let mut figures = vec![f64::INFINITY; ways.len()];
    for _ in 0..number {
        for (way, figure) in ways.iter().zip(&mut figures) {
            *figure = figure.min(measure(way));
        }
    }
    figures
}
