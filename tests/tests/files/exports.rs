//! Other programs read our exports and find our numbers. The program that is profiled samples itself.

mod profiled;
mod threads;
mod viewers;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use gmon_tests::{directory, gprof, read};
use serde_json::Value;

use crate::clients::{self, Client, client, python, script};
use profiled::Profiled;

#[test]
fn csv_is_read_by_python_duckdb_and_polars() {
    let Some(python) = python(&["duckdb", "polars"]) else { return };
    let program = Profiled::new("exports_csv");
    let path = program.write("a.csv", &["--errors"]);
    let read: Value = serde_json::from_str(&client(&python, &[&script("tables.py"), &path])).unwrap();
    for reader in ["csv", "duckdb", "polars"] {
        let rows = read[reader].as_array().unwrap();
        let time = |row: &Value| row[5].as_f64().unwrap_or_default();
        let (mut functions, mut arcs) = (BTreeMap::new(), BTreeMap::new());
        for row in rows {
            let [name, callee] = [2, 3].map(|at| row[at].as_str().unwrap_or_default().to_owned());
            let values = (row[4].as_f64().unwrap_or_default(), time(row), row[6].as_u64().unwrap_or_default());
            match row[0].as_str().unwrap() {
                "function" => assert!(functions.insert(name, values).is_none()),
                _ => assert!(arcs.insert((name, callee), values).is_none()),
            }
        }
        assert_eq!(functions, program.functions, "{reader}");
        assert_eq!(arcs, program.arcs, "{reader}");
        assert!(rows.iter().all(|row| row[0] == "arc" || row[1].as_str().unwrap().ends_with("a.out")), "{reader}");
    }
}

#[test]
fn json_is_read_by_python_duckdb_and_polars() {
    let Some(python) = python(&["duckdb", "polars"]) else { return };
    let program = Profiled::new("exports_json");
    let path = program.write("a.json", &[]);
    let read: Value = serde_json::from_str(&client(&python, &[&script("names.py"), &path])).unwrap();
    for reader in ["json", "duckdb", "polars"] {
        let names: Vec<&str> = read[reader].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        assert!(program.functions.keys().all(|name| names.contains(&name.as_str())), "{reader}: {names:?}");
    }
}

/// The self and inclusive samples of each function in folded stacks.
fn folded(text: &str) -> (BTreeMap<String, u64>, BTreeMap<String, u64>) {
    let (mut own, mut inclusive) = (BTreeMap::new(), BTreeMap::new());
    for line in text.lines() {
        let (stack, samples) = line.rsplit_once(' ').unwrap();
        let samples: u64 = samples.parse().unwrap();
        let mut frames: Vec<&str> = stack.split(';').collect();
        *own.entry((*frames.last().unwrap()).to_owned()).or_insert(0) += samples;
        frames.sort_unstable();
        frames.dedup();
        frames.iter().for_each(|frame| *inclusive.entry((*frame).to_owned()).or_insert(0) += samples);
    }
    (own, inclusive)
}

#[test]
fn folded_stacks_have_all_samples() {
    for program in Profiled::both("exports_folded") {
        let path = program.write("a.folded", &[]);
        let (own, inclusive) = folded(&fs::read_to_string(&path).unwrap());
        // A bin may be partly in the profiling runtime.
        assert!((own.values().sum::<u64>() as f64 - program.samples).abs() <= 1.0, "{own:?}");
        program.check_inclusive(|name| inclusive.get(name).map(|samples| *samples as f64), 1.0);
        program.check_own(|name| own.get(name).map(|samples| *samples as f64), 1.0);
        // gprof2dot prints percentages. It estimates inclusive times from the arcs of all stacks together.
        let Some(dot) = Client::gprof2dot().run(&["-f", "collapse", "-n0", "-e0", &path]) else { return };
        let percents = clients::dot_percents(&dot);
        let part = |percent: &f64| percent / 100.0 * program.samples;
        program.check_own(|name| percents.get(name).map(|(_, own)| part(own)), 1.0 + program.percent());
    }
}

