//! The reader and the library crates on FreeBSD and OpenBSD: programs that `tests/bsd/reader.sh` links against the
//! lists of what each system's libraries export. The linker has refused undefined symbols; these tests check the rest
//! of the files.
//!
//! `make check-bsd` builds the programs. Without the programs, the tests print SKIPPED.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use gmon_tests::distribution;

/// A system on a machine, and what its programs must say.
#[derive(Clone, Copy)]
struct Target {
    name: &'static str,
    machine: &'static str,
    interpreter: &'static str,
    /// A note of the system. Its kernel and its dynamic linker recognize programs by the note.
    note: &'static str,
    /// All shared libraries that the reader may need: libraries of the base system, by their names without versions.
    libraries: &'static [&'static str],
}

const FREEBSD: Target = Target {
    name: "x86_64-unknown-freebsd",
    machine: "Advanced Micro Devices X86-64",
    interpreter: "/libexec/ld-elf.so.1",
    note: "NT_FREEBSD_ABI_TAG",
    libraries: &["libc.so.7", "libthr.so.3", "libm.so.5"],
};

const OPENBSD: Target = Target {
    name: "x86_64-unknown-openbsd",
    machine: "Advanced Micro Devices X86-64",
    interpreter: "/usr/libexec/ld.so",
    note: "OpenBSD",
    libraries: &["libc.so", "libpthread.so", "libm.so"],
};

const TARGETS: [Target; 4] = [
    FREEBSD,
    OPENBSD,
    Target { name: "aarch64-unknown-freebsd", machine: "AArch64", ..FREEBSD },
    Target { name: "aarch64-unknown-openbsd", machine: "AArch64", ..OPENBSD },
];

/// The reader, and an example for users of each library crate.
const PROGRAMS: [&str; 4] = ["gprof", "hottest", "ten_hottest", "filter"];

fn readelf(arguments: &[&str]) -> Option<String> {
    let output = Command::new("llvm-readelf").args(arguments).output().ok()?;
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Each program that was built, with its target and the output of `llvm-readelf`.
fn programs() -> Vec<(Target, PathBuf, String)> {
    let mut programs = Vec::new();
    for target in TARGETS {
        let directory = distribution().parent().unwrap().join("bsd/reader").join(target.name);
        if !directory.exists() {
            eprintln!("SKIPPED: gprof for {} is not linked: make check-bsd", target.name);
            continue;
        }
        // Nothing that differs between systems has changed: the compiler has checked this target, and nothing is
        // linked.
        if directory.read_dir().unwrap().next().is_none() {
            eprintln!("gprof for {} has been checked without linking", target.name);
            continue;
        }
        for program in PROGRAMS {
            let path = directory.join(program);
            let arguments = ["-h", "-l", "-d", "-n", "-W", path.to_str().unwrap()];
            let Some(text) = readelf(&arguments) else {
                eprintln!("SKIPPED: gprof for {}: there is no llvm-readelf", target.name);
                break;
            };
            programs.push((target, path, text));
        }
    }
    programs
}

#[test]
fn programs_are_of_the_system_and_the_machine() {
    for (target, path, text) in programs() {
        let path = path.display();
        let has = |what: &str| assert!(text.contains(what), "{path}: no {what}: {text}");
        has(target.machine);
        has("DYN (Shared object file)");
        has(&format!("[Requesting program interpreter: {}]", target.interpreter));
        let notes = text.split_once("Displaying notes").expect("a note").1;
        assert!(notes.contains(target.note), "{path}: {notes}");
        assert!(!text.contains("TEXTREL"), "{path}: {text}");
    }
}

#[test]
fn programs_need_only_libraries_of_the_base_system() {
    for (target, path, text) in programs() {
        let needed = text.lines().filter(|line| line.contains("(NEEDED)"));
        let needed: BTreeSet<&str> = needed.map(|line| line.split_once('[').unwrap().1.trim_end_matches(']')).collect();
        let known = |name: &&str| target.libraries.iter().any(|library| name.starts_with(library));
        let unknown: Vec<_> = needed.iter().filter(|name| !known(name)).collect();
        assert!(unknown.is_empty(), "{}: {unknown:?}", path.display());
        assert!(needed.iter().any(|name| name.starts_with("libc.so")), "{}: {needed:?}", path.display());
    }
}
