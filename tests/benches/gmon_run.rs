//! What `gmon-run` adds to the time of programs that are not compiled again: `make bench`, or `cargo bench --package
//! gmon-tests --bench gmon_run`.
//!
//! The ways to run a program take turns. The time of a way is the minimum of the turns, because other programs of the
//! machine only ever add to the time of a run.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot run says why and stops")]

#[path = "contexts/programs.rs"]
#[allow(dead_code, reason = "the benchmark of stacks uses the rest")]
mod programs;
#[path = "common/time.rs"]
mod time;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use time::{children_seconds, median};

/// Turns of each program. The minimum of twenty runs is within half a percent of the minimum of hundreds.
const TURNS: usize = 20;

/// The rates in samples per second, and no gmon-run.
const RATES: [Option<&str>; 3] = [None, Some("100"), Some("1000")];

/// The processes of one run of the measurement of short programs, and the runs.
const SHORT: (usize, usize) = (200, 15);

fn main() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unchanged");
    fs::create_dir_all(&directory).unwrap();
    gmon_tests::start_objects();
    long(&directory);
    println!();
    short(&directory);
}

/// A program with its arguments.
type Line = (String, Vec<String>);

/// Prints the CPU time of programs that compute.
fn long(directory: &Path) {
    let mut lines: Vec<Line> = programs::recipes()
        .iter()
        .map(|recipe| (recipe.name.to_owned(), vec![recipe.build_plain(directory).to_str().unwrap().to_owned()]))
        .collect();
    let lua = gmon_tests::crate_of("lua-src").join("lua-5.4.8");
    let compiled = |source: &str| {
        let words = ["cc", "-O2", "-w", "-S", "-o", "/dev/null", source];
        words.map(str::to_owned).to_vec()
    };
    lines.push(("cc1".to_owned(), compiled(lua.join("lvm.c").to_str().unwrap())));
    let script = "sum = 0\nfor i in range(3000000): sum += len(str(i))";
    lines.push(("python3".to_owned(), ["python3", "-S", "-c", script].map(str::to_owned).to_vec()));
    println!("| program | seconds of CPU time | 100 samples per second | 1,000 samples per second |");
    println!("|---|---|---|---|");
    for (name, command) in lines {
        let mut least = RATES.map(|_| f64::INFINITY);
        for turn in 0..TURNS {
            // The other order in every second turn, so that a machine that becomes slower weighs on all alike.
            let mut order: Vec<usize> = (0..RATES.len()).collect();
            if turn % 2 == 1 {
                order.reverse();
            }
            for way in order {
                let before = children_seconds();
                run(directory, RATES[way], &command);
                least[way] = least[way].min(children_seconds() - before);
            }
        }
        let [plain, low, high] = least;
        println!("| {name} | {plain:.3} | **{:.3}** | {:.3} |", low / plain, high / plain);
    }
}

/// Prints the time that gmon-run adds to a process which does nothing.
fn short(directory: &Path) {
    let (processes, turns) = SHORT;
    let script = format!("for i in $(seq {processes}); do /bin/true; done");
    let command = ["sh", "-c", &script].map(str::to_owned);
    let mut figures = [Vec::new(), Vec::new()];
    for _ in 0..turns {
        for (figures, rate) in figures.iter_mut().zip([None, Some("100")]) {
            let start = Instant::now();
            run(directory, rate, &command);
            figures.push(start.elapsed().as_secs_f64() * 1e3 / processes as f64);
        }
    }
    let [plain, with] = figures.map(median);
    println!("| processes of one run | milliseconds for each | with gmon-run, the sum included | difference |");
    println!("|---|---|---|---|");
    println!("| {processes} | {plain:.2} | {with:.2} | **{:.2}** |", with - plain);
}

/// Runs a command, alone or by gmon-run with a rate.
fn run(directory: &Path, rate: Option<&str>, command: &[String]) {
    let mut line: Vec<PathBuf> = Vec::new();
    if let Some(rate) = rate {
        let profiles = directory.join("profiles");
        line.push(gmon_tests::gmon_run().to_owned());
        line.extend([format!("--hz={rate}").into(), "-o".into(), profiles]);
    }
    line.extend(command.iter().map(PathBuf::from));
    let (program, arguments) = line.split_first().unwrap();
    let mut process = Command::new(program);
    process.args(arguments).current_dir(directory).stdout(Stdio::null());
    process.env("GMON_RUN_LIBRARY", gmon_tests::start_objects().join("libgmon-run.so"));
    assert!(process.status().unwrap().success(), "{line:?}");
}