#[test]
fn speedscope_accepts_its_format() {
    let Some(python) = python(&["jsonschema"]) else { return };
    let Some(schema) = clients::installed("npm/node_modules/speedscope/dist/release/file-format-schema.json") else {
        return;
    };
    for program in Profiled::both("exports_speedscope") {
        let path = program.write("a.speedscope.json", &[]);
        let read = client(&python, &[&script("speedscope.py"), schema.to_str().unwrap(), &path]);
        let read: Value = serde_json::from_str(&read).unwrap();
        let samples = |kind: &str, name: &str| read[kind][name].as_f64().map(|time| time * program.rate);
        program.check_inclusive(|name| samples("inclusive", name), 1.001);
        program.check_own(|name| samples("own", name), 1.001);
    }
}

#[test]
fn pprof_shows_times_and_calls() {
    let Some(go) = Client::go().found() else { return };
    for program in Profiled::both("exports_pprof") {
        let path = program.write("a.pb.gz", &[]);
        let show = |index: &str, report: &str| {
            let index = format!("-sample_index={index}");
            client(
                &go,
                &["tool", "pprof", &index, "-nodecount=100000", "-nodefraction=0", "-edgefraction=0", report, &path],
            )
        };
        for (index, unit) in [("samples", 1.0), ("cpu", 1.0 / program.rate)] {
            let top = clients::pprof_top(&show(index, "-top"));
            let samples = |name: &str, cumulative: bool| {
                top.get(name).map(|(flat, cum)| (if cumulative { cum } else { flat }) / unit)
            };
            // Times are rounded to 10 milliseconds.
            let more = 1.0 + if index == "cpu" { 0.01 * program.rate } else { 0.0 };
            program.check_inclusive(|name| samples(name, true), more);
            program.check_own(|name| samples(name, false), more);
        }
        let calls = clients::pprof_calls(&show("calls", "-peek=."));
        for ((caller, callee), (.., count)) in &program.arcs {
            if *count > 0 && caller != callee {
                let found = calls.get(&(caller.clone(), callee.clone()));
                assert_eq!(found, Some(count), "{caller} -> {callee}: {calls:?}");
            }
        }
        assert!(calls.len() > 5);
    }
}

#[test]
fn callgrind_annotate_shows_costs() {
    let Some(annotate) = Client::callgrind_annotate().found() else { return };
    for program in Profiled::both("exports_callgrind") {
        let path = program.write("callgrind.out.1", &[]);
        // The program adds up the parts of a file, and warns about the lines with which a part begins.
        let show = |inclusive: &str| {
            clients::annotated(&clients::despite(
                &annotate,
                &["--threshold=100", inclusive, &path],
                " malformed, ignoring",
            ))
        };
        let samples = |cost: &u64| *cost as f64 / 1e8 * program.rate;
        let own = show("--inclusive=no");
        program.check_own(|name| own.get(name).map(samples), 0.001);
        // The program adds up the costs of all calls, those of recursive functions as well.
        let inclusive = show("--inclusive=yes");
        program.check_inclusive(|name| inclusive.get(name).map(samples).filter(|_| !program.is_recursive(name)), 0.001);
        let Some(dot) = Client::gprof2dot().run(&["-f", "callgrind", "-n0", "-e0", &path]) else { return };
        let percents = clients::dot_percents(&dot);
        let part = |percent: &f64| percent / 100.0 * program.attributed();
        program.check_own(|name| percents.get(name).map(|(_, own)| part(own)), program.percent());
    }
}

/// Nobody counts the calls in libraries, but stacks show them: `sorted` calls qsort, which calls `compare`.
#[test]
fn callgrind_annotate_adds_time_in_libraries_once() {
    let Some(annotate) = Client::callgrind_annotate().found() else { return };
    let program = Profiled::with_objects("exports_callgrind_objects");
    let is_uncounted = |(_, inclusive, calls): &profiled::Numbers| *calls == 0 && *inclusive > 0.0;
    assert!(program.arcs.values().any(is_uncounted), "{:?}", program.arcs);
    let path = program.write("callgrind.out.1", &[]);
    // Rows of annotated sources would look like rows of functions.
    let words = ["--threshold=100", "--auto=no"];
    let show = |kind: &str| clients::annotated(&client(&annotate, &[&words[..], &[kind, &path]].concat()));
    let samples = |cost: &u64| *cost as f64 / 1e8 * program.rate;
    let (own, inclusive) = (show("--inclusive=no"), show("--inclusive=yes"));
    program.check_own(|name| Some(own.get(name).map_or(0.0, samples)), 0.001);
    let sum: f64 = own.values().map(samples).sum();
    assert!((sum - program.attributed()).abs() < 0.001, "{sum}, not {}", program.attributed());
    let found = |name: &str| inclusive.get(name).map_or(0.0, samples);
    program.check_inclusive(|name| Some(found(name)).filter(|_| !program.is_recursive(name)), 0.001);
}

