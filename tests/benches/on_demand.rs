//! What calls on demand cost: `make bench`, or `cargo bench --package gmon-tests --bench on_demand`. Words after `--`
//! choose rows: names of programs, or `switch`.
//!
//! The ways to run a program take turns. The time of a way is the minimum of the turns, because other programs of the
//! machine only ever add to the time of a run.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot run says why and stops")]

#[path = "contexts/programs.rs"]
#[allow(dead_code, reason = "other benchmarks use the rest")]
mod programs;
#[path = "common/time.rs"]
#[allow(dead_code, reason = "other benchmarks use the rest")]
mod time;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use time::children_seconds;

/// Turns of each program.
const TURNS: usize = 20;
/// The functions that are switched, and how often.
const SWITCHED: (usize, usize) = (50_000, 100);

fn main() {
    // Cargo passes options of its own.
    let words: Vec<String> = env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_wanted = |name: &str| words.is_empty() || words.iter().any(|word| word.eq_ignore_ascii_case(name));
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("on-demand");
    fs::create_dir_all(&directory).unwrap();
    let library = gmon_tests::start_objects();
    programs(&directory, library, is_wanted);
    if is_wanted("switch") {
        println!();
        switch(&directory, library);
    }
}

/// The options of `gmon-cc --on-demand`.
fn room() -> &'static str {
    if cfg!(target_arch = "x86_64") { "-fpatchable-function-entry=7,5" } else { "-fpatchable-function-entry=4,2" }
}

/// Prints the CPU time of programs: compiled without profiling, on demand and not counted, counted in windows, and
/// counted, and with -pg and -mfentry.
fn programs(directory: &Path, library: &Path, is_wanted: impl Fn(&str) -> bool) {
    println!("| program | seconds of CPU time | off | 1% | on | -pg | -pg -mfentry | on, times -pg |");
    println!("|---|---|---|---|---|---|---|---|");
    let object = library.join("gmon.o");
    let object = object.to_str().unwrap();
    let start = format!("-B{}", library.display());
    for recipe in programs::recipes().iter().filter(|recipe| is_wanted(recipe.name)) {
        let plain = recipe.build_plain(directory);
        let counted = recipe.build_as(directory, "on-demand", &[room(), object]);
        let mut ways = vec![(plain, "off"), (counted.clone(), "off"), (counted.clone(), "1%"), (counted, "on")];
        ways.push((recipe.build_as(directory, "profiled", &["-pg", &start]), "off"));
        if cfg!(target_arch = "x86_64") {
            ways.push((recipe.build_as(directory, "fentry", &["-pg", "-mfentry", &start]), "off"));
        }
        let mut least = vec![f64::INFINITY; ways.len()];
        for turn in 0..TURNS {
            // The other order in every second turn, so that a machine that becomes slower weighs on all alike.
            let mut order: Vec<usize> = (0..ways.len()).collect();
            if turn % 2 == 1 {
                order.reverse();
            }
            for way in order {
                let (program, calls) = &ways[way];
                let before = children_seconds();
                run(program, calls);
                least[way] = least[way].min(children_seconds() - before);
            }
        }
        let times = |way: usize| least.get(way).map_or("-".to_owned(), |time| format!("{:.3}", time / least[0]));
        println!(
            "| {} | {:.3} | **{}** | {} | {} | {} | {} | **{:.2}** |",
            recipe.name,
            least[0],
            times(1),
            times(2),
            times(3),
            times(4),
            times(5),
            least[3] / least[4]
        );
    }
}

/// Runs a program in its directory. `calls` is the value of `GMON_CALLS`.
fn run(program: &PathBuf, calls: &str) {
    let mut command = Command::new(program);
    command.env("GMON_CALLS", calls).current_dir(program.parent().unwrap()).stdout(Stdio::null());
    assert!(command.status().unwrap().success(), "{}", program.display());
}

/// Prints how long it takes to switch many functions, while other threads call the functions.
fn switch(directory: &Path, library: &Path) {
    let (functions, times) = SWITCHED;
    let mut source = String::new();
    for number in 0..functions {
        let factor = number % 97 + 3;
        writeln!(
            source,
            "__attribute__((noipa)) int f{number}(int x) {{ volatile int y = x * {factor}; return y + {number} + x; }}"
        )
        .unwrap();
    }
    source.push_str("int (*const all[])(int) = {");
    (0..functions).for_each(|number| write!(source, "f{number},").unwrap());
    source.push_str("};\n");
    let many = directory.join("many.c");
    if fs::read_to_string(&many).is_ok_and(|there| there != source) || !many.exists() {
        fs::write(&many, &source).unwrap();
        let _ = fs::remove_file(directory.join("many.o"));
    }
    let (object, program) = (directory.join("many.o"), directory.join("switch"));
    let cc = |words: &[&str]| {
        let output = Command::new("cc").args(["-O1", room()]).args(words).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    if !object.exists() {
        cc(&["-c", many.to_str().unwrap(), "-o", object.to_str().unwrap()]);
    }
    let include = format!("-I{}", library.parent().unwrap().parent().unwrap().join("include").display());
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/switch.c");
    let start = library.join("gmon.o");
    let files = [&driver, &object, &start].map(|path| path.to_str().unwrap());
    cc(&[&files[..], &[&include, "-pthread", "-o", program.to_str().unwrap()]].concat());
    println!("| functions | threads that call them | first time, ms | on, ms | off, ms |");
    println!("|---|---|---|---|---|");
    for threads in ["0", "1", "2"] {
        let words = [&times.to_string(), threads];
        let output = Command::new(&program).args(words).current_dir(directory).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        println!("| {functions} | {threads} | {} |", String::from_utf8_lossy(&output.stdout).trim());
    }
}
