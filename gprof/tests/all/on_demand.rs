//! Calls that were counted on demand: what reports say about them, and that no number divides the samples of the whole
//! run by calls of a part of it. The program and its counts are made up.

mod reports;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::io::sink;
use std::path::{Path, PathBuf};

use gmon::side_file::{Checksum, Kind, Object, PROGRAM, Place, Selection, SideFile, Thread, property};
use gmon::{Arc, DataModel, Encoding, Form, Histogram, Order, Profile, Unit, Word};
use gprof::internals::Symbol;
use gprof::{Analysis, CallsCounted, Options, Terminal};
use proptest::prelude::*;

use crate::common::{LOW, Table, image};
use crate::knots::DATA;

/// The functions of the program, each of [`SIZE`] bytes. GNU gprof gives no time to the last function.
const NAMES: [&str; 8] = ["main", "driver", "parse", "parse.cold", "parse.isra.0", "emit", "burn", "unused"];
pub(crate) const SIZE: u64 = 64;
pub(crate) const BIN: u64 = 4;
pub(crate) const RATE: u32 = 100;
const SECOND: u64 = 1_000_000_000;

/// The first address of a function.
pub(crate) fn address(name: &str) -> u64 {
    LOW + SIZE * NAMES.iter().position(|known| *known == name).unwrap() as u64
}

pub(crate) fn program() -> Vec<u8> {
    let symbol = |name: &&'static str| Symbol {
        address: address(name),
        name: name.as_bytes(),
        is_static: *name == "emit",
        is_func: true,
    };
    let symbols = NAMES.iter().map(symbol).collect();
    image(&Table { symbols, end: LOW + SIZE * NAMES.len() as u64 })
}

/// A pattern, functions, and intervals in seconds.
pub(crate) type Selected = (&'static str, Vec<&'static str>, Vec<(u64, u64)>);

/// What a run counted: the samples of each function, and calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct Run {
    pub(crate) samples: BTreeMap<&'static str, u64>,
    /// The samples while calls were counted.
    pub(crate) counted: BTreeMap<&'static str, u64>,
    pub(crate) calls: Vec<(&'static str, &'static str, u64)>,
    /// Seconds.
    pub(crate) elapsed: u64,
    pub(crate) selections: Option<Vec<Selected>>,
}

impl Run {
    /// The run of the goldens: 63.2 seconds would be too long for its samples, but nobody compares them.
    pub(crate) fn usual() -> Run {
        Run {
            samples: [("main", 5), ("driver", 20), ("parse", 60), ("parse.cold", 4), ("emit", 40), ("burn", 300)]
                .into(),
            counted: [("main", 1), ("driver", 4), ("parse", 10), ("parse.cold", 2), ("burn", 60)].into(),
            calls: vec![
                ("main", "driver", 4),
                ("driver", "parse", 100),
                ("driver", "emit", 36),
                ("parse", "burn", 1000),
                ("emit", "burn", 360),
                ("main", "burn", 40),
            ],
            elapsed: 63,
            selections: Some(vec![("", ALL.to_vec(), vec![(2, 8), (20, 23), (40, 41)])]),
        }
    }

    /// The same run, with calls that were counted during the whole time.
    fn whole(self) -> Run {
        let all = vec![("", ALL.to_vec(), vec![(0, self.elapsed)])];
        Run { counted: self.samples.clone(), selections: Some(all), ..self }
    }

    pub(crate) fn selecting(self, selections: Vec<Selected>) -> Run {
        Run { selections: Some(selections), ..self }
    }

