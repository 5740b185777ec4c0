//! Intervals of estimates compared with the truth: made-up programs whose functions are called steadily, in phases, in
//! bursts, or rarely, and that know their calls. The generator of random numbers has a fixed seed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use gmon::side_file::{Checksum, EstimatedCalls, Kind, Object, PROGRAM, Place, Selection, SideFile, Windows};
use gmon::{DataModel, Encoding, Form, Histogram, Order, Profile, Unit, Word};
use gprof::internals::Symbol;
use serde_json::Value;

use super::json;
use crate::common::{LOW, Table, image};
use crate::on_demand::{directory, written};

/// The functions of a program: two callers, and the functions that they call.
const CALLED: usize = 40;
const SIZE: u64 = 64;

/// The length of a stretch, in nanoseconds.
const STRETCH: f64 = 1e9;

/// The share of the intervals that must hold the truth. They shall hold it in 95 % of all cases; where calls come in
/// bursts, no interval that knows no burst sizes does so exactly.
const LEAST: f64 = 0.92;

/// Random numbers: `SplitMix64`.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number between 0 and 1.
    fn part(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.part()
    }

    /// A number between two powers of ten.
    fn magnitude(&mut self, low: f64, high: f64) -> f64 {
        10_f64.powf(self.between(low, high))
    }
}

/// How a function is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Behavior {
    /// At random times of the whole run.
    Steady,
    /// At random times of a tenth of the run.
    Phase,
    /// Many times at once, at random times. The sizes of bursts have an exponential distribution, and bursts are
    /// shorter or longer than a window.
    Bursts,
    /// A few times in the whole run.
    Rare,
}

const BEHAVIORS: [Behavior; 4] = [Behavior::Steady, Behavior::Phase, Behavior::Bursts, Behavior::Rare];

/// Calls at a time, in stretches since the start, by the first or the second caller.
struct Event {
    time: f64,
    caller: usize,
    calls: u64,
}

/// The calls of a function in a run of so many stretches.
fn events(behavior: Behavior, stretches: f64, random: &mut Random) -> Vec<Event> {
    let by = |random: &mut Random| usize::from(random.part() < 0.3);
    let mut events = Vec::new();
    let mut at_random = |number: f64, from: f64, to: f64, random: &mut Random| {
        for _ in 0..number as u64 {
            events.push(Event { time: random.between(from, to), caller: by(random), calls: 1 });
        }
    };
    match behavior {
        Behavior::Steady => at_random(random.magnitude(3.0, 4.7), 0.0, stretches, random),
        Behavior::Rare => at_random(random.magnitude(2.3, 3.6), 0.0, stretches, random),
        Behavior::Phase => {
            let start = random.between(0.0, 0.9 * stretches);
            at_random(random.magnitude(3.0, 4.7), start, start + 0.1 * stretches, random);
        }
        Behavior::Bursts => {
            for _ in 0..random.magnitude(2.6, 3.7) as u64 {
                // A window is a hundredth of a stretch.
                let (time, length) =
                    (random.between(0.0, stretches), [0.001, 0.005, 0.02][(random.bits() % 3) as usize]);
                let (caller, calls) = (by(random), 1 + (-1000.0 * (1.0 - random.part()).ln()) as u64);
                for part in 0..20 {
                    let calls = calls * (part + 1) / 20 - calls * part / 20;
                    events.push(Event { time: time + length * random.part(), caller, calls });
                }
            }
        }
    }
    events
}

/// A function with its true calls, and what the windows show: from all callers, and from each of the two.
struct Function {
    behavior: Behavior,
    truth: [u64; 3],
    rows: [(u64, u64, u128); 3],
}

/// A window: its start in stretches, its length in nanoseconds, and the length of its stretch.
struct Window {
    start: f64,
    length: f64,
    stretch: f64,
}

/// Windows of one percent of stretches of slightly unequal lengths.
fn windows(number: usize, random: &mut Random) -> Vec<Window> {
    let window = |at: usize| {
        let length = 0.01 * random.between(0.9, 1.1);
        let start = at as f64 + random.between(0.0, 1.0 - length);
        Window { start, length: length * STRETCH, stretch: STRETCH * random.between(0.999, 1.001) }
    };
    (0..number).map(window).collect()
}

