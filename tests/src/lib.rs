//! Helpers for the tests that cross crates: compile a program, run it, and compare two readers of its profile.
//!
//! ```no_run
//! let image = gmon_tests::compile("leaf", &["leaf.c"], &["-g"]);
//! let profile = gmon_tests::run(&image);
//! gmon_tests::compare(&image, &[&profile], &["-b"]);
//! ```
//!
//! The helpers build everything in the target directory, in a directory that the test names. If something fails, they
//! panic with a message, because they run only in tests.

pub mod arm64;
pub mod bsd;
pub mod chance;
pub mod objects;
pub mod openbsd_machines;
pub mod profiled;
pub mod profiles;
pub mod random;
pub mod screen;
pub mod side;
pub mod symbols;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, OnceLock};

/// Makes an empty directory with this name for the files of a test.
///
/// # Panics
///
/// If the directory cannot be made.
#[must_use]
pub fn directory(name: &str) -> PathBuf {
    let directory = target().join("tmp").join("gmon-tests").join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).expect("a directory in the target directory");
    directory
}

/// The directory with the programs of this build profile, usually `target/debug`.
fn target() -> PathBuf {
    let test = std::env::current_exe().expect("the path of this test");
    let deps = test.parent().expect("tests lie in a directory");
    deps.parent().expect("target directories have parents").to_owned()
}

/// Writes an executable script. Another process writes the file: if this process did, a child that another test starts
/// would have the file open for writing until the child executes its program, and for this time the kernel would not
/// execute the script.
///
/// # Panics
///
/// If the file cannot be written.
pub fn write_script(path: &Path, text: &str) {
    let write = "printf %s \"$1\" >\"$0\" && chmod 755 \"$0\"";
    let written = Command::new("sh").args(["-c", write]).arg(path).arg(text).status().expect("a shell");
    assert!(written.success(), "{}: cannot be written", path.display());
}

/// Compiles sources of `tests/programs` with `-pg` into a program in its own directory.
///
/// # Panics
///
/// If the compiler fails.
#[must_use]
pub fn compile(name: &str, sources: &[&str], flags: &[&str]) -> PathBuf {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let image = directory(name).join("a.out");
    let cpp = sources.iter().any(|source| source.ends_with(".cc"));
    let output = Command::new(if cpp { "c++" } else { "cc" })
        .arg("-pg")
        .args(flags)
        .arg("-o")
        .arg(&image)
        .args(sources.iter().map(|source| programs.join(source)))
        .output()
        .expect("a C compiler");
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    image
}

/// Compiles the same sources to object files and returns a file that maps object files to functions, for `-R`.
///
/// # Panics
///
/// If the compiler or `nm` fails.
#[must_use]
pub fn object_map(image: &Path, sources: &[&str], flags: &[&str]) -> PathBuf {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let directory = image.parent().expect("programs lie in directories");
    let mut nm = Command::new("nm");
    nm.args(["--extern-only", "--defined-only", "-v", "--print-file-name"]).current_dir(directory);
    for source in sources {
        let object = Path::new(source).with_extension("o");
        let mut compiler = Command::new(if source.ends_with(".cc") { "c++" } else { "cc" });
        compiler.args(["-pg", "-c"]).args(flags).arg("-o").arg(directory.join(&object)).arg(programs.join(source));
        let output = compiler.output().expect("a C compiler");
        assert!(output.status.success(), "{source}: {}", String::from_utf8_lossy(&output.stderr));
        nm.arg(object);
    }
    let output = nm.output().expect("nm");
    assert!(output.status.success(), "nm: {}", String::from_utf8_lossy(&output.stderr));
    let map = directory.join("objects");
    fs::write(&map, output.stdout).expect("a file in the target directory");
    map
}

