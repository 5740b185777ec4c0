//! `--threads` lists threads, and `--thread` reports one.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use gmon::side_file::{Call, KERNEL, Place, SideFile, THREAD, Thread};
use gmon_tests::directory;

use super::made::{BIN, Image, Run, beside, images, printed, refused};

fn place(object: u32, address: u64) -> Place {
    Place { object, address }
}

/// Two functions of the program, and one of a shared object, that share no bin with another function.
fn functions(images: &[Image]) -> [u64; 3] {
    let aligned = |image: usize, at: usize| {
        let mut functions = images[image].functions.clone();
        functions.retain(|function| function % 16 == 0);
        functions[at]
    };
    [aligned(0, 0), aligned(0, 1), aligned(1, 0)]
}

/// A thread `main` and two threads `worker`. All call `hot` of the program, and the workers a function of an object.
fn write(images: &[Image], path: &Path, with_calls: bool) {
    write_with([11, 12, 13], images, path, with_calls);
}

/// As [`write`], with these numbers of the threads.
fn write_with(numbers: [u64; 3], images: &[Image], path: &Path, with_calls: bool) {
    let [hot, cold, leaf] = functions(images);
    let ticks = BTreeMap::from([
        (0, BTreeMap::from([(hot / BIN, 300 + 20 + 1), (cold / BIN, 40)])),
        (1, BTreeMap::from([(leaf / BIN, 100 + 5)])),
    ]);
    let mut run = Run { ticks, kernel: 8, ..Run::default() };
    run.calls.insert((0, cold + 1, 0, hot), 111);
    run.calls.insert((0, hot + 1, 1, leaf), 22);
    let profile = run.write_profile(images, path);
    let mut side = run.side_file(images, &profile);
    let counts = [("main", 300, 0, 40, 100), ("worker", 20, 100, 0, 10), ("worker", 1, 5, 0, 1)];
    for (index, ((name, in_hot, in_leaf, in_cold, calls), number)) in counts.into_iter().zip(numbers).enumerate() {
        let mut thread = Thread::new(number, name.as_bytes());
        // One tick of each worker has no stack.
        thread.ticks = in_hot + in_leaf + in_cold + u64::from(index > 0);
        thread.calls = if with_calls { calls + in_leaf } else { 0 };
        side.add_thread(thread);
        let level = side.add_context(None, place(THREAD, index as u64), 0).unwrap();
        let outer = side.add_context(Some(level), place(0, cold), in_cold).unwrap();
        let hot_node = side.add_context(Some(outer), place(0, hot), in_hot).unwrap();
        side.add_context(Some(hot_node), place(1, leaf), in_leaf).unwrap();
        if index == 0 {
            side.add_context(Some(outer), place(KERNEL, 0), 7).unwrap();
        }
        if with_calls {
            let call = Call { caller: place(0, cold + 1), callee: place(0, hot), count: calls };
            side.add_call(Some(index), call).unwrap();
            let call = Call { caller: place(0, hot + 1), callee: place(1, leaf), count: in_leaf };
            side.add_call(Some(index), call).unwrap();
        }
    }
    fs::write(beside(path, "side"), side.write()).unwrap();
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Self seconds and calls by address, from the flat profile as JSON.
fn flat(images: &[Image], directory: &Path, words: &[&str]) -> (BTreeMap<String, (f64, u64)>, serde_json::Value) {
    let words = [&["--format=json"], words].concat();
    let json: serde_json::Value = serde_json::from_slice(&printed(images, directory, &words).stdout).unwrap();
    let functions: BTreeMap<u64, String> = json["functions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|function| {
            let name = format!("{} {}", function["image"], function["address"].as_str().unwrap());
            (function["id"].as_u64().unwrap(), name)
        })
        .collect();
    let rows = json["flat_profile"].as_array().unwrap().iter().map(|row| {
        let name = functions[&row["function"].as_u64().unwrap()].clone();
        (name, (row["self"].as_f64().unwrap(), row["calls"].as_u64().unwrap_or(0)))
    });
    (rows.filter(|(_, counts)| *counts != (0.0, 0)).collect(), json)
}

