//! The share of stacks that are whole.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use gmon::side_file::{CutReason, SideFile};

use crate::programs::Program;

/// Runs of each program. The programs take about half a second of CPU time.
const TURNS: usize = 10;

/// What takes the samples, and its variables.
const SAMPLERS: [(&str, &[(&str, &str)]); 6] = [
    ("timers, 1,000 Hz", &[("GMON_CLOCK", "wall"), ("GMON_HZ", "1000")]),
    ("ring, 250 Hz", &[("GMON_SAMPLER", "perf"), ("GMON_HZ", "250")]),
    ("ring, 1,000 Hz", &[("GMON_SAMPLER", "perf"), ("GMON_HZ", "1000")]),
    ("ring, 2,000 Hz", &[("GMON_SAMPLER", "perf"), ("GMON_HZ", "2000")]),
    ("ring, 4,000 Hz", &[("GMON_SAMPLER", "perf"), ("GMON_HZ", "4000")]),
    ("ring, 10,000 Hz", &[("GMON_SAMPLER", "perf"), ("GMON_HZ", "10000")]),
];

pub(crate) fn print(programs: &[Program]) {
    println!("| program, -O2 | sampler | stacks | whole | cut, by reason | lost |");
    println!("|---|---|---|---|---|---|");
    for program in programs {
        for (sampler, variables) in SAMPLERS {
            print_row(program, sampler, variables);
        }
    }
}

fn print_row(program: &Program, sampler: &str, variables: &[(&str, &str)]) {
    let (mut walked, mut cut) = (0, BTreeMap::new());
    let (profiles, said) = program.profiles_and_messages(TURNS, variables);
    if said.contains("cannot use the perf_event ring") {
        println!("| {} | {sampler} | perf_event_open is forbidden here | | | |", program.name);
        return;
    }
    for profile in profiles {
        let side = side_file(&profile);
        walked += side.contexts().total();
        for (reason, ticks) in side.unwalked() {
            // Late ticks have no stack that could be whole or not.
            walked += if reason == CutReason::NO_STACK { 0 } else { ticks };
        }
        for (reason, ticks) in side.cut_ticks().filter(|(reason, _)| *reason != CutReason::NO_STACK) {
            *cut.entry(reason).or_insert(0) += ticks;
        }
    }
    let missing: u64 = cut.values().sum();
    let share = (walked - missing) as f64 * 100.0 / walked as f64;
    let reasons: Vec<String> = cut.iter().map(|(reason, ticks)| format!("{}: {ticks}", reason.code())).collect();
    let lost =
        said.lines().filter_map(|line| line.split_once("overflowed: ")?.1.split(' ').next()?.parse::<u64>().ok());
    let lost: u64 = lost.sum();
    println!("| {} | {sampler} | {walked} | **{share:.2} %** | {} | {lost} |", program.name, reasons.join(", "));
}

/// Reads the side file of a profile.
pub(crate) fn side_file(profile: &Path) -> SideFile {
    let path = profile.with_added_extension("side");
    SideFile::parse(&fs::read(&path).unwrap()).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