/// Compiles a Fortran source of `tests/programs` with `-pg -g` into a program in its own directory. Prints SKIPPED if
/// there is no compiler.
///
/// # Panics
///
/// If the compiler fails.
#[must_use]
pub fn compile_fortran(name: &str, source: &str) -> Option<PathBuf> {
    let compiler = ["gfortran", "gfortran-12", "gfortran-13", "gfortran-14"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success()));
    let Some(compiler) = compiler else {
        eprintln!("SKIPPED: Fortran: no gfortran on this system");
        return None;
    };
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs").join(source);
    let image = directory(name).join("a.out");
    let made = Command::new(compiler).args(["-pg", "-g", "-o"]).args([&image, &source]).output().expect("gfortran");
    assert!(made.status.success(), "{name}: {}", String::from_utf8_lossy(&made.stderr));
    Some(image)
}

/// Returns whether the machine has a program. Prints SKIPPED with a description of the tests if not.
#[must_use]
pub fn has_program(name: &str, tests: &str) -> bool {
    let is_here = Command::new(name).arg("--version").stdin(Stdio::null()).output().is_ok();
    if !is_here {
        eprintln!("SKIPPED: {tests}: no {name} on this system");
    }
    is_here
}

/// The directory of our start-up objects, for `-B`. They are built once per run of the tests.
///
/// # Panics
///
/// If they cannot be built.
pub fn start_objects() -> &'static Path {
    static OBJECTS: OnceLock<PathBuf> = OnceLock::new();
    OBJECTS.get_or_init(|| {
        make("runtime").unwrap_or_else(|error| panic!("make runtime: {error}"));
        distribution().join("lib/gmon")
    })
}

/// The directory of the start-up objects for another machine, such as `aarch64`. Prints SKIPPED if they cannot be built
/// here.
///
/// # Panics
///
/// If another test panicked while it built them.
pub fn start_objects_for(machine: &str) -> Option<PathBuf> {
    static MADE: Mutex<BTreeMap<String, Result<(), String>>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().expect("who builds does not panic");
    match made.entry(machine.to_owned()).or_insert_with(|| make(&format!("runtime-{machine}"))) {
        Ok(()) => Some(distribution().join("lib/gmon").join(machine)),
        Err(error) => {
            let reason = error.lines().find(|line| line.contains("error") || line.contains("rror ")).unwrap_or("");
            eprintln!(
                "SKIPPED: cannot build the runtime for {machine} (`make check-bsd` installs the tools for the BSDs): {reason}"
            );
            None
        }
    }
}

/// The directory in which `make` stages its output.
///
/// # Panics
///
/// If the tests are not in a target directory.
#[must_use]
pub fn distribution() -> PathBuf {
    target().parent().expect("profiles lie in the target directory").join("dist")
}

/// Builds a target of the Makefile.
///
/// # Errors
///
/// The output of `make`, if the target cannot be built.
///
/// # Panics
///
/// If there is no `make`.
pub fn make(what: &str) -> Result<(), String> {
    // The scripts of the checks build targets once, before the tests, and name these targets.
    if std::env::var("GMON_STAGED").is_ok_and(|staged| staged.split(' ').any(|target| target == what)) {
        return Ok(());
    }
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let target = target().parent().expect("profiles lie in the target directory").to_owned();
    let mut make = Command::new("make");
    make.arg(what).current_dir(workspace).env("CARGO_TARGET_DIR", &target);
    let made = make.output().expect("make");
    if made.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&made.stderr).into_owned()) }
}

/// The directory of a crate's sources, in cargo's directory.
///
/// # Panics
///
/// If the workspace does not depend on the crate.
#[must_use]
pub fn crate_of(name: &str) -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo).args(["metadata", "--format-version", "1"]).output().expect("cargo");
    let metadata = String::from_utf8_lossy(&output.stdout).into_owned();
    let paths = metadata.split("\"manifest_path\":\"").skip(1).filter_map(|rest| rest.split('"').next());
    let manifest = paths.map(Path::new).find(|path| path.to_string_lossy().contains(&format!("/{name}-")));
    manifest.and_then(Path::parent).unwrap_or_else(|| panic!("the crate {name}")).to_owned()
}