/// What the runtime writes about calls: `x` calls in a window of the length `w` in a stretch of the length `S` are
/// `z = x S / w` calls in the stretch. The variance follows from the differences between consecutive `z`.
fn row(counts: &[u64], windows: &[Window], time: f64) -> (u64, u64, u128) {
    let stretches: f64 = windows.iter().map(|window| window.stretch).sum();
    let scaled = counts.iter().zip(windows).map(|(count, window)| *count as f64 * window.stretch / window.length);
    let scaled: Vec<f64> = scaled.collect();
    let sum: f64 = scaled.iter().sum();
    let squares: f64 = scaled.windows(2).map(|pair| (pair[0] - pair[1]).powi(2)).sum();
    let (number, scale) = (windows.len() as f64, time / stretches);
    let variance = number / (2.0 * (number - 1.0)) * squares * scale * scale;
    let seen = counts.iter().filter(|count| **count > 0).count() as u64;
    (seen, (sum * scale).round() as u64, variance.round() as u128)
}

impl Function {
    /// A function of a run that ends in the middle of a stretch, which has no window.
    fn new(behavior: Behavior, windows: &[Window], random: &mut Random) -> Function {
        let stretches = windows.len() as f64 + 0.5;
        let mut truth = [0; 3];
        let mut counts = vec![[0; 3]; windows.len()];
        for Event { time, caller, calls } in events(behavior, stretches, random) {
            let at = time as usize;
            let inside = |window: &Window| (0.0..window.length / STRETCH).contains(&(time - window.start));
            let is_seen = windows.get(at).is_some_and(inside);
            for of in [0, 1 + caller] {
                truth[of] += calls;
                if is_seen {
                    counts[at][of] += calls;
                }
            }
        }
        let time = stretches * STRETCH;
        let of = |of: usize| row(&counts.iter().map(|counts| counts[of]).collect::<Vec<_>>(), windows, time);
        Function { behavior, truth, rows: [of(0), of(1), of(2)] }
    }
}

fn address(at: usize) -> u64 {
    LOW + SIZE * at as u64
}

/// Writes the program and the files of a run. The first two functions are the callers.
fn write(functions: &[Function], windows: &[Window], directory: &Path) {
    let name = |at: usize| -> &'static [u8] { Box::leak(format!("f{at:03}").into_boxed_str()).as_bytes() };
    let all = 0..functions.len() + 2;
    let symbol = |at| Symbol { address: address(at), name: name(at), is_static: false, is_func: true };
    let end = address(functions.len() + 3);
    fs::write(directory.join("program"), image(&Table { symbols: all.map(symbol).collect(), end })).unwrap();
    // Each function has a sample, so that each has a row.
    let bins: Vec<u64> = (0..(end - LOW) / 4).map(|bin| u64::from(bin % (SIZE / 4) == 0)).collect();
    let histogram = Histogram::new(LOW..end, Unit::seconds(100), bins).unwrap();
    let encoding = Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little);
    let profile = gmon::write(&Profile::of_samples([histogram]).unwrap(), encoding).unwrap();
    let mut side = SideFile::new(Word::W64);
    side.set_profile(Some(Checksum::of(&profile)));
    let mut program = Object::new(Kind::Program, b"");
    program.code = LOW..end;
    side.add_object(PROGRAM, program).unwrap();
    let place = |at: usize, more| Place { object: PROGRAM, address: address(at) + more };
    let selected = (2..functions.len() + 2).map(|at| place(at, 4)).collect();
    side.add_selection(Selection::new(b"", selected, vec![])).unwrap();
    let covered: f64 = windows.iter().map(|window| window.length).sum();
    let time = (windows.len() as f64 + 0.5) * STRETCH;
    let facts = Windows { share: 10_000, number: windows.len() as u64, covered: covered as u64, time: time as u64 };
    side.set_windows(facts).unwrap();
    for (at, function) in (2..).zip(functions) {
        for (caller, (seen, calls, variance)) in function.rows.into_iter().enumerate().filter(|(_, row)| row.0 > 0) {
            let caller = caller.checked_sub(1).map(|caller| place(caller, 8));
            side.add_estimate(EstimatedCalls { callee: place(at, 4), caller, seen, calls, variance }).unwrap();
        }
    }
    fs::write(directory.join("run"), &profile).unwrap();
    fs::write(directory.join("run.side"), side.write()).unwrap();
}

/// How many intervals there are, and how many hold the truth.
#[derive(Clone, Copy, Debug, Default)]
struct Score {
    intervals: u64,
    right: u64,
    /// Intervals from fewer than 12 windows with calls.
    small: u64,
    small_right: u64,
}

