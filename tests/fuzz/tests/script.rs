//! Runs `tests/fuzz.sh` with a compiler, a clock, and targets that only record how they are called.
#![allow(clippy::unwrap_used, reason = "a test fails loudly")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A target. It fails for an input that has the word `fails`, and writes this input into the directory of such inputs.
/// It exits with the number in the file `status`, and says that it ran fewer inputs if there is a file `skips`.
const TARGET: &str = r#"echo "$@" >>calls
corpus=
for last; do [ ! -d "$last" ] || corpus="$corpus $last"; done
if [ -f "$last" ]; then ! grep -q fails "$last"; exit; fi
for word; do case $word in -artifact_prefix=*) artifacts=${word#*=} ;; esac; done
for input in $(find $corpus -type f); do
    if grep -q fails "$input"; then cp "$input" "$artifacts/crash-new"; exit 77; fi
done
[ -e skips ] || echo stat::number_of_executed_units: $(find $corpus -type f | wc -l)
[ ! -e status ] || exit "$(cat status)""#;

/// A directory with the script and the programs that it runs.
struct Place(PathBuf);

impl Place {
    /// Each reading of the clock is `step` seconds after the reading before.
    fn new(name: &str, step: u64) -> Place {
        let place = Place(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name));
        let _ = fs::remove_dir_all(&place.0);
        let script = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz.sh")).unwrap();
        place.program("tests/fuzz.sh", script.strip_prefix("#!/bin/sh\n").unwrap());
        place.program("bin/cargo", "");
        place.program("bin/c++", "");
        place.program("bin/rustc", "echo host: here");
        // Two targets read the clock at once. The directory `reading` lets only one of them set the clock.
        let lock = "until mkdir reading 2>/dev/null; do :; done";
        place.program("bin/date", &format!("{lock}\nnow=$(($(cat now) + {step}))\necho $now | tee now\nrmdir reading"));
        fs::write(place.0.join("now"), "1000").unwrap();
        for name in ["read", "sum"] {
            place.program(&format!("target/fuzz/here/release/{name}"), TARGET);
            place.program(&format!("target/here/debug/{name}"), TARGET);
            place.input(name, "seed", "passes");
        }
        place
    }

    fn program(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // Another process writes the file: a child that another test starts at this time would keep the file open for
        // writing, and the kernel would not execute the file.
        let write = "printf '#!/bin/sh\\n%s\\n' \"$1\" >\"$0\" && chmod 755 \"$0\"";
        assert!(Command::new("sh").args(["-c", write]).arg(path).arg(text).status().unwrap().success());
    }

    /// An input of the target `read` that failed before.
    fn artifact(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join("target/fuzz/artifacts/read").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// An input of the corpus of a target.
    fn input(&self, target: &str, name: &str, text: &str) -> PathBuf {
        let path = self.0.join("testdata/fuzz").join(target).join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn run(&self, words: &[&str]) -> Output {
        let path = format!("{}:{}", self.0.join("bin").display(), std::env::var("PATH").unwrap());
        let mut script = Command::new("sh");
        script.arg(self.0.join("tests/fuzz.sh")).args(words).env("PATH", path).env("JOBS", "2");
        for variable in ["CARGO", "CARGO_TARGET_DIR", "RUSTC", "CXX"] {
            script.env_remove(variable);
        }
        script.output().unwrap()
    }

    /// The times in seconds that targets were told.
    fn times(&self) -> Vec<u64> {
        let calls = fs::read_to_string(self.0.join("calls")).unwrap_or_default();
        let words = calls.split_whitespace().filter_map(|word| word.strip_prefix("-max_total_time="));
        words.map(|time| time.parse().unwrap()).collect()
    }
}

fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn times_of_targets() {
    // The clock moves on between any two readings, and a time of 0 would be no limit.
    let place = Place::new("fuzz-times", 30);
    let output = place.run(&["run", "60", "read"]);
    assert!(output.status.success(), "{}", error(&output));
    assert_eq!(place.times(), [30], "one target runs no longer than the whole run");
}

#[test]
fn names_of_targets() {
    let place = Place::new("fuzz-names", 30);
    for command in [&["run", "60", "read", "reed"][..], &["reduce", "reed"]] {
        let output = place.run(command);
        let text = error(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.starts_with("fuzz: no target has the name 'reed'; the targets are read detect "), "{text}");
    }
    assert_eq!(place.times(), []);
}

#[test]
fn inputs_that_failed_before() {
    let place = Place::new("fuzz-inputs", 30);
    let repaired = place.artifact("crash-1", "passes");
    let output = place.run(&["run", "0", "read"]);
    assert!(output.status.success() && !repaired.exists(), "{}", error(&output));
    assert!(place.0.join("target/fuzz/corpus/read/crash-1").exists(), "the input may find the bug again");
    let failing = place.artifact("crash-2", "fails");
    let output = place.run(&["run", "0", "sum"]);
    assert!(output.status.success(), "the inputs of another target: {}", error(&output));
    let output = place.run(&["run", "0", "sum", "read"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(failing.exists());
    assert_eq!(error(&output), "fuzz: the inputs that fail are in target/fuzz/artifacts/read\n");
}

#[test]
fn known_inputs_that_fail() {
    let place = Place::new("fuzz-known", 30);
    let output = place.run(&["run", "0", "read", "sum"]);
    assert!(output.status.success() && output.stderr.is_empty(), "{}", error(&output));
    place.input("sum", "other", "fails");
    let output = place.run(&["run", "0", "read", "sum"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(error(&output), "fuzz: the inputs that fail are in target/fuzz/artifacts/sum\n");
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("| read | 1 |") && table.contains("| sum | 0 |"), "{table}");
}

/// A target may end before it runs an input, so no input is in the directory of inputs that failed.
#[test]
fn targets_that_do_not_run_fail() {
    let place = Place::new("fuzz-broken", 30);
    let run = |seconds| {
        let output = place.run(&["run", seconds, "read"]);
        (output.status.code(), error(&output))
    };
    let fails = |problem: &str| (Some(1), format!("fuzz: read fails: {problem}: target/fuzz/read.log\n"));
    fs::write(place.0.join("status"), "3").unwrap();
    assert_eq!(run("0"), fails("it exits with 3"));
    assert_eq!(run("60"), fails("it exits with 3"));
    fs::write(place.0.join("status"), "0").unwrap();
    assert_eq!(run("0"), (Some(0), String::new()));
    fs::write(place.0.join("skips"), "").unwrap();
    assert_eq!(run("0"), fails("it runs 0 of 1 inputs"));
    fs::remove_file(place.0.join("skips")).unwrap();
    fs::remove_file(place.0.join("testdata/fuzz/read/seed")).unwrap();
    assert_eq!(run("0"), fails("it runs 0 of 0 inputs"));
    fs::remove_file(place.0.join("target/here/debug/read")).unwrap();
    assert_eq!(run("0"), fails("it exits with 127"));
}

/// The script, the manifest of the targets, and the checks have the same targets.
#[test]
fn every_target_runs() {
    let text = |path: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let names = gmon_fuzz_checks::CHECKS.map(|(name, _)| name);
    assert!(text("../fuzz.sh").contains(&format!("\nall=\"{}\"\n", names.join(" "))));
    let manifest = text("targets/Cargo.toml");
    let programs = manifest.split("[[bin]]\nname = \"").skip(1).map(|rest| rest.split('"').next().unwrap());
    assert_eq!(programs.collect::<Vec<_>>(), names);
}
