//! Measured inclusive times beside those of another tool, as shares of `main`.

use std::collections::BTreeMap;

use crate::programs::Program;
use crate::reports::Report;

/// Shares of `main`, by symbol.
pub(crate) type Shares = BTreeMap<String, f64>;

/// Runs of each program under the sampler.
const TURNS: usize = 10;

/// Functions with less than this share by the other tool are left out.
const LEAST: f64 = 0.01;

/// Prints a row for each program; `reference` returns the shares by the other tool, or `None` if there is no such tool
/// here.
pub(crate) fn print(tool: &str, programs: &[Program], reference: impl Fn(&Program) -> Option<Shares>) {
    println!(
        "| beside {tool} | functions | rank correlation, measured | GNU's way | largest difference, measured | GNU's way |"
    );
    println!("|---|---|---|---|---|---|");
    for program in programs {
        let Some(mut truth) = reference(program) else {
            println!("| {} | no {tool} here | | | | |", program.name);
            continue;
        };
        let functions = program.functions();
        truth.retain(|name, _| functions.contains(name));
        let profiles = program.profiles(TURNS, &[("GMON_CLOCK", "wall"), ("GMON_HZ", "1000")]);
        let shares = |options: &[&str]| -> Shares {
            let files = profiles.iter().map(|path| path.to_str().unwrap());
            let words: Vec<&str> = options.iter().copied().chain(["--format=json", "program"]).chain(files).collect();
            let report = Report::read(&program.directory, &words);
            let times = report.inclusive_by_symbol();
            times.iter().map(|(name, time)| ((*name).to_owned(), time / times["main"])).collect()
        };
        let [measured, estimated] = [shares(&[]), shares(&["--propagate"])].map(|found| Compared::new(&truth, &found));
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
            .filter(|(_, share, _)| *share >= LEAST)
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
