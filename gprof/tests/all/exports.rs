//! Exports of any profile: nothing is lost, and no name breaks a format.

mod choices;
mod pprof;
mod threads;

use std::collections::{BTreeMap, BTreeSet};
use std::io::sink;

use gmon::Profile;
use gprof::internals::Symbol;
use gprof::{Analysis, Format, Options, Place, Stacks, Terminal};
use proptest::prelude::*;
use serde_json::Value;

use crate::common::{LOW, Table, image, profile, table};

/// Names that mean something in one of the formats.
const NAMES: [&[u8]; 12] = [
    b"f;g 7",
    b"a,\"b\",c",
    b"\"",
    b"line\nend 3",
    b"</script>",
    b"bytes\xff\xfe",
    b"(1) id",
    b"=1+1",
    b"fn=(2)",
    b"\\u0000\x1b[31m",
    b" blank ",
    b"f",
];

/// Formats whose output is text for programs.
const TEXTS: [Format; 5] = [Format::Csv, Format::Folded, Format::Speedscope, Format::Callgrind, Format::Firefox];

fn hostile() -> impl Strategy<Value = Table> {
    let symbols = prop::collection::vec((1..20_u64, prop::sample::select(NAMES.to_vec())), 1..20);
    symbols.prop_map(|parts| {
        let mut address = LOW;
        let symbol = |(gap, name)| {
            address += gap;
            Symbol { address, name, is_static: false, is_func: true }
        };
        let symbols = parts.into_iter().map(symbol).collect();
        Table { symbols, end: address + 20 }
    })
}

/// Trees: each node has an earlier node or none as its parent, an offset of its address, and ticks.
fn trees() -> impl Strategy<Value = Vec<(usize, u64, u64)>> {
    prop::collection::vec((0..40_usize, 0..300_u64, 0..5_u64), 0..40)
}

/// With `calls`, the outermost nodes belong to threads that share these calls, or to none.
fn stacks(tree: &[(usize, u64, u64)], calls: Option<&[gmon::Arc]>) -> Stacks {
    let mut stacks = Stacks::new();
    let threads = calls.map(|calls| threads::add(&mut stacks, calls)).unwrap_or_default();
    let mut indexes = Vec::new();
    for (at, (parent, offset, ticks)) in tree.iter().enumerate() {
        let parent = parent.checked_sub(1).filter(|parent| *parent < at).map(|parent| indexes[parent]);
        let parent = parent.or_else(|| threads.get(*offset as usize % 5).copied().flatten());
        indexes.push(stacks.push(parent, Place::Code(LOW + offset), *ticks).unwrap());
    }
    stacks.add_profile(tree.iter().map(|(_, _, ticks)| ticks).sum(), true);
    stacks
}

