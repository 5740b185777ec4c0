//! Builds programs for the BSDs with clang, lld and the tests' C library, and runs the programs in the tests' kernel, a
//! tracer that implements the system calls.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use crate::arm64::{EMULATOR, emulator, host};
use crate::openbsd_machines::openbsd_linker;

/// A target system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// FreeBSD 14 on amd64.
    FreeBsd,
    /// OpenBSD 7.8 on amd64.
    OpenBsd,
    /// FreeBSD 14 on arm64. Instead of the tests' kernel, a host program under an emulator serves the calls.
    FreeBsdArm64,
}

impl System {
    /// clang's target option for the system.
    fn target(self) -> &'static str {
        match self {
            System::FreeBsdArm64 => "--target=aarch64-unknown-freebsd14",
            System::FreeBsd => "--target=x86_64-unknown-freebsd14",
            System::OpenBsd => "--target=x86_64-unknown-openbsd7.8",
        }
    }

    /// The folder with the system's part of the tests' C library.
    fn folder(self) -> &'static str {
        match self {
            System::FreeBsd | System::FreeBsdArm64 => "freebsd",
            System::OpenBsd => "openbsd",
        }
    }
}

impl System {
    /// The name of the system's objects, which also names the directory with the objects.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            System::FreeBsd => "freebsd-amd64",
            System::OpenBsd => "openbsd-amd64",
            System::FreeBsdArm64 => "freebsd-aarch64",
        }
    }

    /// The profiling start-up object. If the object cannot be built, prints SKIPPED and returns `None`.
    #[must_use]
    pub fn start_object(self) -> Option<PathBuf> {
        let file = if self == System::OpenBsd { "gcrt0.o" } else { "gcrt1.o" };
        Some(crate::start_objects_for(self.name())?.join(file))
    }

    /// A linker that can link the system's programs; `None` if this machine has none.
    fn linker(self) -> Option<&'static Path> {
        match self {
            System::OpenBsd => openbsd_linker(),
            System::FreeBsd | System::FreeBsdArm64 => Some(Path::new("ld.lld")),
        }
    }

    /// The name of the profile that the first process of a program leaves.
    #[must_use]
    pub fn profile_of(self, program: &str) -> String {
        match self {
            System::OpenBsd => format!("gmon.{program}.1001.out"),
            System::FreeBsd | System::FreeBsdArm64 => format!("{program}.gmon"),
        }
    }
}

/// Builds and runs programs of a system in a test's directory.
#[derive(Debug)]
pub struct Bsd {
    /// The directory in which programs are built and run.
    pub directory: PathBuf,
    /// The system.
    pub system: System,
}

/// The result of a run.
#[derive(Debug)]
pub struct Ran {
    /// The exit status; 128 plus the signal's number if a signal ended the program.
    pub status: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error, including the tests' kernel's messages about errors.
    pub stderr: String,
    /// The record of the tests' kernel, one event per line; empty on arm64, where the host prints calls without support
    /// as errors.
    pub record: String,
}

impl Ran {
    /// Returns the events of a kind, such as `unknown-call`.
    #[must_use]
    pub fn events(&self, kind: &str) -> Vec<&str> {
        self.record.lines().filter(|line| line.split(' ').next() == Some(kind)).collect()
    }

    /// Checks that the program ended with this status and made no call that the kernel refused or does not support.
    ///
    /// # Panics
    ///
    /// If the status differs or the record has such a call.
    #[must_use]
    pub fn expect(self, status: i32) -> Ran {
        assert_eq!(self.status, status, "{}{}{}", self.stdout, self.stderr, self.record);
        self.expect_nothing_refused();
        self
    }

    /// Checks that the program made no call that the kernel refused or does not support.
    ///
    /// # Panics
    ///
    /// If the record has such a call.
    pub fn expect_nothing_refused(&self) {
        for kind in ["unknown-call", "unsupported", "refused", "deadlock"] {
            assert_eq!(self.events(kind), Vec::<&str>::new(), "{}", self.stderr);
        }
    }
}

