//! Tests of profiles of shared objects on FreeBSD: a static program in the tests' kernel maps and unmaps shared objects
//! as a dynamic linker does. If the start-up object cannot be built, the tests print SKIPPED.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use gmon::side_file::{ELSEWHERE, property};
use gmon_tests::bsd::{Bsd, Start, System};
use gmon_tests::side::Side;
use gmon_tests::symbols::{Symbols, read};

/// The program, and the shared objects `first.so` and `second.so`.
struct Program {
    system: Bsd,
    image: PathBuf,
}

impl Program {
    /// Builds the program; `None` if a tool or the start-up object is missing.
    fn build(name: &str) -> Option<Program> {
        let object = System::FreeBsd.start_object()?;
        let system = Bsd::new(System::FreeBsd, &format!("freebsd_objects_{name}"))?;
        for prefix in ["first", "second"] {
            let _ = system.build_shared(&format!("{prefix}.so"), "object.c", &[&format!("-DPREFIX={prefix}")]);
        }
        let image = system.build("objects", &["objects.c"], &["-O1", "-pg"], Start::Object(&object));
        Some(Program { system, image })
    }

    /// Runs a part of the program. Returns what the runtime prints.
    fn run(&self, part: &str, environment: &[(&str, &str)]) -> String {
        self.run_to(0, part, environment)
    }

    fn run_to(&self, status: i32, part: &str, environment: &[(&str, &str)]) -> String {
        self.run_with(&[], status, part, environment)
    }

    fn run_with(&self, options: &[&str], status: i32, part: &str, environment: &[(&str, &str)]) -> String {
        let ran = self.system.run(&self.image, options, &[part], environment);
        assert_eq!(ran.status, status, "{}{}", ran.stderr, ran.record);
        ran.stderr
    }

    /// The ticks and the calls of an object in the files of the first process.
    fn of_object(&self, name: &str) -> (BTreeMap<String, u64>, BTreeMap<String, u64>) {
        self.of_object_in("objects.gmon", name)
    }

    fn of_object_in(&self, file: &str, name: &str) -> (BTreeMap<String, u64>, BTreeMap<String, u64>) {
        let symbols = Symbols::of(&self.system.directory.join(name));
        let profile = Side::of(&self.system.directory.join(file)).profile_of_object(name);
        (symbols.ticks(&profile), symbols.calls(&profile))
    }

    fn report(&self, words: &[&str]) -> String {
        let output = gmon_tests::read(gmon_tests::gprof(), &self.system.directory, words);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

fn ticks(name: &str, count: u64) -> BTreeMap<String, u64> {
    BTreeMap::from([(name.to_owned(), count)])
}

#[test]
fn objects_that_are_closed_and_loaded_at_the_same_addresses_have_their_own_counts() {
    let Some(program) = Program::build("closes") else {
        return;
    };
    assert_eq!(program.run("closes", &[("GMON_HZ", "100")]), "");
    let side = Side::of(&program.system.directory.join("objects.gmon"));
    let command = format!("{}\0closes\0", program.image.display());
    for (key, value) in [(property::HOST, "bsd.example"), (property::COMMAND, &command)] {
        assert_eq!(side.property(key), Some(value.as_bytes()), "{side:?}");
    }
    assert!(side.property(property::START).is_some());
    let (first, first_calls) = program.of_object("first.so");
    assert_eq!(first, ticks("first_spin", 200));
    assert_eq!(first_calls.get("calls first_leaf"), Some(&(3 + 30 + 4 + 40)), "{first_calls:?}");
    assert_eq!(first_calls.get("arc first_call_back first_leaf"), Some(&70), "{first_calls:?}");
    let (second, second_calls) = program.of_object("second.so");
    assert_eq!(second, ticks("second_spin", 200));
    assert_eq!(second_calls.get("calls second_leaf"), Some(&55), "{second_calls:?}");
    let symbols = Symbols::of(&program.image);
    let calls = symbols.calls(&read(&program.system.directory.join("objects.gmon")));
    assert_eq!(calls.get("calls called_back"), Some(&120));
}

#[test]
fn fatal_signals_children_and_live_profiles_keep_the_counts_in_objects() {
    let Some(program) = Program::build("dies") else {
        return;
    };
    for live in ["0", "1"] {
        assert_eq!(program.run_to(128 + 15, "dies", &[("GMON_HZ", "100"), ("GMON_LIVE", live)]), "");
        let (parents, calls) = program.of_object("first.so");
        assert_eq!((parents, calls.get("calls first_leaf")), (ticks("first_spin", 100), Some(&33)));
        let (_, calls) = program.of_object_in("objects.1002.gmon", "first.so");
        assert_eq!(calls.get("calls first_leaf"), Some(&11));
        for entry in fs::read_dir(&program.system.directory).unwrap() {
            let path = entry.unwrap().path();
            if path.to_str().unwrap().contains(".gmon") {
                fs::remove_file(path).unwrap();
            }
        }
    }
}

#[test]
fn the_reader_names_callers_in_shared_objects() {
    let Some(program) = Program::build("names") else {
        return;
    };
    // By default, the kernel samples the program alone.
    for environment in [&[][..], &[("GMON_HZ", "100")]] {
        assert_eq!(program.run("stays", environment), "");
        let graph = program.report(&["-b", "-q", "objects", "objects.gmon"]);
        let entry = graph
            .split("-----")
            .find(|entry| entry.lines().any(|line| line.starts_with('[') && line.contains("called_back")))
            .unwrap();
        assert!(entry.lines().any(|line| line.contains("30/30") && line.contains("first_call_back")), "{entry}");
        let flat = program.report(&["-b", "-p", "objects", "objects.gmon"]);
        let is_sampled = flat.lines().any(|line| line.contains("100.0") && line.contains("first_spin"));
        assert_eq!(is_sampled, !environment.is_empty(), "{flat}");
    }
}

#[test]
fn a_jail_without_rights_leaves_sums_of_the_counts_in_objects() {
    let Some(program) = Program::build("jail") else {
        return;
    };
    let said = program.run_with(&["--jail"], 0, "stays", &[("GMON_HZ", "100")]);
    assert!(said.contains("cannot read the list of loaded objects, using only totals for unknown objects"), "{said}");
    let profile = program.system.directory.join("objects.gmon");
    let side = Side::of(&profile);
    assert_eq!((side.samples_of(ELSEWHERE), side.counted()), (100, Vec::new()), "{side:?}");
    let calls = Symbols::of(&program.image).calls(&read(&profile));
    assert_eq!(calls.get("calls called_back"), Some(&30), "the program's own calls");
}

#[test]
fn capability_mode_and_the_users_wish_leave_sums_or_nothing() {
    let Some(program) = Program::build("lists") else {
        return;
    };
    let profile = program.system.directory.join("objects.gmon");
    let said = program.run("confined", &[("GMON_HZ", "100")]);
    assert!(said.contains("cannot read the list of loaded objects, using only totals for unknown objects"), "{said}");
    let side = Side::of(&profile);
    assert_eq!((side.samples_of(ELSEWHERE), side.counted()), (100, Vec::new()), "{side:?}");
    assert_eq!(program.run("stays", &[("GMON_OBJECTS", "0")]), "");
    assert!(!program.system.directory.join("objects.gmon.side").exists());
}
