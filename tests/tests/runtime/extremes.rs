//! Calls are counted exactly in programs that are hard to profile.

use std::path::Path;

use crate::support::{Program, calls, compare, quiet, ticks};

/// Runs `extremes` this way and compares its own counts with its profile.
fn exact(what: &[&str]) -> (Program, String) {
    let program = Program::compile(&format!("extremes-{}", what[0]), "extremes.c", &["-O1"]);
    let printed = quiet(&program.command(what).output().unwrap());
    compare(&printed, &program.profile(), program.symbols());
    (program, printed)
}

#[test]
fn fifteen_thousand_threads_in_sequence_use_bounded_memory() {
    let (_, printed) = exact(&["sequence", "15000"]);
    let peak: u64 = printed.lines().find_map(|line| line.strip_prefix("peak ")).unwrap().parse().unwrap();
    assert!(peak < 16 << 10, "{peak} KiB: a page for each of the threads alone would be 60,000");
}

#[test]
fn threads_with_the_smallest_stacks() {
    exact(&["small"]);
}

#[test]
fn a_recursion_a_million_calls_deep() {
    exact(&["deep"]);
}

#[test]
fn a_million_distinct_arcs() {
    let (program, _) = exact(&["arcs"]);
    let profile = program.profile();
    let symbols = program.symbols();
    let between = |from: &str, to: &str| from.starts_with("caller") && to.starts_with("callee");
    let mut distinct = 0;
    for arc in profile.arcs() {
        if between(symbols.function(arc.frompc.saturating_sub(1)), symbols.function(arc.selfpc)) {
            assert_eq!(arc.count, 2);
            distinct += 1;
        }
    }
    assert_eq!(distinct, 1_000_000);
}

/// Runs `grows`, whose arcs soon exceed the profiling buffer, and checks all of its counts. Returns the samples and the
/// calls of the function that sends the sampling signal.
fn grown(what: &str) -> (u64, u64) {
    let (name, flags) = (format!("extremes-grows-{what}"), ["-O1"]);
    let program = Program::compile(&name, "grows.c", &flags);
    let output = program.command(&[what]).env("GMON_HZ", "1").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    // Timers that are restarted all the time do not expire.
    assert!(said.lines().all(|line| what == "switch" && line.contains(" samples are missing: ")), "{said}");
    assert!(output.status.success(), "{:?}", output.status);
    let printed = String::from_utf8(output.stdout).unwrap();
    let (profile, symbols) = (program.profile(), program.symbols());
    compare(&printed, &profile, symbols);
    let counted = calls(&profile, symbols);
    for number in 0..1000 {
        assert_eq!(counted.get(&format!("calls callee{number:03}")), Some(&800));
    }
    assert!(profile.arcs().len() > 400_000, "{}", profile.arcs().len());
    (ticks(&profile, symbols).get("tick").copied().unwrap_or(0), counted.get("calls tick").copied().unwrap_or(0))
}

#[test]
fn no_sample_is_lost_while_more_arcs_than_fit_the_buffer_are_written() {
    let (samples, sent) = grown("ticks");
    // One sample in each second of a thread's CPU time comes from the timers.
    assert!(samples >= sent && samples < sent + 60, "{samples} samples, {sent} sent");
    assert!(sent > 100_000, "{sent}");
}

#[test]
fn no_sample_is_lost_while_the_profile_moves_into_its_file() {
    let program = Program::compile("extremes-grows-file", "grows.c", &["-O1"]);
    let output = program.command(&["file"]).env("GMON_HZ", "1").output().unwrap();
    if output.status.code() == Some(77) {
        println!("\nSKIPPED: system-call filters are forbidden here");
        return;
    }
    assert!(output.status.success(), "{output:?}");
    let printed = String::from_utf8(output.stdout).unwrap();
    let (profile, symbols) = (program.profile(), program.symbols());
    compare(&printed, &profile, symbols);
    let samples = ticks(&profile, symbols)["tick"];
    assert!((60_000..60_060).contains(&samples), "{samples}");
}

#[test]
fn profiling_can_be_switched_while_more_arcs_than_fit_the_buffer_are_written() {
    grown("switch");
}

#[test]
fn more_arcs_than_fit_the_buffer_need_no_second_copy_of_the_samples() {
    let program = Program::compile("extremes-grows-memory", "grows.c", &["-O1"]);
    let printed = program.run(&["memory"]);
    let grown: u64 = printed.trim().strip_prefix("grown ").unwrap().parse().unwrap();
    // 80,000 arcs of 24 bytes are 1,875 KiB; the samples alone are 12,288 KiB.
    assert!((1..6000).contains(&grown), "{printed}");
    assert_eq!(program.profile().arcs().iter().filter(|arc| arc.count == 2).count(), 80_000);
}