/// The start-up object of a program.
#[derive(Clone, Copy, Debug)]
pub enum Start<'a> {
    /// The tests' start-up object, without profiling.
    Plain,
    /// The start-up object under test.
    Object(&'a Path),
    /// A start-up object of the tests, and a library under test.
    Library(&'a Path),
    /// The start-up object and the library under test.
    Both(&'a Path, &'a Path),
    /// The start-up object under test in a dynamic program of FreeBSD (amd64), with the tests' dynamic linker.
    Dynamic(&'a Path),
    /// The same in a position-independent program.
    PositionIndependent(&'a Path),
    /// The same with a dynamic linker that lets `_start` register its end.
    OldDynamicLinker(&'a Path),
}

impl Start<'_> {
    /// The options of `ld.lld` for the kind of program. The tests' dynamic linker is in the program itself.
    fn linker_options(self) -> &'static [&'static str] {
        match self {
            Start::Dynamic(_) => &["--export-dynamic", "-e", "loader_start"],
            Start::PositionIndependent(_) => &["-pie", "-e", "loader_start"],
            Start::OldDynamicLinker(_) => &["-pie", "-e", "old_loader_start"],
            _ => &["-static"],
        }
    }
}

const FLAGS: [&str; 6] = ["-ffreestanding", "-fno-stack-protector", "-Wall", "-Wextra", "-g", "-fno-pie"];

/// The time after which a program is killed; far more than any program needs.
const PATIENCE: &str = "300";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns whether this machine can build and run the programs. Prints SKIPPED if not.
fn is_possible(system: System) -> bool {
    static FOUND: [OnceLock<Result<(), String>>; 3] = [const { OnceLock::new() }; 3];
    let found = FOUND[system as usize].get_or_init(|| {
        if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            return Err("the BSD test kernel needs Linux on x86-64".to_owned());
        }
        let runs =
            |tool: &&str| Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success());
        let emulator = (system == System::FreeBsdArm64).then_some(EMULATOR);
        ["clang", "ld.lld", "ar", "timeout"]
            .iter()
            .chain(&emulator)
            .find(|tool| !runs(tool))
            .map_or(Ok(()), |tool| Err(format!("cannot run {tool}")))?;
        system.linker().map_or(Err("OpenBSD's programs need lld 19 or later".to_owned()), |_| Ok(()))
    });
    if let Err(reason) = found {
        eprintln!("SKIPPED: programs of the BSDs: {reason}");
    }
    found.is_ok()
}

/// The path of the tests' kernel.
fn kernel() -> &'static Path {
    static KERNEL: OnceLock<PathBuf> = OnceLock::new();
    KERNEL.get_or_init(|| crate::built("gmon-bsd-kernel"))
}

