//! Our text as input for gprof2dot, which draws call graphs and reads GNU's reports.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gmon_tests::{compile, compile_fortran, gprof, read, run, start_objects};

/// The program, where `tests/check.sh` installs it or on the search path. Prints SKIPPED if there is none.
fn gprof2dot() -> Option<PathBuf> {
    let test = std::env::current_exe().unwrap();
    let installed = test.ancestors().map(|directory| directory.join("gprof2dot/bin/gprof2dot"));
    let found = installed
        .chain([PathBuf::from("gprof2dot")])
        .find(|path| Command::new(path).arg("--help").output().is_ok_and(|output| output.status.success()));
    if found.is_none() {
        eprintln!("SKIPPED: gprof2dot: not on this system (tests/check.sh installs it)");
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

/// gprof2dot's drawing and messages for a report. gprof2dot omits nothing, however short its time.
fn draw(gprof2dot: &Path, report: &[u8]) -> (String, String) {
    let mut child = Command::new(gprof2dot)
        .args(["--node-thres=0", "--edge-thres=0"])
        .env("PYTHONIOENCODING", "utf-8")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let report = report.to_vec();
    // gprof2dot stops reading after the call graph, so the pipe may close before everything is written.
    let writer = std::thread::spawn(move || drop(input.write_all(&report)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let complaints = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{complaints}");
    (String::from_utf8(output.stdout).unwrap(), complaints)
}

/// Draws the call graph of a program and returns the number of functions in the drawing.
fn check(gprof2dot: &Path, image: &Path, options: &[&str]) -> usize {
    let output = read(gprof(), image.parent().unwrap(), &[options, &["a.out", "gmon.out"]].concat());
    let report = String::from_utf8(output.stdout).unwrap();
    let context = format!("{} {options:?}", image.display());
    assert!(output.status.success(), "{context}");
    if !report.contains("index % time") {
        return 0;
    }
    check_report(gprof2dot, &report, options, &context)
}

/// Draws a report and returns the number of functions in the drawing.
fn check_report(gprof2dot: &Path, report: &str, options: &[&str], context: &str) -> usize {
    let (dot, complaints) = draw(gprof2dot, report.as_bytes());
    let is_gnu = options.contains(&"--compat=gnu");
    // GNU leaves out a cycle that nobody calls.
    let is_missing = |line: &str| is_gnu && line.ends_with("as a whole> entry missing");
    assert!(complaints.lines().all(is_missing), "{context}: {complaints}");
    let (entries, nodes) = (entries(report), nodes(&dot));
    assert!(entries.keys().eq(nodes.keys()), "{context}: {entries:?}\n{nodes:?}");
    for (number, line) in &entries {
        assert!(line.contains(&format!(" {} ", nodes[number])), "{context}: {line}: {}", nodes[number]);
    }
    nodes.len()
}

/// Draws the call graphs of a program with the C library's runtime and with ours; each must have this many functions.
fn check_all(name: &str, sources: &[&str], flags: &[&str], functions: usize) {
    let Some(gprof2dot) = gprof2dot() else {
        return;
    };
    let ours = format!("-B{}", start_objects().display());
    let mut drawn = Vec::new();
    for (runtime, more) in [("glibc", [].as_slice()), ("ours", &[ours.as_str()])] {
        let image = compile(&format!("gprof2dot_{name}_{runtime}"), sources, &[flags, more, &["-pthread"]].concat());
        assert!(run(&image).exists());
        let all = [[].as_slice(), &["-b"], &["--compat=gnu"], &["--errors"], &["-b", "--errors"], &["--top=5"]];
        drawn.extend(all.map(|options| check(&gprof2dot, &image, options)));
    }
    assert!(drawn.iter().any(|count| *count >= functions), "{name}: {drawn:?}");
}

#[test]
fn c() {
    check_all("leaf", &["leaf.c"], &["-g"], 4);
    check_all("labels", &["labels.c"], &["-g"], 1);
    check_all("same", &["same_one.c", "same_two.c"], &["-g"], 4);
    check_all("many", &["many.c"], &["-g"], 2);
    check_all("aliases", &["aliases.c"], &["-g"], 3);
    check_all("clones", &["clones.c"], &["-g"], 3);
    check_all("inlined", &["inlined.c"], &["-g", "-O1"], 1);
    check_all("nested", &["nested.c"], &["-g"], 3);
    check_all("runtime_names", &["runtime_names.c"], &["-g"], 1);
}

#[test]
fn c_with_cycles() {
    check_all("cycles", &["cycles.c"], &["-g"], 7);
    check_all("cycles_o2", &["cycles.c"], &["-g", "-O2"], 2);
    check_all("cycles_plain", &["cycles.c"], &[], 7);
    check_all("cycles_static", &["cycles.c"], &["-g", "-static"], 7);
    check_all("cycles_no_pie", &["cycles.c"], &["-g", "-no-pie"], 7);
    check_all("orphan", &["orphan.c"], &["-g", "-O1", "-fno-inline", "-fno-ipa-icf"], 3);
}

#[test]
fn c_with_threads() {
    check_all("calls", &["calls.c"], &["-g"], 10);
}

#[test]
fn cpp() {
    check_all("classes", &["classes.cc"], &["-g"], 100);
    check_all("classes_o1", &["classes.cc"], &["-g", "-O1"], 20);
    check_all("exceptions", &["exceptions.cc"], &["-g"], 3);
    check_all("kinds", &["kinds.cc"], &["-no-pie"], 2);
}

#[test]
fn fortran() {
    if let Some(gprof2dot) = gprof2dot()
        && let Some(image) = compile_fortran("gprof2dot_fortran", "sums.f90")
    {
        assert!(run(&image).exists());
        for options in [[].as_slice(), &["-b"], &["--compat=gnu"]] {
            assert!(check(&gprof2dot, &image, options) >= 3);
        }
    }
}

/// Reports with measured times, whose cycles have times of their own. gprof/tests/all/stacks.rs compares our output with these.
#[test]
fn measured_times() {
    let Some(gprof2dot) = gprof2dot() else {
        return;
    };
    for name in ["knots.b.txt", "knots.txt", "knots.b.errors.txt"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/stacks").join(name);
        let report = std::fs::read_to_string(path).unwrap();
        assert!(report.contains("children: measured from"));
        assert_eq!(check_report(&gprof2dot, &report, &[], name), 8);
    }
}
