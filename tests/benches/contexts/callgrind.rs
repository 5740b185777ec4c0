//! Inclusive costs of the functions of a program by valgrind's callgrind.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use crate::compare::Shares;
use crate::programs::Program;

/// Runs the program with an empty `mcount` under callgrind; `None` without valgrind.
pub(crate) fn shares(program: &Program) -> Option<Shares> {
    let file = program.directory.join("callgrind.out");
    let mut valgrind = Command::new("valgrind");
    valgrind.args([
        "--tool=callgrind",
        "--cache-sim=yes",
        "--compress-strings=no",
        "--compress-pos=no",
        "--demangle=no",
    ]);
    valgrind.arg(format!("--callgrind-out-file={}", file.display())).arg(&program.empty);
    let output = valgrind.current_dir(&program.directory).output().ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let object = format!("ob={}", program.empty.display());
    let costs = parse_costs(&fs::read_to_string(file).unwrap(), &object);
    let all = costs["main"] as f64;
    Some(costs.iter().map(|(name, cost)| (name.clone(), *cost as f64 / all)).collect())
}

/// Adds up the lines of the functions in an object: their own, and those of their calls. Calls of a function that is on
/// the stack already have names of their own, such as `f'2`, and count in the calls that led there.
fn parse_costs(text: &str, object: &str) -> BTreeMap<String, u64> {
    let mut costs = BTreeMap::new();
    let (mut is_in_object, mut function) = (false, "");
    for line in text.lines() {
        if line.starts_with("ob=") {
            is_in_object = line == object;
        } else if let Some(name) = line.strip_prefix("fn=") {
            function = name;
        } else if is_in_object && !function.contains('\'') && line.starts_with(|first: char| first.is_ascii_digit()) {
            *costs.entry(function.to_owned()).or_default() += cost(line);
        }
    }
    costs
}

/// The estimated cycles in a line: the instructions, 10 for each miss of the first caches, and 100 for each miss of the
/// last. The line has its number in the source and the counts of Ir, Dr, Dw, I1mr, D1mr, D1mw, ILmr, DLmr, DLmw,
/// without zeros at the end.
fn cost(line: &str) -> u64 {
    const WEIGHTS: [u64; 9] = [1, 0, 0, 10, 10, 10, 100, 100, 100];
    let counts = line.split(' ').skip(1).map(|count| count.parse::<u64>().unwrap());
    counts.zip(WEIGHTS).map(|(count, weight)| count * weight).sum()
}
