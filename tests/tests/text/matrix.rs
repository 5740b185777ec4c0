//! Every option of the system's gprof on every kind of program: `--compat=gnu` must give the same bytes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gmon::{DataModel, Encoding, Form, Hints, Order};
use gmon_tests::profiles::keep_first_histogram;
use gmon_tests::random::{Random, Stage};
use gmon_tests::{
    assert_same, compare, compile, compile_fortran, directory, gprof, object_map, read, run, start_objects,
    system_gprof,
};

/// Command lines. `A`, `B` and `C` are functions of the program, `F` is one of its source files, `M` a map of its
/// functions to object files.
const LINES: [&str; 88] = [
    "",
    "-p",
    "-q",
    "-z",
    "-B",
    "-pA",
    "-pA -pB",
    "-PA",
    "-PA -pB",
    "-pF",
    "-pF:A",
    "-PF -PB",
    "-p0123456789",
    "-pnosuch",
    "-qA",
    "-QA",
    "-QA -QB -q",
    "-qA/B",
    "-QA/B",
    "-qA/B -qA/C",
    "-e A",
    "-eA -e B",
    "-E A",
    "-E A -E B",
    "-f A",
    "-f A -f B",
    "-F A",
    "-F A -F B",
    "-e A -f B",
    "-n A",
    "-n A -n C",
    "-N A",
    "-N A -N B",
    "-E A -F B",
    "-k A/B",
    "-k A/B -k A/C",
    "-k A/B -k C/B",
    "-k F/F",
    "-a",
    "-a -z",
    "-D",
    "-D -z --no-demangle",
    "-a -D -q",
    "-T",
    "-T -p",
    "-T -q -z",
    "-T -p -q -w 40",
    "-w 40 -q",
    "-w 200 -q",
    "-w 1 -q",
    "-w junk -q",
    "--inline-file-names",
    "--inline-file-names -L",
    "-L",
    "-L -z",
    "-i",
    "-i -p",
    "-C",
    "-CA",
    "-ZA",
    "-C -z",
    "-C -p -q",
    "-r",
    "-r -p",
    "-r -q",
    "-r -z -a",
    "-r -c",
    "-r -k A/C -k A/A -k C/C -k C/A",
    "-r -e A/C -E A -f C/A",
    "-R M",
    "-R M -p -q",
    "-R M -q -z",
    "-R M -a -C",
    "-R M -c -T -q",
    "-R M -D -p",
    "-R M -k A/C -k C/A",
    "-RM -pA",
    "--file-ordering=M --brief",
    "-c -q",
    "-c -q -z",
    "-c -k A/B",
    "-A",
    "-AA",
    "-JA",
    "-A -t 2 -m 5",
    "-A -t 0 -z -x",
    "-p -C -A -r",
    "--time=A --no-time=B --static-call-graph --width=60",
];

/// A program with the values of these placeholders.
struct Program {
    image: PathBuf,
    names: [&'static str; 3],
    file: &'static str,
    map: PathBuf,
}

impl Program {
    /// The words of a command line.
    fn words(&self, line: &str) -> Vec<String> {
        let map = self.map.to_str().unwrap();
        let [a, b, c] = self.names;
        let names = [("A", a), ("B", b), ("C", c), ("F", self.file), ("M", map)];
        let spell = |part: &str| -> String {
            match names.iter().find(|(sign, _)| *sign == part) {
                Some((_, name)) => (*name).to_owned(),
                None => part.to_owned(),
            }
        };
        let word = |word: &str| {
            // The option's argument begins at the first letter after the option.
            let head = match word.strip_prefix("--") {
                Some(long) => long.find('=').map_or(word.len(), |at| at + 3),
                None if word.starts_with('-') => word.len().min(2),
                None => 0,
            };
            let mut text = word[..head].to_owned();
            for part in word[head..].split_inclusive(['/', ':']) {
                let name = part.trim_end_matches(['/', ':']);
                text.push_str(&spell(name));
                text.push_str(&part[name.len()..]);
            }
            text
        };
        line.split_whitespace().map(word).collect()
    }

