//! A kit builds and runs programs for one C library and one machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use crate::support::{Program, calls, compare, directory, quiet, ticks, tool};

/// The link modes: the name of each and its compiler flags.
pub(crate) type Mode = (&'static str, &'static [&'static str]);

pub(crate) const PIE: Mode = ("pie", &[]);
pub(crate) const NO_PIE: Mode = ("no-pie", &["-no-pie", "-fno-pie"]);
pub(crate) const STATIC: Mode = ("static", &["-static"]);
pub(crate) const STATIC_PIE: Mode = ("static-pie", &["-static-pie"]);

/// A profiling compiler, the same compiler without profiling, the command that runs programs, and the link modes.
pub(crate) struct Kit {
    pub(crate) name: String,
    pub(crate) profiling: Vec<String>,
    pub(crate) plain: Vec<String>,
    pub(crate) runner: Vec<String>,
    pub(crate) modes: Vec<Mode>,
}

impl Kit {
    /// Compiles one of `tests/programs` with profiling, in the first mode.
    pub(crate) fn compile(&self, what: &str, source: &str, flags: &[&str]) -> Program {
        let (_, link) = self.modes[0];
        self.compile_as(what, source, &[flags, link].concat())
    }

    /// Compiles one of `tests/programs` with profiling and only these flags.
    pub(crate) fn compile_as(&self, what: &str, source: &str, flags: &[&str]) -> Program {
        self.build(&self.profiling, what, source, flags)
    }

    /// Compiles one of `tests/programs` without profiling, in the first mode.
    pub(crate) fn compile_plain(&self, what: &str, source: &str, flags: &[&str]) -> Program {
        let (_, link) = self.modes[0];
        self.compile_plain_as(what, source, &[flags, link].concat())
    }

    /// Compiles one of `tests/programs` without profiling and with only these flags.
    pub(crate) fn compile_plain_as(&self, what: &str, source: &str, flags: &[&str]) -> Program {
        self.build(&self.plain, &format!("{what}-plain"), source, flags)
    }

    fn build(&self, compiler: &[String], what: &str, source: &str, flags: &[&str]) -> Program {
        let compiler: Vec<&str> = compiler.iter().map(String::as_str).collect();
        let name = format!("{}-{what}", self.name);
        let built = Program::build(&compiler, &name, source, flags);
        let mut program = built.unwrap_or_else(|error| panic!("{name}: {flags:?}: {error}"));
        program.runner.clone_from(&self.runner);
        program
    }
}

/// Whether there is such a command that can print its version.
pub(crate) fn is_there(command: &str) -> bool {
    Command::new(command).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// The compiler wrapper `gmon-cc`.
pub(crate) fn wrapper() -> &'static str {
    static WRAPPER: OnceLock<String> = OnceLock::new();
    WRAPPER.get_or_init(|| {
        gmon_tests::start_objects();
        gmon_tests::make("tools").unwrap_or_else(|error| panic!("make tools: {error}"));
        gmon_tests::distribution().join("bin/gmon-cc").to_str().unwrap().to_owned()
    })
}

/// A copy of the installation for this machine, in a directory `a prefix`, whose name breaks careless scripts.
pub(crate) fn installed(name: &str) -> PathBuf {
    wrapper();
    let place = directory(name);
    // The copy is made file by file, because another test may be building for another machine.
    for part in ["bin", "include", "share", "lib/pkgconfig", "lib/gmon", "lib/gmon/static-pie"] {
        let (from, to) = (gmon_tests::distribution().join(part), place.join("a prefix").join(part));
        let script = "mkdir -p \"$2\"; for file in \"$1\"/*; do test ! -f \"$file\" || cp \"$file\" \"$2\"; done";
        tool("sh", &["-c", script, "copy", from.to_str().unwrap(), to.to_str().unwrap()]);
    }
    place
}

/// The words of a command.
pub(crate) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Runs the program and compares the calls that it prints with its profile and with our reader's flat profile.
pub(crate) fn exact(program: &Program, arguments: &[&str]) {
    let printed = program.run(arguments);
    has_our_runtime(program);
    compare(&printed, &program.profile(), program.symbols());
    reader_agrees(&printed, program);
}

/// Checks that the linked runtime is ours and not the C library's.
pub(crate) fn has_our_runtime(program: &Program) {
    let names = tool("nm", &[program.executable.to_str().unwrap()]);
    assert!(names.contains(" gmon_thread\n"), "{}: not our runtime", program.executable.display());
}

/// Checks that the flat profile has each function's calls as the program printed them, without recursive calls.
pub(crate) fn reader_agrees(printed: &str, program: &Program) {
    let words = ["-b", "-p", "-z", "--no-demangle", "program", "gmon.out"];
    let output = gmon_tests::read(gmon_tests::gprof(), &program.directory, &words.map(Path::new));
    assert!(output.status.success(), "{output:?}");
    let report = String::from_utf8(output.stdout).unwrap();
    let count = |what: &str| {
        let count = printed.lines().find_map(|line| line.strip_prefix(what)?.strip_prefix(' '));
        count.map_or(0, |count| count.parse::<u64>().unwrap())
    };
    for line in printed.lines().filter_map(|line| line.strip_prefix("calls ")) {
        let (name, _) = line.split_once(' ').unwrap();
        let expected = count(&format!("calls {name}")) - count(&format!("arc {name} {name}"));
        let row = report.lines().map(|row| row.split_whitespace().collect::<Vec<_>>());
        let row = row.into_iter().find(|row| row.last() == Some(&name) && row[0] != "%");
        let counted = row.as_ref().and_then(|row| if row.len() > 4 { row.get(3).copied() } else { None });
        assert_eq!(counted.unwrap_or("0").parse(), Ok(expected), "{name} in\n{report}");
    }
}

/// Checks the shares of samples of `shares`, compiled this way. A run is within five standard deviations with a chance
/// of all but 1 in a million, and one of 20 runs must be.
///
/// The check runs several times: a virtual machine that was paused has spent that time, by its clock, in one place, and
/// where the kernel looks at its timers seldom, a run has few independent samples. A program that was paused for nearly
/// all of its second has no samples, and the runtime says so. A run without samples and without such a pause fails.
pub(crate) fn shares_are_fair(program: &Program) {
    has_our_runtime(program);
    let mut found = Vec::new();
    for _ in 0..20 {
        let output = program.command(&["1000"]).output().unwrap();
        if was_paused(&output) {
            found.push(BTreeMap::new());
            continue;
        }
        quiet(&output);
        let ticks = ticks(&program.profile(), program.symbols());
        let [one, three] = ["one", "three"].map(|name| ticks.get(name).copied().unwrap_or(0) as f64);
        let all = one + three;
        let elsewhere = ticks.values().sum::<u64>() as f64 - all;
        // A second has 100 samples at 100 Hz, so that equal shares are out of the limits.
        let is_sampled = all >= 10.0 && elsewhere <= 5.0 + all / 5.0;
        if is_sampled && (one - all / 4.0).abs() <= 5.0 * (all * 0.25 * 0.75).sqrt() {
            return;
        }
        found.push(ticks);
    }
    panic!("{}: {found:?}", program.executable.display());
}

/// Whether the runtime of `shares` has reported missing samples that a pause of the machine explains: at 100 Hz, one
/// sample for each ten milliseconds that the program has lost by its own clock, and five more.
fn was_paused(output: &Output) -> bool {
    let [told, printed] = [&output.stderr, &output.stdout].map(|text| String::from_utf8_lossy(text));
    let missing = told.strip_prefix("gmon: ").and_then(|told| told.split_once(" of ")?.0.parse::<u64>().ok());
    let paused = printed.trim_end().strip_prefix("paused ").and_then(|paused| paused.parse::<u64>().ok());
    missing.zip(paused).is_some_and(|(missing, paused)| missing <= paused / 10 + 5)
}

/// The number of calls of the function `counted`.
pub(crate) fn counted(program: &Program) -> u64 {
    calls(&program.profile(), program.symbols()).get("calls counted").copied().unwrap_or(0)
}