impl Score {
    fn add(&mut self, is_right: bool, seen: u64) {
        self.intervals += 1;
        self.right += u64::from(is_right);
        self.small += u64::from(seen < 12);
        self.small_right += u64::from(seen < 12 && is_right);
    }
}

/// The interval of a record, if the record has one.
fn interval(record: &Value) -> Option<(u64, u64)> {
    Some((record["calls_low"].as_u64()?, record["calls_high"].as_u64()?))
}

/// The interval that a text says: `~1.23e9 ±3 %`.
fn printed(text: &str) -> Option<(f64, f64)> {
    let (number, rest) = text.split_once('~')?.1.split_once(" ±")?;
    let number: f64 = number.parse().unwrap();
    let part: f64 = rest.split_once(" %")?.0.parse::<f64>().unwrap() / 100.0;
    Some((number * (1.0 - part), number * (1.0 + part)))
}

/// Compares the reports of a run with the truth. `scores` has the intervals of functions, of arcs, and of the text.
fn compare(functions: &[Function], directory: &Path, scores: &mut BTreeMap<(Behavior, &'static str), Score>) {
    let json = json(directory, "-p -q @program @run");
    let text = written(directory, "-b -p @program @run");
    let at: BTreeMap<u64, usize> = json["functions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|function| (function["id"].as_u64().unwrap(), function["symbol"].as_str().unwrap()[1..].parse().unwrap()))
        .collect();
    let number = |record: &Value| record["function"].as_u64().map(|id| at[&id]);
    for row in json["flat_profile"].as_array().unwrap() {
        let Some(called) = number(row).unwrap().checked_sub(2) else { continue };
        let Function { behavior, truth, rows } = &functions[called];
        let (seen, calls, _) = rows[0];
        assert_eq!(row["calls"], Value::Null);
        assert_eq!(row["calls_seen_in_windows"], seen);
        assert_eq!(row["calls_estimate"], if seen == 0 { Value::Null } else { calls.into() });
        assert_eq!(interval(row).is_some(), seen >= 5);
        let line = text.lines().find(|line| line.ends_with(&format!(" f{:03}", called + 2))).unwrap();
        assert_eq!(printed(line).is_some(), seen >= 5, "{line}");
        if let (Some((low, high)), Some((least, most))) = (interval(row), printed(line)) {
            let score = scores.entry((*behavior, "function")).or_default();
            score.add((low..=high).contains(&truth[0]), seen);
            let score = scores.entry((*behavior, "text")).or_default();
            score.add((least..=most).contains(&(truth[0] as f64)), seen);
        }
    }
    for entry in json["call_graph"].as_array().unwrap() {
        let Some(called) = number(entry).and_then(|at| at.checked_sub(2)) else { continue };
        let Function { behavior, truth, rows } = &functions[called];
        for line in entry["above"].as_array().unwrap() {
            let Some(caller) = number(line) else { continue };
            assert_eq!(line["calls"], Value::Null);
            assert_eq!(line["calls_seen_in_windows"], rows[1 + caller].0);
            if let Some((low, high)) = interval(line) {
                let score = scores.entry((*behavior, "arc")).or_default();
                score.add((low..=high).contains(&truth[1 + caller]), rows[1 + caller].0);
            }
        }
    }
}

/// Fails if intervals hold the truth too seldom: because they are those of another distribution, of another number of
/// windows, or narrower than the numbers in the text, which are rounded.
#[test]
fn intervals_hold_the_truth() {
    let directory = directory("estimates_truth");
    let mut random = Random(1);
    let mut scores = BTreeMap::new();
    for number in [30, 100, 300].into_iter().cycle().take(24) {
        let windows = windows(number, &mut random);
        let function = |at: usize| Function::new(BEHAVIORS[at % BEHAVIORS.len()], &windows, &mut random);
        let functions: Vec<Function> = (0..CALLED).map(function).collect();
        write(&functions, &windows, &directory);
        compare(&functions, &directory, &mut scores);
    }
    for ((behavior, what), score) in &scores {
        println!("{behavior:?} {what}: {score:?}, {:.3}", score.right as f64 / score.intervals as f64);
    }
    for behavior in BEHAVIORS {
        for what in ["function", "arc", "text"] {
            let Score { intervals, right, .. } = scores[&(behavior, what)];
            assert!(intervals >= 100, "{behavior:?} {what}: {intervals} intervals");
            assert!(right as f64 >= LEAST * intervals as f64, "{behavior:?} {what}: {right} of {intervals}");
        }
    }
}