/// Runs a program in its own directory and returns the path of its profile.
///
/// # Panics
///
/// If the program fails or writes no profile.
#[must_use]
pub fn run(image: &Path) -> PathBuf {
    let directory = image.parent().expect("programs lie in directories");
    let profile = directory.join("gmon.out");
    let _ = fs::remove_file(&profile);
    let output = Command::new(image).current_dir(directory).output().expect("a program that runs");
    assert!(output.status.success(), "{} failed", image.display());
    assert!(profile.exists(), "{} wrote no profile", image.display());
    profile
}

/// The `gprof` of this project: the one in `GPROF_BIN`, or a fresh build.
///
/// # Panics
///
/// If it cannot be built.
pub fn gprof() -> &'static Path {
    static GPROF: OnceLock<PathBuf> = OnceLock::new();
    GPROF.get_or_init(|| {
        if let Some(path) = std::env::var_os("GPROF_BIN") {
            return path.into();
        }
        built("gprof")
    })
}

/// The `gmon-run` of this project: the one in `GMON_RUN_BIN`, or a fresh build.
///
/// # Panics
///
/// If it cannot be built.
pub fn gmon_run() -> &'static Path {
    static GMON_RUN: OnceLock<PathBuf> = OnceLock::new();
    GMON_RUN.get_or_init(|| std::env::var_os("GMON_RUN_BIN").map_or_else(|| built("gmon-run"), PathBuf::from))
}

/// Builds a program in the build profile of this test. Returns the path of the program.
///
/// Cargo builds the program as a part of the workspace, with the features that `cargo test --workspace` gives the
/// crates. With other features, cargo would compile the crates again.
///
/// # Panics
///
/// If the build fails.
fn built(program: &str) -> PathBuf {
    let target = target();
    let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build.args(["build", "--quiet", "--workspace", "--bin", program, "--manifest-path"]);
    build.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml"));
    build.arg("--target-dir").arg(target.parent().expect("profiles lie in the target directory"));
    if target.ends_with("release") {
        build.arg("--release");
    }
    let status = build.status().expect("cargo");
    assert!(status.success(), "cannot build {program}");
    target.join(program)
}

/// GNU gprof 2.40 for images of other machines, which `tests/multiarch-gprof.sh` unpacks. `None`, and a message, if the
/// program is not there.
#[must_use]
pub fn multiarch_gprof() -> Option<&'static Path> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let program = distribution().parent()?.join("multiarch/gprof");
        let version = Command::new(&program).arg("--version").output().ok()?;
        String::from_utf8_lossy(&version.stdout).lines().next()?.contains(" 2.40").then_some(program)
    });
    if found.is_none() {
        eprintln!("SKIPPED: no GNU gprof 2.40 for other machines: tests/multiarch-gprof.sh makes it");
    }
    found.as_deref()
}

/// The system's `gprof`, the reference for ours. Prints SKIPPED if there is none.
pub fn system_gprof() -> Option<&'static str> {
    static FOUND: OnceLock<bool> = OnceLock::new();
    let found = *FOUND.get_or_init(|| {
        let version = Command::new("gprof").arg("--version").output();
        version.is_ok_and(|output| output.stdout.starts_with(b"GNU gprof"))
    });
    if !found {
        eprintln!("SKIPPED: no GNU gprof on this system to compare with");
    }
    found.then_some("gprof")
}

/// Runs a reader in a directory. New memory is zero, because the system's reader uses uninitialized memory with `-R`.
///
/// # Panics
///
/// If the reader cannot be started.
pub fn read<S: AsRef<OsStr>>(reader: impl AsRef<OsStr>, directory: &Path, words: &[S]) -> Output {
    // glibc fills new memory with the complement of this byte.
    let mut command = Command::new(reader);
    command.args(words).current_dir(directory).env("MALLOC_PERTURB_", "255");
    // Some systems set servers of debug files for all users. No test reaches a network.
    command.env_remove("DEBUGINFOD_URLS").output().expect("a gprof that starts")
}

