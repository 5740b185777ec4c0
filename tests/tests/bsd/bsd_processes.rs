//! Tests of FreeBSD's start-up object with programs that control their profile and create children, in the tests'
//! kernel.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use gmon_tests::bsd::{Bsd, Ran, Start, System};
use gmon_tests::symbols::{Symbols, read};

/// The source of samples.
#[derive(Clone, Copy, Debug)]
enum Ticks {
    Kernel,
    Interval,
}

struct Program {
    system: Bsd,
    image: PathBuf,
}

impl Ticks {
    /// Returns whether the number of samples is right for a number of ticks of the profiling clock.
    fn fits(self, ticks: u64, samples: u64) -> bool {
        match self {
            Ticks::Kernel => samples == ticks,
            // The timer starts in the middle of a period.
            Ticks::Interval => samples.abs_diff(ticks * 100 / 8128) <= 1,
        }
    }

    fn environment(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Ticks::Kernel => &[],
            Ticks::Interval => &[("GMON_HZ", "100")],
        }
    }
}

const FILE: &str = "controlled.gmon";
const CHILDREN: &str = "children.gmon";
/// The status of the tests' kernel for a process that SIGKILL ended.
const KILLED: i32 = 128 + 9;

impl Program {
    fn build(name: &str) -> Option<Program> {
        Program::build_from("controlled", name)
    }

    /// Builds a program from its source file.
    fn build_from(source: &str, name: &str) -> Option<Program> {
        let system = Bsd::new(System::FreeBsd, &format!("bsd_processes_{name}"))?;
        let object = System::FreeBsd.start_object()?;
        let image = system.build(source, &[&format!("{source}.c")], &["-O1", "-pg"], Start::Object(&object));
        Some(Program { system, image })
    }

    /// Runs a part of the program, which must end with the status.
    fn run(&self, part: &str, environment: &[(&str, &str)], status: i32) -> Ran {
        self.run_with(&[], part, environment, status)
    }

    /// Runs a part of the program with options for the tests' kernel.
    fn run_with(&self, options: &[&str], part: &str, environment: &[(&str, &str)], status: i32) -> Ran {
        let ran = self.system.run(&self.image, options, &[part], environment);
        assert_eq!(ran.status, status, "{}{}{}", ran.stdout, ran.stderr, ran.record);
        ran
    }

    fn profiles(&self) -> BTreeSet<String> {
        let entries = fs::read_dir(&self.system.directory).unwrap().map(|entry| entry.unwrap().file_name());
        entries.filter_map(|name| name.into_string().ok()).filter(|name| name.ends_with(".gmon")).collect()
    }

    /// Returns the ticks in one function and the calls of another function from a file.
    fn counts(&self, file: &str, ticks_in: &str, calls_of: &str) -> (u64, u64) {
        let symbols = Symbols::of(&self.image);
        let profile = read(&self.system.directory.join(file));
        let count = |counts: BTreeMap<String, u64>, name: &str| counts.get(name).copied().unwrap_or(0);
        (count(symbols.ticks(&profile), ticks_in), count(symbols.calls(&profile), &format!("calls {calls_of}")))
    }
}

#[test]
fn a_dump_has_what_was_counted_by_then_and_a_stop_leaves_out_what_comes_behind() {
    let Some(program) = Program::build("dumps") else {
        return;
    };
    program.run("dumps", &[], KILLED);
    assert_eq!(program.counts(FILE, "counted", "leaf"), (80_007, 2), "more than 16 bits, without ticks of the pause");
    assert_eq!(program.counts(FILE, "uncounted", "leaf").0, 0);
}

#[test]
fn a_signal_has_the_file_written() {
    let Some(program) = Program::build("signaled") else {
        return;
    };
    program.run("signaled", &[("GMON_DUMP_SIGNAL", "USR1")], KILLED);
    assert_eq!(program.counts(FILE, "counted", "leaf"), (60, 1));
}

#[test]
fn a_live_file_survives_any_end() {
    let Some(program) = Program::build("live") else {
        return;
    };
    program.run("dumps", &[("GMON_LIVE", "1")], KILLED);
    assert_eq!(program.counts(FILE, "counted", "leaf"), (65_535, 2), "16 bits, which stay at their highest value");
}

#[test]
fn children_that_execute_programs_leave_the_parents_profile_alone() {
    for source in [Ticks::Kernel, Ticks::Interval] {
        let Some(program) = Program::build("children") else {
            return;
        };
        program.run("children", source.environment(), 0);
        // Executed programs wrote a file of the same name, and the parent replaced the file.
        let (ticks, calls) = program.counts(FILE, "counted", "leaf");
        assert!(source.fits(1000, ticks), "{source:?}: {ticks} ticks");
        assert_eq!(calls, 2);
    }
}

