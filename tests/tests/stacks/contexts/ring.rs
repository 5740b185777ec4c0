//! Samples that the kernel takes and stores with a copy of the stack (`GMON_SAMPLER=perf`): what holds for the timers'
//! samples holds for these samples too.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;

use gmon::side_file::{CutReason, THREAD};

use crate::contexts::callers::kind;
use crate::contexts::clocks::disagreements;
use crate::contexts::run::Run;
use crate::support::{Program, library, ticks};

/// Runs the program for a second, sampled by the ring; false with a message if the ring is forbidden.
fn run(program: &Program, rate: &str, variables: &[(&str, &str)]) -> bool {
    run_with(program, &["cpu", "1"], rate, variables)
}

fn run_with(program: &Program, words: &[&str], rate: &str, variables: &[(&str, &str)]) -> bool {
    let mut command = program.command(words);
    command.envs([("GMON_SAMPLER", "perf"), ("GMON_HZ", rate)]).envs(variables.iter().copied());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("cannot use the perf_event ring") {
        println!("\nSKIPPED: perf_event_open is forbidden here, no samples of the ring");
        return false;
    }
    // A machine may be too busy to let the program read its rings.
    let is_expected = |line: &str| line.starts_with("gmon: the perf_event ring overflowed: ");
    assert!(output.status.success() && said.lines().all(is_expected), "{:?}: {said}", output.status);
    true
}

fn read(program: &Program) -> Run {
    Run::read(program, &program.directory.join("gmon.out"))
}

#[test]
fn stacks_of_the_ring_agree_with_the_places_of_its_samples() {
    let mut all_wrong = Vec::new();
    for name in ["direct", "omitted", "cycle", "sorts", "linked", "opened", "threads", "coroutine", "throws"] {
        let Some(program) = kind(name).build("ring") else { continue };
        if !run(&program, "1000", &[]) {
            return;
        }
        let (run, wrong) = disagreements(&program);
        all_wrong.extend(wrong);
        // Only a few chains of these shallow stacks may be cut: while an exception is being thrown, for example.
        if run.not_whole() * 10 > run.total() {
            let cuts = run.cuts();
            all_wrong.push(format!("{name}: {cuts:?} of {}", run.total()));
        }
    }
    assert!(all_wrong.is_empty(), "{all_wrong:#?}");
}

#[test]
fn chains_lead_through_objects_that_are_opened_and_closed() {
    let program = kind("opened").build("ring-opened").unwrap();
    if !run(&program, "2000", &[]) {
        return;
    }
    let run = read(&program);
    run.check_sums();
    let inclusive = run.inclusive();
    let (in_main, in_relay) = (inclusive["main"], inclusive["relay"]);
    assert!(in_relay > 0 && in_main >= in_relay, "{inclusive:?}");
    // `work` is called through `relay` alone.
    assert!(inclusive["work"] <= in_relay, "{inclusive:?}, cut: {:?}", run.cuts());
}

#[test]
fn a_stack_beyond_the_copy_is_cut_and_its_innermost_frames_are_known() {
    let library = format!("-B{}", library().display());
    let program = Program::compile_with("cc", "contexts-ring-deep", "contexts/deep.c", &["-pg", &library, "-O2"]);
    if !run(&program, "1000", &[]) {
        return;
    }
    let run = read(&program);
    run.check_sums();
    let (inclusive, places) = (run.inclusive(), ticks(&run.profile, program.symbols()));
    let (deep, flat) = (places["burn_deep"], places["burn_flat"]);
    assert!(deep > 0 && flat > 0, "{places:?}");
    assert!(inclusive["recurse"] >= deep && inclusive["flat"] >= flat, "{inclusive:?}");
    assert!(run.cuts()[&CutReason::COPY_TOO_SMALL] >= deep, "{:?}", run.cuts());
    assert!(inclusive["main"] >= flat, "{inclusive:?}");
}

#[test]
fn pages_that_nothing_has_touched_hide_no_callers() {
    let library = format!("-B{}", library().display());
    let flags = ["-pg", &library, "-O1", "-fno-stack-clash-protection"];
    let program = Program::compile_with("cc", "contexts-ring-untouched", "contexts/untouched.c", &flags);
    // The stack is whole from the second look at the ring on, and a ring has room for the samples of a sixteenth of a
    // second. The stacks of later threads are whole from the beginning.
    for (place, part) in [("thread", 4), ("threads", 8), ("coroutine", 4)] {
        if !run_with(&program, &[place, "2"], "1000", &[]) {
            return;
        }
        let run = read(&program);
        run.check_sums();
        let (inclusive, cuts) = (run.inclusive(), run.cuts());
        let incomplete = cuts.get(&CutReason::COPY_INCOMPLETE).copied().unwrap_or(0);
        assert!(inclusive["burn"] > 0 && inclusive["caller"] + run.not_whole() >= inclusive["burn"], "{inclusive:?}");
        assert!(incomplete <= run.total() / part, "{place}: {cuts:?} of {}", run.total());
        assert!(run.not_whole() < run.total() / 3, "{place}: {cuts:?} of {}", run.total());
    }
}

#[test]
fn each_sample_of_the_ring_belongs_to_its_thread() {
    let program = kind("threads").build("ring-threads").unwrap();
    if !run(&program, "1000", &[("GMON_THREADS", "1")]) {
        return;
    }
    let run = read(&program);
    run.check_sums();
    let (tree, threads) = (run.side.contexts(), run.side.threads());
    let inclusive = tree.inclusive();
    let tops = tree.nodes().iter().zip(&inclusive).filter(|(node, _)| node.parent().is_none());
    let tops: Vec<_> = tops.map(|(node, inclusive)| (node.place(), *inclusive)).collect();
    for (place, inclusive) in &tops {
        assert_eq!(place.object, THREAD, "{tops:?}");
        assert_eq!(threads[place.address as usize].ticks, *inclusive);
    }
    assert_eq!(tops.iter().map(|(_, ticks)| ticks).sum::<u64>(), tree.total());
    assert!(threads.iter().all(|thread| thread.number > 0), "{threads:?}");
    let numbers: BTreeSet<_> = threads.iter().map(|thread| thread.number).collect();
    assert_eq!(numbers.len(), threads.len());
    let places = ticks(&run.profile, program.symbols());
    for name in ["cheap", "dear"] {
        let of_name: u64 =
            threads.iter().filter(|thread| thread.name == name.as_bytes()).map(|thread| thread.ticks).sum();
        let burnt = places[&*format!("burn_{name}")];
        assert!(burnt > 0 && of_name >= burnt, "{name}: {of_name} of {burnt}, {threads:?}");
    }
}

#[test]
fn samples_have_stacks_at_every_rate() {
    let program = kind("direct").build("ring-rates").unwrap();
    let is_superuser = fs::metadata("/proc/self").unwrap().uid() == 0;
    for rate in ["100", "2500", "5000", "10000"] {
        if !run(&program, rate, &[]) {
            return;
        }
        let (run, wrong) = disagreements(&program);
        assert!(wrong.is_empty(), "{rate}: {wrong:#?}");
        let without: Vec<_> = run.side.unwalked().collect();
        if !is_superuser && without.len() == 1 && without[0].0 == CutReason::NO_STACK {
            // All programs of a user share the memory that the kernel locks for the user's rings.
            println!(
                "\nSKIPPED: stacks at {rate} samples a second: this user may not lock enough memory for the rings"
            );
            return;
        }
        assert_eq!(without, [], "{rate}");
    }
}
