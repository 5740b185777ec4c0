//! Our `gprof --compat=gnu` against stored output of GNU gprof 2.40 for programs of other machines: 32-bit and
//! big-endian images and profiles, function descriptors, and Thumb code. The programs and their profiles in
//! testdata/machines are from real runs.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use gmon_tests::{assert_same, directory, gprof, multiarch_gprof, read};

/// The machines, and the options that are tried for each.
const MACHINES: [(&str, &[&str]); 5] = [
    // GNU cannot search the code of these machines for calls, and says so.
    ("arm", &OPTIONS),
    ("s390x", &OPTIONS),
    ("ppc64", &OPTIONS),
    ("i386", &OPTIONS),
    // GNU also finds the calls through registers in the code of MIPS.
    ("mips", OPTIONS.split_at(11).0),
];

const OPTIONS: [&str; 12] = [
    "-b",
    "-b -z",
    "-b -a",
    "-b -D -z",
    "-b -T",
    "-b -l",
    "-b -l -p -z",
    "-b -C",
    "-b -A -x",
    "-b -i",
    "-b -r",
    "-b -c",
];

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/machines")
}

/// A reader's output for all command lines of a machine, each after a line that starts with `$`. The reader runs in the
/// directory of the source file, so that annotated sources find the file.
fn transcript(reader: &Path, compat: &[&str], (machine, all_options): (&str, &[&str])) -> String {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let files = [format!("../../testdata/machines/{machine}"), format!("../../testdata/machines/{machine}.gmon")];
    let mut text = String::new();
    for options in all_options {
        let words = compat.iter().copied().chain(options.split(' ')).chain(files.iter().map(String::as_str));
        let output = read(reader, &directory, &words.collect::<Vec<_>>());
        assert!(output.status.success(), "{machine} {options}: {output:?}");
        let _ = writeln!(text, "$ gprof {options} {machine} {machine}.gmon");
        text.push_str(&String::from_utf8(output.stdout).unwrap());
    }
    text
}

fn golden(machine: &str) -> PathBuf {
    data().join(format!("{machine}.txt"))
}

#[test]
fn what_gnu_gprof_2_40_printed_for_other_machines() {
    for machine in MACHINES {
        let ours = transcript(gprof(), &["--compat=gnu"], machine);
        assert_same(&fs::read(golden(machine.0)).unwrap(), ours.as_bytes(), machine.0);
    }
}

/// GNU gprof still prints the text in the files; `GOLDENS=write` rewrites the files.
#[test]
fn the_goldens_of_other_machines_are_those_of_gnu_gprof() {
    let Some(theirs) = multiarch_gprof() else { return };
    for machine in MACHINES {
        let printed = transcript(theirs, &[], machine);
        if std::env::var_os("GOLDENS").is_some_and(|value| value == "write") {
            fs::write(golden(machine.0), &printed).unwrap();
        }
        assert_same(&fs::read(golden(machine.0)).unwrap(), printed.as_bytes(), machine.0);
    }
}

/// Our own report names the functions as the source does, on all machines.
#[test]
fn all_machines_in_our_own_report() {
    for (machine, _) in MACHINES {
        // Copies, because a profile that is older than its image is doubtful.
        let place = directory(&format!("machine-{machine}"));
        let profile = format!("{machine}.gmon");
        for file in [machine, &profile] {
            fs::write(place.join(file), fs::read(data().join(file)).unwrap()).unwrap();
        }
        let output = read(gprof(), &place, &["-b", "-p", machine, &profile]);
        let (said, printed) = (String::from_utf8(output.stderr).unwrap(), String::from_utf8(output.stdout).unwrap());
        assert_eq!(said, "", "{machine}");
        // The sum of calls is the same on all machines, because it follows from the loops of the program.
        for (function, calls) in [("burn", "92120"), ("e", "30711"), ("d", "20472"), ("a", "10243"), ("c", "10224")] {
            let line = printed.lines().find(|line| line.ends_with(&format!("  {function}")));
            let line = line.unwrap_or_else(|| panic!("{machine}: {printed}"));
            assert_eq!(line.split_whitespace().nth(3), Some(calls), "{machine}: {line}");
        }
    }
}
