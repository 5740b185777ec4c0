//! With `GMON_THREADS=1`, the side file has the calls of each thread, and their sums are the calls of the process.

use std::collections::BTreeMap;
use std::path::Path;

use gmon::Profile;
use gmon::side_file::{Calls, ELSEWHERE, PROGRAM, Place, SideFile, Thread};

use crate::contexts::side_file;
use crate::support::{Program, Symbols, quiet, read, root, tool};

/// Counts by the name of a thread and a function.
type Counts = BTreeMap<(String, String), u64>;

fn build(test: &str, flags: &[&str]) -> Program {
    Program::compile(&format!("by-thread-{test}"), "by_thread.c", &[&["-O1"], flags].concat())
}

/// Runs the program with threads told apart, and returns its output.
fn run(program: &Program, words: &[&str], variables: &[(&str, &str)]) -> String {
    let mut command = program.command(words);
    command.env("GMON_THREADS", "1").env("GMON_SAMPLER", "timer").envs(variables.iter().copied());
    quiet(&command.output().unwrap())
}

/// The lines of an output that begin with a word: the other words, and the number at the end.
fn printed(output: &str, first: &str) -> Counts {
    let mut counts = Counts::new();
    for line in output.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        if let [word, middle @ .., number] = &words[..]
            && *word == first
        {
            let key = (middle[0].to_owned(), middle.last().unwrap().to_string());
            *counts.entry(key).or_default() += number.parse::<u64>().unwrap();
        }
    }
    counts
}

/// The calls of one thread of a side file.
fn calls_of(side: &SideFile, thread: usize) -> impl Iterator<Item = (Place, Place, u64)> {
    let of_thread = side.calls().iter().filter(move |calls| calls.thread() == Some(thread));
    of_thread.flat_map(Calls::calls).map(|call| (call.caller, call.callee, call.count))
}

fn name(thread: &Thread) -> String {
    String::from_utf8(thread.name.clone()).unwrap()
}

/// The calls of each function by the threads of each name.
fn by_name(program: &Program, side: &SideFile) -> Counts {
    let symbols: BTreeMap<u32, Symbols> = side
        .objects()
        .filter(|(_, object)| String::from_utf8_lossy(&object.path).contains("/plug"))
        .map(|(number, object)| (number, Symbols::of(Path::new(&*String::from_utf8_lossy(&object.path)))))
        .collect();
    let mut counts = Counts::new();
    for (index, thread) in side.threads().iter().enumerate() {
        for (_, Place { object, address }, count) in calls_of(side, index) {
            let symbols = if object == PROGRAM { Some(program.symbols()) } else { symbols.get(&object) };
            let function = symbols.map_or("?", |symbols| symbols.function(address));
            *counts.entry((name(thread), function.to_owned())).or_default() += count;
        }
    }
    counts
}

/// Checks that the calls of all threads together are those of the profile and those that the side file has for the
/// process.
fn check_sums(profile: &Profile, side: &SideFile) {
    let (mut own, mut outside) = (BTreeMap::new(), BTreeMap::new());
    for (index, thread) in side.threads().iter().enumerate() {
        let mut sum = 0;
        for (caller, callee, count) in calls_of(side, index) {
            sum += count;
            if callee.object == PROGRAM {
                let frompc = if caller.object == PROGRAM { caller.address } else { 0 };
                *own.entry((frompc, callee.address)).or_insert(0) += count;
            }
            if (caller.object, callee.object) != (PROGRAM, PROGRAM) && caller.object != ELSEWHERE {
                *outside.entry((caller, callee)).or_insert(0) += count;
            }
        }
        assert_eq!(thread.calls, sum, "{thread:?}");
    }
    let mut of_profile = BTreeMap::new();
    for arc in profile.arcs().iter().filter(|arc| arc.count > 0) {
        // In a live profile, calls from outside have an address outside.
        let from_program = side.program().unwrap().code.contains(&arc.frompc);
        *of_profile.entry((if from_program { arc.frompc } else { 0 }, arc.selfpc)).or_insert(0) += arc.count;
    }
    assert_eq!(own, of_profile);
    let of_process = side.calls().iter().filter(|calls| calls.thread().is_none()).flat_map(Calls::calls);
    let mut expected = BTreeMap::new();
    for call in of_process.filter(|call| call.caller.object != ELSEWHERE) {
        *expected.entry((call.caller, call.callee)).or_insert(0) += call.count;
    }
    assert_eq!(outside, expected);
    let ticks: u64 = side.threads().iter().map(|thread| thread.ticks).sum();
    let unwalked: u64 = side.unwalked().map(|(_, ticks)| ticks).sum();
    let stacks = side.contexts().total();
    assert!((stacks..=stacks + unwalked).contains(&ticks), "{ticks}: every tick with a stack is a thread's");
}

