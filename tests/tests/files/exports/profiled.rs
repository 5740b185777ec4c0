//! A program with stacks, and what gprof says about it as JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

use gmon_tests::{compile, gprof, read, start_objects};
use serde_json::Value;

/// Self time, inclusive time, calls.
pub(crate) type Numbers = (f64, f64, u64);

pub(crate) struct Profiled {
    directory: PathBuf,
    /// The options that choose the images of all files.
    scope: &'static [&'static str],
    /// The numbers of each function.
    pub(crate) functions: BTreeMap<String, Numbers>,
    /// The numbers of the calls of one function by another.
    pub(crate) arcs: BTreeMap<(String, String), Numbers>,
    recursive: BTreeSet<String>,
    /// The samples for each second.
    pub(crate) rate: f64,
    /// All samples but those in the profiling runtime, with those outside of the program.
    pub(crate) samples: f64,
}

impl Profiled {
    /// Runs the program in a directory with this name.
    pub(crate) fn new(name: &str) -> Profiled {
        Profiled::run(name, "0", &["--no-objects"])
    }

    /// Runs the program, and reads its shared objects as well.
    pub(crate) fn with_objects(name: &str) -> Profiled {
        Profiled::run(name, "0", &[])
    }

    /// Runs the program without and with `GMON_THREADS=1`.
    pub(crate) fn both(name: &str) -> [Profiled; 2] {
        [Profiled::new(name), Profiled::run(&format!("{name}_threads"), "1", &["--no-objects"])]
    }

    fn run(name: &str, threads: &str, scope: &'static [&'static str]) -> Profiled {
        let ours = format!("-B{}", start_objects().display());
        let image = compile(name, &["inclusive.c"], &["-O2", "-g", "-pthread", &ours]);
        let directory = image.parent().unwrap().to_owned();
        let run = Command::new(&image)
            .current_dir(&directory)
            .env("GMON_HZ", "10")
            .env("GMON_THREADS", threads)
            .output()
            .unwrap();
        assert!(run.status.success());
        let mut program = Profiled {
            directory,
            scope,
            functions: BTreeMap::new(),
            arcs: BTreeMap::new(),
            recursive: BTreeSet::new(),
            rate: 0.0,
            samples: 0.0,
        };
        let json = program.print(&[&["--format=json", "-z"], scope].concat());
        program.take(&serde_json::from_str(&json).unwrap());
        program
    }

    fn print(&self, options: &[&str]) -> String {
        let output = read(gprof(), &self.directory, &[options, &["a.out", "gmon.out"]].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Writes a file and returns its path.
    pub(crate) fn write(&self, name: &str, options: &[&str]) -> String {
        let path = self.directory.join(name).to_str().unwrap().to_owned();
        assert_eq!(self.print(&[options, self.scope, &["-o", &path]].concat()), "");
        path
    }

    fn take(&mut self, json: &Value) {
        self.rate = json["time"]["samples_per_unit"].as_f64().unwrap();
        let names = json["functions"].as_array().unwrap().iter();
        let names: BTreeMap<u64, &str> =
            names.map(|function| (function["id"].as_u64().unwrap(), function["name"].as_str().unwrap())).collect();
        let name = |line: &Value| line["function"].as_u64().map_or("<outside>", |id| names[&id]).to_owned();
        let number = |line: &Value, field: &str| line[field].as_f64().unwrap_or_default();
        let times = |line: &Value| (number(line, "self"), number(line, "self") + number(line, "children"));
        for entry in json["call_graph"].as_array().unwrap().iter().filter(|entry| entry["cycle"].is_null()) {
            let caller = name(entry);
            let ((own, inclusive), calls) = (times(entry), entry["calls"].as_u64().unwrap_or_default());
            if inclusive != 0.0 || calls != 0 || entry["self_calls"].as_u64().unwrap_or_default() != 0 {
                self.functions.insert(caller.clone(), (own, inclusive, calls));
            }
            for line in entry["above"].as_array().unwrap().iter().filter(|line| line["function"].is_null()) {
                if let (Some(calls), (own, inclusive)) = (line["calls"].as_u64(), times(line)) {
                    self.arcs.insert((name(line), caller.clone()), (own, inclusive, calls));
                }
            }
            for line in entry["below"].as_array().unwrap() {
                let (callee, (own, inclusive)) = (name(line), times(line));
                if caller == callee {
                    self.recursive.insert(caller.clone());
                }
                self.arcs.insert((caller.clone(), callee), (own, inclusive, line["calls"].as_u64().unwrap()));
            }
        }
        let stacks = &json["stacks"];
        let samples = ["stacks", "samples_without_stack"].iter().map(|sum| stacks[sum].as_f64().unwrap()).sum::<f64>();
        self.samples = samples - json["statistics"]["samples_runtime"].as_f64().unwrap();
    }

    pub(crate) fn is_recursive(&self, name: &str) -> bool {
        self.recursive.contains(name)
    }

    /// The samples of all functions.
    pub(crate) fn attributed(&self) -> f64 {
        self.functions.values().map(|(own, ..)| own * self.rate).sum()
    }

    /// The samples that are a hundredth of a percent.
    pub(crate) fn percent(&self) -> f64 {
        self.samples / 10_000.0
    }

    /// Compares the inclusive samples that a client found, where it found the function.
    pub(crate) fn check_inclusive(&self, found: impl Fn(&str) -> Option<f64>, most: f64) {
        self.check(found, |(_, inclusive, _)| *inclusive, most);
    }

    /// Compares the samples of functions alone.
    pub(crate) fn check_own(&self, found: impl Fn(&str) -> Option<f64>, most: f64) {
        self.check(found, |(own, ..)| *own, most);
    }

    fn check(&self, found: impl Fn(&str) -> Option<f64>, time: impl Fn(&Numbers) -> f64, most: f64) {
        let mut compared = 0;
        for (name, numbers) in &self.functions {
            let expected = time(numbers) * self.rate;
            if let Some(found) = found(name) {
                assert!((found - expected).abs() <= most, "{name}: {found}, not {expected}");
                compared += usize::from(expected > 0.0);
            }
        }
        assert!(compared > 0, "no function of {:?}", self.functions);
    }
}