/// Compares the output of the system's `gprof` and of ours for a program and its profiles, byte for byte. Orders follow
/// a rule of our own, so only their contents are compared.
///
/// # Panics
///
/// At the first different line.
pub fn compare(image: &Path, profiles: &[&Path], options: &[&str]) {
    let Some(system) = system_gprof() else {
        return;
    };
    let directory = image.parent().expect("programs lie in directories");
    let mut words: Vec<&OsStr> = options.iter().map(OsStr::new).collect();
    words.push(image.as_os_str());
    words.extend(profiles.iter().map(|profile| profile.as_os_str()));
    let theirs = read(system, directory, &words);
    // With `--compat=gnu`, ours reproduces GNU's faults.
    words.insert(0, OsStr::new("--compat=gnu"));
    let ours = read(gprof(), directory, &words);
    let context = format!("gprof {}", words.join(OsStr::new(" ")).display());
    if let Some(order) = options.iter().find_map(|option| Ordered::of(option)) {
        assert_same_but_order(&theirs.stdout, &ours.stdout, order, &context);
    } else {
        assert_same(&theirs.stdout, &ours.stdout, &context);
    }
    let stderr = String::from_utf8_lossy(&ours.stderr);
    assert_eq!(theirs.status.code(), ours.status.code(), "{context}: {stderr}");
}

/// Panics at the first line in which two texts differ.
///
/// # Panics
///
/// If the texts differ.
pub fn assert_same(theirs: &[u8], ours: &[u8], context: &str) {
    if theirs == ours {
        return;
    }
    let mut pairs = (1..).zip(theirs.split(|byte| *byte == b'\n').zip(ours.split(|byte| *byte == b'\n')));
    let Some((line, (theirs, ours))) = pairs.find(|(_, (theirs, ours))| theirs != ours) else {
        panic!("{context}: one has {} bytes, ours {}", theirs.len(), ours.len());
    };
    panic!("{context}: line {line}\ntheirs: {}\n  ours: {}", theirs.escape_ascii(), ours.escape_ascii());
}

/// The items of an order for linkers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ordered {
    /// Functions.
    Functions,
    /// Object files.
    Files,
}

impl Ordered {
    /// The order that an option asks for, if any.
    #[must_use]
    pub fn of(option: &str) -> Option<Ordered> {
        let is = |words: [&str; 2]| words.iter().any(|word| option.starts_with(word));
        let functions = is(["-r", "--function-o"]).then_some(Ordered::Functions);
        functions.or(is(["-R", "--file-o"]).then_some(Ordered::Files))
    }
}

/// Compares texts that end with an order of functions or of object files. The text before the order must be the same.
/// The orders must have the same items in any order, except that GNU's reader omits the last function that has many
/// callers.
///
/// # Panics
///
/// If a text does not match.
pub fn assert_same_but_order(theirs: &[u8], ours: &[u8], order: Ordered, context: &str) {
    let ((their_reports, theirs), (our_reports, ours)) = (split_order(theirs), split_order(ours));
    assert_same(their_reports, our_reports, context);
    let forgotten: Vec<_> = ours.difference(&theirs).map(|name| name.escape_ascii().to_string()).collect();
    let missing: Vec<_> = theirs.difference(&ours).map(|name| name.escape_ascii().to_string()).collect();
    assert!(missing.is_empty(), "{context}: {missing:?} are missing in our order");
    assert!(
        forgotten.len() <= usize::from(order == Ordered::Functions),
        "{context}: {forgotten:?} are missing in GNU's order"
    );
}

/// Splits a text into the part before the order and the items of the order. Lines of reports are empty or contain
/// blanks.
fn split_order(text: &[u8]) -> (&[u8], BTreeSet<&[u8]>) {
    let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    let is_name = |line: &&&[u8]| line.len() > 1 && !line.contains(&b' ') && !line.contains(&b'\t');
    let count = lines.iter().rev().take_while(is_name).count();
    let (reports, order) = lines.split_at(lines.len() - count);
    let end = reports.iter().map(|line| line.len()).sum();
    (&text[..end], order.iter().copied().collect())
}

/// Options of reports that most tests try.
pub const OPTIONS: [&[&str]; 7] = [
    &["-b"],
    &["-b", "-p"],
    &["-b", "-q"],
    &["-b", "-z"],
    &["-b", "-p", "-q"],
    &["-b", "--no-demangle"],
    &["-b", "-z", "-p", "--no-demangle"],
];