/// Reads and checks what a process left.
fn read_checked(directory: &Path, name: &str) -> SideFile {
    let side = side_file(&directory.join(format!("{name}.side")));
    check_sums(&read(&directory.join(name)), &side);
    side
}

/// Checks the counts that the program printed.
fn check_printed(program: &Program, side: &SideFile, output: &str) {
    let (found, expected) = (by_name(program, side), printed(output, "calls"));
    assert!(!expected.is_empty());
    for (of, count) in expected {
        assert_eq!(found.get(&of).copied().unwrap_or(0), count, "{of:?} of {found:#?}");
    }
}

#[test]
fn threads_have_their_own_calls() {
    for (test, words, live) in
        [("named", &["named"][..], "0"), ("dump", &["named", "dump"], "0"), ("live", &["named"], "1")]
    {
        let program = build(test, &[]);
        let output = run(&program, words, &[("GMON_LIVE", live)]);
        let side = read_checked(&program.directory, "gmon.out");
        check_printed(&program, &side, &output);
        let names: Vec<String> = side.threads().iter().map(name).collect();
        for expected in ["program", "first", "second", "third", "fourth"] {
            assert_eq!(names.iter().filter(|name| *name == expected).count(), 1, "{names:?}");
        }
        assert!(side.threads().iter().all(|thread| thread.threads == 1 && thread.number > 0));
    }
}