    pub(crate) fn profile(&self) -> Vec<u8> {
        let mut bins = vec![0_u64; (SIZE / BIN) as usize * NAMES.len()];
        for (name, ticks) in &self.samples {
            bins[((address(name) - LOW) / BIN) as usize] += ticks;
        }
        let histogram = Histogram::new(LOW..LOW + SIZE * NAMES.len() as u64, Unit::seconds(RATE), bins).unwrap();
        let arc = |(from, to, count): &(&str, &str, u64)| Arc::new(address(from) + 8, address(to) + 4, *count);
        let profile = Profile::of_samples([histogram]).unwrap().with_arcs(self.calls.iter().map(arc));
        gmon::write(&profile, Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little)).unwrap()
    }

    pub(crate) fn side(&self, profile: &[u8]) -> SideFile {
        let mut side = SideFile::new(Word::W64);
        side.set_profile(Some(Checksum::of(profile)));
        side.add_property(property::RATE, RATE.to_string().as_bytes()).unwrap();
        side.add_property(property::ELAPSED, (self.elapsed * SECOND).to_string().as_bytes()).unwrap();
        let mut object = Object::new(Kind::Program, b"");
        object.code = LOW..LOW + SIZE * NAMES.len() as u64;
        side.add_object(PROGRAM, object).unwrap();
        for (pattern, functions, intervals) in self.selections.iter().flatten() {
            let place = |name: &&str| Place { object: PROGRAM, address: address(name) + 4 };
            let intervals = intervals.iter().map(|(begin, end)| begin * SECOND..end * SECOND).collect();
            let functions = functions.iter().map(place).collect();
            side.add_selection(Selection::new(pattern.as_bytes(), functions, intervals)).unwrap();
        }
        if self.selections.is_some() {
            side.set_on_demand();
            for (name, ticks) in &self.counted {
                side.add_counted_samples(None, PROGRAM, BIN, address(name) / BIN, *ticks).unwrap();
            }
        }
        side
    }

    pub(crate) fn write(&self, directory: &Path, name: &str) {
        let profile = self.profile();
        self.write_with(directory, name, &profile, &self.side(&profile));
    }

    pub(crate) fn write_with(&self, directory: &Path, name: &str, profile: &[u8], side: &SideFile) {
        fs::write(directory.join(name), profile).unwrap();
        fs::write(directory.join(format!("{name}.side")), side.write()).unwrap();
    }
}

/// The functions that can be called.
pub(crate) const ALL: [&str; 5] = ["main", "driver", "parse", "emit", "burn"];

/// Makes a directory with the program.
pub(crate) fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("on_demand_{name}"));
    if directory.exists() {
        fs::remove_dir_all(&directory).unwrap();
    }
    fs::create_dir(&directory).unwrap();
    fs::write(directory.join("program"), program()).unwrap();
    directory
}

/// What gprof writes, or why it writes nothing. Words that begin with `@` are the names of files in the directory.
pub(crate) fn written(directory: &Path, words: &str) -> String {
    let prefix = format!("{}/", directory.display());
    let words = words.split_whitespace().map(|word| word.replace('@', &prefix));
    let (mut out, mut warnings) = (Vec::new(), Vec::new());
    let words: Vec<String> = std::iter::once("gprof".to_owned()).chain(words).collect();
    let result = gprof::run(words.iter().map(Into::into), &mut out, &mut warnings, &Terminal::default());
    let error = result.err().map(|error| format!("error: {error}")).unwrap_or_default();
    format!("{}{error}", String::from_utf8_lossy(&out)).replace(&prefix, "")
}

/// Compares the reports of these command lines with a golden. Each command line stands above its report.
pub(crate) fn assert_golden(directory: &Path, golden: &str, command_lines: &[&str]) {
    let mut text = String::new();
    for words in command_lines {
        let report = written(directory, words);
        let lines = report.lines().filter(|line| !line.starts_with("creator: "));
        let lines: String = lines.map(|line| format!("{line}\n")).collect();
        write!(text, "$ gprof {}\n{lines}\n", words.replace('@', "")).unwrap();
    }
    let path = Path::new(DATA).join(golden);
    if std::env::var_os("GOLDENS").is_some_and(|what| what == "write") {
        fs::write(&path, &text).unwrap();
    }
    assert_eq!(text, fs::read_to_string(path).unwrap());
}

