//! Real samples, against the clocks of the programs.

use gmon_tests::chance::DEVIATIONS;

use crate::contexts::callers::{TAIL, kind, profile_name, run};
use crate::contexts::reports::Report;
use crate::contexts::run::Run;
use crate::support::{Program, read, ticks};

/// Timers of real time are never late, however busy the machine is, so the number of samples during a call is the time
/// of the call.
#[test]
fn measured_times_are_those_that_programs_measure() {
    let mut wrong = Vec::new();
    for name in ["direct", "omitted", "recursive", "sorts", "linked", "forks", "throws", "tail"] {
        let kind = if name == "tail" { &TAIL } else { kind(name) };
        let Some(program) = kind.build("wall") else { continue };
        let variables = [("GMON_CLOCK", "wall"), ("GMON_HZ", "1000")];
        for (process, truth) in run(&program, &["wall", "1"], &variables) {
            let report = Report::read(&program.directory, &["--format=json", "program", &profile_name(process)]);
            for caller in ["cheap", "dear"].into_iter().filter(|caller| truth[*caller] > 0) {
                let (found, truth) = (report.inclusive(caller), truth[caller] as f64 / 1e9);
                // The standard error of a number of samples is at most its root.
                let error = (truth * 1000.0).sqrt() / 1000.0;
                if (found - truth).abs() >= DEVIATIONS * error {
                    wrong.push(format!("{name}: {caller}: {found} ±{error}, truth {truth}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Whatever samples the kernel gives: those in the loops of `burn_dear` are below `dear`, and no other loop is.
#[test]
fn stacks_agree_with_the_places_of_the_samples() {
    let mut wrong = Vec::new();
    for name in ["direct", "omitted", "cycle", "sorts", "opened", "threads", "handler", "coroutine", "throws"] {
        let Some(program) = kind(name).build("places") else { continue };
        // A loop may have a tenth of the time, and a busy machine may look at its timers seldom.
        for seconds in ["1", "4", "16", "64", "256"] {
            run(&program, &["cpu", seconds], &[]);
            let places = ticks(&read(&program.directory.join("gmon.out")), program.symbols());
            if ["burn_cheap", "burn_dear"].iter().all(|name| places.contains_key(*name)) {
                break;
            }
        }
        wrong.extend(disagreements(&program).1);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Reads what the program left, and checks the sums. Also returns what differs between the stacks and the places of the
/// samples.
pub(crate) fn disagreements(program: &Program) -> (Run, Vec<String>) {
    let run = Run::read(program, &program.directory.join("gmon.out"));
    run.check_sums();
    let (inclusive, places) = (run.inclusive(), ticks(&run.profile, program.symbols()));
    let of = |name| places.get(name).copied().unwrap_or(0);
    let rest = run.total() - of("burn_cheap") - of("burn_dear");
    let mut wrong = Vec::new();
    for (caller, leaf) in [("cheap", of("burn_cheap")), ("dear", of("burn_dear"))] {
        let found = inclusive.get(caller).copied().unwrap_or(0);
        let range = leaf.saturating_sub(run.not_whole())..=leaf + rest;
        if leaf == 0 || !range.contains(&found) {
            wrong.push(format!("{}: {caller}: {found} of {range:?}", program.directory.display()));
        }
    }
    drop(inclusive);
    (run, wrong)
}
