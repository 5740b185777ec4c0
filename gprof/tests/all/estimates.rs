//! Calls that were estimated from windows: what reports say about them, and that nothing takes them for counted calls.
//! The program and its numbers are made up.

mod reports;
mod truth;

use std::path::Path;

use gmon::side_file::{EstimatedCalls, PROGRAM, Place, SideFile, THREAD, Thread, Windows};
use gprof::{Analysis, CallEstimate, CallsCounted, FunctionId};
use serde_json::Value;

use crate::on_demand::{ALL, RATE, Run, address, directory, with_analysis, written};

const SECOND: u64 = 1_000_000_000;

/// The number of windows with calls, the calls, and the variance.
type Row = (u64, u64, u128);

/// The calls of a function from all callers, and from each caller.
type Called = (&'static str, Row, Vec<(&'static str, Row)>);

/// A run whose calls were estimated.
#[derive(Clone, Debug)]
struct Estimated {
    run: Run,
    windows: Windows,
    called: Vec<Called>,
    /// Whether the side file has the stacks of the usual samples.
    has_stacks: bool,
}

fn square(number: u128) -> u128 {
    number * number
}

impl Estimated {
    /// The run of the goldens. `main` is called in no window.
    fn usual() -> Estimated {
        let all = vec![("", ALL.to_vec(), vec![])];
        let run = Run { counted: [].into(), calls: Vec::new(), ..Run::usual().selecting(all) };
        let windows = Windows { share: 10_000, number: 300, covered: 3 * SECOND + SECOND / 100, time: 300 * SECOND };
        let (parse, emit) = ((290, 1_234_567, square(20_000)), (3, 300, square(173)));
        let called = vec![
            ("driver", (40, 4000, square(620)), vec![("main", (40, 4000, square(620)))]),
            ("parse", (291, 1_239_567, square(20_100)), vec![("driver", parse), ("parse", (12, 5000, square(1400)))]),
            ("emit", emit, vec![("driver", emit)]),
            (
                "burn",
                (299, 6_200_000_000, square(7_000_000)),
                vec![
                    ("main", (10, 2_000_000, square(700_000))),
                    ("parse", (299, 6_197_000_000, square(6_900_000))),
                    ("emit", (3, 1_000_000, square(577_000))),
                ],
            ),
        ];
        Estimated { run, windows, called, has_stacks: false }
    }

    fn side(&self, profile: &[u8]) -> SideFile {
        let mut side = self.run.side(profile);
        side.set_windows(self.windows).unwrap();
        let place = |name: &str, more| Place { object: PROGRAM, address: address(name) + more };
        for (name, all, callers) in &self.called {
            let row = |caller: Option<&str>, (seen, calls, variance): Row| EstimatedCalls {
                callee: place(name, 4),
                caller: caller.map(|caller| place(caller, 8)),
                seen,
                calls,
                variance,
            };
            side.add_estimate(row(None, *all)).unwrap();
            callers.iter().for_each(|(caller, of)| side.add_estimate(row(Some(caller), *of)).unwrap());
        }
        if self.has_stacks {
            self.add_stacks(&mut side);
        }
        side
    }

    /// Adds the stacks of the usual samples.
    fn add_stacks(&self, side: &mut SideFile) {
        let place = |name: &str, more| Place { object: PROGRAM, address: address(name) + more };
        side.add_context(None, place("main", 0), 5).unwrap();
        let main = side.add_context(None, place("main", 8), 0).unwrap();
        side.add_context(Some(main), place("driver", 0), 20).unwrap();
        side.add_context(Some(main), place("burn", 0), 10).unwrap();
        let driver = side.add_context(Some(main), place("driver", 8), 0).unwrap();
        for (name, own, below) in [("parse", 60, 200), ("emit", 40, 90)] {
            side.add_context(Some(driver), place(name, 0), own).unwrap();
            let caller = side.add_context(Some(driver), place(name, 8), 0).unwrap();
            side.add_context(Some(caller), place("burn", 0), below).unwrap();
        }
        side.add_context(Some(driver), place("parse.cold", 0), 4).unwrap();
    }

    fn write(&self, directory: &Path, name: &str) {
        let profile = self.run.profile();
        self.run.write_with(directory, name, &profile, &self.side(&profile));
    }
}

fn id(analysis: &Analysis<'_>, name: &str) -> FunctionId {
    analysis.functions().find(|id| analysis.function(*id).symbol == name.as_bytes()).unwrap()
}