#[test]
fn firefox_profiler_loads_its_format() {
    let cli = "firefox/node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js";
    let node = clients::installed("firefox/node_modules/node/bin/node").zip(clients::installed(cli));
    let Some((node, cli)) = node else { return };
    for program in Profiled::both("exports_firefox") {
        let path = program.write("a.firefox.json", &[]);
        let profile: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        // The path of a socket has 107 bytes at most.
        let sessions = directory("firefox");
        let cli = |words: &[&str]| {
            let mut command = Command::new(&node);
            command.arg(&cli).args(words).args(["--session", "a"]).env("PROFILER_CLI_SESSION_DIR", &sessions);
            command.env("PROFILER_CLI_NO_SYMBOLICATE", "1");
            command
        };
        // The client starts the daemon by itself, but gives up after half a second, which a busy machine may need. A
        // client that asks a daemon too early removes the daemon's files. So the log says when the daemon is ready.
        let mut daemon = cli(&["--daemon", &path]).spawn().unwrap();
        let log = || fs::read_to_string(Path::new(&sessions).join("a.log")).unwrap_or_default();
        while !log().contains("Profile loaded successfully") {
            assert!(daemon.try_wait().unwrap().is_none() && !log().contains("rror"), "the daemon has ended: {}", log());
            thread::sleep(Duration::from_millis(10));
        }
        let run = |words: &[&str]| {
            let output = cli(words).output().unwrap();
            assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap()
        };
        let mut sums: BTreeMap<String, (f64, f64)> = BTreeMap::new();
        for thread in 0..profile["threads"].as_array().unwrap().len() {
            let words = ["thread", "functions", "--thread", &format!("t-{thread}"), "--limit", "0"];
            let functions = run(&words);
            for (name, (own, total)) in clients::firefox_functions(&functions) {
                let sum = sums.entry(name).or_default();
                *sum = (sum.0 + own, sum.1 + total);
            }
        }
        run(&["stop"]);
        assert!(daemon.wait().unwrap().success());
        program.check_inclusive(|name| sums.get(name).map(|(_, total)| *total), 1.0);
        program.check_own(|name| sums.get(name).map(|(own, _)| *own), 1.0);
    }
}

/// Profiles without stacks, of several images.
#[test]
fn several_images_are_told_apart() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata");
    let print = |format: &str| {
        let format = format!("--format={format}");
        let images = ["--image", "bsd/knots", "bsd/knots.gmon", "--image", "gnu/classes", "gnu/classes.gmon"];
        let output = read(gprof(), &data, &[&[format.as_str()], images.as_slice()].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let (csv, callgrind) = (print("csv"), print("callgrind"));
    for image in ["bsd/knots", "gnu/classes"] {
        assert!(csv.contains(&format!("\nfunction,{image},")) && csv.contains(&format!("\narc,{image},")), "{csv}");
        assert_eq!(callgrind.matches(&format!(") {image}\n")).count(), 1, "{callgrind}");
    }
}

#[test]
fn exports_are_of_functions() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/bsd");
    for format in ["folded", "speedscope", "pprof", "firefox", "callgrind"] {
        let format = format!("--format={format}");
        let output = read(gprof(), &data, &["-l", &format, "knots", "knots.gmon"]);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(text, format!("gprof: '{format}' and '--line' cannot be used together (try 'gprof --help')\n"));
    }
    // Reports and limits choose what people see.
    let all = read(gprof(), &data, &["--format=csv", "knots", "knots.gmon"]).stdout;
    let limited = read(gprof(), &data, &["-p", "--top=1", "--format=csv", "knots", "knots.gmon"]).stdout;
    assert!(!all.is_empty() && all == limited);
}