    fn compare(&self, line: &str, profiles: &[&Path]) {
        let words = self.words(line);
        let mut all = vec!["-b"];
        all.extend(words.iter().map(String::as_str));
        compare(&self.image, profiles, &all);
    }
}

/// Runs each command line on the program with the C library's runtime, and with one of: our runtime, three profiles,
/// the BSD form, a synthetic profile.
fn matrix(name: &str, sources: &[&str], flags: &[&str], names: [&'static str; 3], file: &'static str) {
    let image = compile(&format!("matrix_{name}"), sources, flags);
    let profile = run(&image);
    let map = object_map(&image, sources, flags);
    let glibc = Program { image: image.clone(), names, file, map: map.clone() };
    let bytes = fs::read(&profile).unwrap();
    let parsed = gmon::read(&bytes, &Hints::default()).unwrap();
    let encoding = Encoding::new(Form::Bsd, DataModel::Lp64, Order::Little);
    let (bsd, made_up) = (image.with_file_name("bsd"), image.with_file_name("made_up"));
    fs::write(&bsd, gmon::write(&parsed, encoding).unwrap()).unwrap();
    let stage = Stage::of(&fs::read(&image).unwrap());

    let ours = format!("-B{}", start_objects().display());
    let image = compile(&format!("matrix_{name}_ours"), sources, &[flags, &[&ours]].concat());
    let our_profile = run(&image);
    let ours = Program { image, names, file, map };
    for (at, line) in LINES.iter().enumerate() {
        glibc.compare(line, &[&profile]);
        match at % 4 {
            0 => glibc.compare(line, &[&profile, &profile, &profile]),
            1 => ours.compare(line, &[&our_profile]),
            2 => glibc.compare(line, &[&bsd]),
            _ => {
                let mut random = Random::new(at as u64);
                let mut profile = stage.profile(&mut random);
                keep_first_histogram(&mut profile);
                let gnu = Encoding::new(Form::Gnu, encoding.model, encoding.order);
                fs::write(&made_up, gmon::write(&profile, gnu).unwrap()).unwrap();
                glibc.compare(line, &[&made_up]);
            }
        }
    }
}

const CYCLES: [&str; 3] = ["a", "burn", "c"];

#[test]
fn c() {
    matrix("cycles", &["cycles.c"], &["-g"], CYCLES, "cycles.c");
    matrix("leaf", &["leaf.c"], &["-g"], ["main", "heavy", "middle"], "leaf.c");
}

#[test]
fn c_optimized() {
    matrix("cycles_o2", &["cycles.c"], &["-g", "-O2"], CYCLES, "cycles.c");
    matrix(
        "orphan",
        &["orphan.c"],
        &["-g", "-O1", "-fno-inline", "-fno-ipa-icf"],
        ["main", "again", "helper"],
        "orphan.c",
    );
}

#[test]
fn c_without_debug_information() {
    matrix("cycles_plain", &["cycles.c"], &[], CYCLES, "cycles.c");
    matrix("labels", &["labels.c"], &["-g"], ["main", "first", "second"], "labels.c");
}

#[test]
fn c_of_two_files() {
    matrix("two_files", &["same_one.c", "same_two.c"], &["-g"], ["main", "work", "other_file"], "same_two.c");
    matrix(
        "two_files_4",
        &["same_one.c", "same_two.c"],
        &["-gdwarf-4"],
        ["only_here", "work", "other_file"],
        "same_one.c",
    );
}

#[test]
fn c_static() {
    matrix("static", &["cycles.c"], &["-g", "-static"], CYCLES, "cycles.c");
}

#[test]
fn c_without_pie() {
    matrix("no_pie", &["cycles.c"], &["-g", "-no-pie"], CYCLES, "cycles.c");
    matrix("many", &["many.c"], &["-g"], ["main", "q0", "b5"], "many.c");
}

// If a version 5 table names no file, as template code often does, the system's tool uses the first file; the standard
// says file 1. Version 4 numbers files differently.
#[test]
fn cpp() {
    matrix(
        "classes_5",
        &["classes.cc"],
        &["-gdwarf-5"],
        ["main", "_ZN6shapes5twiceIiEET_S1_", "_ZNK6shapes6Circle4areaEd"],
        "classes.cc",
    );
    matrix(
        "classes",
        &["classes.cc"],
        &["-gdwarf-4"],
        ["main", "_ZN6shapes5twiceIiEET_S1_", "_ZNK6shapes6Circle4areaEd"],
        "classes.cc",
    );
    matrix(
        "classes_o1",
        &["classes.cc"],
        &["-gdwarf-4", "-O1"],
        ["main", "_ZN6shapes5twiceIiEET_S1_", "_ZNK6shapes6Circle4areaEd"],
        "classes.cc",
    );
}

#[test]
fn aliases() {
    matrix("aliases", &["aliases.c"], &["-g"], ["main", "zebra", "local"], "aliases.c");
}

#[test]
fn fortran() {
    let Some(image) = compile_fortran("matrix_fortran", "sums.f90") else {
        return;
    };
    let profile = run(&image);
    // The program is compiled from one source file.
    let map = image.with_file_name("objects");
    fs::write(&map, "sums.o:0 T inner_\nsums.o:1 T outer_\nsums.o:2 T main\n").unwrap();
    let program = Program { image, names: ["MAIN__", "inner_", "outer_"], file: "sums.f90", map };
    for line in LINES {
        program.compare(line, &[&profile]);
    }
}

#[test]
fn files_of_their_own() {
    let Some(system) = system_gprof() else {
        return;
    };
    let image = compile("matrix_files", &["same_one.c", "same_two.c"], &["-g"]);
    let profile = run(&image);
    let mut results = Vec::new();
    for reader in [Path::new(system), gprof()] {
        let folder = directory(&format!("matrix_files_{}", results.len()));
        let output = read(reader, &folder, &[Path::new("-y"), Path::new("-A"), &image, &profile]);
        assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
        results.push(["same_one.c-ann", "same_two.c-ann"].map(|name| fs::read(folder.join(name)).unwrap_or_default()));
    }
    assert!(results[0].iter().any(|text| !text.is_empty()));
    for (theirs, ours) in results[0].iter().zip(&results[1]) {
        assert_same(theirs, ours, "-y");
    }
}

#[test]
fn symbols_from_a_file() {
    let image = compile("matrix_symbols", &["cycles.c"], &["-g"]);
    let profile = run(&image);
    let symbols = Command::new("nm").arg(&image).output().unwrap().stdout;
    let path = image.with_file_name("symbols");
    fs::write(&path, symbols).unwrap();
    for options in ["-p", "-q", "-C", "-z", "-r"] {
        compare(&image, &[&profile], &["-b", options, "-S", path.to_str().unwrap()]);
    }
}

#[test]
fn an_index_wider_than_every_line() {
    let image = compile("matrix_wide", &["leaf.c"], &["-g"]);
    compare(&image, &[&run(&image)], &["-b", "-q", "-w", "300000"]);
}

#[test]
fn a_form_that_is_given() {
    let image = compile("matrix_forms", &["leaf.c"], &["-g"]);
    let profile = run(&image);
    for form in ["auto", "magic", "m"] {
        compare(&image, &[&profile], &["-b", "-O", form]);
    }
}

#[test]
fn arguments_from_a_file() {
    let image = compile("matrix_arguments", &["cycles.c"], &["-g"]);
    let profile = run(&image);
    fs::write(image.with_file_name("arguments"), "-b\n'-p' \"-eburn\" -z").unwrap();
    compare(&image, &[&profile], &["@arguments"]);
    compare(&image, &[&profile], &["@arguments", "@no such file"]);
}