/// Reports as JSON.
fn json(directory: &Path, words: &str) -> Value {
    serde_json::from_str(&written(directory, &format!("--format=json {words}"))).unwrap()
}

/// Returns the record of a function in the flat profile, or in the call graph.
fn record<'a>(json: &'a Value, list: &str, name: &str) -> &'a Value {
    let functions = json["functions"].as_array().unwrap();
    let id = &functions.iter().find(|function| function["symbol"] == name).unwrap()["id"];
    json[list].as_array().unwrap().iter().find(|row| &row["function"] == id).unwrap()
}

/// Fails if the time of a call is not all samples divided by the estimate, if it is there although samples are of
/// other times, or if the time of called functions follows from estimates.
#[test]
fn times_of_calls_are_those_of_the_whole_run() {
    let directory = directory("estimates_times");
    Estimated::usual().write(&directory, "bins");
    Estimated { has_stacks: true, ..Estimated::usual() }.write(&directory, "stacks");
    Run { selections: None, ..Run::usual() }.write(&directory, "counted");
    let times = |profiles: &[&str], name: &str| {
        with_analysis(&directory, profiles, |analysis| {
            let id = id(analysis, name);
            let row = analysis.flat_rows().find(|row| row.function == id).unwrap();
            let samples = |time: f64| time / analysis.call_unit().factor * f64::from(RATE);
            let calls = row.estimate.map_or(0, |estimate| estimate.calls) as f64;
            assert_eq!(row.calls > 0, row.estimate.is_none() && profiles.len() > 1, "{name}");
            (row.self_per_call.map(|own| samples(own) * calls), row.total_per_call.map(|all| samples(all) * calls))
        })
    };
    let near = |found: Option<f64>, expected: f64| (found.unwrap() - expected).abs() < 1e-6;
    let (own, all) = times(&["bins"], "parse");
    assert!(near(own, 60.0) && all.is_none(), "{own:?} {all:?}");
    let (own, all) = times(&["stacks"], "parse");
    assert!(near(own, 60.0) && near(all, 260.0), "{own:?} {all:?}");
    assert_eq!(times(&["bins"], "main"), (None, None), "not seen");
    // The runs of both kinds have samples, and no number of calls is that of all runs.
    assert_eq!(times(&["bins", "counted"], "parse"), (None, None));
}

/// Fails if the samples of CPU time without windows are divided by estimates.
#[test]
fn estimates_of_a_part_of_the_time_leave_no_times_of_calls() {
    let directory = directory("estimates_part");
    let run = Estimated::usual();
    let profile = run.run.profile();
    for (name, cpu, has_times) in [("whole", 310, true), ("part", 330, false)] {
        let mut side = run.side(&profile);
        side.add_property(gmon::side_file::property::CPU, (cpu * SECOND).to_string().as_bytes()).unwrap();
        run.run.write_with(&directory, name, &profile, &side);
        with_analysis(&directory, &[name], |analysis| {
            assert_eq!(analysis.flat_rows().any(|row| row.self_per_call.is_some()), has_times, "{name}");
            assert_eq!(analysis.call_windows().unwrap().are_of_all_samples, has_times, "{name}");
        });
    }
}

/// Fails if an estimate is added to counted calls, if it hides them, or if an estimate of one run hides that another
/// run counted calls.
#[test]
fn estimates_and_counts_are_never_added() {
    let directory = directory("estimates_counts");
    Estimated::usual().write(&directory, "estimated");
    Run { selections: None, ..Run::usual() }.write(&directory, "counted");
    with_analysis(&directory, &["estimated", "counted"], |analysis| {
        for row in analysis.flat_rows() {
            let name = String::from_utf8_lossy(analysis.function(row.function).symbol).into_owned();
            let counted = [("driver", 4), ("parse", 100), ("emit", 36), ("burn", 1400)];
            let expected = counted.iter().find(|(known, _)| *known == name).map_or(0, |(_, calls)| *calls);
            assert_eq!(row.calls, expected, "{name}");
            assert_eq!(row.estimate.is_some(), expected == 0 && name == "main", "{name}");
        }
    });
    let text = written(&directory, "-p @program @estimated @counted");
    let note = "Some of the runs counted all calls the whole time. Calls are estimates from 300 windows, 3.01 s of \
                300.00 s of CPU time (95 % intervals). Estimates have no calls of the runs that counted them.";
    assert!(text.contains(note), "{text}");
    let twice = json(&directory, "-p @program @estimated @estimated");
    let parse = record(&twice, "flat_profile", "parse");
    assert_eq!((&parse["calls_estimate"], &parse["calls"]), (&(2 * 1_234_567).into(), &Value::Null));
    assert_eq!(twice["calls_estimated"]["windows"], 600);
}

