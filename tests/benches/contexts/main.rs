//! What stacks cost, how many are whole, and how close measured inclusive times are to the truth: `make bench`, or
//! `cargo bench --package gmon-tests --bench contexts`. A word chooses one of the tables: `truth`, `perf`, `callgrind`,
//! `whole`, `cost`.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot run says why and stops")]

mod callgrind;
mod compare;
mod cost;
mod perf;
mod programs;
#[path = "../../tests/stacks/contexts/reports.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod reports;
#[path = "../common/time.rs"]
mod time;
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
    if !["perf", "callgrind", "whole", "cost"].iter().any(|table| wants(table)) {
        return;
    }
    let programs = programs::build(&directory);
    if wants("perf") {
        compare::print("perf", &programs, perf::shares);
    }
    if wants("callgrind") {
        compare::print("callgrind", &programs, callgrind::shares);
    }
    if wants("whole") {
        whole::print(&programs);
    }
    if wants("cost") {
        cost::print(&programs[0]);
    }
}