#[test]
fn arcs_that_have_one_home() {
    let program = Program::compile("extremes-pages", "pages.c", &["-O1"]);
    let printed = quiet(&program.command(&[]).output().unwrap());
    compare(&printed, &program.profile(), program.symbols());
    // If a larger table is not available, the existing one takes what it can, and a message reports the loss.
    let output = program.command(&["limited"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{:?} {said}", output.status);
    let lost = said.lines().find_map(|line| line.strip_prefix("gmon: ")?.split_once(" calls were not recorded"));
    let lost: u64 = lost.map_or(0, |(lost, _)| lost.parse().unwrap());
    let counted = calls(&program.profile(), program.symbols());
    let to_pages: u64 = counted.iter().filter(|(name, _)| name.starts_with("calls page")).map(|(_, count)| count).sum();
    assert_eq!(to_pages + lost, 100_000, "{said}");
    assert!(lost < 70_000, "{said}");
}

#[test]
fn more_than_two_to_the_thirty_second_calls_of_one_arc() {
    let program = Program::compile("extremes-many", "extremes.c", &["-O1"]);
    // The form with 32-bit arc counts.
    let printed = quiet(&program.command(&["many"]).env("GMON_FORMAT", "gnu").output().unwrap());
    compare(&printed, &program.profile(), program.symbols());
    readers_print(&program, " 4294967301 ");
}

/// Both readers, the system's and ours, must print this in the program's flat profile.
fn readers_print(program: &Program, what: &str) {
    for reader in gmon_tests::system_gprof().map(Path::new).into_iter().chain([gmon_tests::gprof()]) {
        let output = gmon_tests::read(reader, &program.directory, &["-b", "-p", "program", "gmon.out"]);
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(printed.contains(what), "{}: {printed}", reader.display());
    }
}

#[test]
fn samples_beyond_sixteen_bits() {
    let program = Program::compile("extremes-ticks", "ticks.c", &["-O1"]);
    program.run(&["70000", "200"]);
    let ticks = ticks(&program.profile(), program.symbols());
    readers_print(&program, &format!(" {}.{:02} ", ticks["here"] / 100, ticks["here"] % 100));
}

#[test]
fn jumps_out_of_profiled_functions() {
    exact(&["jumps"]);
}

#[test]
fn threads_that_are_cancelled() {
    exact(&["cancel"]);
}

#[test]
fn a_storm_of_signals_whose_handler_is_profiled() {
    exact(&["storm", "20000"]);
}

#[test]
fn a_storm_of_signals_whose_handler_makes_the_calls_that_it_interrupts() {
    exact(&["same", "20000"]);
}

#[test]
fn ten_thousand_forks_while_timers_run() {
    exact(&["forks", "10000"]);
}

#[test]
fn nested_functions_in_every_calling_form() {
    let forms: [&[&str]; 5] = [
        &["-O1"],
        &["-O1", "-mfentry"],
        &["-O1", "-mfentry", "-fno-pie", "-no-pie"],
        &["-O1", "-mfentry", "-fcf-protection"],
        &["-O2", "-mfentry", "-mrecord-mcount", "-fno-pie", "-no-pie", "-fno-inline", "-fno-ipa-cp"],
    ];
    for (number, flags) in forms.into_iter().enumerate() {
        // gcc makes a trampoline on the stack for such a function.
        let flags = [flags, &["-Wl,-z,execstack"]].concat();
        let program = Program::compile(&format!("nested-{number}"), "nested.c", &flags);
        let printed = program.run(&[]);
        compare(&printed, &program.profile(), program.symbols());
    }
}

#[test]
fn every_register_keeps_its_value() {
    for (mode, link) in [("pie", &[][..]), ("no-pie", &["-no-pie", "-fno-pie"]), ("static", &["-static"])] {
        let flags = [&["-O1", "-fno-stack-protector"], link].concat();
        let program = Program::compile(&format!("registers-{mode}"), "registers.c", &flags);
        let printed = program.run(&[]);
        assert!(printed.lines().count() >= 3 && printed.lines().all(|line| line.starts_with("kept ")), "{printed}");
        assert!(!calls(&program.profile(), program.symbols()).is_empty());
    }
}
