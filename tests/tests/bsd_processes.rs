//! Tests of FreeBSD's start-up object with programs that control their profile and create children, in the tests' kernel.
#![allow(clippy::unwrap_used, reason = "a test fails loudly")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use gmon_tests::bsd::{Bsd, Start, System};
use gmon_tests::start_objects_for;
use gmon_tests::symbols::{Symbols, read};

struct Program {
    system: Bsd,
    image: PathBuf,
}

const FILE: &str = "controlled.gmon";
/// The status of the tests' kernel for a process that SIGKILL ended.
const KILLED: i32 = 128 + 9;

impl Program {
    fn build(name: &str) -> Option<Program> {
        let system = Bsd::new(System::FreeBsd, &format!("bsd_processes_{name}"))?;
        let object = start_objects_for("freebsd-amd64")?.join("gcrt1.o");
        let image = system.build("controlled", &["controlled.c"], &["-O1", "-pg"], Start::Object(&object));
        Some(Program { system, image })
    }

    /// Runs a part of the program, which must end with the status.
    fn run(&self, part: &str, environment: &[(&str, &str)], status: i32) {
        let ran = self.system.run(&self.image, &[], &[part], environment);
        assert_eq!(ran.status, status, "{}{}{}", ran.stdout, ran.stderr, ran.record);
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
fn children_of_all_kinds_leave_the_parents_profile_alone() {
    for environment in [&[][..], &[("GMON_HZ", "100")]] {
        let Some(program) = Program::build("children") else {
            return;
        };
        program.run("children", environment, 0);
        let profiles = program.profiles();
        // Executed programs wrote a file of the same name, and the parent replaced the file.
        assert!(profiles.contains(FILE), "{profiles:?}");
        let (ticks, calls) = program.counts(FILE, "counted", "leaf");
        let expected = if environment.is_empty() { 1000 } else { 1000 * 100 / 8128 };
        assert!(ticks.abs_diff(expected) <= u64::from(!environment.is_empty()), "{ticks} ticks");
        assert_eq!(calls, 2, "{profiles:?}");
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