fn done(command: &mut Command, what: &str) {
    let output = command.output().unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(output.status.success(), "{what}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Compiles a source file in a directory.
fn compile(system: System, directory: &Path, source: &Path, object: &Path, flags: &[&str]) {
    let mut clang = Command::new("clang");
    clang.current_dir(directory).arg(system.target()).args(FLAGS);
    clang.arg("-I").arg(root().join("bsd-kernel/libc/include"));
    if system == System::FreeBsdArm64 {
        // The tests' C library lacks the compiler's functions for atomic operations.
        clang.arg("-mno-outline-atomics");
    }
    done(clang.args(flags).arg("-c").arg(source).arg("-o").arg(object), &source.display().to_string());
}

/// The name of this test binary.
fn own_name() -> String {
    let test = std::env::current_exe().expect("the path of this test");
    test.file_name().expect("a test has a name").display().to_string()
}

/// The directory of the tests' C library, which each test binary builds once. The library for position-independent
/// programs also serves dynamic programs.
fn library(system: System, start: Start) -> &'static Path {
    static LIBRARIES: [OnceLock<PathBuf>; 3] = [const { OnceLock::new() }; 3];
    static INDEPENDENT: OnceLock<PathBuf> = OnceLock::new();
    let (library, name, model) = match start {
        Start::Dynamic(_) | Start::PositionIndependent(_) | Start::OldDynamicLinker(_) => {
            (&INDEPENDENT, "pie_libc", "-fPIE")
        }
        _ => (&LIBRARIES[system as usize], "libc", "-fno-pie"),
    };
    library.get_or_init(|| {
        let directory = crate::directory(&format!("{system:?}_{name}_{}", own_name()));
        let mut archive = Command::new("ar");
        archive.arg("rcs").arg("libc.a").current_dir(&directory);
        let mut sources: Vec<PathBuf> = ["common", system.folder()]
            .iter()
            .flat_map(|part| {
                fs::read_dir(root().join("bsd-kernel/libc").join(part)).expect("the C library of the tests")
            })
            .map(|entry| entry.expect("the C library of the tests").path())
            .collect();
        sources.sort();
        for source in sources {
            let object = PathBuf::from(source.file_name().expect("a file has a name")).with_extension("o");
            compile(system, &directory, &source, &object, &["-O1", model]);
            if !is_of_start(&source) {
                archive.arg(object);
            }
        }
        done(&mut archive, "ar");
        if system == System::OpenBsd {
            set_openbsds_abi(&directory.join("crt.o"));
        }
        directory
    })
}

/// Returns whether a source file becomes an object that is linked by its name.
fn is_of_start(source: &Path) -> bool {
    source.ends_with("crt.c") || source.ends_with("crtbegin.c")
}

/// Sets EI_OSABI of an object, as OpenBSD's compilers do. lld makes PT_OPENBSD_SYSCALLS only of objects with this ABI.
/// The objects of other tests do not have the ABI, so the objects of gmon must have the ABI themselves.
fn set_openbsds_abi(object: &Path) {
    const EI_OSABI: usize = 7;
    const OPENBSD: u8 = 12;
    let mut bytes = fs::read(object).expect("an object of the tests");
    bytes[EI_OSABI] = OPENBSD;
    fs::write(object, bytes).expect("an object of the tests");
}

/// The tests' C library as OpenBSD's ld.so and libc.so in one file, which each test binary builds once.
fn openbsds_dynamic_library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let directory = crate::directory(&format!("openbsd_dynamic_libc_{}", own_name()));
        let library = directory.join("libc.so");
        let mut linker = Command::new(System::OpenBsd.linker().expect("a program is built only with a linker"));
        linker.args(["-shared", "-Bsymbolic", "--hash-style=sysv", "-e", "_dl_start", "-o"]).arg(&library);
        for part in ["common", "openbsd", "openbsd-dynamic"] {
            let sources = fs::read_dir(root().join("bsd-kernel/libc").join(part)).expect("the C library of the tests");
            let sources = sources.map(|source| source.expect("the C library of the tests").path());
            for source in sources.filter(|source| !is_of_start(source)) {
                let name = source.file_name().expect("a file has a name");
                let object = directory.join(format!("{part}-{}.o", name.display()));
                compile(System::OpenBsd, &directory, &source, &object, &["-O1", "-fPIC", "-DDYNAMIC"]);
                set_openbsds_abi(&object);
                linker.arg(object);
            }
        }
        done(&mut linker, "libc.so");
        library
    })
}

impl Bsd {
    /// Creates a directory with this name; `None` if clang or the linker is missing.
    #[must_use]
    pub fn new(system: System, name: &str) -> Option<Bsd> {
        is_possible(system).then(|| Bsd { directory: crate::directory(name), system })
    }

    /// Builds a program from sources in `tests/bsd-kernel/programs`.
    ///
    /// # Panics
    ///
    /// If clang or the linker fails.
    #[must_use]
    pub fn build(&self, name: &str, sources: &[&str], flags: &[&str], start: Start) -> PathBuf {
        let libc = library(self.system, start).join("libc.a");
        let model: &[&str] =
            if matches!(start, Start::PositionIndependent(_) | Start::OldDynamicLinker(_)) { &["-fPIE"] } else { &[] };
        self.link(name, sources, &[flags, model].concat(), start, start.linker_options(), &libc)
    }

