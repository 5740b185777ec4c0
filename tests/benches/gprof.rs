//! The CPU time and memory of the reader, compared with the system's reader and with `nm -C`, which only reads and
//! prints the names: `make bench`, or `cargo bench --package gmon-tests --bench gprof`.
//!
//! The programs are the `cargo` that runs this, the compiler, this project's own reader, and a small one; the profiles
//! are synthetic. Readers take turns, and figures are medians.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot run says why and stops")]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gmon::{DataModel, Encoding, Form, Histogram, Order, Profile};
use gmon_tests::random::{Random, Stage};

const ROUNDS: usize = 5;

/// The maximum time of another reader, in seconds.
const PATIENCE: &str = "60";

/// The first word of a run of this program that only runs another program and prints its time and memory.
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
    let cargo = Program::new(&directory, "cargo", &cargo());
    sums(&cargo);
    let functions = cargo.stage.functions.len();
    println!(
        "The large program is cargo, with {functions} functions. Rows with \"calls\" print the flat profile, the call graph, and the"
    );
    println!("index with `-b`. GNU gprof ran once; \"not tried\" means that it takes more than {PATIENCE} seconds.\n");
    println!(
        "| what | ours | GNU gprof | `nm -C` | GNU / ours | ours / `nm -C` | megabytes, ours | `nm -C` | ours / `nm -C` |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let mut random = Random::new(1);
    for (name, calls) in [("20,000 calls", 20_000), ("200,000 calls", 200_000), ("2,000,000 calls", 2_000_000)] {
        let profile = cargo.stage.large_profile(&mut random, calls);
        row(&cargo, &format!("{name} at random"), &profile, &["-b"], calls <= 20_000);
        if calls == 200_000 {
            row(&cargo, &format!("{name} at random, as tables"), &profile, &["-b", "--table"], false);
            row(&cargo, "the same, all rows (`--top=all`)", &profile, &["-b", "--table", "--top=all"], false);
            row(&cargo, "the same, the flat profile only (`-p`)", &profile, &["-b", "-p"], false);
            row(&cargo, "the same, the graph and the index (`-q`)", &profile, &["-b", "-q"], false);
        }
    }
    let (tree, circle) = (cargo.stage.tree(&mut random, 40_000), cargo.stage.circle(&mut random, 40_000));
    row(&cargo, "a tree of all functions, 40,000 at most", &tree, &["-b"], true);
    row(&cargo, "one cycle of them", &circle, &["-b"], true);
    if let Some(path) = compiler() {
        let rustc = Program::new(&directory, "rustc", &path);
        let profile = rustc.stage.large_profile(&mut random, 500_000);
        row(&rustc, "500,000 calls in the Rust compiler", &profile, &["-b"], false);
    }
    let own = Program::new(&directory, "own", &with_debug_information());
    row(
        &own,
        "lines of our own gprof, unoptimized (`-l -p`)",
        &own.stage.large_profile(&mut random, 0),
        &["-b", "-l", "-p"],
        true,
    );
    let small = gmon_tests::compile("bench_small", &["calls.c"], &["-g"]);
    let small = Program::new(&directory, "small", &small);
    row(&small, "a small program", &small.stage.profile(&mut random), &["-b"], true);
}

const ENCODING: Encoding = Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little);

/// The executable behind `cargo`: the one in PATH may be a small program that only finds it.
fn cargo() -> PathBuf {
    let named = std::env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from);
    let output = Command::new("rustup").args(["which", "cargo"]).output();
    let found = output.ok().filter(|output| output.status.success()).map(|output| output.stdout);
    found.map_or(named, |path| PathBuf::from(String::from_utf8(path).unwrap().trim()))
}

/// The Rust compiler's own library, the largest program that always exists here, if it has symbols.
fn compiler() -> Option<PathBuf> {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output().ok()?;
    let libraries = Path::new(str::from_utf8(&output.stdout).ok()?.trim()).join("lib");
    let mut files = fs::read_dir(libraries).ok()?.filter_map(Result::ok).map(|entry| entry.path());
    files.find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("librustc_driver")))
}

