//! Programs that send themselves their samples: the stacks must have exactly what the programs know.

use crate::contexts::callers::{KINDS, TAIL, Truth, profile_name, run};
use crate::contexts::reports::Report;
use crate::contexts::run::Run;
use crate::support::Program;

/// Timers that count next to nothing: a sample for each second of CPU time.
const SLOW: (&str, &str) = ("GMON_HZ", "1");

/// The largest number of threads in a process of the programs.
const THREADS: u64 = 3;

/// The samples that timers added to those that the program sent.
fn added(run: &Run, truth: &Truth) -> u64 {
    let sent = truth["cheap"] + truth["dear"];
    let added = run.total().checked_sub(sent).expect("all samples are in the profile");
    // A sample for each second of CPU time, and the first sample of each thread.
    let most = run.side.cpu_time().unwrap().div_ceil(1_000_000_000) + THREADS;
    assert!(added <= most, "{added} samples of timers beside {sent}, at most {most}");
    added
}

/// Checks the sums of a process, and that each function has what the program knows.
fn check(name: &str, program: &Program, process: u32, truth: &Truth) -> Vec<String> {
    let run = Run::read(program, &program.directory.join(profile_name(process)));
    run.check_sums();
    let added = added(&run, truth);
    let mut wrong = Vec::new();
    if run.not_whole() > added {
        wrong.push(format!("{name}: cut: {:?}", run.cuts()));
    }
    let inclusive = run.inclusive();
    for (function, cost) in truth.iter().filter(|(_, cost)| **cost > 0) {
        let found = inclusive.get(function.as_str()).copied().unwrap_or(0);
        if !(*cost..=cost + added).contains(&found) {
            wrong.push(format!("{name}: {function}: found {found}, sent {cost}: {inclusive:?}"));
        }
    }
    wrong
}

#[test]
fn stacks_have_the_inclusive_costs_that_programs_know() {
    let mut wrong = Vec::new();
    for kind in KINDS {
        let Some(program) = kind.build("by-hand") else { continue };
        for (process, truth) in run(&program, &["ticks", "2"], &[SLOW]) {
            wrong.extend(check(kind.name, &program, process, &truth));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn reports_have_the_inclusive_costs_that_programs_know() {
    let mut wrong = Vec::new();
    for kind in KINDS.iter().chain([&TAIL]) {
        let Some(program) = kind.build("reports") else { continue };
        for (process, truth) in run(&program, &["ticks", "2"], &[SLOW]) {
            let name = profile_name(process);
            let added = added(&Run::read(&program, &program.directory.join(&name)), &truth) as f64;
            let report = Report::read(&program.directory, &["--format=json", "program", &name]);
            for (function, cost) in truth.iter().filter(|(_, cost)| **cost > 0) {
                // A second for each sample.
                let (found, cost) = (report.inclusive(function), *cost as f64);
                if found < cost - 0.01 || found > cost + added + 0.01 {
                    wrong.push(format!("{}: {function}: gprof says {found}, sent {cost}", kind.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_callers_of_a_function_have_their_own_costs() {
    let program = KINDS[0].build("arcs").unwrap();
    let truth = run(&program, &["ticks", "3"], &[SLOW]).remove(&0).unwrap();
    let added = added(&Run::read(&program, &program.directory.join("gmon.out")), &truth) as f64;
    let measured = Report::read(&program.directory, &["--format=json", "program", "gmon.out"]);
    let estimated = Report::read(&program.directory, &["--format=json", "--propagate", "program", "gmon.out"]);
    for caller in ["cheap", "dear"] {
        let (found, cost) = (measured.caller("reach", caller), truth[caller] as f64);
        assert!(found > cost - 0.01 && found < cost + added + 0.01, "{caller}: {found}, sent {cost}");
        // About half and half, but a thousand calls to one.
        assert_eq!(estimated.caller("reach", caller) > cost, caller == "cheap");
    }
    assert!(estimated.inclusive("dear") < truth["dear"] as f64 / 50.0);
    let gnu = Report::gnu(&program.directory, "dear");
    assert!(gnu < truth["dear"] as f64 / 50.0, "{gnu}");
}

#[test]
fn without_stacks_nothing_is_walked() {
    let program = KINDS[0].build("off").unwrap();
    let truth = run(&program, &["ticks", "1"], &[SLOW, ("GMON_STACKS", "0")]).remove(&0).unwrap();
    let off = Run::read(&program, &program.directory.join("gmon.out"));
    added(&off, &truth);
    assert_eq!(off.side.contexts().nodes(), []);
    assert!(
        Report::read(&program.directory, &["--format=json", "program", "gmon.out"]).inclusive("dear")
            < truth["dear"] as f64 / 50.0
    );
}
