//! Measured inclusive times of a real program that knows them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use gmon_tests::{compile, gprof, read, start_objects};
use serde_json::Value;

/// The program after a run, and the samples that the program reports for each function.
struct Inclusive {
    directory: PathBuf,
    truth: BTreeMap<String, f64>,
}

impl Inclusive {
    /// Builds and runs the program. Each test has a directory of its own.
    fn new(test: &str, flags: &[&str]) -> Inclusive {
        let ours = format!("-B{}", start_objects().display());
        let flags = [flags, &["-pthread", "-Wl,--eh-frame-hdr", &ours]].concat();
        let image = compile(&format!("inclusive_{test}"), &["inclusive.c"], &flags);
        let directory = image.parent().unwrap().to_owned();
        // The clock adds few samples or none: one for each second.
        let output = Command::new(&image).current_dir(&directory).env("GMON_HZ", "1").output().unwrap();
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).unwrap();
        let lines = text.lines().map(|line| line.rsplit_once(' ').unwrap());
        Inclusive {
            directory,
            truth: lines.map(|(name, samples)| (name.to_owned(), samples.parse().unwrap())).collect(),
        }
    }

    fn print(&self, options: &[&str]) -> String {
        let output = read(gprof(), &self.directory, &[options, &["a.out", "gmon.out"]].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The inclusive times of functions in samples, and the whole report.
    fn times(&self, options: &[&str]) -> (BTreeMap<String, f64>, Value) {
        let json: Value = serde_json::from_str(&self.print(&[options, &["--format=json"]].concat())).unwrap();
        let rate = json["time"]["samples_per_unit"].as_f64().unwrap();
        let names = json["functions"].as_array().unwrap().iter();
        let names: BTreeMap<u64, &str> =
            names.map(|function| (function["id"].as_u64().unwrap(), function["symbol"].as_str().unwrap())).collect();
        let entries = json["call_graph"].as_array().unwrap().iter();
        let times = entries.filter_map(|entry| {
            let time = entry["self"].as_f64()? + entry["children"].as_f64()?;
            Some((names[&entry["function"].as_u64()?].to_owned(), time * rate))
        });
        (times.collect(), json)
    }
}

#[test]
fn each_function_has_the_samples_of_all_that_it_called() {
    for flags in [["-O1"].as_slice(), &["-O2"], &["-O2", "-static"], &["-O2", "-no-pie"]] {
        let program = Inclusive::new("functions", flags);
        let (times, json) = program.times(&[]);
        let sums = &json["stacks"];
        let number = |field: &str| sums[field].as_u64().unwrap();
        let by_hand = program.truth["work"];
        // The clock may have added samples anywhere, one for each second of processor time.
        let more = (number("stacks") + number("samples_without_stack")) as f64 - by_hand;
        assert!((0.0..100.0).contains(&more), "{more}");
        assert_eq!(number("doubtful"), 0);
        for (name, truth) in &program.truth {
            let found = times[name];
            let is_true = found >= truth - 1e-6 && found <= truth + more + 1e-6;
            assert!(is_true, "{flags:?}: {name}: {found}, not {truth}");
        }
        let (estimates, json) = program.times(&["--propagate"]);
        assert_eq!(json["stacks"], Value::Null);
        // `cheap` and `dear` call `work` 20 times and 5 times.
        assert!(estimates["cheap"] > 15.0 * program.truth["cheap"], "{}", estimates["cheap"]);
        assert!(estimates["dear"] < 0.2 * program.truth["dear"], "{}", estimates["dear"]);
    }
}

#[test]
fn calls_after_a_tail_call_have_their_caller() {
    let program = Inclusive::new("calls", &["-O2"]);
    let (_, json) = program.times(&["--contexts=99", "--callers=work", "--min-percent=0", "-p", "-q"]);
    let rows = |field: &str| -> Vec<(u64, String, Option<u64>)> {
        let rows = json[field].as_array().unwrap().iter();
        rows.map(|row| {
            (row["depth"].as_u64().unwrap(), row["name"].as_str().unwrap().to_owned(), row["calls"].as_u64())
        })
        .collect()
    };
    let contexts = rows("contexts");
    let further = contexts.iter().position(|row| row.1 == "further").unwrap();
    let below: Vec<_> =
        contexts[further..further + 3].iter().map(|row| (row.1.as_str(), row.0 - contexts[further].0)).collect();
    assert_eq!(below, [("further", 0), ("tail", 1), ("work", 2)]);
    // `main` calls `further` once, which calls `tail` once.
    assert_eq!([&contexts[further], &contexts[further + 1]].map(|row| row.2), [Some(1), Some(1)]);
    let callers = rows("callers");
    let called = |name: &str| callers.iter().find(|row| row.0 == 1 && row.1 == name).and_then(|row| row.2);
    assert_eq!(["cheap", "dear", "tail", "descend", "worker"].map(called), [20, 5, 2, 10, 1].map(Some));
    assert_eq!(called("main"), None);
}

/// A row of the tree of contexts: name, inclusive ticks, and whether the row has a doubt.
type Row = (String, f64, bool);

/// Runs a program whose samples come from the program, and nearly none from the clock.
fn run(source: &str, flags: &[&str], variables: &[(&str, &str)]) -> Inclusive {
    let ours = format!("-B{}", start_objects().display());
    let flags = [flags, &["-O2", "-Wl,--eh-frame-hdr", &ours]].concat();
    let image = compile(&format!("{source}{}", flags[0]), &[&format!("{source}.c")], &flags);
    let directory = image.parent().unwrap().to_owned();
    let mut run = Command::new(&image);
    assert!(
        run.current_dir(&directory).env("GMON_HZ", "1").envs(variables.iter().copied()).status().unwrap().success()
    );
    Inclusive { directory, truth: BTreeMap::new() }
}

/// The rows of functions with these names, and the number of stacks with a doubt.
fn contexts(program: &Inclusive, options: &[&str], names: &[&str]) -> (Vec<Row>, u64) {
    let options = [options, &["--contexts=99", "--min-percent=0", "--format=json"]].concat();
    let json: Value = serde_json::from_str(&program.print(&options)).unwrap();
    let rate = json["time"]["samples_per_unit"].as_f64().unwrap();
    let rows = json["contexts"].as_array().unwrap().iter().map(|row| {
        let (name, inclusive) = (row["name"].as_str().unwrap(), row["inclusive"].as_f64().unwrap());
        (name.to_owned(), inclusive * rate, row["is_doubtful"].as_bool().unwrap())
    });
    let rows = rows.filter(|(name, ..)| names.contains(&name.as_str()));
    (rows.collect(), json["stacks"]["doubtful"].as_u64().unwrap())
}

#[test]
fn a_tail_call_through_a_pointer_is_never_left_out_in_silence() {
    let sum = |rows: &[Row], name: &str, is_doubtful: bool| -> f64 {
        rows.iter().filter(|row| row.0 == name && row.2 == is_doubtful).map(|row| row.1).sum()
    };
    // `relay` may have been between `dear` and `work`, and `proxy` between `choose` and `work`, in 200 samples each.
    let (rows, doubtful) = contexts(&run("computed", &["-DJOINED"], &[]), &[], &["dear", "work"]);
    assert!(doubtful >= 400, "{doubtful}: {rows:?}");
    // The call instruction names `dear`, so `dear` is certain. The mark is at `work`.
    assert!(sum(&rows, "dear", false) >= 200.0 && sum(&rows, "work", true) >= 400.0, "{rows:?}");
    assert_eq!(sum(&rows, "dear", true), 0.0, "{rows:?}");
    // Here `relay` does not jump, and the times of `dear` are certain: 5 calls of `work` with 20 samples each.
    let (rows, _) = contexts(&run("computed", &["-DAPART"], &[]), &[], &["dear", "work"]);
    assert!(sum(&rows, "dear", false) >= 100.0 && sum(&rows, "work", false) >= 100.0, "{rows:?}");
}

/// The symbol of the function of a row.
fn symbol(json: &Value, row: &Value) -> String {
    let known = json["functions"].as_array().unwrap().iter().find(|known| known["id"] == row["function"]);
    known.unwrap()["symbol"].as_str().unwrap().to_owned()
}

/// The self times of functions in the flat profile, in samples.
fn self_times(program: &Inclusive, options: &[&str]) -> (BTreeMap<String, f64>, Value) {
    let json: Value = serde_json::from_str(&program.print(&[options, &["--format=json"]].concat())).unwrap();
    let rate = json["time"]["samples_per_unit"].as_f64().unwrap();
    let rows = json["flat_profile"].as_array().into_iter().flatten();
    let times = rows.map(|row| (symbol(&json, row), row["self"].as_f64().unwrap() * rate));
    (times.collect(), json)
}

#[test]
#[cfg(target_arch = "x86_64")]
fn a_sample_with_a_stack_is_not_divided_among_functions_of_one_bin() {
    const SENT: f64 = 400.0;
    let program = run("neighbours", &["-g0"], &[]);
    for options in [["-z"].as_slice(), &["-z", "--propagate"], &["-z", "--errors"]] {
        let (times, json) = self_times(&program, options);
        // The samples of the clock, which are anywhere.
        let more = json["statistics"]["samples"].as_f64().unwrap() - SENT;
        assert!((SENT..=SENT + more).contains(&times["hot"]) && times["never"] == 0.0, "{options:?}: {times:?}");
    }
    // All samples are those of `hot`, and the bounds know this.
    let (_, json) = self_times(&program, &["--bounds"]);
    let hot = json["bounds"].as_array().unwrap().iter().find(|row| symbol(&json, row) == "hot").unwrap();
    let lower = hot["lower"].as_f64().unwrap() * json["time"]["samples_per_unit"].as_f64().unwrap();
    assert!(lower >= SENT - 1e-6, "{json}");
    // Without stacks, three of the bin's four bytes are those of `never`.
    let program = run("neighbours", &["-g1"], &[("GMON_STACKS", "0")]);
    assert!(self_times(&program, &["-z"]).0["never"] >= SENT * 0.75 - 1e-6);
}

/// The text of a report.
fn printed(program: &Inclusive, options: &[&str]) -> String {
    program.print(&[options, &["-b"]].concat())
}

#[test]
fn a_tail_call_through_a_pointer_has_the_function_whose_address_is_on_the_stack() {
    const SENT: f64 = 200.0;
    let program = run("guess", &["-fno-inline", "-fno-ipa-icf"], &[]);
    let (times, json) = program.times(&[]);
    // The samples of the clock, which are anywhere.
    let more = json["statistics"]["samples"].as_f64().unwrap() - SENT;
    // `often` was called more often, but `run` took the address of `once`.
    assert!((SENT - 1e-6..=SENT + more + 1e-6).contains(&times["once"]), "{times:?}");
    assert!(times["often"] <= more + 1e-6, "{times:?}");
    let rate = json["time"]["samples_per_unit"].as_f64().unwrap();
    let functions = json["functions"].as_array().unwrap();
    let id = |name: &str| functions.iter().find(|known| known["symbol"] == name).unwrap()["id"].clone();
    let range = |list: &str, name: &str| {
        let row = json[list].as_array().unwrap().iter().find(|row| row["function"] == id(name)).unwrap();
        ["inclusive_least", "inclusive_most"].map(|field| row[field].as_f64().map(|time| time * rate))
    };
    for list in ["flat_profile", "call_graph"] {
        for name in ["once", "often"] {
            let [Some(least), Some(most)] = range(list, name) else { panic!("{name} has no range: {json}") };
            assert!(least <= more && most >= SENT - 1e-6, "{list}: {name}: {least} to {most}");
        }
        for name in ["work", "protect", "run", "main"] {
            assert_eq!(range(list, name), [None, None], "{list}: {name}");
        }
    }
    // The marks of all formats.
    let flat = printed(&program, &["-p"]);
    let marked = |text: &str, name: &str| text.lines().any(|line| line.contains(name) && line.contains("(?) 0."));
    assert!(marked(&flat, " once ") && marked(&flat, " often ") && !marked(&flat, " work "), "{flat}");
    let table = printed(&program, &["-p", "--table"]);
    assert!(marked(&table, " once ") && marked(&table, " often ") && !marked(&table, " work "), "{table}");
    let graph = printed(&program, &["-q"]);
    let below = graph.lines().skip_while(|line| !(line.starts_with('[') && line.contains(" once ["))).nth(1).unwrap();
    assert!(below.contains("(?) 0.") && below.ends_with(')'), "{graph}");
    let csv = printed(&program, &["--format=csv"]);
    let cells = |name: &str| {
        let row =
            csv.lines().find(|line| line.starts_with("function,") && line.contains(&format!(",{name},"))).unwrap();
        row.rsplit(',').take(2).map(|cell| cell.parse::<f64>().ok()).collect::<Vec<_>>()
    };
    assert!(cells("once")[0].is_some_and(|most| most * rate >= SENT - 1e-6), "{csv}");
    assert_eq!(cells("work"), [None, None], "{csv}");
    let flame = printed(&program, &["--format=flame"]);
    let hatched = flame.lines().find(|line| line.contains("<title>once")).unwrap();
    assert!(hatched.starts_with("<g class=\"h"), "{hatched}");
    let page = printed(&program, &["--format=html"]);
    assert!(page.contains("\"least\":[") && page.contains("\"most\":["));
}

#[test]
fn inlined_functions_have_frames() {
    let program = run("inlined_stacks", &["-g"], &[]);
    let (times, json) = program.times(&["--contexts=99", "--inlines", "--min-percent=0", "-q"]);
    let rate = json["time"]["samples_per_unit"].as_f64().unwrap();
    let stacks = &json["stacks"];
    let all = stacks["stacks"].as_u64().unwrap() + stacks["samples_without_stack"].as_u64().unwrap();
    // The samples of the clock, which are anywhere.
    let more = all as f64 - 500.0;
    let rows = json["contexts"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["inclusive"].as_f64().unwrap() * rate > more + 0.5);
    let rows: Vec<(u64, &str)> =
        rows.map(|row| (row["depth"].as_u64().unwrap(), row["name"].as_str().unwrap())).collect();
    let caller = rows.iter().position(|row| row.1 == "caller").unwrap();
    let below: Vec<(u64, &str)> = rows[caller..].iter().map(|(depth, name)| (depth - rows[caller].0, *name)).collect();
    // The loop of `wrap` and `leaf` has 300 samples, that of `outer` 200.
    let expected = [
        (0, "caller"),
        (1, "wrap [inlined]"),
        (2, "leaf"),
        (3, "burn [inlined]"),
        (1, "outer [inlined]"),
        (2, "burn [inlined]"),
    ];
    assert_eq!(below, expected);
    // The times of functions contain those of the functions that were inlined.
    for (name, sent) in [("main", 500.0), ("caller", 500.0), ("leaf", 300.0)] {
        assert!((sent - 1.0..=sent + more + 1.0).contains(&times[name]), "{name}: {}", times[name]);
    }
}

#[test]
fn a_thread_has_the_doubts_of_the_whole_program() {
    let program = run("doubtful", &["-g0"], &[("GMON_THREADS", "1")]);
    let names = ["work", "relay"];
    // The runtime counts the calls of all threads together, so the profile of the thread has none.
    let (of_thread, _) = contexts(&program, &["--thread=a.out"], &names);
    assert!(of_thread.iter().any(|(_, _, is_doubtful)| *is_doubtful), "{of_thread:?}");
    assert_eq!(of_thread, contexts(&program, &[], &names).0);
}