#[test]
fn threads_are_listed() {
    let images = images("threads");
    let directory = directory("side_files_threads");
    write(&images, &directory.join("gmon.out"), true);
    let listed = text(&printed(&images, &directory, &["--threads", "gmon.out"]).stdout);
    let rows: Vec<Vec<&str>> = listed.lines().skip(4).map(|line| line.split_whitespace().collect()).collect();
    let expected = [
        ["72.65", "3.40", "100", "1", "11", "main"],
        ["25.85", "1.21", "110", "1", "12", "worker"],
        ["1.50", "0.07", "6", "1", "13", "worker"],
    ];
    assert_eq!(rows, expected, "{listed}");
    let json = printed(&images, &directory, &["--threads", "--format=json", "gmon.out"]).stdout;
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["threads"][0]["name"], "main");
    assert_eq!((json["threads"][1]["number"].as_u64(), json["threads"][2]["self"].as_f64()), (Some(12), Some(0.07)));
    // Those with the most time.
    let short = text(&printed(&images, &directory, &["--threads", "--top=1", "gmon.out"]).stdout);
    let first: String = listed.split_inclusive('\n').take(5).collect();
    assert_eq!(short, first + "2 more threads: --top=all shows all\n");
    let json = printed(&images, &directory, &["--threads", "--top=2", "--format=json", "gmon.out"]).stdout;
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["threads"].as_array().unwrap().len(), 2);
    // In a sum, threads of one name are one.
    fs::copy(directory.join("gmon.out"), directory.join("again")).unwrap();
    fs::copy(directory.join("gmon.out.side"), directory.join("again.side")).unwrap();
    let listed = text(&printed(&images, &directory, &["--threads", "gmon.out", "again"]).stdout);
    assert!(listed.ends_with("4         -  worker\n"), "{listed}");
}

#[test]
fn one_thread_is_reported() {
    let images = images("one_thread");
    let directory = directory("side_files_one_thread");
    write(&images, &directory.join("gmon.out"), true);
    let [hot, cold, leaf] = functions(&images);
    let (hot, cold, leaf) = (format!("0 {hot:#x}"), format!("0 {cold:#x}"), format!("1 {leaf:#x}"));
    let (main, json) = flat(&images, &directory, &["--thread=main", "gmon.out"]);
    assert_eq!(main, [(hot.clone(), (3.0, 100)), (cold, (0.4, 0))].into());
    assert_eq!(json["statistics"]["more_samples_kernel"].as_u64(), Some(7));
    let (workers, _) = flat(&images, &directory, &["--thread=worker", "gmon.out"]);
    assert_eq!(workers, [(hot.clone(), (0.21, 11)), (leaf.clone(), (1.05, 105))].into());
    let (one, json) = flat(&images, &directory, &["--thread=13", "gmon.out"]);
    assert_eq!(one, [(hot, (0.01, 1)), (leaf, (0.05, 5))].into());
    assert_eq!(json["statistics"]["calls"].as_u64(), Some(6));
    let warned = text(&printed(&images, &directory, &["--thread=worker", "gmon.out"]).stderr);
    assert_eq!(
        warned,
        "gprof: warning: thread 'worker': 2 of 128 samples have no stack, and are left out of this report\n"
    );
}

#[test]
fn threads_that_had_the_same_number_are_listed_apart_and_reported_together() {
    let images = images("thread_numbers");
    let directory = directory("side_files_thread_numbers");
    write_with([12, 12, 13], &images, &directory.join("gmon.out"), true);
    let listed = text(&printed(&images, &directory, &["--threads", "gmon.out"]).stdout);
    let numbers: Vec<&str> = listed.lines().skip(4).filter_map(|line| line.split_whitespace().nth(4)).collect();
    assert_eq!(numbers, ["12", "12", "13"], "{listed}");
    let [hot, cold, leaf] = functions(&images);
    let (hot, cold, leaf) = (format!("0 {hot:#x}"), format!("0 {cold:#x}"), format!("1 {leaf:#x}"));
    let (found, _) = flat(&images, &directory, &["--thread=12", "gmon.out"]);
    assert_eq!(found, [(hot, (3.2, 110)), (cold, (0.4, 0)), (leaf, (1.0, 100))].into());
}