/// Fails if a function that was to be estimated and was called in no window has 0 calls, if its times pass for those
/// of a counted function, or if a function that was not selected passes for one that was not seen.
#[test]
fn functions_that_no_window_saw_have_no_number() {
    let directory = directory("estimates_unseen");
    let some = vec![("*r*", vec!["driver", "parse", "burn"], vec![])];
    let mut run = Estimated::usual();
    run.run = run.run.selecting(some);
    run.called.remove(1);
    run.called.remove(1);
    run.write(&directory, "some");
    with_analysis(&directory, &["some"], |analysis| {
        let of = |name: &str| {
            let id = id(analysis, name);
            (analysis.call_estimate(id).map(|estimate| (estimate.calls, estimate.seen)), analysis.calls_counted(id))
        };
        use CallsCounted::{Estimated, Never};
        assert_eq!(of("parse"), (Some((0, 0)), Estimated));
        assert_eq!(of("burn"), (Some((6_200_000_000, 299)), Estimated));
        assert_eq!([of("emit"), of("main")], [(None, Never); 2]);
        assert_eq!(analysis.call_windows().unwrap().patterns, ["*r*"]);
    });
    let json = json(&directory, "-p @program @some");
    let parse = record(&json, "flat_profile", "parse");
    assert_eq!([&parse["calls"], &parse["calls_estimate"], &parse["self_per_call"]], [&Value::Null; 3]);
    assert_eq!((&parse["calls_seen_in_windows"], &parse["calls_counted"]), (&0.into(), &"estimated".into()));
    let emit = record(&json, "flat_profile", "emit");
    assert_eq!((&emit["calls"], &emit["calls_seen_in_windows"]), (&0.into(), &Value::Null));
}

/// Fails if fewer windows than five make an interval, or if the interval is not in the report.
#[test]
fn five_windows_make_an_interval() {
    let directory = directory("estimates_five");
    let mut run = Estimated::usual();
    run.called = vec![("driver", (4, 400, square(200)), vec![]), ("parse", (5, 400, square(200)), vec![])];
    run.write(&directory, "run");
    with_analysis(&directory, &["run"], |analysis| {
        let of = |name: &str| analysis.call_estimate(id(analysis, name)).unwrap();
        assert!(matches!(of("driver"), CallEstimate { calls: 400, interval: None, seen: 4, windows: 300, .. }));
        // Four degrees of freedom: the upper end is exp(2.776 / 2) times 400. Five windows had a call each.
        assert_eq!(of("parse").interval, Some((5, 1603)));
    });
    let text = written(&directory, "-b -p @program @run");
    assert!(text.contains(" seen in 4/300 ") && text.contains(" ~400 ±301 % "), "{text}");
}

/// Fails if estimates of all threads pass for those of one.
#[test]
fn the_report_of_a_thread_has_no_estimates() {
    let directory = directory("estimates_thread");
    let run = Estimated::usual();
    let profile = run.run.profile();
    let mut side = run.side(&profile);
    side.add_thread(Thread::new(1, b"worker"));
    let top = side.add_context(None, Place { object: THREAD, address: 0 }, 0).unwrap();
    side.add_context(Some(top), Place { object: PROGRAM, address: address("burn") }, 50).unwrap();
    run.run.write_with(&directory, "run", &profile, &side);
    let text = written(&directory, "-p --thread=worker @program @run");
    assert!(text.contains("Calls were estimated for all threads together, so this report has no estimates."), "{text}");
    assert!(!text.contains('~') && !text.contains("seen"), "{text}");
    let json = json(&directory, "-p --thread=worker @program @run");
    assert_eq!(json["flat_profile"][0]["calls_estimate"], Value::Null);
    assert_eq!(json["calls_estimated"]["are_left_out"], true);
}

/// Fails if GNU's reports, or those of the BSDs, have estimates.
#[test]
fn other_gprofs_know_nothing_of_it() {
    let (estimated, none) = (directory("estimates_others"), directory("estimates_none"));
    Estimated::usual().write(&estimated, "run");
    let run = Estimated::usual().run;
    Run { selections: None, ..run }.write(&none, "run");
    for words in ["--compat=gnu", "--compat=gnu -T -b", "--bsd=freebsd", "--bsd=openbsd"] {
        let of = |directory: &Path| written(directory, &format!("{words} @program @run"));
        assert_eq!(of(&estimated), of(&none), "{words}");
    }
}