/// Analyzes the program with profiles in a directory.
pub(crate) fn with_analysis<T>(directory: &Path, profiles: &[&str], check: impl FnOnce(&Analysis<'_>) -> T) -> T {
    let options = Options::new(directory.join("program"), profiles.iter().map(|name| directory.join(name)));
    let loaded = gprof::load(&options, &mut sink()).unwrap();
    check(&gprof::analyze(&loaded, &options, &mut sink()).unwrap())
}

/// The calls, and the times of one call in samples, of each function.
type Rows = BTreeMap<String, (u64, Option<f64>, Option<f64>)>;

fn rows(analysis: &Analysis<'_>) -> Rows {
    let samples = |time: f64| time / analysis.call_unit().factor * f64::from(RATE);
    let row = |row: gprof::FlatRow<'_>| {
        let name = String::from_utf8(analysis.function(row.function).symbol.to_vec()).unwrap();
        (name, (row.calls, row.self_per_call.map(samples), row.total_per_call.map(samples)))
    };
    analysis.flat_rows().map(row).collect()
}

/// When the calls of each function were counted.
fn counted(analysis: &Analysis<'_>) -> Vec<CallsCounted> {
    let ids: Vec<_> = analysis.functions().collect();
    ALL.map(|name| {
        let id = ids.iter().find(|id| analysis.function(**id).symbol == name.as_bytes()).unwrap();
        analysis.calls_counted(*id)
    })
    .into()
}

/// Fails if a time of one call is made of samples of the whole run, or if a function that was not counted in all
/// intervals has a time of one call.
#[test]
fn times_of_calls_are_those_of_the_intervals() {
    let directory = directory("times");
    Run::usual().write(&directory, "all");
    with_analysis(&directory, &["all"], |analysis| {
        let rows = rows(analysis);
        let near = |found: Option<f64>, expected: f64| (found.unwrap() - expected).abs() < 1e-9;
        assert!(near(rows["driver"].1, 4.0 / 4.0), "{rows:?}");
        assert!(near(rows["parse"].1, 10.0 / 100.0), "{rows:?}");
        assert!(near(rows["burn"].1, 60.0 / 1400.0), "{rows:?}");
        assert!(near(rows["emit"].1, 0.0), "called, but not sampled while calls were counted: {rows:?}");
        assert_eq!(rows["main"], (0, None, None), "not called");
        assert!(rows.values().all(|row| row.2.is_none()), "{rows:?}");
        let calls = analysis.calls_on_demand().unwrap();
        assert_eq!((calls.time, calls.elapsed, calls.is_whole), (10.0, Some(63.0), false));
        assert_eq!(counted(analysis), [CallsCounted::InAllIntervals; 5]);
    });
    let two = vec![("parse*", vec!["parse", "burn"], vec![(2, 8)]), ("d*", vec!["driver", "burn"], vec![(20, 23)])];
    Run::usual().selecting(two).write(&directory, "two");
    with_analysis(&directory, &["two"], |analysis| {
        use CallsCounted::{InAllIntervals, InSomeIntervals, Never};
        assert_eq!(counted(analysis), [Never, InSomeIntervals, InSomeIntervals, Never, InAllIntervals]);
        let rows = rows(analysis);
        let with_times: Vec<&String> = rows.iter().filter(|(_, row)| row.1.is_some()).map(|(name, _)| name).collect();
        assert_eq!(with_times, ["burn"]);
        assert_eq!((rows["driver"].0, rows["emit"].0), (4, 36), "the calls are in the report");
        assert_eq!(analysis.calls_on_demand().unwrap().patterns, ["d*", "parse*"]);
    });
}

/// Fails if the unit of the times of calls follows from samples of the whole run.
#[test]
fn the_unit_of_times_of_calls_is_that_of_the_intervals() {
    let directory = directory("unit");
    let counted = [("burn", 1)].into();
    Run { counted, calls: vec![("main", "burn", 100_000)], ..Run::usual() }.write(&directory, "short");
    // One sample of a hundredth of a second for 100,000 calls; all samples would be microseconds.
    let prefix = with_analysis(&directory, &["short"], |analysis| analysis.call_unit().prefix);
    assert_eq!(prefix, 'n');
}

