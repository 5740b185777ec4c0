//! Runs the examples of the crates, with real profiles.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;

use gmon::{Form, Hints, Histogram, Profile};
use gmon_tests::{compile, directory, start_objects};

/// The examples that tests in this file run.
const HERE: [&str; 8] =
    ["convert", "filter", "hottest", "licenses", "side_file_reader", "side_file_writer", "sum", "ten_hottest"];
/// The examples that need a program, and those that other tests run: `rust` in compat/rust.rs, and `words` in
/// tutorial.rs.
const ELSEWHERE: [&str; 3] = ["rust", "watch", "words"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The directory with the examples of the workspace. Cargo builds all examples at once, so that the crates have the
/// features that `cargo test --workspace` gives them.
fn examples() -> &'static Path {
    static EXAMPLES: OnceLock<PathBuf> = OnceLock::new();
    EXAMPLES.get_or_init(|| {
        let test = std::env::current_exe().unwrap();
        let profile = test.ancestors().nth(2).unwrap();
        let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        build.args(["build", "--quiet", "--workspace", "--examples", "--target-dir"]).arg(profile.parent().unwrap());
        if profile.ends_with("release") {
            build.arg("--release");
        }
        let built = build.current_dir(root()).output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        profile.join("examples")
    })
}

/// Runs an example in testdata.
fn run(name: &str, words: &[&str], input: &[u8]) -> Output {
    let mut example = Command::new(examples().join(name));
    example.args(words).current_dir(root().join("testdata"));
    let mut child = example.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

/// What an example prints, which must succeed and complain about nothing.
fn printed(name: &str, words: &[&str], input: &str) -> String {
    let output = run(name, words, input.as_bytes());
    assert!(output.status.success() && output.stderr.is_empty(), "{name}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn read(name: &str) -> Profile {
    Profile::parse(&fs::read(root().join("testdata").join(name)).unwrap()).unwrap()
}

fn samples(profile: &Profile) -> i128 {
    profile.histograms().iter().map(Histogram::total).sum()
}

fn calls(profile: &Profile) -> u64 {
    profile.arcs().iter().map(|arc| arc.count).sum()
}

#[test]
fn every_example_has_a_test() {
    let mut found = BTreeSet::new();
    for place in ["format/examples", "gprof/examples", "gprof/demangle/examples", "tests/examples", "docs/examples"] {
        for entry in fs::read_dir(root().join(place)).unwrap() {
            let path = entry.unwrap().path();
            found.insert(path.file_stem().unwrap().to_str().unwrap().to_owned());
        }
    }
    assert_eq!(found, HERE.into_iter().chain(ELSEWHERE).map(str::to_owned).collect());
    let without = |path: &Path| !path.join("examples").exists();
    assert!(without(&root().join("runtime")) && without(&root().join("runtime/profil")) && without(root()));
}

#[test]
fn hottest() {
    let expected = "      42 0x4011c4..0x4011c8\n      17 0x4011d4..0x4011d8\n      10 0x4011cc..0x4011d0\n";
    assert_eq!(printed("hottest", &["bsd/basic.gmon"], ""), expected);
    assert_eq!(printed("hottest", &["gnu/classes.gmon"], "").lines().count(), 10);
    assert!(printed("hottest", &["no such file"], "").starts_with("no such file: "));
    assert!(!run("hottest", &["README.md"], b"").status.success(), "a file that is no profile");
}

#[test]
fn convert() {
    let output = run("convert", &["bsd/knots.gmon"], b"");
    assert!(output.status.success(), "{output:?}");
    let detection = gmon::detect(&output.stdout, &Hints::default()).unwrap();
    assert_eq!(detection.encoding().form, Form::Gnu);
    assert_eq!(Profile::parse(&output.stdout).unwrap(), read("bsd/knots.gmon"));
    let evidence = String::from_utf8(output.stderr).unwrap();
    assert!(evidence.lines().any(|line| line.ends_with("at offset 0x14 is the version 0x51879")), "{evidence}");
}

#[test]
fn sum() {
    let names = ["bsd/knots.gmon", "bsd/knots.2.gmon"];
    let output = run("sum", &names, b"");
    assert!(output.status.success(), "{output:?}");
    let sum = Profile::parse(&output.stdout).unwrap();
    let parts = names.map(read);
    assert_eq!(samples(&sum), parts.iter().map(samples).sum::<i128>());
    assert_eq!(calls(&sum), parts.iter().map(calls).sum::<u64>());
    assert!(samples(&sum) == 403 && calls(&sum) == 16440, "{sum:?}");
    let other = run("sum", &[names[0], "bsd/knots.us.gmon"], b"");
    let said = String::from_utf8(other.stderr).unwrap();
    assert!(!other.status.success() && said.contains("RatesDiffer"), "{said}");
}

#[test]
fn side_files() {
    let expected = [
        "       8 +0x0",
        "       7 /bin/sine+0x1100 < +0x0",
        "       7 /lib/libm.so.6+0x10004 < /bin/sine+0x1100 < +0x0",
        "       2 +0x0 < /lib/libm.so.6+0x10004 < /bin/sine+0x1100 < +0x0",
        "       1 +0x5 < +0x0",
        "       1 /lib/libm.so.6+0x1000c < +0x5 < +0x0",
        "       1 without their callers, reason 1",
        "       1 without their callers, reason 5",
    ];
    let lines = printed("side_file_reader", &["side/sine.side"], "");
    assert_eq!(lines.lines().collect::<Vec<_>>(), expected);
    // The writer itself reads what it writes.
    assert_eq!(printed("side_file_writer", &[], ""), "");
}

#[test]
fn ten_hottest() {
    let expected = "\
100.00 %       2.01 s         4110 calls  burn
  0.00 %       0.00 s          420 calls  even
  0.00 %       0.00 s          420 calls  odd
  0.00 %       0.00 s          360 calls  red
  0.00 %       0.00 s          300 calls  green
  0.00 %       0.00 s          150 calls  blue
  0.00 %       0.00 s           60 calls  depth
";
    assert_eq!(printed("ten_hottest", &["bsd/knots", "bsd/knots.gmon"], ""), expected);
    assert_eq!(printed("ten_hottest", &["gnu/cycles", "gnu/cycles.gmon"], "").lines().count(), 10);
    let missing = run("ten_hottest", &["no such program"], b"");
    let said = String::from_utf8(missing.stderr).unwrap();
    assert!(!missing.status.success() && said.starts_with("ten_hottest: no such program: "), "{said}");
}

#[test]
fn filter() {
    let names = "_ZN4work3runEi\nplain\n\n_ZN3foo3bar17h0123456789abcdefE\n";
    assert_eq!(printed("filter", &[], names), "work::run(int)\nplain\n\nfoo::bar\n");
}

#[test]
fn licenses() {
    let place = directory("examples-licenses");
    let linked = place.join("linked");
    fs::write(&linked, "one 1.0.0\ntwo 2.0.0\n").unwrap();
    let member = |name: &str, version: &str, license: &str| {
        let texts = r#"[{"license":"MIT","text":"Permission is granted. \n"}]"#;
        format!(r#"{{"package_name":"{name}","package_version":"{version}","license":"{license}","licenses":{texts}}}"#)
    };
    let bundle = |members: &[String]| format!(r#"{{"third_party_libraries":[{}]}}"#, members.join(","));
    let (one, other) = (member("one", "1.0.0", "MIT"), member("tests-only", "1.0.0", "MIT"));
    let linked = linked.to_str().unwrap();
    let written = printed("licenses", &[linked], &bundle(&[one.clone(), other, member("two", "2.0.0", "MIT")]));
    let line = "-".repeat(80);
    assert!(written.ends_with(&format!("\n{line}\none 1.0.0, two 2.0.0: MIT\n{line}\n\nPermission is granted.\n")));
    for (second, problem) in [
        (member("two", "2.0.1", "MIT"), "licenses: two 2.0.0: not in the bundle\n"),
        (member("two", "2.0.0", "MIT AND ISC"), "licenses: two 2.0.0: several licenses at once, or none with a text\n"),
    ] {
        let output = run("licenses", &[linked], bundle(&[one.clone(), second]).as_bytes());
        assert!(!output.status.success() && output.stdout.is_empty());
        assert_eq!(String::from_utf8(output.stderr).unwrap(), problem);
    }
}

/// A process that ends with the test.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn watch() {
    let objects = format!("-B{}", start_objects().display());
    let program = compile("examples-watch", &["live.c"], &["-pthread", &objects]);
    let place = program.parent().unwrap();
    let mut live = Command::new(&program);
    live.arg("counters").current_dir(place).env("GMON_LIVE", "1");
    let mut live = Killed(live.spawn().unwrap());
    let profile = place.join("gmon.out");
    let has_calls =
        || fs::read(&profile).is_ok_and(|bytes| Profile::parse(&bytes).is_ok_and(|found| calls(&found) > 0));
    while !has_calls() {
        assert!(live.0.try_wait().unwrap().is_none(), "the program runs until it is killed");
        std::thread::yield_now();
    }
    let printed = printed("watch", &[profile.to_str().unwrap(), "2"], "");
    let counts = |line: &str| {
        let words: Vec<_> = line.split_whitespace().collect();
        let [samples, "samples", calls, "calls"] = words[..] else { panic!("{printed}") };
        [samples, calls].map(|count| count.parse::<u64>().unwrap())
    };
    let [first, second] = printed.lines().map(counts).collect::<Vec<_>>()[..] else { panic!("{printed}") };
    assert!(first[1] > 0 && second[1] >= first[1] && second[0] >= first[0], "{printed}");
}
