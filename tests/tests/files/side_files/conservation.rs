//! The samples of runs, compared with the CPU time in their side files.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use gmon::side_file::property;
use gmon_tests::directory;
use serde_json::Value;

use super::made::{BIN, Image, Run, beside, images, printed};

/// Writes the profile of a run with so many samples, 3 of them in the kernel, and so many seconds of CPU time.
fn write(images: &[Image], path: &Path, samples: u64, seconds: Option<u64>, sampler: &str) {
    let ticks = BTreeMap::from([(0, BTreeMap::from([(images[0].functions[0] / BIN, samples - 3)]))]);
    let run = Run { ticks, kernel: 3, ..Run::default() };
    let profile = run.write_profile(images, path);
    let mut side = run.side_file(images, &profile);
    side.add_property(property::SAMPLER, sampler.as_bytes()).unwrap();
    if let Some(seconds) = seconds {
        side.add_property(property::CPU, format!("{seconds}000000000").as_bytes()).unwrap();
    }
    fs::write(beside(path, "side"), side.write()).unwrap();
}

/// The lines of the statistics about all samples.
fn lines(images: &[Image], directory: &Path, words: &[&str]) -> String {
    let output = printed(images, directory, words);
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{words:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let statistics = text.split_once("Statistics:\n").map_or("", |(_, statistics)| statistics);
    let about_all = |line: &&str| line.contains("samples at a profrate") || line.contains("CPU time");
    statistics.lines().filter(about_all).map(|line| format!("{line}\n")).collect()
}

/// The runs: a name, the samples, the seconds of CPU time, and the sampler.
const RUNS: [(&str, u64, Option<u64>, &str); 7] = [
    ("whole", 10_000, Some(100), "timer"),
    ("just", 9600, Some(100), "timer"),
    ("timer", 9599, Some(100), "timer"),
    ("itimer", 5000, Some(100), "itimer"),
    ("perf", 100, Some(100), "perf"),
    ("more", 10_500, Some(100), "timer"),
    ("unknown", 500, None, "timer"),
];

#[test]
fn a_line_says_when_samples_and_cpu_time_differ() {
    let images = images("conservation");
    let directory = directory("side_files_conservation");
    for (name, samples, seconds, sampler) in RUNS {
        write(&images, &directory.join(name), samples, seconds, sampler);
    }
    let mut said = String::new();
    let mut say = |what: &str, words: &[&str]| write!(said, "{what}\n{}", lines(&images, &directory, words)).unwrap();
    for (name, ..) in RUNS {
        say(&format!("{name}:"), &["-p", name]);
    }
    say("whole --stats:", &["--stats", "whole"]);
    say("timer -b:", &["-b", "-p", "timer"]);
    say("timer --compat=gnu:", &["--compat=gnu", "-p", "timer"]);
    // Profiles without a CPU time are left out.
    say("timer perf unknown:", &["-p", "timer", "perf", "unknown"]);
    let golden: PathBuf = [env!("CARGO_MANIFEST_DIR"), "../testdata/side/conservation.txt"].iter().collect();
    if env::var_os("GOLDENS").is_some_and(|goldens| goldens == "write") {
        fs::write(&golden, &said).unwrap();
    }
    assert_eq!(said, fs::read_to_string(golden).unwrap());
}

#[test]
fn a_sum_has_the_cpu_time_of_its_runs() {
    let images = images("conservation_sum");
    let directory = directory("side_files_conservation_sum");
    for (name, samples, seconds, sampler) in RUNS {
        write(&images, &directory.join(name), samples, seconds, sampler);
    }
    for names in [&["timer", "itimer"][..], &["just", "timer", "more"]] {
        let all = lines(&images, &directory, &[&["--stats"], names].concat());
        assert!(all.contains("CPU time"), "{all}");
        assert!(printed(&images, &directory, &[&["-s"], names].concat()).stderr.is_empty());
        assert_eq!(lines(&images, &directory, &["--stats", "gmon.sum"]), all, "{names:?}");
    }
    // The time of a sum is unknown if that of one run is.
    assert!(printed(&images, &directory, &["-s", "timer", "unknown"]).stderr.is_empty());
    assert!(!lines(&images, &directory, &["--stats", "gmon.sum"]).contains("CPU time"));
}

#[test]
fn json_and_the_page_say_it_too() {
    let images = images("conservation_json");
    let directory = directory("side_files_conservation_json");
    for (name, samples, seconds, sampler) in RUNS {
        write(&images, &directory.join(name), samples, seconds, sampler);
    }
    let output = |words: &[&str]| String::from_utf8(printed(&images, &directory, words).stdout).unwrap();
    let json = |name| -> Value { serde_json::from_str(&output(&["--format=json", name])).unwrap() };
    for (name, samples, ..) in RUNS.into_iter().filter(|(_, _, seconds, _)| seconds.is_some()) {
        let found = &json(name)["conservation"];
        assert_eq!(found["cpu_time"].as_f64(), Some(100.0), "{name}");
        assert_eq!(found["samples"], samples, "{name}");
        assert_eq!(found["expected_samples"].as_f64(), Some(10_000.0), "{name}");
        assert_eq!(found["expected_error"].as_f64(), Some(100.0), "{name}");
        let is_broken = !["whole", "just"].contains(&name);
        assert_eq!((&found["is_broken"], found["likely_reason"].is_string()), (&is_broken.into(), is_broken), "{name}");
        // The page escapes what follows.
        let reason = found["likely_reason"].as_str().unwrap_or("Likely reason:").split('\'').next().unwrap();
        assert_eq!(output(&["--format=html", name]).contains(reason), is_broken, "{name}");
    }
    assert_eq!(json("unknown")["conservation"], Value::Null);
}
