//! Dynamic programs for OpenBSD, which a user makes who forgets `-static`: the kernel profiles no such program, and
//! accepts system calls only from ld.so and libc.so. The program must run as without profiling.
//!
//! `make runtime-openbsd-amd64` builds the objects. Without the objects, the tests print SKIPPED.

use std::fs;

use gmon_tests::bsd::{Bsd, Start, System};
use gmon_tests::openbsd_machines::MACHINES;

const PRINTED: &str = "constructor\nmain\natexit\ndestructor\n";

/// Runs the program twice, the second time by the program's own `execve`, and checks that the program ran as a dynamic
/// program and printed this line for each start.
fn check(name: &str, start: Start, line: &str) {
    let Some(system) = Bsd::new(System::OpenBsd, &format!("openbsd_dynamic_{name}")) else { return };
    let image = system.build_dynamic("dynamic", &["dynamic.c"], &["-O1", "-pg"], start);
    let ran = system.run(&image, &[], &[], &[]).expect(3);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), (PRINTED, line), "each array is run once");
    let ran = system.run(&image, &[], &["again"], &[("GMON_LIVE", "1"), ("PROFDIR", ".")]).expect(3);
    assert_eq!(ran.stdout, format!("constructor\n{PRINTED}"));
    assert_eq!(ran.stderr, line.repeat(2));
    let names = fs::read_dir(&system.directory).unwrap().map(|entry| entry.unwrap().file_name());
    let files: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with("gmon.")).collect();
    assert_eq!(files, [""; 0], "nothing is profiled");
}

const LINE: &str = "gmon: not profiling: profil(2) needs -static\n";

#[test]
fn a_dynamic_program_runs_its_constructors_once_and_is_not_profiled() {
    let Some(object) = System::OpenBsd.start_object() else { return };
    check("start", Start::Object(&object), LINE);
}

#[test]
fn a_dynamic_program_that_starts_its_profile_itself_is_not_profiled() {
    let Some(library) = MACHINES[0].file("libgmon.a") else { return };
    check("by_hand", Start::Library(&library), LINE);
}

#[test]
fn the_line_does_not_end_a_program_whose_standard_error_has_no_reader() {
    let Some(object) = System::OpenBsd.start_object() else { return };
    let Some(system) = Bsd::new(System::OpenBsd, "openbsd_dynamic_deaf") else { return };
    let image = system.build_dynamic("dynamic", &["dynamic.c"], &["-O1", "-pg"], Start::Object(&object));
    let ran = system.run(&image, &[], &["deaf"], &[]).expect(3);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), (&*format!("constructor\n{PRINTED}"), LINE));
}
