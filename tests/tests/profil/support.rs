//! Compiles the programs once and runs them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock};

/// The workspace's directory.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// How to compile a program: its source, additional compiler options, the compiler, and the machine of the objects
/// (`None` for this machine).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct How {
    pub(crate) source: &'static str,
    pub(crate) flags: &'static [&'static str],
    pub(crate) compiler: &'static str,
    pub(crate) machine: Option<&'static str>,
}

/// A program of tests/programs/profil, linked with libgmon.a.
pub(crate) const fn plain(source: &'static str) -> How {
    with(source, &[])
}

/// The same, with compiler flags.
pub(crate) const fn with(source: &'static str, flags: &'static [&'static str]) -> How {
    How { source, flags, compiler: "cc", machine: None }
}

/// Compiles the program, once for all tests.
pub(crate) fn program(how: How) -> PathBuf {
    static MADE: OnceLock<Mutex<BTreeMap<How, PathBuf>>> = OnceLock::new();
    let mut made = MADE.get_or_init(Mutex::default).lock().unwrap();
    let number = made.len();
    made.entry(how).or_insert_with(|| compile(how, number)).clone()
}

fn compile(how: How, number: usize) -> PathBuf {
    let name = Path::new(how.source).file_stem().unwrap().to_str().unwrap();
    let directory = gmon_tests::directory(&format!("profil-{number}-{name}"));
    let sources = root().join("tests/programs/profil");
    let objects = gmon_tests::start_objects();
    let include = gmon_tests::distribution().join("include");
    let library = how.machine.map_or(objects.to_owned(), |machine| objects.join(machine));
    let warnings = ["-g", "-O1", "-Wall", "-Wextra", "-Werror"];
    let mut flags: Vec<String> = warnings.map(str::to_owned).into();
    flags.push(format!("-I{}", include.display()));
    flags.extend(how.flags.iter().map(|flag| flag.replace("$LIBRARY", library.to_str().unwrap())));
    // Only one program needs the shared object, but the others can have it too.
    let shared = directory.join("liblibrary.so");
    if how.flags.contains(&"-llibrary") {
        run_compiler(
            "cc",
            &[&flags[..6], &["-shared".to_owned(), "-fPIC".to_owned()]].concat(),
            &sources.join("library.c"),
            &shared,
        );
        flags.extend([format!("-L{}", directory.display()), format!("-Wl,-rpath,{}", directory.display())]);
    }
    let program = directory.join(name);
    flags.extend([format!("-L{}", library.display()), "-lgmon".to_owned(), "-lpthread".to_owned()]);
    run_compiler(how.compiler, &flags, &sources.join(how.source), &program);
    program
}

fn run_compiler(compiler: &str, flags: &[String], source: &Path, made: &Path) {
    let output = Command::new(compiler).arg(source).arg("-o").arg(made).args(flags).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{compiler} {flags:?}: {said}");
}

/// An empty directory.
pub(crate) fn directory() -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    gmon_tests::directory(&format!("profil-run-{}", NUMBER.fetch_add(1, Relaxed)))
}

/// The command that runs a trial of a program.
pub(crate) fn command(program: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::null());
    for variable in ["PROFDIR", "GMON_OUT_PREFIX", "GMON_FORMAT", "GMON_SIGNALS", "GMON_LIVE"] {
        command.env_remove(variable);
    }
    command
}

/// The output of a successful trial.
pub(crate) fn went_well(output: &Output) -> String {
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{:?}\n{printed}{said}", output.status);
    printed
}

/// Compiles a program and runs a trial in an empty directory. The trial must succeed and print nothing on standard
/// error. Returns its output.
pub(crate) fn try_one(how: How, words: &[&str]) -> String {
    went_well(&command(&program(how), words).current_dir(directory()).output().unwrap())
}

/// Whether a tool is available; prints SKIPPED if not.
pub(crate) fn has(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        println!("\nSKIPPED: no {tool} on this machine");
    }
    found
}

/// The names in a directory, with a mark after each that is not a regular file.
pub(crate) fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let kind = entry.file_type().unwrap();
            let mark = match kind {
                _ if kind.is_dir() => "/",
                _ if kind.is_symlink() => "@",
                _ if kind.is_fifo() => "|",
                _ => "",
            };
            entry.file_name().into_string().unwrap() + mark
        })
        .collect();
    names.sort();
    names
}