fn with_analysis(table: &Table, profile: Profile, stacks: Option<Stacks>, check: impl FnOnce(&Analysis<'_>)) {
    let options = Options::new("image", ["profile"]).format(Format::Csv);
    let loaded = gprof::from_memory(&options, image(table), profile).unwrap();
    let loaded = stacks.into_iter().fold(loaded, gprof::Loaded::with_stacks);
    check(&gprof::analyze(&loaded, &options, &mut sink()).unwrap());
}

fn bytes(analysis: &Analysis<'_>, format: Format) -> Vec<u8> {
    let mut bytes = Vec::new();
    gprof::render(analysis, format, &Terminal::default(), &mut bytes, &mut sink()).unwrap();
    bytes
}

fn text(analysis: &Analysis<'_>, format: Format) -> String {
    String::from_utf8(bytes(analysis, format)).unwrap()
}

/// The number of cells of a row.
fn cells(row: &str) -> usize {
    let mut is_quoted = false;
    let separators = row.chars().filter(|letter| {
        is_quoted ^= *letter == '"';
        *letter == ',' && !is_quoted
    });
    let count = separators.count() + 1;
    assert!(!is_quoted, "{row}");
    count
}

/// Checks the costs of each part.
fn check_callgrind(text: &str) {
    let (mut defined, mut parts) = (BTreeSet::new(), text.split("\npart: "));
    assert!(parts.next().unwrap().starts_with("# callgrind format\nversion: 1\n"));
    assert!(parts.map(|part| check_part(part, &mut defined)).count() > 0);
}

fn check_part(text: &str, defined: &mut BTreeSet<(String, String)>) {
    let (mut own, mut summary, mut is_call) = (0, None, false);
    for line in text.lines().skip_while(|line| !line.starts_with("events:")).skip(1).filter(|line| !line.is_empty()) {
        if let Some((key, value)) = line.split_once('=') {
            if key == "calls" {
                is_call = true;
                continue;
            }
            let (id, name) = value.split_once(' ').map_or((value, None), |(id, name)| (id, Some(name)));
            let kind = key.trim_start_matches('c').replace("fi", "fl");
            assert!(["ob", "fl", "fn"].contains(&kind.as_str()), "{line}");
            // A number is defined once, before it is used.
            assert_eq!(defined.insert((kind, id.to_owned())), name.is_some(), "{line}");
        } else if let Some((key, value)) = line.split_once(": ") {
            assert!(["summary", "totals"].contains(&key), "{line}");
            let value: u64 = value.parse().unwrap();
            assert_eq!(*summary.get_or_insert(value), value);
        } else {
            let (_, cost) = line.split_once(' ').unwrap();
            let cost: u64 = cost.parse().unwrap();
            own += if std::mem::take(&mut is_call) { 0 } else { cost };
        }
    }
    assert!(if text.contains("\nthread: ") { summary.is_none() } else { summary == Some(own) }, "{text}");
}

/// The sum of the times of the profiles.
fn check_speedscope(text: &str) -> f64 {
    let json: Value = serde_json::from_str(text).unwrap();
    let frames = json["shared"]["frames"].as_array().unwrap().len() as u64;
    json["profiles"].as_array().unwrap().iter().map(|profile| check_profile(profile, frames)).sum()
}

fn check_profile(profile: &Value, frames: u64) -> f64 {
    let (mut open, mut now) = (Vec::new(), 0.0);
    for event in profile["events"].as_array().unwrap() {
        let (frame, at) = (event["frame"].as_u64().unwrap(), event["at"].as_f64().unwrap());
        assert!(frame < frames && at >= now);
        now = at;
        if event["type"] == "O" { open.push(frame) } else { assert_eq!(open.pop(), Some(frame)) }
    }
    assert!(open.is_empty() && now == profile["endValue"].as_f64().unwrap());
    now
}

/// The sum of the samples.
fn check_firefox(text: &str) -> u64 {
    let json: Value = serde_json::from_str(text).unwrap();
    json["threads"].as_array().unwrap().iter().map(check_thread).sum()
}

fn check_thread(thread: &Value) -> u64 {
    let length = |table: &str| thread[table]["length"].as_u64().unwrap() as usize;
    for table in ["samples", "stackTable", "frameTable", "funcTable"] {
        let columns = thread[table].as_object().unwrap().values().filter_map(Value::as_array);
        columns.for_each(|column| assert_eq!(column.len(), length(table), "{table}"));
    }
    let strings = thread["stringArray"].as_array().unwrap().len() as u64;
    let names = thread["funcTable"]["name"].as_array().unwrap();
    assert!(names.iter().all(|name| name.as_u64().unwrap() < strings));
    let prefixes = thread["stackTable"]["prefix"].as_array().unwrap().iter().enumerate();
    prefixes.for_each(|(at, prefix)| assert!(prefix.as_u64().is_none_or(|prefix| prefix < at as u64)));
    thread["samples"]["weight"].as_array().unwrap().iter().map(|weight| weight.as_u64().unwrap()).sum()
}

/// The sum of the samples in folded stacks.
fn check_folded(text: &str) -> u64 {
    let samples = |line: &str| {
        let (stack, samples) = line.rsplit_once(' ').unwrap();
        assert!(stack.split(';').all(|frame| !frame.is_empty()), "{line}");
        samples.parse::<u64>().unwrap()
    };
    text.lines().map(samples).sum()
}

/// The calls of each function are those of the arcs that lead to the function.
fn check_calls(analysis: &Analysis<'_>) {
    let (mut by_others, mut by_itself) = (BTreeMap::new(), BTreeMap::new());
    for arc in analysis.arc_times() {
        let sums = if arc.caller == arc.callee { &mut by_itself } else { &mut by_others };
        let sum: &mut u64 = sums.entry(arc.callee).or_default();
        *sum = sum.saturating_add(arc.calls);
    }
    for function in analysis.function_times() {
        let sum = |sums: &BTreeMap<_, u64>| sums.get(&Some(function.id)).copied().unwrap_or_default();
        assert_eq!((sum(&by_others), sum(&by_itself)), (function.calls, function.self_calls), "{function:?}");
    }
}

fn check(analysis: &Analysis<'_>) {
    check_calls(analysis);
    threads::check(analysis);
    let tree = analysis.sample_trees();
    for format in TEXTS {
        let text = text(analysis, format);
        assert!(text.chars().all(|letter| letter == '\n' || !letter.is_control()), "{text:?}");
        match format {
            Format::Csv => assert!(text.lines().all(|row| cells(row) == 22), "{text}"),
            Format::Folded => assert_eq!(check_folded(&text), tree.total),
            Format::Firefox => assert_eq!(check_firefox(&text), tree.total),
            Format::Callgrind => check_callgrind(&text),
            _ => {
                let (sum, all) = (check_speedscope(&text), analysis.clock().seconds_or_samples(tree.total));
                assert!((sum - all).abs() <= 1e-9 * all, "{sum}, not {all}");
            }
        }
    }
    assert_eq!(pprof::check(&bytes(analysis, Format::Pprof)), tree.total);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn exports_hold_any_profile(table in prop_oneof![hostile(), table()], profile in profile(), tree in trees(), has in any::<bool>(), has_threads in any::<bool>()) {
        // gprof refuses an image without functions.
        prop_assume!(table.symbols.iter().any(|symbol| symbol.is_func));
        let stacks = has.then(|| stacks(&tree, has_threads.then_some(profile.arcs())));
        with_analysis(&table, profile, stacks, check);
    }
}

#[test]
fn an_empty_profile_has_empty_exports() {
    let table =
        Table { symbols: vec![Symbol { address: LOW, name: b"f", is_static: false, is_func: true }], end: LOW + 8 };
    with_analysis(&table, Profile::default(), None, |analysis| {
        check(analysis);
        assert_eq!(text(analysis, Format::Folded), "");
        assert_eq!(text(analysis, Format::Csv).lines().count(), 1);
    });
}

/// A program in which `main` calls `f`: the samples of each of the two, and the number of calls.
fn main_and_f(samples: [u64; 2], calls: u64) -> (Table, Profile) {
    let symbol = |at: u64, name| Symbol { address: LOW + 4 * at, name, is_static: false, is_func: true };
    let table = Table { symbols: vec![symbol(0, b"main"), symbol(1, b"f")], end: LOW + 8 };
    let histogram = gmon::Histogram::new(LOW..LOW + 8, gmon::Unit::seconds(100), samples.to_vec()).unwrap();
    let arc = gmon::Arc::new(LOW + 1, LOW + 4, calls);
    (table, Profile::of_samples(vec![histogram]).unwrap().with_arcs(vec![arc]))
}

/// Without stacks, no estimate looks like a stack.
#[test]
fn without_stacks_each_function_is_a_stack() {
    let (table, profile) = main_and_f([2, 5], 3);
    with_analysis(&table, profile, None, |analysis| {
        assert_eq!(text(analysis, Format::Folded), "f 5\nmain 2\n");
        let csv = text(analysis, Format::Csv);
        assert!(csv.ends_with("arc,,,,main,main,0x1000,,,,f,f,0x1004,,0.05,,0.05,,3,,,\n"), "{csv}");
    });
}

/// A chain of calls with samples at each depth: all its stacks together have billions of frames.
#[test]
fn deep_stacks_lose_their_middle_and_no_samples() {
    const DEPTH: u64 = 100_000;
    let symbol = |at: u64, name| Symbol { address: LOW + 4 * at, name, is_static: false, is_func: true };
    let table = Table { symbols: vec![symbol(0, b"even"), symbol(1, b"odd")], end: LOW + 8 };
    let mut stacks = Stacks::new();
    for depth in 0..DEPTH {
        let parent = depth.checked_sub(1).map(|parent| parent as u32);
        stacks.push(parent, Place::Code(LOW + 1 + 4 * (depth % 2)), 1).unwrap();
    }
    stacks.add_profile(DEPTH, true);
    with_analysis(&table, Profile::default(), Some(stacks), |analysis| {
        let folded = text(analysis, Format::Folded);
        assert_eq!(check_folded(&folded), DEPTH);
        assert!(folded.len() < 100 << 20, "{}", folded.len());
        assert!(folded.contains(";<frames left out>;odd 1"));
        assert_eq!(pprof::check(&bytes(analysis, Format::Pprof)), DEPTH);
        // These formats name the caller of each frame instead.
        for format in [Format::Speedscope, Format::Firefox] {
            assert!(text(analysis, format).len() < 20 << 20);
        }
    });
}
