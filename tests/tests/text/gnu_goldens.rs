//! Our `gprof --compat=gnu` against stored output of GNU gprof 2.40, except for the order of `-r`, which is ours. The
//! comparison needs no GNU gprof on the machine.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gmon_tests::{Ordered, assert_same, assert_same_but_order, gprof, read, system_gprof};

/// A program of `testdata/gnu`, two of its functions, one of its source files, and the command lines to try.
struct Program {
    name: &'static str,
    functions: [&'static str; 2],
    file: &'static str,
    lines: &'static [&'static str],
}

const PROGRAMS: [Program; 3] = [
    Program { name: "cycles", functions: ["burn", "d"], file: "cycles.c", lines: &LINES },
    Program { name: "classes", functions: ["main", "plus_one"], file: "classes.cc", lines: &LINES_CPP },
    Program { name: "inlined", functions: ["outer", "main"], file: "inlined.c", lines: &LINES },
];

/// Command lines. `@` and `#` are functions of the program and `%` is a source file.
const LINES: [&str; 40] = [
    "-b",
    "-b -z",
    "-b -p",
    "-b -q",
    "-b -p -z --no-demangle",
    "-b -p@",
    "-b -P@",
    "-b -p%:#",
    "-b -q@",
    "-b -Q#",
    "-b -q@/#",
    "-b -e@",
    "-b -E@",
    "-b -f#",
    "-b -F#",
    "-b -n@",
    "-b -N@",
    "-b -k#/@",
    "-b -a",
    "-b -D",
    "-b -T",
    "-b -T -q -w 40",
    "-b -L",
    "-b -i",
    "-b -C",
    "-b -C@",
    "-b -Z@",
    "-b -r",
    "-b -c",
    "-b -A",
    "-b -A -x",
    "-b -A -t 2 -m 5",
    "-b -J@",
    "-b -l",
    "-b -l -p",
    "-b -l -p -z",
    "-b -l -q",
    "-b -l -C",
    "-b -l -A -x",
    "-b -p -q -C -A",
];

/// Fewer command lines, because C++ names are long.
const LINES_CPP: [&str; 4] = ["-b -p", "-b -z -p --no-demangle", "-b -q#", "-b -T -p#"];

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/gnu")
}

/// A reader's output for all command lines of a program, each after a line that starts with `$`. The reader runs in the
/// directory of the source files, so that annotated sources find them.
fn transcript(reader: &Path, compat: &[&str], program: &Program) -> String {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let (image, profile) =
        (format!("../../testdata/gnu/{}", program.name), format!("../../testdata/gnu/{}.gmon", program.name));
    let mut text = String::new();
    for line in program.lines {
        let line =
            line.replace('@', program.functions[0]).replace('#', program.functions[1]).replace('%', program.file);
        let words: Vec<&str> =
            compat.iter().copied().chain(line.split(' ')).chain([&image[..], &profile[..]]).collect();
        let output = read(reader, &directory, &words);
        let _ = writeln!(text, "$ gprof {line} {0} {0}.gmon", program.name);
        text.push_str(&String::from_utf8(output.stdout).unwrap());
    }
    text
}

#[test]
fn what_gnu_gprof_2_40_printed() {
    for program in &PROGRAMS {
        let path = data().join(format!("{}.txt", program.name));
        let expected = fs::read(&path).unwrap();
        let ours = transcript(gprof(), &["--compat=gnu"], program);
        let expected = String::from_utf8(expected).unwrap();
        let (theirs, ours) = (sections(&expected), sections(&ours));
        assert_eq!(theirs.len(), ours.len());
        for (theirs, ours) in theirs.into_iter().zip(ours) {
            let (line, _) = theirs.split_once('\n').unwrap();
            // Orders follow a rule of our own.
            match line.split(' ').find_map(Ordered::of) {
                Some(order) => assert_same_but_order(theirs.as_bytes(), ours.as_bytes(), order, line),
                None => assert_same(theirs.as_bytes(), ours.as_bytes(), line),
            }
        }
    }
}

/// The output of each command line, after its line that starts with `$`.
fn sections(transcript: &str) -> Vec<&str> {
    let starts: Vec<usize> = transcript.match_indices("$ gprof ").map(|(at, _)| at).collect();
    let ends = starts.iter().skip(1).copied().chain([transcript.len()]);
    starts.iter().zip(ends).map(|(start, end)| &transcript[*start..end]).collect()
}

/// GNU gprof still prints the text in the files; `GOLDENS=write` rewrites the files.
#[test]
fn the_goldens_are_the_systems() {
    let Some(system) = system_gprof() else { return };
    let version = Command::new(system).arg("--version").output().unwrap();
    if !String::from_utf8_lossy(&version.stdout).lines().next().unwrap_or_default().contains(" 2.40") {
        eprintln!("SKIPPED: comparison of the goldens with this system's GNU gprof: not version 2.40");
        return;
    }
    for program in &PROGRAMS {
        let path = data().join(format!("{}.txt", program.name));
        let theirs = transcript(Path::new(system), &[], program);
        if std::env::var_os("GOLDENS").is_some_and(|value| value == "write") {
            fs::write(&path, &theirs).unwrap();
        }
        assert_same(&fs::read(&path).unwrap(), theirs.as_bytes(), program.name);
    }
}
