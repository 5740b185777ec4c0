//! The share of stacks that are whole.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use gmon::side_file::{CutReason, SideFile};

use crate::programs::Program;

/// Runs of each program. The programs take about half a second of CPU time.
const TURNS: usize = 10;

pub(crate) fn print(programs: &[Program]) {
    println!("| program, -O2 | stacks | whole | cut, by reason |");
    println!("|---|---|---|---|");
    for program in programs {
        let (mut walked, mut cut) = (0, BTreeMap::new());
        for profile in program.profiles(TURNS, &[("GMON_CLOCK", "wall"), ("GMON_HZ", "1000")]) {
            let side = side_file(&profile);
            walked += side.contexts().total();
            for (reason, ticks) in side.unwalked() {
                // Late ticks have no stack that could be whole or not.
                walked += if reason == CutReason::NO_STACK { 0 } else { ticks };
            }
            for (reason, ticks) in side.cut_ticks().into_iter().filter(|(reason, _)| *reason != CutReason::NO_STACK) {
                *cut.entry(reason).or_insert(0) += ticks;
            }
        }
        let missing: u64 = cut.values().sum();
        let share = (walked - missing) as f64 * 100.0 / walked as f64;
        let reasons: Vec<String> = cut.iter().map(|(reason, ticks)| format!("{}: {ticks}", reason.code())).collect();
        println!("| {} | {walked} | **{share:.2} %** | {} |", program.name, reasons.join(", "));
    }
}

/// Reads the side file of a profile.
pub(crate) fn side_file(profile: &Path) -> SideFile {
    let path = profile.with_added_extension("side");
    SideFile::parse(&fs::read(&path).unwrap()).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
