//! Tests of `profil` in the dialects of other systems on FreeBSD, with programs in the tests' kernel that request
//! ticks. `make runtime-freebsd-amd64` builds the library. If the library cannot be built, the tests print SKIPPED.

use std::fs;
use std::path::PathBuf;

use gmon_tests::bsd::{Bsd, Ran, Start, System};
use gmon_tests::symbols::{Symbols, read};

/// The program, which has a function for each trial.
struct Program {
    system: Bsd,
    image: PathBuf,
}

impl Program {
    /// Builds the program, with the start-up object if `profiled` is set; `None` if a tool or the library is missing.
    fn build(name: &str, profiled: bool) -> Option<Program> {
        let object = System::FreeBsd.start_object()?;
        let library = object.with_file_name("libgmon.a");
        let system = Bsd::new(System::FreeBsd, &format!("freebsd_profil_{name}"))?;
        let start = if profiled { Start::Both(&object, &library) } else { Start::Library(&library) };
        let flags: &[&str] = if profiled { &["-O1", "-pg"] } else { &["-O1"] };
        let image = system.build("profil_calls", &["profil_calls.c"], flags, start);
        Some(Program { system, image })
    }

    /// Runs a trial, which checks its results itself and ends with status 0.
    fn try_one(&self, trial: &str) -> Ran {
        let ran = self.system.run(&self.image, &[], &[trial], &[]).expect(0);
        assert_eq!(ran.stderr, "", "{trial}: the library must print nothing");
        ran
    }
}

/// Tests that each run the trial of their name.
macro_rules! trials {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            if let Some(program) = Program::build(stringify!($name), false) {
                let _ = program.try_one(stringify!($name));
            }
        })*
    };
}

trials! {
    counts_where_it_is
    errors
    late
    memory_goes_away
    threads
    illumos
    aix
    forks
    programs_own_timer
    descriptors
}

#[test]
fn openbsds_buffer_is_stored_at_the_end() {
    let Some(program) = Program::build("openbsd", false) else {
        return;
    };
    let _ = program.try_one("openbsd");
    let profile = read(&program.system.directory.join("profil_calls.1001.gmon"));
    let symbols = Symbols::of(&program.image);
    assert_eq!(symbols.ticks(&profile).get("work"), Some(&100));
    assert_eq!(symbols.calls(&profile).get("calls work"), Some(&1));
}

#[test]
fn a_profiled_program_profiles_itself_too() {
    let Some(program) = Program::build("together", true) else {
        return;
    };
    let _ = program.try_one("together");
    let symbols = Symbols::of(&program.image);
    let profiles = ["profil_calls.gmon", "profil_calls.1002.gmon"];
    for (name, ticks) in profiles.into_iter().zip([8128, 5]) {
        let profile = read(&program.system.directory.join(name));
        assert_eq!(symbols.ticks(&profile).get("work"), Some(&ticks), "{name}");
        assert_eq!(symbols.calls(&profile).get("arc together work"), Some(&1), "{name}");
        fs::remove_file(program.system.directory.join(name)).unwrap();
    }
}