    /// Builds a dynamic program of OpenBSD from sources in `tests/bsd-kernel/programs`.
    ///
    /// # Panics
    ///
    /// If clang or the linker fails.
    #[must_use]
    pub fn build_dynamic(&self, name: &str, sources: &[&str], flags: &[&str], start: Start) -> PathBuf {
        let libc = openbsds_dynamic_library();
        self.link(name, sources, flags, start, &[&format!("--dynamic-linker={}", libc.display())], libc)
    }

    /// Compiles sources and links a program with a C library.
    fn link(
        &self,
        name: &str,
        sources: &[&str],
        flags: &[&str],
        start: Start,
        options: &[&str],
        libc: &Path,
    ) -> PathBuf {
        let library = library(self.system, start);
        let objects = sources.iter().map(|source| {
            let object = PathBuf::from(format!("{name}.{source}.o"));
            compile(self.system, &self.directory, &root().join("bsd-kernel/programs").join(source), &object, flags);
            object
        });
        let objects: Vec<PathBuf> = objects.collect();
        let image = self.directory.join(name);
        let mut linker = Command::new(self.system.linker().expect("a program is built only with a linker"));
        linker.current_dir(&self.directory).args(options).args(["--eh-frame-hdr", "-o"]).arg(&image);
        if self.system == System::OpenBsd {
            linker.args(["-e", "__start"]);
        }
        match start {
            Start::Plain => linker.arg(library.join("crt.o")),
            Start::Object(object)
            | Start::Dynamic(object)
            | Start::PositionIndependent(object)
            | Start::OldDynamicLinker(object) => linker.arg(object),
            Start::Both(object, archive) => linker.arg(object).arg(archive),
            Start::Library(archive) => linker.arg(library.join("crt.o")).arg(archive),
        };
        if self.system == System::OpenBsd {
            linker.arg(library.join("crtbegin.o"));
        }
        done(linker.args(objects).arg(libc), name);
        image
    }

    /// Builds a shared object from a source in `tests/bsd-kernel/programs`, with the entry point `entry` and without a
    /// C library.
    ///
    /// # Panics
    ///
    /// If clang or `ld.lld` fails.
    #[must_use]
    pub fn build_shared(&self, name: &str, source: &str, flags: &[&str]) -> PathBuf {
        let object = PathBuf::from(format!("{name}.o"));
        let source = root().join("bsd-kernel/programs").join(source);
        let all = [&["-O1", "-fPIC", "-fvisibility=hidden"], flags].concat();
        compile(self.system, &self.directory, &source, &object, &all);
        let image = self.directory.join(name);
        let mut linker = Command::new("ld.lld");
        linker.current_dir(&self.directory).args(["-shared", "-z", "separate-code", "--build-id", "-e", "entry", "-o"]);
        done(linker.arg(&image).arg(object), name);
        image
    }

    /// Runs a program with options for the tests' kernel, arguments, and an environment of only these variables.
    ///
    /// # Panics
    ///
    /// If the tests' kernel cannot be started.
    #[must_use]
    pub fn run(&self, image: &Path, options: &[&str], arguments: &[&str], environment: &[(&str, &str)]) -> Ran {
        let record = self.directory.join("record");
        let mut command = Command::new("timeout");
        command.args(["--signal=KILL", PATIENCE]);
        if self.system == System::FreeBsdArm64 {
            assert!(options.is_empty(), "the host has no options");
            // The host starts the emulator again for execve.
            command.arg(EMULATOR).arg(host(&format!("arm64_host_{}", own_name()))).arg(emulator());
        } else {
            command.arg(kernel()).arg("--record").arg(&record).args(options);
        }
        if self.system == System::OpenBsd {
            command.arg("--openbsd");
        }
        command.arg(image);
        command.args(arguments).current_dir(&self.directory).stdin(Stdio::null());
        command.env_clear().envs(environment.iter().copied());
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        let Output { status, stdout, stderr } = command.output().expect("the kernel of the tests");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let record = fs::read(&record).map(|bytes| text(&bytes)).unwrap_or_default();
        Ran { status: status.code().unwrap_or(-1), stdout: text(&stdout), stderr: text(&stderr), record }
    }
}
