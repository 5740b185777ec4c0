//! Measured inclusive times beside the inclusive instructions that valgrind's callgrind counts.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use crate::programs::Program;
use crate::reports::Report;

/// Runs of each program under the sampler.
const TURNS: usize = 10;

/// Functions with less than this share of the program are left out.
const LEAST: f64 = 0.01;

pub(crate) fn print(programs: &[Program]) {
    println!(
        "| program | functions | rank correlation, measured | GNU's way | largest difference, measured | GNU's way |"
    );
    println!("|---|---|---|---|---|---|");
    for program in programs {
        let Some(counted) = Counted::read(program) else {
            println!("| {} | no valgrind | | | | |", program.name);
            continue;
        };
        let truth = counted.shares();
        let profiles = program.profiles(TURNS, &[("GMON_CLOCK", "wall"), ("GMON_HZ", "1000")]);
        let shares = |options: &[&str]| {
            let files = profiles.iter().map(|path| path.to_str().unwrap());
            let words: Vec<&str> = options.iter().copied().chain(["--format=json", "program"]).chain(files).collect();
            let report = Report::read(&program.directory, &words);
            let times = report.inclusive_by_symbol();
            times.iter().map(|(name, time)| ((*name).to_owned(), time / times["main"])).collect::<BTreeMap<_, _>>()
        };
        let compared = [shares(&[]), shares(&["--propagate"])].map(|found| Compared::new(&truth, &found));
        let [measured, estimated] = &compared;
        println!(
            "| {} | {} | **{:.3}** | {:.3} | {} | {} |",
            program.name,
            measured.functions,
            measured.correlation,
            estimated.correlation,
            measured.largest,
            estimated.largest
        );
    }
}

/// Two lists of shares of the same functions.
struct Compared {
    functions: usize,
    /// Spearman's coefficient.
    correlation: f64,
    /// The function of which the shares differ most, and both shares.
    largest: String,
}

impl Compared {
    fn new(truth: &BTreeMap<String, f64>, found: &BTreeMap<String, f64>) -> Compared {
        let chosen: Vec<(&str, f64, f64)> = truth
            .iter()
            .map(|(name, share)| (name.as_str(), *share, found.get(name).copied().unwrap_or(0.0)))
            .filter(|(_, share, found)| share.max(*found) >= LEAST)
            .collect();
        let [ours, theirs] =
            [ranks(chosen.iter().map(|row| row.2).collect()), ranks(chosen.iter().map(|row| row.1).collect())];
        let most =
            chosen.iter().max_by(|one, other| (one.1 - one.2).abs().total_cmp(&(other.1 - other.2).abs())).unwrap();
        let largest = format!(
            "{:.1} % (`{}`: {:.1} of {:.1} %)",
            (most.2 - most.1).abs() * 100.0,
            most.0,
            most.2 * 100.0,
            most.1 * 100.0
        );
        Compared { functions: chosen.len(), correlation: correlation(&ours, &theirs), largest }
    }
}

/// The ranks of values; equal values share the mean of their ranks.
fn ranks(values: Vec<f64>) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count();
        let equal = values.iter().filter(|other| *other == value).count();
        below as f64 + (equal as f64 - 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

/// Pearson's coefficient.
fn correlation(one: &[f64], other: &[f64]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (one_mean, other_mean) = (mean(one), mean(other));
    let sum = |pairs: &dyn Fn(f64, f64) -> f64| {
        one.iter().zip(other).map(|(one, other)| pairs(one - one_mean, other - other_mean)).sum::<f64>()
    };
    sum(&|one, other| one * other) / (sum(&|one, _| one * one) * sum(&|_, other| other * other)).sqrt()
}

/// The inclusive instructions of the program's functions, by symbol.
struct Counted(BTreeMap<String, u64>);

impl Counted {
    /// Runs the program with an empty `mcount` under callgrind; `None` without valgrind.
    fn read(program: &Program) -> Option<Counted> {
        let file = program.directory.join("callgrind.out");
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--tool=callgrind", "--compress-strings=no", "--compress-pos=no", "--demangle=no"]);
        valgrind.arg(format!("--callgrind-out-file={}", file.display())).arg(&program.empty);
        let output = valgrind.current_dir(&program.directory).output().ok()?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let object = format!("ob={}", program.empty.display());
        Some(Counted::parse(&fs::read_to_string(file).unwrap(), &object))
    }

    /// Adds up the lines of the functions in an object: their own, and those of their calls. Calls of a function that is on the stack
    /// already have names of their own, such as `f'2`, and count in the calls that led there.
    fn parse(text: &str, object: &str) -> Counted {
        let mut counted = BTreeMap::new();
        let (mut is_in_object, mut function) = (false, "");
        for line in text.lines() {
            if line.starts_with("ob=") {
                is_in_object = line == object;
            } else if let Some(name) = line.strip_prefix("fn=") {
                function = name;
            } else if is_in_object && !function.contains('\'') && line.starts_with(|first: char| first.is_ascii_digit())
            {
                let instructions = line.split(' ').nth(1).map_or(0, |number| number.parse().unwrap());
                *counted.entry(function.to_owned()).or_default() += instructions;
            }
        }
        Counted(counted)
    }

    /// The inclusive shares of the instructions below `main`.
    fn shares(&self) -> BTreeMap<String, f64> {
        let all = self.0["main"] as f64;
        self.0.iter().map(|(name, instructions)| (name.clone(), *instructions as f64 / all)).collect()
    }
}
