//! Programs with a profiling start-up object of a BSD, run in the tests' kernel.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use crate::bsd::{Bsd, Ran, Start, System};
use crate::symbols::{Symbols, read};

/// A profiled program, in a directory of a test.
#[derive(Debug)]
pub struct Program {
    /// The directory of the test, and the tests' kernel.
    pub system: Bsd,
    /// The executable file.
    pub image: PathBuf,
    symbols: Symbols,
}

impl Program {
    /// Builds `profiled.c`, which counts its own calls and ticks; `None` if a tool or the object is missing.
    #[must_use]
    pub fn build(system: System, test: &str) -> Option<Program> {
        Program::of(system, test, "profiled")
    }

    /// Builds a program of `tests/bsd-kernel/programs`; `None` if a tool or the object is missing.
    #[must_use]
    pub fn of(system: System, test: &str, program: &str) -> Option<Program> {
        Program::with(system, test, program, &["-O1", "-pg"])
    }

    /// Builds a program with compiler options; `None` if a tool or the object is missing.
    #[must_use]
    pub fn with(system: System, test: &str, program: &str, flags: &[&str]) -> Option<Program> {
        let object = system.start_object()?;
        let directory = Bsd::new(system, &format!("{}_{test}", system.name()))?;
        let image = directory.build(program, &[&format!("{program}.c")], flags, Start::Object(&object));
        Some(Program::built(directory, image))
    }

    /// A program that was built in a directory.
    #[must_use]
    pub fn built(system: Bsd, image: PathBuf) -> Program {
        let symbols = Symbols::of(&image);
        Program { system, image, symbols }
    }

    /// Runs a part of the program. The kernel must have refused nothing, and the runtime says nothing.
    ///
    /// # Panics
    ///
    /// If the runtime prints a message, and as [`Program::run_with`].
    pub fn run(&self, part: &str, status: i32) -> Ran {
        let ran = self.run_with(&[], part, &[], status);
        assert_eq!(ran.stderr, "", "the runtime says nothing");
        ran
    }

    /// Runs a part of the program with options for the tests' kernel and environment variables.
    ///
    /// # Panics
    ///
    /// If the status is another one, or the kernel has refused a call.
    pub fn run_with(&self, options: &[&str], part: &str, environment: &[(&str, &str)], status: i32) -> Ran {
        self.system.run(&self.image, options, &[part], environment).expect(status)
    }

    /// The profiles in the directory, by name.
    ///
    /// # Panics
    ///
    /// If the directory cannot be read.
    #[must_use]
    pub fn profiles(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.system.directory).expect("the test's directory");
        let names = entries.map(|entry| entry.expect("the test's directory").file_name());
        let mut names: Vec<_> = names.filter_map(|name| name.into_string().ok()).collect();
        let is_openbsd = self.system.system == System::OpenBsd;
        names.retain(|name| if is_openbsd { name.starts_with("gmon.") } else { name.ends_with(".gmon") });
        names.sort();
        names
    }

    /// The bytes of a file in the directory.
    ///
    /// # Panics
    ///
    /// If there is no such file.
    #[must_use]
    pub fn bytes(&self, file: &str) -> Vec<u8> {
        fs::read(self.system.directory.join(file)).expect(file)
    }

    /// The calls in a profile: see [`Symbols::calls`].
    #[must_use]
    pub fn calls(&self, file: &str) -> BTreeMap<String, u64> {
        self.symbols.calls(&read(&self.system.directory.join(file)))
    }

    /// Checks that a profile has the calls that the program printed: in each line a function or an arc, and a number.
    ///
    /// # Panics
    ///
    /// If a count differs, or a line ends without a number.
    pub fn check_printed_calls(&self, ran: &Ran, file: &str) {
        let calls = self.calls(file);
        for line in ran.stdout.lines() {
            let (what, count) = line.rsplit_once(' ').expect(line);
            assert_eq!(calls.get(what).copied().unwrap_or(0), count.parse::<u64>().expect(line), "{what}: {calls:?}");
        }
    }

    /// Checks the calls of the part "counts" of `profiled.c`, in the only profile of the run.
    ///
    /// # Panics
    ///
    /// If a count differs, or a file is missing.
    pub fn check_counts(&self, ran: &Ran, file: &str) {
        assert_eq!(ran.stdout.lines().count(), 6, "{}", ran.stdout);
        self.check_printed_calls(ran, file);
        let calls = self.calls(file);
        assert_eq!(calls.get("arc constructor middle"), Some(&1));
        assert_eq!(calls.get("arc destructor middle"), Some(&1));
        assert_eq!(self.profiles(), [file]);
    }

    /// The samples in a profile, by function.
    #[must_use]
    pub fn ticks(&self, file: &str) -> BTreeMap<String, u64> {
        self.symbols.ticks(&read(&self.system.directory.join(file)))
    }
}

/// What [`Program::ticks`] must give.
#[must_use]
pub fn samples(expected: &[(&str, u64)]) -> BTreeMap<String, u64> {
    expected.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
}
