//! Inclusive times of the functions of a program by `perf record --call-graph fp`.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use crate::compare::Shares;
use crate::programs::Program;

/// Runs of each program.
const TURNS: usize = 5;

/// Samples the program with an empty `mcount`; `None` if perf is missing or may not sample.
pub(crate) fn shares(program: &Program) -> Option<Shares> {
    let mut samples: BTreeMap<String, u64> = BTreeMap::new();
    for _ in 0..TURNS {
        let mut perf = Command::new("perf");
        perf.args(["record", "-q", "-e", "cpu-clock:u", "-F", "2000", "--call-graph", "fp", "-o", "perf.data"])
            .arg(&program.empty);
        perf.current_dir(&program.directory).output().ok().filter(|output| output.status.success())?;
        let mut perf = Command::new("perf");
        perf.args(["script", "--no-demangle", "-i", "perf.data", "-F", "ip,sym"]).current_dir(&program.directory);
        let chains = String::from_utf8_lossy(&perf.output().ok()?.stdout).into_owned();
        for chain in chains.split("\n\n") {
            // Each line is an address and a symbol.
            let names: BTreeSet<&str> =
                chain.lines().filter_map(|line| line.trim().split_once(' ')).map(|(_, name)| name).collect();
            for name in names {
                *samples.entry(name.to_owned()).or_default() += 1;
            }
        }
    }
    let all = *samples.get("main")? as f64;
    Some(samples.into_iter().map(|(name, count)| (name, count as f64 / all)).collect())
}
