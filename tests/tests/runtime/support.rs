//! Compiles a program with the start-up object, runs it, and reads its profile.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use gmon::{Hints, Profile};
use gmon_tests::side::Side;

/// A program in a directory of its own, where it runs.
pub(crate) struct Program {
    pub(crate) directory: PathBuf,
    pub(crate) executable: PathBuf,
    /// The command that runs it: an emulator with its options, or empty if the machine runs it.
    pub(crate) runner: Vec<String>,
    symbols: OnceLock<Symbols>,
}

/// All variables that the runtime reads.
const VARIABLES: [&str; 21] = [
    "GMON_ONLY",
    "GMON_STACKS",
    "GMON_THREADS",
    "GMON_CHILDREN",
    "GMON_OBJECTS",
    "PROFDIR",
    "GMON_OUT_PREFIX",
    "GMON_FORMAT",
    "GMON_SIGNALS",
    "GMON_LIVE",
    "GMON_HZ",
    "GMON_CLOCK",
    "GMON_SAMPLER",
    "GMON_DUMP_SIGNAL",
    "GMON_CALLS",
    "GMON_CALLS_SIGNAL",
    "OMPI_COMM_WORLD_RANK",
    "PMIX_RANK",
    "PMI_RANK",
    "MV2_COMM_WORLD_RANK",
    "SLURM_PROCID",
];

/// The workspace's directory.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The directory of the start-up objects.
pub(crate) fn library() -> PathBuf {
    gmon_tests::start_objects().to_owned()
}

/// Runs a tool and returns its output.
pub(crate) fn tool(name: &str, arguments: &[&str]) -> String {
    let output = Command::new(name).args(arguments).output().unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(output.status.success(), "{name} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// An empty directory with that name.
pub(crate) fn directory(name: &str) -> PathBuf {
    gmon_tests::directory(&format!("runtime-{name}"))
}

/// The flags that compile and link with our start-up object.
pub(crate) fn ours() -> [String; 3] {
    let library = library();
    let include = library.parent().unwrap().parent().unwrap().join("include");
    ["-pg".to_owned(), format!("-B{}", library.display()), format!("-I{}", include.display())]
}

impl Program {
    /// Compiles one of `tests/programs` with our start-up object, in a directory called `name`.
    pub(crate) fn compile(name: &str, source: &str, flags: &[&str]) -> Program {
        let ours = ours();
        let ours: Vec<&str> = ours.iter().map(String::as_str).collect();
        Program::compile_with("cc", name, source, &[&ours, flags].concat())
    }

    /// Compiles one of `tests/programs` with the runtime that the flags choose, or none.
    pub(crate) fn compile_with(compiler: &str, name: &str, source: &str, flags: &[&str]) -> Program {
        Program::build(&[compiler], name, source, flags).unwrap_or_else(|error| panic!("{compiler} {flags:?}: {error}"))
    }

    /// Compiles one of `tests/programs` with a compiler command of several words; the error is the compiler's output.
    pub(crate) fn build(compiler: &[&str], name: &str, source: &str, flags: &[&str]) -> Result<Program, String> {
        let directory = directory(name);
        let executable = directory.join("program");
        let source = root().join("tests/programs").join(source);
        let mut command = Command::new(compiler[0]);
        command.args(&compiler[1..]).arg("-o").args([&executable, &source]).args(flags).arg("-lpthread");
        let output = command.output().unwrap_or_else(|error| panic!("{compiler:?}: {error}"));
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        Ok(Program { directory, executable, runner: Vec::new(), symbols: OnceLock::new() })
    }

    /// The command that runs the program in its directory, with none of the runtime's variables set.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut words = self.runner.iter().map(AsRef::as_ref).chain([self.executable.as_os_str()]);
        let mut command = Command::new(words.next().unwrap());
        command.args(words).args(arguments).current_dir(&self.directory);
        for variable in VARIABLES {
            command.env_remove(variable);
        }
        command
    }

    /// Runs the program, which must succeed and print nothing on standard error; returns its output.
    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        quiet(&self.command(arguments).output().unwrap())
    }

    /// The profile called `gmon.out`.
    pub(crate) fn profile(&self) -> Profile {
        read(&self.directory.join("gmon.out"))
    }

    /// The side file of the profile called `gmon.out`.
    pub(crate) fn side(&self) -> Side {
        Side::of(&self.directory.join("gmon.out"))
    }

    /// The functions of the executable.
    pub(crate) fn symbols(&self) -> &Symbols {
        self.symbols.get_or_init(|| Symbols::of(&self.executable))
    }
}

