//! What the reader costs on large programs, in seconds of CPU time, against the system's reader and against `nm -C`, which
//! only reads and prints the names: `make bench`, or `cargo bench --package gmon-tests --bench gprof`.
//!
//! The program is the `cargo` that runs this; the profiles are made up. Readers take turns, and figures are medians.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot run says why and stops")]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gmon::{Encoding, Form, Order, Profile, Word};
use gmon_tests::random::{Random, Stage};

const ROUNDS: usize = 5;

/// How long another reader may take, in seconds.
const PATIENCE: &str = "60";

/// The first word of a run of this program that only runs another one and prints what that took.
const MEASURE: &str = "--measure";

fn main() {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let [first, program, words @ ..] = words.as_slice()
        && first == MEASURE
    {
        return measure(program, words);
    }
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("gprof");
    fs::create_dir_all(&directory).unwrap();
    let image = directory.join("a.out");
    fs::copy(cargo(), &image).unwrap();
    let stage = Stage::of(&fs::read(&image).unwrap());
    let mut random = Random::new(1);
    let mut store = |name: &str, make: &dyn Fn(&Stage, &mut Random) -> Profile| {
        let bytes = gmon::write(&make(&stage, &mut random), ENCODING).unwrap();
        fs::write(directory.join(name), bytes).unwrap();
    };
    store("small", &|stage, random| stage.large_profile(random, 20_000));
    store("large", &|stage, random| stage.large_profile(random, 200_000));
    store("huge", &|stage, random| stage.large_profile(random, 2_000_000));
    store("circle", &|stage, random| stage.circle(random, 40_000));
    sums(&directory, &stage);
    reports(&directory, stage.functions.len());
}

const ENCODING: Encoding = Encoding { form: Form::Gnu, word: Word::W64, order: Order::Little };

/// The executable behind `cargo`: what stands in PATH may be a small program that only finds it.
fn cargo() -> PathBuf {
    let named = std::env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from);
    let output = Command::new("rustup").args(["which", "cargo"]).output();
    let found = output.ok().filter(|output| output.status.success()).map(|output| output.stdout);
    found.map_or(named, |path| PathBuf::from(String::from_utf8(path).unwrap().trim()))
}

fn reports(directory: &Path, functions: usize) {
    println!("A program of {functions} functions; flat profile, call graph and index, not explained.\n");
    println!("| profile | ours | GNU gprof | `nm -C` |");
    println!("|---|---|---|---|");
    for (name, what) in [
        ("small", "20,000 calls at random"),
        ("large", "200,000 calls at random"),
        ("huge", "2,000,000 calls at random"),
        ("circle", "one cycle of all functions, 40,000 at most"),
    ] {
        let words = ["-b", "a.out", name];
        let (mut ours, mut names) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            ours.extend(seconds(directory, gmon_tests::gprof(), &words));
            names.extend(seconds(directory, Path::new("nm"), &["-C", "a.out"]));
        }
        let theirs = seconds(directory, Path::new("gprof"), &words);
        let theirs = theirs.map_or_else(|| format!("not within {PATIENCE}"), |time| format!("{time:.2}"));
        println!("| {what} | **{:.2}** | {theirs} | {:.2} |", median(ours), median(names));
    }
}

/// The sums of few and of many profiles, and the memory for them.
fn sums(directory: &Path, stage: &Stage) {
    let mut profile = stage.large_profile(&mut Random::new(2), 10_000);
    // A profile of a megabyte.
    let histogram = &mut profile.histograms[0];
    histogram.bins.truncate(400_000);
    histogram.highpc = histogram.lowpc + 4 * histogram.bins.len() as u64;
    fs::write(directory.join("one"), gmon::write(&profile, ENCODING).unwrap()).unwrap();
    println!("| `-s` of how many profiles of a megabyte | seconds | megabytes of memory |");
    println!("|---|---|---|");
    for count in [1, 100, 1000] {
        let words: Vec<&str> = ["-s", "a.out"].into_iter().chain(std::iter::repeat_n("one", count)).collect();
        let (time, memory) = cost(directory, gmon_tests::gprof(), &words).unwrap();
        println!("| {count} | {time:.2} | {} |", memory >> 10);
    }
    println!();
}

/// The CPU time of a program.
fn seconds(directory: &Path, program: &Path, words: &[&str]) -> Option<f64> {
    cost(directory, program, words).map(|(seconds, _)| seconds)
}

/// The CPU time of a program in seconds and its memory in kilobytes, or `None` when it fails or takes too long.
///
/// The system tells both of all children together, so that each gets a parent of its own.
fn cost(directory: &Path, program: &Path, words: &[&str]) -> Option<(f64, i64)> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg(MEASURE).arg(program).args(words).current_dir(directory).stderr(Stdio::null());
    let output = command.output().unwrap();
    if !output.status.success() {
        return None;
    }
    let text = String::from_utf8(output.stdout).unwrap();
    let (seconds, memory) = text.trim().split_once(' ').unwrap();
    Some((seconds.parse().unwrap(), memory.parse().unwrap()))
}

/// Runs a program and prints what it took.
fn measure(program: &OsStr, words: &[OsString]) {
    let mut command = Command::new("timeout");
    command.arg(PATIENCE).arg(program).args(words).stdout(Stdio::null());
    if !command.status().unwrap().success() {
        std::process::exit(1);
    }
    let (seconds, memory) = children();
    println!("{seconds} {memory}");
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// The CPU time of all programs that ran so far, in seconds, and the most memory that one of them took, in kilobytes.
fn children() -> (f64, i64) {
    #[repr(C)]
    struct Usage {
        /// User time and system time, each in seconds and microseconds.
        times: [[i64; 2]; 2],
        most_memory: i64,
        others: [i64; 13],
    }
    unsafe extern "C" {
        fn getrusage(who: i32, usage: *mut Usage) -> i32;
    }
    const CHILDREN: i32 = -1;
    let mut usage = Usage { times: [[0; 2]; 2], most_memory: 0, others: [0; 13] };
    // SAFETY: the system fills in a structure of this layout, which is that of all 64-bit Linux systems.
    assert_eq!(unsafe { getrusage(CHILDREN, &mut usage) }, 0);
    (usage.times.iter().map(|[seconds, micros]| *seconds as f64 + *micros as f64 * 1e-6).sum(), usage.most_memory)
}