/// Runs a trial whose five children with memory of their own make 3, 4, 5, … calls. Then checks the counts of the
/// parent and of the children that share the parent's memory: `extra` of the kernel's ticks, and `calls`.
fn check_children(trial: &str, extra: u64, calls: u64) {
    for source in [Ticks::Kernel, Ticks::Interval] {
        let Some(program) = Program::build_from("children", trial) else {
            return;
        };
        program.run(trial, source.environment(), 0).expect_nothing_refused();
        let children: BTreeSet<_> = (1002..=1006).map(|process| format!("children.{process}.gmon")).collect();
        for (child, expected) in children.iter().zip(3..) {
            let (ticks, calls) = program.counts(child, "counted", "leaf");
            assert!(source.fits(8128, ticks), "{source:?}, {child}: {ticks} ticks");
            assert_eq!(calls, expected, "{child}");
        }
        let (ticks, found) = program.counts(CHILDREN, "counted", "leaf");
        let extra = if matches!(source, Ticks::Kernel) { extra } else { 0 };
        assert!(source.fits(8128 + extra, ticks), "{source:?}: {ticks} ticks");
        assert_eq!(found, calls);
        assert_eq!(program.profiles(), children.into_iter().chain([CHILDREN.to_owned()]).collect());
    }
}

#[test]
fn children_with_a_copy_of_the_memory_have_profiles_of_their_own() {
    // Calls of children that share the memory count in the parent, and so do the kernel's ticks.
    check_children("kinds", 10, 4);
}

#[test]
fn children_by_other_flags_and_with_process_descriptors() {
    // The child of pdrfork with RFSPAWN counts in the parent. The runtime does not know of a child of pdrfork with its
    // own memory.
    check_children("more_kinds", 0, 3);
}

#[test]
fn programs_that_are_executed_in_any_way_get_no_signal_of_the_timer() {
    let Some(program) = Program::build_from("children", "ways") else {
        return;
    };
    program.run("executes", Ticks::Interval.environment(), 0);
    program.run("executes_blocked", Ticks::Interval.environment(), 5);
}

#[test]
fn a_program_that_executes_nothing_stays_sampled() {
    let Some(program) = Program::build_from("children", "fails") else {
        return;
    };
    let ran = program.run("fails", Ticks::Interval.environment(), 0);
    assert_eq!(ran.stderr, format!("execvP: {}: path too long\n", "x".repeat(1999)));
    let ticks = program.counts(CHILDREN, "counted", "leaf").0;
    assert!(Ticks::Interval.fits(8128, ticks), "{ticks} ticks");
}

#[test]
fn a_program_that_begins_in_capability_mode_says_what_it_cannot_open() {
    let Some(program) = Program::build_from("children", "confined") else {
        return;
    };
    let ran = program.run("confines", &[], 5);
    let line = "not profiling: cannot open the directory of the profile: not permitted in capability mode (error 94)\n";
    assert!(ran.stderr.contains(line), "{}", ran.stderr);
}

#[test]
fn many_processors_lose_no_tick_and_wake_the_reader_rarely() {
    let Some(program) = Program::build_from("children", "processors") else {
        return;
    };
    // Half a second in one place on 64 processors, where a counter wraps after 126 milliseconds.
    program.run_with(&["--processors", "64"], "works", &[], 0);
    assert_eq!(program.counts(CHILDREN, "counted", "leaf").0, 64 * 8128 / 2);
    // The program sleeps for 20 seconds. The runtime's thread sleeps for 3.5 seconds of CPU time on all processors
    // together.
    for (processors, expected) in [("1", 5), ("64", 362)] {
        let ran = program.run_with(&["--trace", "--processors", processors], "sleeps", &[], 0);
        let wakes = ran.events("call").iter().filter(|event| event.contains(" nanosleep(")).count() - 1;
        assert!((expected..=expected + 2).contains(&wakes), "{processors} processors: {wakes} sleeps");
    }
}

#[test]
fn a_program_that_is_executed_gets_no_signal_of_the_timer() {
    let Some(program) = Program::build("executed") else {
        return;
    };
    // If the timer kept running, SIGPROF would end the second program, which does not use the timer.
    let environment = [("GMON_HZ", "100")];
    program.run("becomes_another", &environment, 5);
    assert_eq!(program.counts(FILE, "counted", "leaf"), (8128, 0), "the profile of the second program");
}