/// Whether this is the superuser, the only user who can run some tests; prints a message if not.
pub(crate) fn is_root(tests: &str) -> bool {
    use std::os::unix::fs::MetadataExt;

    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    if !is_root {
        println!("\nSKIPPED: {tests}: the user is not the superuser");
    }
    is_root
}

/// The output of a command that must succeed and print nothing on standard error.
pub(crate) fn quiet(output: &Output) -> String {
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.success(), "{:?}", output.status);
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Reads a profile.
pub(crate) fn read(path: &Path) -> Profile {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    gmon::read(&bytes, &Hints::default()).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The addresses at which functions begin, from `nm`.
pub(crate) struct Symbols(BTreeMap<u64, String>);

impl Symbols {
    /// The same for an executable or a shared object.
    pub(crate) fn of(executable: &Path) -> Symbols {
        let mut symbols = BTreeMap::new();
        for line in tool("nm", &["--defined-only", executable.to_str().unwrap()]).lines() {
            let [address, kind, name] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
            if matches!(kind, "t" | "T" | "W") {
                symbols.insert(u64::from_str_radix(address, 16).unwrap(), name.to_owned());
            }
        }
        Symbols(symbols)
    }

    /// The function at an address.
    pub(crate) fn function(&self, address: u64) -> &str {
        self.0.range(..=address).next_back().map_or("", |(_, name)| name)
    }
}

/// The number of calls of each function, and its callers.
pub(crate) fn calls(profile: &Profile, symbols: &Symbols) -> BTreeMap<String, u64> {
    let mut calls = BTreeMap::new();
    // A live file has arcs with no calls where there is room for more.
    for arc in profile.arcs().iter().filter(|arc| arc.count > 0) {
        // The call is before the return address, which may already be the next function's.
        let (caller, callee) = (symbols.function(arc.frompc.saturating_sub(1)), symbols.function(arc.selfpc));
        *calls.entry(format!("calls {callee}")).or_default() += arc.count;
        *calls.entry(format!("arc {caller} {callee}")).or_default() += arc.count;
    }
    calls
}

/// The samples of each function. A bin that two functions share belongs to the function of its first byte.
pub(crate) fn ticks(profile: &Profile, symbols: &Symbols) -> BTreeMap<String, u64> {
    let mut ticks = BTreeMap::new();
    for histogram in profile.histograms() {
        let bin_size = (histogram.highpc() - histogram.lowpc()) / histogram.len();
        for (bin, count) in histogram.hit() {
            let function = symbols.function(histogram.lowpc() + bin * bin_size);
            *ticks.entry(function.to_owned()).or_default() += count as u64;
        }
    }
    ticks
}

/// Checks that a profile matches the program's output: `calls NAME N` and `arc CALLER CALLEE N`.
pub(crate) fn compare(printed: &str, profile: &Profile, symbols: &Symbols) {
    let calls = calls(profile, symbols);
    let mut compared = 0;
    for line in printed.lines().filter(|line| line.starts_with("calls ") || line.starts_with("arc ")) {
        let (what, count) = line.rsplit_once(' ').unwrap();
        assert_eq!(calls.get(what).copied().unwrap_or(0), count.parse::<u64>().unwrap(), "{what}");
        compared += 1;
    }
    assert!(compared > 0, "the program printed no counts: {printed}");
}
