//! Our text as input for gprof2dot, which draws call graphs and reads GNU's reports.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gmon_tests::{compile, compile_fortran, directory, gprof, read, run, start_objects};

/// A Python that has gprof2dot: the one that `tests/check/tools.sh` installs, or the one on the search path. Prints
/// SKIPPED if there is none.
fn gprof2dot() -> Option<PathBuf> {
    let test = std::env::current_exe().unwrap();
    let installed = test.ancestors().map(|directory| directory.join("gprof2dot/bin/python"));
    let has_it = |python: &PathBuf| {
        Command::new(python).args(["-c", "import gprof2dot"]).output().is_ok_and(|output| output.status.success())
    };
    let found = installed.chain([PathBuf::from("python3")]).find(has_it);
    if found.is_none() {
        eprintln!("SKIPPED: gprof2dot: not on this system (tests/check/tools.sh installs it)");
    }
    found
}

/// The numbers of the functions with entries in a report's call graph, and the lines of the entries.
fn entries(report: &str) -> BTreeMap<u32, &str> {
    let graph = report.split("\n\u{c}\n").find(|part| part.contains("index % time")).unwrap_or_default();
    let number = |line: &str| line.strip_prefix('[')?.split(']').next()?.parse().ok();
    graph
        .lines()
        .filter(|line| !line.contains(" as a whole> ["))
        .filter_map(|line| number(line).map(|number| (number, line)))
        .collect()
}

/// The numbers and names of the nodes of a drawing.
fn nodes(dot: &str) -> BTreeMap<u32, &str> {
    let node = |line: &'_ str| -> Option<(u32, usize, usize)> {
        let (number, _) = line.strip_prefix('\t')?.split_once(" [")?;
        let start = line.find("label=\"")? + "label=\"".len();
        let end = start + line[start..].find("\\n")?;
        Some((number.parse().ok()?, start, end))
    };
    dot.lines().filter_map(|line| node(line).map(|(number, start, end)| (number, &line[start..end]))).collect()
}

/// A report, and what gprof2dot must find in it.
struct Report {
    text: String,
    is_gnu: bool,
    context: String,
}

impl Report {
    /// The report of a program's profile with these options.
    fn of(image: &Path, options: &[&str]) -> Report {
        let output = read(gprof(), image.parent().unwrap(), &[options, &["a.out", "gmon.out"]].concat());
        let context = format!("{} {options:?}", image.display());
        assert!(output.status.success(), "{context}");
        Report { text: String::from_utf8(output.stdout).unwrap(), is_gnu: options.contains(&"--compat=gnu"), context }
    }

    /// Checks a drawing of the report and gprof2dot's messages. Returns the number of functions in the drawing.
    fn check(&self, dot: &str, complaints: &str) -> usize {
        let context = &self.context;
        // GNU leaves out a cycle that nobody calls.
        let is_missing = |line: &str| self.is_gnu && line.ends_with("as a whole> entry missing");
        assert!(complaints.lines().all(is_missing), "{context}: {complaints}");
        let (entries, nodes) = (entries(&self.text), nodes(dot));
        assert!(entries.keys().eq(nodes.keys()), "{context}: {entries:?}\n{nodes:?}");
        for (number, line) in &entries {
            assert!(line.contains(&format!(" {} ", nodes[number])), "{context}: {line}: {}", nodes[number]);
        }
        nodes.len()
    }
}

/// Draws all reports that have call graphs, and checks the drawings. Returns the number of functions in each drawing.
fn draw(python: &Path, place: &str, reports: &[Report]) -> Vec<usize> {
    let directory = directory(place);
    let drawn: Vec<(&Report, PathBuf)> = reports
        .iter()
        .filter(|report| report.text.contains("index % time"))
        .enumerate()
        .map(|(number, report)| (report, directory.join(number.to_string())))
        .collect();
    for (report, path) in &drawn {
        fs::write(path, &report.text).unwrap();
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/gprof2dot_many.py");
    let output = Command::new(python).arg(script).args(drawn.iter().map(|(_, path)| path)).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = |path: &Path, suffix: &str| fs::read_to_string(path.with_extension(suffix)).unwrap();
    drawn.iter().map(|(report, path)| report.check(&text(path, "dot"), &text(path, "err"))).collect()
}

/// A program: its name, its sources, the compiler's options, and the least number of functions in a drawing.
type Kind<'a> = (&'a str, &'a [&'a str], &'a [&'a str], usize);

