//! What stacks cost, how many are whole, and how close measured inclusive times are to the truth: `make bench`, or `cargo bench
//! --package gmon-tests --bench contexts`. A word chooses one of the tables: `whole`, `cost`, `truth`, `callgrind`.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot run says why and stops")]

mod callgrind;
mod cost;
mod programs;
#[path = "../../tests/contexts/reports.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod reports;
mod truth;
mod whole;

use std::path::Path;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let wants = |table: &str| words.is_empty() || words.iter().any(|word| word == table);
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("contexts");
    if wants("truth") {
        truth::print(&directory);
    }
    if !["whole", "cost", "callgrind"].iter().any(|table| wants(table)) {
        return;
    }
    let programs = programs::build(&directory);
    if wants("whole") {
        whole::print(&programs);
    }
    if wants("cost") {
        cost::print(&programs[0]);
    }
    if wants("callgrind") {
        callgrind::print(&programs);
    }
}
