//! What reports say about calls that were counted on demand.

use super::{Run, assert_golden, directory, with_analysis, written};
use gprof::{BoundsDoubt, Certainty, Options};

/// The sentence of the usual run.
const NOTE: &str = "Calls were counted during 10.00 s of 63.00 s.";

/// Compares the reports with a golden. Each command line stands above its report.
#[test]
fn goldens() {
    let directory = directory("goldens");
    Run::usual().write(&directory, "all");
    let functions = vec!["parse", "burn"];
    Run::usual().selecting(vec![("*r*", functions, vec![(2, 8), (20, 23)])]).write(&directory, "some");
    let many = (0..14).map(|at| (2 * at, 2 * at + 1)).collect();
    Run::usual().selecting(vec![("*r*", vec!["burn"], many)]).write(&directory, "many");
    let command_lines = [
        "-b @program @all",
        "-b --table -p @program @some",
        "-b -p -T @program @some",
        "-b --bounds @program @some",
        "-i @many",
        "-i @program @all @some",
        "--format=json -p @program @some",
        "--format=csv @program @all",
        "--format=callgrind @program @all",
        "-b --base=@all @program @some",
    ];
    assert_golden(&directory, "side/on-demand.txt", &command_lines);
}

/// Fails if the table of a side file lacks the intervals.
#[test]
fn the_table_of_a_side_file_has_the_intervals() {
    let directory = directory("table");
    Run::usual().write(&directory, "run");
    let table = written(&directory, "-i --table -w 200 @program @run");
    assert!(table.contains("calls on demand ┆ during 10.00 s of 63.00 s "), "{table}");
    assert!(table.contains(" ┆ from 20.00 s for 3.00 s: all functions (5 functions) "), "{table}");
}

/// Fails if an output that shows calls, or times that follow from calls, does not say for how long calls were counted.
#[test]
fn every_output_with_calls_says_how_long_they_were_counted() {
    let directory = directory("outputs");
    Run::usual().write(&directory, "run");
    for words in [
        "",
        "-p",
        "-q",
        "--table -p",
        "--table -q",
        "-T",
        "--format=csv",
        "--format=html",
        "--format=callgrind",
        "--format=dot",
        "--format=svg",
        "--format=flame",
    ] {
        let text = written(&directory, &format!("{words} @program @run"));
        assert!(text.contains(NOTE), "{words}: {text}");
    }
    // A header is no place for warnings about a report that is as good as others.
    assert!(!written(&directory, "@program @run").contains("warning"));
    for words in ["", "--table", "--format=html", "--format=csv"] {
        let text = written(&directory, &format!("--base=@run {words} @program @run"));
        assert!(text.contains(&format!("Base: {NOTE}")) && text.contains(&format!("Now: {NOTE}")), "{words}: {text}");
    }
    let json = written(&directory, "--base=@run --format=json @program @run");
    assert_eq!(json.matches("calls_on_demand\":{\"time\":10,\"elapsed\":63,").count(), 2, "{json}");
}

/// Fails if the columns of times of one call are not explained, or if they are explained where they have their usual
/// meaning.
#[test]
fn the_times_of_calls_are_explained() {
    let directory = directory("explained");
    Run::usual().write(&directory, "some");
    Run::usual().whole().write(&directory, "whole");
    for format in ["", "--table"] {
        let has = |name: &str, words: &str| {
            let text = written(&directory, &format!("-p {format} {words} @program @{name}"));
            text.contains("The average total time is not known.")
        };
        assert_eq!((has("some", ""), has("some", "-b"), has("whole", "")), (true, false, false), "{format}");
    }
}

/// Fails if the call graph claims that estimates from a part of the calls are as good as others.
#[test]
fn estimates_say_from_which_calls_they_come() {
    let directory = directory("estimates");
    Run::usual().write(&directory, "run");
    let estimate = format!("{NOTE} Times of called functions are estimates from these calls only.");
    for (words, says) in [("-q", true), ("-p", false), ("--format=html", true), ("--format=callgrind", true)] {
        assert_eq!(written(&directory, &format!("{words} @program @run")).contains(&estimate), says, "{words}");
    }
    let page = written(&directory, "--format=html @program @run");
    assert!(page.contains("others may have led to it") && !page.contains("The time of a frame is certain"));
    assert!(!written(&directory, "--format=flame @program @run").contains("only one path of calls leads"));
}

/// Fails if a frame is called certain, or a bound said to hold, although calls are missing.
#[test]
fn nothing_that_follows_from_all_calls_is_certain() {
    let directory = directory("certain");
    Run::usual().write(&directory, "some");
    Run::usual().whole().write(&directory, "whole");
    let certain = |name: &str| {
        with_analysis(&directory, &[name], |analysis| {
            let frames = [analysis.flame(), analysis.dominators()]
                .map(|flame| flame.frames.iter().skip(1).filter(|frame| frame.certainty == Certainty::Certain).count());
            (frames.map(|number| number > 0), analysis.flame().frames.iter().any(|frame| frame.bounds.is_some()))
        })
    };
    assert_eq!(certain("some"), ([false; 2], false));
    assert_eq!(certain("whole").0, [true; 2]);
    let doubts = |name: &str| {
        let options = Options::new(directory.join("program"), [directory.join(name)]).bounds(true);
        let loaded = gprof::load(&options, &mut std::io::sink()).unwrap();
        let analysis = gprof::analyze(&loaded, &options, &mut std::io::sink()).unwrap();
        analysis.bounds().unwrap().doubts.contains(&BoundsDoubt::CallsOnDemand)
    };
    assert_eq!((doubts("some"), doubts("whole")), (true, false));
}

/// Fails if a program that can count calls is said to have been compiled without counters.
#[test]
fn calls_that_nobody_demanded_are_not_missing_for_another_reason() {
    let directory = directory("nobody");
    let run = Run { calls: Vec::new(), ..Run::usual().selecting(Vec::new()) };
    let profile = run.profile();
    let mut side = run.side(&profile);
    let place = gmon::side_file::Place { object: gmon::side_file::PROGRAM, address: super::address("burn") };
    side.add_context(None, place, 300).unwrap();
    run.write_with(&directory, "run", &profile, &side);
    let text = written(&directory, "-p @program @run");
    assert!(text.contains("Calls were counted during 0.00 s of 63.00 s.") && !text.contains("-pg"), "{text}");
}