/// Draws the call graphs of programs with the C library's runtime and with ours.
fn check_all(place: &str, kinds: &[Kind<'_>]) {
    let Some(python) = gprof2dot() else {
        return;
    };
    let ours = format!("-B{}", start_objects().display());
    for (name, sources, flags, functions) in kinds {
        let mut reports = Vec::new();
        for (runtime, more) in [("glibc", [].as_slice()), ("ours", &[ours.as_str()])] {
            let image =
                compile(&format!("gprof2dot_{name}_{runtime}"), sources, &[flags, more, &["-pthread"]].concat());
            assert!(run(&image).exists());
            let all =
                [[].as_slice(), &["-b"], &["--compat=gnu"], &["--errors"], &["-b", "--errors"], &["--top=5"], &["-c"]];
            reports.extend(all.map(|options| Report::of(&image, options)));
        }
        let drawn = draw(&python, &format!("gprof2dot_{place}_{name}"), &reports);
        assert!(drawn.iter().any(|count| count >= functions), "{name}: {drawn:?}");
    }
}

#[test]
fn c() {
    check_all(
        "c",
        &[
            ("leaf", &["leaf.c"], &["-g"], 4),
            ("labels", &["labels.c"], &["-g"], 1),
            ("same", &["same_one.c", "same_two.c"], &["-g"], 4),
            ("many", &["many.c"], &["-g"], 2),
            ("aliases", &["aliases.c"], &["-g"], 3),
            ("clones", &["clones.c"], &["-g"], 3),
            ("inlined", &["inlined.c"], &["-g", "-O1"], 1),
            ("nested", &["nested.c"], &["-g"], 3),
            ("runtime_names", &["runtime_names.c"], &["-g"], 1),
        ],
    );
}

#[test]
fn c_with_cycles() {
    check_all(
        "cycles",
        &[
            ("cycles", &["cycles.c"], &["-g"], 7),
            ("cycles_o2", &["cycles.c"], &["-g", "-O2"], 2),
            ("cycles_plain", &["cycles.c"], &[], 7),
            ("cycles_static", &["cycles.c"], &["-g", "-static"], 7),
            ("cycles_no_pie", &["cycles.c"], &["-g", "-no-pie"], 7),
            ("orphan", &["orphan.c"], &["-g", "-O1", "-fno-inline", "-fno-ipa-icf"], 3),
        ],
    );
}

#[test]
fn c_with_threads() {
    check_all("threads", &[("calls", &["calls.c"], &["-g"], 10)]);
}

#[test]
fn cpp() {
    check_all(
        "cpp",
        &[
            ("classes", &["classes.cc"], &["-g"], 100),
            ("classes_o1", &["classes.cc"], &["-g", "-O1"], 20),
            ("exceptions", &["exceptions.cc"], &["-g"], 3),
            ("kinds", &["kinds.cc"], &["-no-pie"], 2),
        ],
    );
}

#[test]
fn fortran() {
    if let Some(python) = gprof2dot()
        && let Some(image) = compile_fortran("gprof2dot_fortran", "sums.f90")
    {
        assert!(run(&image).exists());
        let reports = [[].as_slice(), &["-b"], &["--compat=gnu"]].map(|options| Report::of(&image, options));
        let drawn = draw(&python, "gprof2dot_drawn_fortran", &reports);
        assert!(drawn.len() == 3 && drawn.iter().all(|functions| *functions >= 3), "{drawn:?}");
    }
}

/// Reports with measured times, whose cycles have times of their own. gprof/tests/all/stacks.rs compares our output
/// with these.
#[test]
fn measured_times() {
    let Some(python) = gprof2dot() else {
        return;
    };
    let reports = ["knots.b.txt", "knots.txt", "knots.b.errors.txt"].map(|name| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/stacks").join(name);
        let text = fs::read_to_string(path).unwrap();
        assert!(text.contains("children: measured from"));
        Report { text, is_gnu: false, context: name.to_owned() }
    });
    assert_eq!(draw(&python, "gprof2dot_measured", &reports), [8; 3]);
}