/// The calls of functions in a report of gprof, which reads the program and its profile with these options.
fn reported(program: &Program, options: &[&str]) -> BTreeMap<String, u64> {
    let words = [options, &["--format=json", "program", "gmon.out"]].concat();
    let output = gmon_tests::read(gmon_tests::gprof(), &program.directory, &words);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let names: BTreeMap<u64, &str> = json["functions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|function| (function["id"].as_u64().unwrap(), function["name"].as_str().unwrap()))
        .collect();
    let rows = json["flat_profile"].as_array().unwrap().iter();
    rows.filter_map(|row| Some((names[&row["function"].as_u64()?].to_owned(), row["calls"].as_u64()?))).collect()
}

#[test]
fn gprof_reports_the_calls_of_one_thread() {
    let program = build("reported", &[]);
    let output = run(&program, &["named"], &[]);
    let expected = printed(&output, "calls");
    for thread in ["first", "second", "third", "fourth"] {
        let found = reported(&program, &["-p", &format!("--thread={thread}")]);
        for function in ["alpha", "beta", "leaf"] {
            let calls = expected[&(thread.to_owned(), function.to_owned())];
            assert_eq!(found.get(function).copied().unwrap_or(0), calls, "{function} of {thread}");
        }
    }
    let all = reported(&program, &["-p"]);
    let sum: u64 = expected.iter().filter(|((_, function), _)| function == "leaf").map(|(_, calls)| calls).sum();
    assert_eq!(all["leaf"], sum);
    // A report about one thread names its callers.
    let words = ["-q", "-b", "--propagate", "--thread=second", "program", "gmon.out"];
    let graph = gmon_tests::read(gmon_tests::gprof(), &program.directory, &words).stdout;
    let graph = String::from_utf8(graph).unwrap();
    assert!(graph.lines().any(|line| line.contains("333/333") && line.contains("follow")), "{graph}");
}

#[test]
fn many_threads_are_summed_by_name() {
    let program = build("many", &[]);
    let output = run(&program, &["many", "10000"], &[]);
    let side = read_checked(&program.directory, "gmon.out");
    check_printed(&program, &side, &output);
    let sent = printed(&output, "sent");
    for (color, _) in sent.keys() {
        let of_name = || side.threads().iter().filter(|thread| name(thread) == *color);
        let ticks: u64 = of_name().map(|thread| thread.ticks).sum();
        assert!(ticks >= sent[&(color.clone(), color.clone())], "{color}: {ticks}");
        let summed: Vec<&Thread> = of_name().filter(|thread| thread.number == 0).collect();
        let [summed] = summed[..] else { panic!("{color}: {summed:?}") };
        assert!(summed.threads > 1800 && summed.calls > 0, "{summed:?}");
        assert_eq!(of_name().map(|thread| thread.threads).sum::<u64>(), sent[&(color.clone(), color.clone())]);
    }
    assert!(side.threads().len() <= 4096 + 4, "{}", side.threads().len());
}

#[test]
fn the_last_name_of_a_thread_counts() {
    let program = build("rename", &[]);
    run(&program, &["rename"], &[]);
    let side = read_checked(&program.directory, "gmon.out");
    let found = by_name(&program, &side);
    let of = |thread: &str, function: &str| found.get(&(thread.to_owned(), function.to_owned())).copied();
    assert_eq!((of("second-name", "alpha"), of("second-name", "beta")), (Some(3), Some(2)), "{found:#?}");
    assert_eq!((of("late", "alpha"), of("late", "renamed_at_last")), (Some(1), Some(1)), "{found:#?}");
    assert!(!found.keys().any(|(thread, _)| ["first-name", "early"].contains(&thread.as_str())), "{found:#?}");
}

#[test]
fn a_thread_with_the_number_of_an_ended_thread_is_another_thread() {
    let program = build("reuse", &[]);
    let output = program.command(&["reuse", "20"]).env("GMON_THREADS", "1").output().unwrap();
    if output.status.code() == Some(77) {
        println!("SKIPPED: this user may not choose the numbers of threads");
        return;
    }
    let output = quiet(&output);
    let side = read_checked(&program.directory, "gmon.program.1.out");
    let mut expected = Vec::new();
    for line in output.lines().filter(|line| line.starts_with("number ")) {
        let words: Vec<&str> = line.split(' ').collect();
        expected.push((words[1].parse::<u64>().unwrap(), words[3].parse::<u64>().unwrap() + 1));
    }
    let mut found: Vec<_> = side.threads().iter().map(|thread| (thread.number, thread.calls)).collect();
    found.retain(|(number, _)| *number != 1);
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
    assert_eq!(found.iter().filter(|(number, _)| *number == 100).count(), 20);
}

#[test]
fn a_forked_child_has_its_own_threads() {
    let program = build("fork", &[]);
    let output = run(&program, &["fork"], &[]);
    let side = read_checked(&program.directory, "gmon.out");
    check_printed(&program, &side, &output);
    assert_eq!(side.threads().len(), 2);
    let child = output.lines().find_map(|line| line.strip_prefix("child ")).unwrap();
    let side = read_checked(&program.directory, &format!("gmon.program.{child}.out"));
    let [thread] = side.threads() else { panic!("{:?}", side.threads()) };
    assert_eq!((thread.number.to_string().as_str(), name(thread).as_str()), (child, "program"));
    let found = by_name(&program, &side);
    assert_eq!(found[&("program".to_owned(), "beta".to_owned())], 6);
    assert!(!found.contains_key(&("program".to_owned(), "alpha".to_owned())), "{found:?}");
}

#[test]
fn threads_have_their_calls_in_objects_that_they_close() {
    for (test, live) in [("objects", "0"), ("objects-live", "1")] {
        let program = build(test, &["-ldl"]);
        for plug in 0..2 {
            let object = program.directory.join(format!("plug{plug}.so"));
            let source = root().join("tests/programs/plug.c");
            tool("cc", &["-pg", "-fPIC", "-shared", "-o", object.to_str().unwrap(), source.to_str().unwrap()]);
        }
        let output = run(&program, &["objects"], &[("GMON_LIVE", live)]);
        let side = read_checked(&program.directory, "gmon.out");
        if live == "0" {
            check_printed(&program, &side, &output);
        } else {
            // The names of threads that take the tables of others may not be seen.
            let sum = |counts: Counts, function: &str| -> u64 {
                counts.iter().filter(|((_, of), _)| of == function).map(|(_, count)| count).sum()
            };
            for function in ["serve", "stride", "back"] {
                assert_eq!(sum(by_name(&program, &side), function), sum(printed(&output, "calls"), function));
            }
        }
    }
}
