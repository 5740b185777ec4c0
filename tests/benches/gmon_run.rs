//! What `gmon-run` adds to the time of programs that are not compiled again: `make bench`, or `cargo bench --package
//! gmon-tests --bench gmon_run`. Words after `--` choose rows: `short`, or names of programs (`cc1 python3`).
//!
//! The ways to run a program take turns. The time of a way is the minimum of the turns, because other programs of the
//! machine only ever add to the time of a run.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot run says why and stops")]

#[path = "contexts/programs.rs"]
#[allow(dead_code, reason = "the benchmark of stacks uses the rest")]
mod programs;
#[path = "common/time.rs"]
#[allow(dead_code, reason = "other benchmarks use the rest")]
mod time;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use time::children_seconds;

/// Turns of each program. The minimum of twenty runs is within half a percent of the minimum of hundreds.
const TURNS: usize = 20;

/// The rates in samples per second, and no gmon-run.
const RATES: [Option<&str>; 4] = [None, Some("100"), Some("250"), Some("1000")];

/// The processes of one run of the measurement of short programs, and the runs.
const SHORT: (usize, usize) = (200, 15);

/// The processes that the measurement of single short processes starts in each way.
const SINGLE: usize = 2000;

fn main() {
    // Cargo passes options of its own.
    let words: Vec<String> = env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_wanted = |name: &str| words.is_empty() || words.iter().any(|word| word.eq_ignore_ascii_case(name));
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unchanged");
    fs::create_dir_all(&directory).unwrap();
    gmon_tests::start_objects();
    if is_wanted("short") {
        short(&directory);
        println!();
    }
    long(&directory, is_wanted);
}

/// A program with its arguments.
type Line = (String, Vec<String>);

/// Prints the CPU time of the wanted programs, which compute.
fn long(directory: &Path, is_wanted: impl Fn(&str) -> bool) {
    let mut lines: Vec<Line> = programs::recipes()
        .iter()
        .filter(|recipe| is_wanted(recipe.name))
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
    lines.retain(|(name, _)| is_wanted(name));
    if lines.is_empty() {
        return;
    }
    println!("| program | seconds of CPU time | 100 samples per second | 250 | 1,000 |");
    println!("|---|---|---|---|---|");
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
        let [plain, low, middle, high] = least;
        println!("| {name} | {plain:.3} | **{:.3}** | {:.3} | {:.3} |", low / plain, middle / plain, high / plain);
    }
}

/// Prints the time that gmon-run adds to a process which does nothing: to its start and end, and to all of a run.
fn short(directory: &Path) {
    single(directory);
    println!();
    let (processes, turns) = SHORT;
    let script = format!("for i in $(seq {processes}); do /bin/true; done");
    let command = ["sh", "-c", &script].map(str::to_owned);
    let mut least = [f64::INFINITY; 2];
    for _ in 0..turns {
        for (least, rate) in least.iter_mut().zip([None, Some("250")]) {
            let start = Instant::now();
            run(directory, rate, &command);
            *least = least.min(start.elapsed().as_secs_f64() * 1e3 / processes as f64);
        }
    }
    let [plain, with] = least;
    println!("| processes of one run | milliseconds for each | with gmon-run, the sum included | difference |");
    println!("|---|---|---|---|");
    println!("| {processes} | {plain:.2} | {with:.2} | **{:.2}** |", with - plain);
}

/// Prints the time from the start to the end of `/bin/true`, alone and with the variables that gmon-run gives.
fn single(directory: &Path) {
    let environment = environment(directory);
    let mut figures = [const { Vec::new() }; 2];
    for number in 0..2 * SINGLE {
        let way = number % 2;
        let mut process = Command::new("/bin/true");
        process.envs(environment.iter().take(way * environment.len()).map(|(name, value)| (name, value)));
        let start = Instant::now();
        assert!(process.status().unwrap().success());
        figures[way].push(start.elapsed().as_secs_f64() * 1e3);
        // As often as gmon-run takes profiles away.
        if number % 32 == 31 {
            clear(&directory.join("profiles"));
        }
    }
    let [plain, with] = figures.map(|mut figures| {
        figures.sort_by(f64::total_cmp);
        [figures[0], figures[SINGLE / 10], figures[SINGLE / 2]]
    });
    println!("| milliseconds from start to end of a process | alone | with the runtime | difference |");
    println!("|---|---|---|---|");
    for (name, (plain, with)) in ["minimum", "lowest tenth", "median"].iter().zip(plain.into_iter().zip(with)) {
        println!("| {name} | {plain:.2} | {with:.2} | **{:.2}** |", with - plain);
    }
}

/// The variables that gmon-run sets.
fn environment(directory: &Path) -> Vec<(String, String)> {
    let output = command(directory, Some("250"), &["env".to_owned()]).stdout(Stdio::piped()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let variables = text.lines().filter_map(|line| line.split_once('='));
    let is_set = |name: &str| name == "LD_PRELOAD" || name.starts_with("GMON_");
    variables.filter(|(name, _)| is_set(name)).map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Removes the files in a directory, except gmon-run's own.
fn clear(directory: &Path) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if !path.ends_with(".gmon-run") {
            fs::remove_file(path).unwrap();
        }
    }
}

/// Runs a command, alone or by gmon-run with a rate.
fn run(directory: &Path, rate: Option<&str>, words: &[String]) {
    assert!(command(directory, rate, words).status().unwrap().success(), "{words:?}");
}

/// A command, alone or by gmon-run with a rate.
fn command(directory: &Path, rate: Option<&str>, words: &[String]) -> Command {
    let mut line: Vec<PathBuf> = Vec::new();
    if let Some(rate) = rate {
        let profiles = directory.join("profiles");
        line.push(gmon_tests::gmon_run().to_owned());
        line.extend([format!("--hz={rate}").into(), "-o".into(), profiles]);
    }
    line.extend(words.iter().map(PathBuf::from));
    let (program, arguments) = line.split_first().unwrap();
    let mut process = Command::new(program);
    process.args(arguments).current_dir(directory).stdout(Stdio::null());
    process.env("GMON_RUN_LIBRARY", gmon_tests::start_objects().join("libgmon-run.so"));
    process
}