/// Fails if the calls of runs of different kinds are divided by the samples of one kind.
#[test]
fn runs_that_counted_all_calls_leave_no_times_of_calls() {
    let directory = directory("mixed");
    Run::usual().write(&directory, "some");
    Run { selections: None, ..Run::usual() }.write(&directory, "always");
    fs::write(directory.join("alone"), Run::usual().profile()).unwrap();
    for (others, elapsed, time) in [("always", Some(126.0), 73.0), ("alone", None, 10.0)] {
        with_analysis(&directory, &["some", others], |analysis| {
            assert!(rows(analysis).values().all(|row| row.1.is_none() && row.2.is_none()), "{others}");
            let calls = analysis.calls_on_demand().unwrap();
            assert_eq!((calls.time, calls.elapsed, calls.has_whole_runs), (time, elapsed, true), "{others}");
            assert_eq!(counted(analysis), [CallsCounted::InSomeIntervals; 5], "{others}");
        });
    }
    // Runs that were counted during their whole time are no other kind.
    Run::usual().whole().write(&directory, "whole");
    with_analysis(&directory, &["whole", "always"], |analysis| {
        assert!(analysis.calls_on_demand().unwrap().is_whole);
        assert!(rows(analysis).values().all(|row| row.1.is_some() == (row.0 > 0) && row.2.is_some() == (row.0 > 0)));
    });
    // In the sum of a whole run and of another one, each interval has its samples.
    with_analysis(&directory, &["some", "whole"], |analysis| {
        let rows = rows(analysis);
        assert!((rows["burn"].1.unwrap() - 360.0 / 2800.0).abs() < 1e-9, "{rows:?}");
        assert!(rows["burn"].2.is_none());
        assert_eq!(analysis.calls_on_demand().unwrap().elapsed, Some(126.0));
    });
}

/// Fails if a symbol that stands for several functions is taken for one of them.
#[test]
fn hidden_functions_leave_no_times_of_calls() {
    let directory = directory("hidden");
    let some = vec![("parse*", vec!["parse", "burn"], vec![(2, 8)])];
    Run::usual().selecting(some).write(&directory, "some");
    Run::usual().write(&directory, "all");
    let burn = |words: &str| {
        let text = written(&directory, words);
        let row = text.lines().find(|line| line.ends_with(" burn")).unwrap().to_owned();
        // The time, the sums, the calls, and perhaps the time of a call.
        row.split_whitespace().count() - 4
    };
    assert_eq!(burn("-b -p @program @some"), 2);
    assert_eq!(burn("-b -p -a @program @some"), 1, "static functions are hidden");
    assert_eq!(burn("-b -p -a @program @all"), 2, "all functions were selected");
}

/// Fails if a copy of a function that was not selected is divided by the calls of the function, or if the code that
/// seldom runs counts as such a copy.
#[test]
fn copies_of_a_function_must_be_selected_with_it() {
    let directory = directory("copies");
    let row = |run: &Run| {
        run.write(&directory, "run");
        let text = written(&directory, "-b -p --merge-clones @program @run --format=json");
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        let id = |name: &str| {
            let mut functions = json["functions"].as_array().unwrap().iter();
            functions.find(|function| function["symbol"] == name).map(|function| function["id"].clone())
        };
        let factor = json["time"]["per_call_factor"].as_f64().unwrap();
        let mut rows = json["flat_profile"].as_array().unwrap().iter();
        let row = rows.find(|row| Some(&row["function"]) == id("parse").as_ref()).unwrap();
        (row["self_per_call"].as_f64().map(|time| (time / factor * 1e6).round()), row["calls_counted"].clone())
    };
    let mut run = Run::usual();
    run.calls.push(("driver", "parse.isra.0", 20));
    assert_eq!(row(&run), (None, "in some intervals".into()));
    let all: Vec<&str> = ALL.into_iter().chain(["parse.isra.0"]).collect();
    // Ten and two samples of a hundredth of a second, and 120 calls.
    assert_eq!(row(&run.selecting(vec![("", all, vec![(2, 8)])])), (Some(1000.0), "in all intervals".into()));
}