/// Our own reader, built without optimization and with complete debug information. The workspace's own profile for
/// tests has only line numbers.
fn with_debug_information() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("debug-build");
    let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build.args(["build", "--quiet", "--package", "gprof", "--target-dir"]).arg(&target);
    build.args(["--config", "profile.dev.debug='full'", "--config", "profile.dev.package.'*'.debug='full'"]);
    assert!(build.status().unwrap().success(), "gprof does not build");
    target.join("debug/gprof")
}

/// A program to report on.
struct Program {
    directory: PathBuf,
    stage: Stage,
}

impl Program {
    fn new(directory: &Path, name: &str, path: &Path) -> Program {
        let directory = directory.join(name);
        fs::create_dir_all(&directory).unwrap();
        let bytes = fs::read(path).unwrap();
        fs::write(directory.join("a.out"), &bytes).unwrap();
        Program { directory, stage: Stage::of(&bytes) }
    }
}

/// Times the readers with a profile. GNU's reader is not tried where it takes too long.
fn row(program: &Program, what: &str, profile: &Profile, options: &[&str], with_gnu: bool) {
    let directory = &program.directory;
    fs::write(directory.join("gmon.out"), gmon::write(profile, ENCODING).unwrap()).unwrap();
    let words = [options, &["a.out", "gmon.out"]].concat();
    let (mut ours, mut names, mut memory, mut names_memory) = (Vec::new(), Vec::new(), 0, 0);
    for _ in 0..ROUNDS {
        let (seconds, most) = cost(directory, gmon_tests::gprof(), &words).unwrap();
        ours.push(seconds);
        memory = most.max(memory);
        let (seconds, most) = cost(directory, Path::new("nm"), &["-C", "a.out"]).unwrap();
        names.push(seconds);
        names_memory = most.max(names_memory);
    }
    let theirs = with_gnu.then(|| cost(directory, Path::new("gprof"), &words).map(|(seconds, _)| seconds));
    let (ours, names) = (median(ours), median(names));
    let (time, ratio) = match theirs {
        None => ("not tried".to_owned(), "-".to_owned()),
        Some(None) => {
            (format!("not within {PATIENCE}"), format!("over {:.0}", PATIENCE.parse::<f64>().unwrap() / ours))
        }
        Some(Some(time)) => (format!("{time:.2}"), format!("{:.0}", time / ours)),
    };
    print!("| {what} | **{ours:.3}** | {time} | {names:.3} | {ratio} | {:.1} ", ours / names);
    let [memory, names_memory] = [memory, names_memory].map(|kilobytes| kilobytes as f64 / 1024.0);
    println!("| {memory:.0} | {names_memory:.0} | {:.1} |", memory / names_memory);
}

/// The sums of few and many profiles, and their memory.
fn sums(program: &Program) {
    let Program { directory, stage } = program;
    let mut profile = stage.large_profile(&mut Random::new(2), 10_000);
    // A profile of a megabyte.
    for histogram in profile.take_histograms() {
        let bins: Vec<u64> = (0..400_000).map(|bin| histogram.count(bin) as u64).collect();
        let range = histogram.lowpc()..histogram.lowpc() + 4 * bins.len() as u64;
        profile.add_histogram(Histogram::new(range, histogram.unit(), bins).unwrap()).unwrap();
    }
    fs::write(directory.join("one"), gmon::write(&profile, ENCODING).unwrap()).unwrap();
    println!(
        "| number of profiles of one megabyte that `-s` adds up | seconds | megabytes of memory | seconds for `cat` of the profiles |"
    );
    println!("|---|---|---|---|");
    for count in [1, 100, 1000] {
        let profiles = || std::iter::repeat_n("one", count);
        let words: Vec<&str> = ["-s", "a.out"].into_iter().chain(profiles()).collect();
        let (time, memory) = cost(directory, gmon_tests::gprof(), &words).unwrap();
        let (cat, _) = cost(directory, Path::new("cat"), &profiles().collect::<Vec<_>>()).unwrap();
        println!("| {count} | {time:.2} | {} | {cat:.2} |", memory >> 10);
    }
    println!();
}

/// The CPU time of a program in seconds and its memory in kilobytes, or `None` if it fails or takes too long.
///
/// The system reports time and memory of all children together, so each program gets a parent of its own.
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

/// Runs a program and prints its time and memory.
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

/// The CPU time of all programs that ran so far, in seconds, and the maximum memory of one of them, in kilobytes.
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