#[test]
fn a_thread_with_calls_has_bounds() {
    let images = images("thread_bounds");
    let directory = directory("side_files_thread_bounds");
    write(&images, &directory.join("gmon.out"), true);
    let bounds = |words: &[&str]| {
        let words = [&["--bounds", "--format=json"], words, &["gmon.out"]].concat();
        let json: serde_json::Value = serde_json::from_slice(&printed(&images, &directory, &words).stdout).unwrap();
        let rows = json["bounds"].as_array().unwrap().iter();
        rows.map(|row| row["upper"].as_f64().unwrap()).fold(0.0, f64::max)
    };
    let [all, main, worker] = [&[][..], &["--thread=main"][..], &["--thread=13"][..]].map(bounds);
    assert!(all > main && main > worker && worker > 0.0, "{all} {main} {worker}");
    write(&images, &directory.join("gmon.out"), false);
    let refused = refused(&images, &directory, &["--bounds", "--thread=main", "gmon.out"]);
    assert_eq!(refused, "gprof: no bounds: the profile has no samples or no calls");
}

#[test]
fn threads_without_calls() {
    let images = images("threads_no_calls");
    let directory = directory("side_files_threads_no_calls");
    write(&images, &directory.join("gmon.out"), false);
    let listed = text(&printed(&images, &directory, &["--threads", "gmon.out"]).stdout);
    let rows: Vec<Vec<&str>> = listed.lines().skip(4).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["72.65", "3.40", "1", "11", "main"], "{listed}");
    let json = printed(&images, &directory, &["--threads", "--format=json", "gmon.out"]).stdout;
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert!(json["threads"].as_array().unwrap().iter().all(|thread| thread["calls"].is_null()), "{json}");
    // The stacks show who called whom.
    let json = printed(&images, &directory, &["--thread=main", "-q", "--format=json", "gmon.out"]).stdout;
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let calls = json["call_graph"].as_array().unwrap().iter().flat_map(|entry| entry["below"].as_array().unwrap());
    let inclusive: Vec<f64> = calls.map(|below| below["self"].as_f64().unwrap()).collect();
    assert!(inclusive.contains(&3.0), "{json}");
}

#[test]
fn threads_that_cannot_be_reported() {
    let images = images("no_thread");
    let directory = directory("side_files_no_thread");
    let path = directory.join("gmon.out");
    write(&images, &path, false);
    let warned = text(&printed(&images, &directory, &["--thread=main", "gmon.out"]).stderr);
    let expected = "thread 'main': the side file has no calls by thread: this report has no calls";
    assert_eq!(warned, format!("gprof: warning: {expected}\n"));
    let say = |words: &[&str]| refused(&images, &directory, &[words, &["gmon.out"]].concat());
    let expected = "no call graph: the side file has no calls of the thread: leave out --thread, or --propagate and -l if \
                    the thread has stacks";
    for by_calls in ["--propagate", "-l"] {
        assert_eq!(say(&["--thread=main", "-q", by_calls]), format!("gprof: {expected}"));
    }
    let known = "11 main, 12 worker, 13 worker";
    assert_eq!(say(&["--thread=14"]), format!("gprof: no thread has the name or number '14': {known}"));
    for other in ["-s", "--compat=gnu", "-T"] {
        assert!(say(&["--thread=main", other]).contains("cannot be used together"), "{other}");
    }
    let profile = fs::read(&path).unwrap();
    let mut side = SideFile::new(gmon::Word::W64);
    side.set_profile(Some(gmon::side_file::Checksum::of(&profile)));
    fs::write(beside(&path, "side"), side.write()).unwrap();
    for words in ["--thread=main", "--threads"] {
        let expected = "gprof: no threads: the profile was not counted by thread; run the program with GMON_THREADS=1";
        assert_eq!(say(&[words]), expected);
    }
}