/// Fails if the report about a thread has samples of other threads, or of the whole run.
#[test]
fn the_report_of_a_thread_has_the_samples_of_the_thread() {
    let directory = directory("threads");
    let run = Run::usual();
    let profile = run.profile();
    let mut side = run.side(&profile);
    let worker = side.add_thread(Thread::new(1, b"worker"));
    let place = |name: &str, more| Place { object: PROGRAM, address: address(name) + more };
    let top = side.add_context(None, Place { object: gmon::side_file::THREAD, address: 0 }, 0).unwrap();
    side.add_context(Some(top), place("burn", 0), 50).unwrap();
    let call = gmon::side_file::Call { caller: place("parse", 8), callee: place("burn", 4), count: 10 };
    side.add_call(Some(worker), call).unwrap();
    let burn = |side: &SideFile| {
        run.write_with(&directory, "run", &profile, side);
        let text = written(&directory, "-b -p --thread=worker @program @run --format=json");
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        let factor = json["time"]["per_call_factor"].as_f64().unwrap();
        let row = &json["flat_profile"][0];
        assert_eq!(row["calls"], 10);
        row["self_per_call"].as_f64().map(|time| time / factor * f64::from(RATE) * 10.0)
    };
    assert_eq!(burn(&side), None, "the samples of the thread are not known");
    side.add_counted_samples(Some(worker), PROGRAM, BIN, address("burn") / BIN, 20).unwrap();
    assert!((burn(&side).unwrap() - 20.0).abs() < 1e-9);
}

/// A run with any counts.
fn any_run() -> impl Strategy<Value = Run> {
    let samples = || prop::collection::btree_map(prop::sample::select(NAMES.to_vec()), 0..1000_u64, 0..6);
    let call = (prop::sample::select(ALL.to_vec()), prop::sample::select(ALL.to_vec()), 1..100_000_u64);
    let parts = (samples(), samples(), prop::collection::vec(call, 0..12));
    parts.prop_map(|(samples, counted, calls)| Run { samples, counted, calls, ..Run::usual() })
}

/// Leaves out the fields of JSON that say how calls were counted.
fn without_facts(json: &str) -> String {
    let lines = json.lines().filter(|line| !line.starts_with("\"calls_on_demand\":"));
    lines.map(|line| format!("{line}\n")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// Fails if any report of a run whose calls were counted during its whole time differs from the report of a run
    /// that counts all calls. Only JSON says how calls were counted.
    #[test]
    fn an_interval_that_covers_the_whole_run_changes_no_report(run in any_run()) {
        let (always, whole) = (directory("always"), directory("whole"));
        Run { selections: None, ..run.clone() }.write(&always, "run");
        run.whole().write(&whole, "run");
        for words in [
            "", "-b -p --errors", "--bounds", "--table", "--format=json --bounds -p -q", "--format=csv",
            "--format=html", "--format=callgrind", "--format=dot", "--format=svg", "--format=flame", "-T", "--stats",
            "-C", "--compat=gnu",
        ] {
            let of = |directory: &Path| without_facts(&written(directory, &format!("{words} @program @run")));
            prop_assert_eq!(of(&whole), of(&always), "{}", words);
        }
    }

    /// Fails if a time of one call is not the quotient of the samples while calls were counted and these calls.
    #[test]
    fn each_time_of_a_call_is_a_quotient_of_the_intervals(run in any_run()) {
        let directory = directory("quotients");
        run.write(&directory, "run");
        let counted_in = |name: &str| run.counted.get(name).copied().unwrap_or(0) as f64;
        let rows = with_analysis(&directory, &["run"], rows);
        for (name, (calls, own, total)) in rows {
            let expected = (calls > 0).then(|| counted_in(&name) / calls as f64);
            let is_near = own.zip(expected).is_none_or(|(own, expected)| (own - expected).abs() < 1e-6);
            prop_assert!(is_near, "{name}: {own:?}");
            let is_known = run.counted.values().sum::<u64>() > 0;
            prop_assert_eq!((own.is_some(), total), (calls > 0 && is_known, None), "{}", name);
        }
    }

    /// Fails if GNU's reports, or those of the BSDs, depend on how calls were counted.
    #[test]
    fn other_gprofs_know_nothing_of_it(run in any_run()) {
        let (always, some) = (directory("others_always"), directory("others_some"));
        Run { selections: None, ..run.clone() }.write(&always, "run");
        run.write(&some, "run");
        for words in ["--compat=gnu", "--compat=gnu -T -b", "--bsd=freebsd", "--bsd=openbsd"] {
            let of = |directory: &Path| written(directory, &format!("{words} @program @run"));
            prop_assert_eq!(of(&some), of(&always), "{}", words);
        }
    }
}
