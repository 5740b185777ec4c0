//! Differences: what holds for any two profiles, and how functions are joined.

mod rows;
mod shown;

use std::fs;
use std::io::sink;
use std::path::Path;
use std::process::Command;

use gmon::{Arc, Dimension, Histogram, Profile, Unit};
use gprof::internals::Symbol;
use gprof::{Change, Difference, Format, Options, Presence, Terminal};
use proptest::prelude::*;
use serde_json::Value;

use crate::common::{LOW, Table, image, is_close, magnitude, profile, table};
use crate::knots::{DATA, KNOTS, knots, push};

/// Compares two programs with their profiles.
fn compare<T>(
    options: Options,
    base: (&Table, &Profile),
    new: (&Table, &Profile),
    check: impl FnOnce(&Difference<'_, '_>) -> T,
) -> T {
    let options = options.compared();
    let load =
        |(table, profile): (&Table, &Profile)| gprof::from_memory(&options, image(table), profile.clone()).unwrap();
    let (base, new) = (load(base), load(new));
    let analyze = |loaded| gprof::analyze(loaded, &options, &mut sink()).unwrap();
    let (base, new) = (analyze(&base), analyze(&new));
    check(&gprof::difference(&base, &new).unwrap())
}

fn options() -> Options {
    Options::new("image", ["profile"])
}

/// The changes of all rows, by name, with the presence of the function.
fn changes(difference: &Difference<'_, '_>) -> Vec<(String, Presence, [Change; 3])> {
    let row = |row: &gprof::DifferenceRow| {
        let name = String::from_utf8(difference.row_name(row).into_owned()).unwrap();
        (name, row.presence, [row.own, row.inclusive, row.calls])
    };
    difference.rows.iter().map(row).collect()
}

/// A program with functions of 16 bytes, each with samples, and calls of each by the first.
fn program(functions: &[(&'static str, bool, u64, u64)], profrate: u32) -> (Table, Profile) {
    const SIZE: u64 = 16;
    let address = |at: usize| LOW + SIZE * at as u64;
    let symbol = |(at, (name, is_static, ..)): (usize, &(&'static str, bool, u64, u64))| Symbol {
        address: address(at),
        name: name.as_bytes(),
        is_static: *is_static,
        is_func: true,
    };
    let end = address(functions.len());
    let bins = functions.iter().map(|function| function.2).collect::<Vec<u64>>();
    let (dimension, abbrev) = (Dimension::SECONDS, b's');
    let histogram = Histogram::new(LOW..end, Unit { profrate, dimension, abbrev }, bins).unwrap();
    let arc = |(at, (.., count)): (usize, &(&str, bool, u64, u64))| Arc::new(LOW + 1, address(at), *count);
    let arcs = functions.iter().enumerate().skip(1).map(arc).filter(|arc| arc.count > 0).collect::<Vec<_>>();
    let table = Table { symbols: functions.iter().enumerate().map(symbol).collect(), end };
    (table, Profile::of_samples(vec![histogram]).unwrap().with_arcs(arcs))
}

/// Name, mark, and the changes of self time and calls of each row.
fn summary(base: &(Table, Profile), new: &(Table, Profile), options: Options) -> Vec<String> {
    compare(options, (&base.0, &base.1), (&new.0, &new.1), |difference| {
        let rows = changes(difference).into_iter();
        let text = |(name, presence, [own, _, calls]): (String, Presence, [Change; 3])| {
            let noise = if own.is_noise() == Some(true) { " noise" } else { "" };
            format!("{name} {presence:?}{noise} {}-{} {}-{}", own.old, own.new, calls.old, calls.new)
        };
        rows.map(text).collect()
    })
}

#[test]
fn functions_are_joined_by_name() {
    let base = program(
        &[
            ("main", false, 1, 0),
            ("slower", false, 400, 5),
            ("gone", false, 50, 6),
            ("f.constprop.0", true, 100, 7),
            ("g", false, 10, 8),
            ("g.part.0", true, 20, 3),
            ("_ZN4core3fmt5write17h0123456789abcdefE", false, 9, 1),
            ("_RNvCs1234_7mycrate3foo", false, 4, 2),
            ("h.lto_priv.3", true, 16, 0),
        ],
        100,
    );
    let new = program(
        &[
            ("main", false, 1, 0),
            ("f.isra.0", true, 100, 7),
            ("slower", false, 900, 5),
            ("_RNvCskZ9_7mycrate3foo", false, 4, 2),
            ("_ZN4core3fmt5write17hfedcba9876543210E", false, 9, 1),
            ("g", false, 30, 11),
            ("fresh", false, 36, 9),
            ("h.lto_priv.0", true, 25, 0),
        ],
        100,
    );
    let expected = [
        "slower Both 4-9 5-5",
        "gone Removed 0.5-0 6-0",
        "fresh Added 0-0.36 0-9",
        "h.lto_priv.0 Both noise 0.16-0.25 0-0",
        "main Both noise 0.01-0.01 0-0",
        "mycrate::foo Both noise 0.04-0.04 2-2",
        "core::fmt::write Both noise 0.09-0.09 1-1",
        "f.isra.0 Both noise 1-1 7-7",
        "g Both noise 0.3-0.3 11-11",
    ];
    let mut found = summary(&base, &new, options());
    assert_eq!(found[..4], expected[..4]);
    found[4..].sort();
    let mut rest = expected[4..].to_vec();
    rest.sort_unstable();
    assert_eq!(found[4..], rest);
    assert_eq!(summary(&base, &new, options().top(1)), expected[..1]);
    assert_eq!(summary(&base, &new, options().min_percent(5.0)), expected[..1]);
    // All samples of a new function are a change, and their error is the root of their number. Two changes of this
    // report may be more than noise, those of `main` and `new`, so the limit is 3.481 errors.
    let of_new = |samples: u64| {
        let new = program(&[("main", false, 1, 0), ("new", false, samples, 0)], 100);
        summary(&program(&[("main", false, 1, 0)], 100), &new, options())[0].clone()
    };
    assert_eq!([12, 13].map(of_new), ["new Added noise 0-0.12 0-0", "new Added 0-0.13 0-0"]);
}

#[test]
fn functions_of_one_name_are_joined_in_order_or_together() {
    let two = program(&[("main", false, 0, 0), ("f", true, 100, 1), ("f", true, 400, 2)], 100);
    let moved = program(&[("f", true, 100, 0), ("f", true, 900, 2), ("main", false, 0, 0)], 100);
    let both = ["f Both 4-9 2-2", "f Both noise 1-1 1-0"];
    let mut found = summary(&two, &moved, options());
    found.retain(|row| row.starts_with('f'));
    assert_eq!(found, both);
    let one = program(&[("main", false, 0, 0), ("f", true, 900, 3)], 100);
    let mut found = summary(&two, &one, options());
    found.retain(|row| row.starts_with('f'));
    assert_eq!(found, ["f (1 function, 2 in the base) Both 5-9 3-3"]);
    // Rust's generic functions have one name without the hash.
    let rust = |hash: [&'static str; 2], samples: u64| {
        program(&[("main", false, 0, 0), (hash[0], true, samples, 1), (hash[1], true, 7, 2)], 100)
    };
    let base = rust(["_ZN1a1f17h0123456789abcdefE", "_ZN1a1f17h0123456789abcde0E"], 100);
    let new = rust(["_ZN1a1f17h1123456789abcdefE", "_ZN1a1f17h1123456789abcde0E"], 400);
    let mut found = summary(&base, &new, options());
    found.retain(|row| row.starts_with('a'));
    assert_eq!(found, ["a::f (2 functions) Both 1.07-4.07 3-3"]);
}

#[test]
fn a_side_without_time_is_not_scaled() {
    let empty = program(&[("main", false, 0, 0), ("f", false, 0, 10)], 100);
    let full = program(&[("main", false, 0, 0), ("f", false, 300, 10)], 100);
    let options = options().compared().normalize(true);
    for sides in [[&empty, &full], [&full, &empty]] {
        let load = |side: &(Table, Profile)| gprof::from_memory(&options, image(&side.0), side.1.clone()).unwrap();
        let loaded = sides.map(load);
        let [base, new] = [0, 1].map(|side: usize| gprof::analyze(&loaded[side], &options, &mut sink()).unwrap());
        assert!(matches!(gprof::difference(&base, &new), Err(gprof::Error::NoTimes { .. })));
    }
}

#[test]
fn rates_may_differ_and_a_base_may_be_scaled() {
    let base = program(&[("main", false, 0, 0), ("f", false, 300, 10), ("g", false, 100, 20)], 100);
    let new = program(&[("main", false, 0, 0), ("f", false, 6000, 20), ("g", false, 2000, 40)], 1000);
    let text = |normalizes: bool| {
        let options = if normalizes { options().normalize(true) } else { options() };
        let mut found = summary(&base, &new, options);
        found.retain(|row| !row.starts_with("main"));
        found.sort();
        found
    };
    assert_eq!(text(false), ["f Both 3-6 10-20", "g Both 1-2 20-40"]);
    assert_eq!(text(true), ["f Both noise 6-6 20-20", "g Both noise 2-2 40-40"]);
    let options = options().normalize(true);
    compare(options, (&base.0, &base.1), (&new.0, &new.1), |difference| {
        assert_eq!((difference.factor, difference.total.absolute()), (Some(2.0), 0.0));
        // The error of a share of each side: 300 of 400 samples of 20 ms, and 6,000 of 8,000 of 1 ms.
        let f = changes(difference).into_iter().find(|(name, ..)| name == "f").unwrap().2[0];
        let expected = (300.0 * 0.25 * 0.02_f64.powi(2) + 6000.0 * 0.25 * 0.001_f64.powi(2)).sqrt();
        assert!((f.error.unwrap() - expected).abs() < 1e-12, "{f:?} {expected}");
    });
}

/// Compares `knots` with itself, with other stacks.
fn with_stacks<T>(more: u64, check: impl FnOnce(&Difference<'_, '_>) -> T) -> T {
    let files = ["", ".gmon"].map(|suffix| format!("{DATA}bsd/knots{suffix}"));
    let options = Options::new(&files[0], [&files[1]]).compared();
    let mut stacks = gprof::Stacks::default();
    for (text, ticks) in KNOTS {
        push(&mut stacks, text, ticks + if text == "main odd burn" { more } else { 0 });
    }
    let sides = [knots(), stacks].map(|stacks| gprof::load(&options, &mut sink()).unwrap().with_stacks(stacks));
    let [base, new] = [&sides[0], &sides[1]].map(|side| gprof::analyze(side, &options, &mut sink()).unwrap());
    check(&gprof::difference(&base, &new).unwrap())
}

#[test]
fn frames_have_the_times_of_both_sides() {
    with_stacks(300, |difference| {
        assert!(difference.is_measured);
        let frames = &difference.flame().frames;
        let named = |name: &str| {
            let is_it = |frame: &&gprof::ChangedFrame| difference.frame_name(frame) == name.as_bytes();
            frames.iter().filter(is_it).map(|frame| frame.inclusive).collect::<Vec<_>>()
        };
        let main = named("main")[0];
        assert_eq!((main.old, main.new, main.is_noise()), (1.95, 4.95, Some(false)));
        let grown = named("burn").into_iter().filter(|frame| frame.is_noise() == Some(false)).collect::<Vec<_>>();
        assert_eq!(grown.len(), 1);
        assert_eq!((grown[0].old, grown[0].new), (0.3, 3.3));
        for (at, frame) in frames.iter().enumerate() {
            assert!(frame.parent.is_none_or(|parent| parent < at) && frame.parent.is_none() == (at == 0));
            let callees = frames.iter().filter(|callee| callee.parent == Some(at));
            let sum: f64 = callees.map(|callee| callee.inclusive.absolute()).sum();
            assert!((sum + frame.own.absolute() - frame.inclusive.absolute()).abs() < 1e-9);
        }
    });
}

/// Adds a caller that only one build has between `main` and `f`.
#[test]
fn functions_of_one_side_do_not_hide_what_they_call() {
    let mut base = program(&[("main", false, 10, 0), ("between", false, 50, 0), ("f", false, 400, 0)], 100);
    let new = program(&[("main", false, 60, 0), ("f", false, 400, 5)], 100);
    let call = |from: u64, to: u64| Arc::new(LOW + 16 * from + 1, LOW + 16 * to, 5);
    base.1.take_arcs();
    base.1.add_arcs([call(0, 1), call(1, 2)]);
    compare(options(), (&base.0, &base.1), (&new.0, &new.1), |difference| {
        let frame = |frame: &gprof::ChangedFrame| {
            let name = String::from_utf8(difference.frame_name(frame).into_owned()).unwrap();
            format!("{name} {:?} {}-{}", frame.parent, frame.inclusive.old, frame.inclusive.new)
        };
        let frames: Vec<String> = difference.flame().frames.iter().map(frame).collect();
        let expected = ["all None 4.6-4.6", "main Some(0) 4.6-4.6", "f Some(1) 4-4", "between Some(1) 0.5-0"];
        assert_eq!(frames, expected);
    });
}

/// The names of all frames, each behind its caller.
fn frame_names(difference: &Difference<'_, '_>) -> Vec<String> {
    let name = |frame| String::from_utf8(difference.frame_name(frame).into_owned()).unwrap();
    difference.flame().frames.iter().map(name).collect()
}

#[test]
fn frames_have_the_names_of_rows() {
    let two = program(&[("main", false, 0, 0), ("f", true, 100, 1), ("f", true, 400, 2)], 100);
    let one = program(&[("main", false, 0, 0), ("f", true, 900, 3)], 100);
    let found = compare(options(), (&two.0, &two.1), (&one.0, &one.1), frame_names);
    assert_eq!(found, ["all", "main", "f (1 function, 2 in the base)"]);
}

/// A hundred functions that are too short for frames have together more time than a function with a frame.
#[test]
fn what_is_cut_is_the_last_callee() {
    let mut functions = vec![("main", false, 0, 0), ("long", false, 100_000, 1), ("short", false, 20, 1)];
    functions.extend([("tiny", true, 1, 1); 100]);
    let side = program(&functions, 100);
    let found = compare(options(), (&side.0, &side.1), (&side.0, &side.1), frame_names);
    assert_eq!(found, ["all", "main", "long", "short", "(cut)"]);
}

fn rendered(difference: &Difference<'_, '_>, format: Format) -> Vec<u8> {
    let mut out = Vec::new();
    gprof::render_difference(difference, format, &Terminal::default(), &mut out).unwrap();
    out
}

#[test]
fn formats_say_the_same_or_refuse() {
    with_stacks(300, |difference| {
        let json: Value = serde_json::from_slice(&rendered(difference, Format::Json)).unwrap();
        let functions = json["functions"].as_array().unwrap();
        assert_eq!(functions.len(), difference.rows.len());
        let text = String::from_utf8(rendered(difference, Format::Text)).unwrap();
        let csv = String::from_utf8(rendered(difference, Format::Csv)).unwrap();
        assert_eq!(csv.lines().count(), 1 + functions.len());
        let names: Vec<String> = functions[0].as_object().unwrap().keys().cloned().collect();
        let mut columns: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
        columns.sort_unstable();
        assert_eq!(names, columns, "JSON has the columns of CSV");
        for function in functions {
            let name = function["name"].as_str().unwrap();
            let line = text.lines().find(|line| line.ends_with(&format!("  {name}"))).unwrap();
            let change = function["inclusive_change"].as_f64().unwrap();
            assert!(line.contains(&format!("{change:+.2}")) || change == 0.0, "{line}");
        }
        for format in Format::all() {
            let mut out = Vec::new();
            let result = gprof::render_difference(difference, format, &Terminal::default(), &mut out);
            assert_eq!(result.is_ok(), format.shows_differences(), "{}", format.name());
        }
    });
}

/// A name that tries to leave the element that it is in.
const HOSTILE: &str = "</title></svg><script>alert(1)</script><!--\"'&\n]]>\u{202e}\x1b";

/// The script of the page runs under the page's policy, and no name becomes a part of the page.
#[test]
fn a_browser_shows_the_page() {
    let base = program(&[("main", false, 10, 0), (HOSTILE, false, 400, 5), ("gone", false, 50, 6)], 100);
    let new = program(&[("main", false, 10, 0), (HOSTILE, false, 900, 5), ("fresh", false, 50, 6)], 100);
    let page =
        compare(options(), (&base.0, &base.1), (&new.0, &new.1), |difference| rendered(difference, Format::Html));
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("difference");
    fs::create_dir_all(&directory).unwrap();
    let path = directory.join("page.html");
    fs::write(&path, page).unwrap();
    let mut command = Command::new("chromium");
    command.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"]);
    command.arg(format!("--user-data-dir={}", directory.join("chromium").display()));
    let Ok(output) = command.arg(format!("file://{}", path.display())).output() else {
        return eprintln!("SKIPPED: chromium: not on this system");
    };
    let (page, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    // Messages of the page's own script name the page.
    assert!(output.status.success() && !said.contains("CONSOLE"), "{said}");
    assert!(page.contains("<body class=\"scripted\">") && !page.contains("<script>alert"), "{page}");
    for (class, name) in [("grew5", "&lt;/title"), ("grew5", "fresh"), ("shrank5", "gone")] {
        let frame = page.split("<svg class=").find(|frame| frame.contains(&format!("<title>{name}"))).unwrap();
        assert!(frame.starts_with(&format!("\"{class}\"")), "{frame}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// A profile has no difference from itself.
    #[test]
    fn equal_sides_have_no_difference(table in table(), profile in profile()) {
        prop_assume!(table.symbols.iter().any(|symbol| symbol.is_func) && !profile.histograms().is_empty());
        let sides = (&table, &profile);
        let changed = compare(options().unused(true), sides, sides, |difference| {
            let is_changed = |change: &Change| change.absolute() != 0.0 || change.is_noise() == Some(false);
            let rows = changes(difference);
            let flame = difference.flame().frames.iter().any(|frame| is_changed(&frame.inclusive));
            flame || rows.iter().any(|(_, presence, all)| *presence != Presence::Both || all.iter().any(is_changed))
        });
        prop_assert!(!changed);
    }

    /// The other way round, each change has the other sign, and the sum of the changes is the change of the sum.
    #[test]
    fn sides_may_be_swapped(one in (table(), profile()), other in (table(), profile())) {
        for (table, profile) in [&one, &other] {
            prop_assume!(table.symbols.iter().any(|symbol| symbol.is_func) && !profile.histograms().is_empty());
        }
        let size = magnitude(&one.1) + magnitude(&other.1);
        let compared = |base: &(Table, Profile), new: &(Table, Profile)| {
            compare(options(), (&base.0, &base.1), (&new.0, &new.1), |difference| {
                let sum: f64 = difference.rows.iter().map(|row| row.own.absolute()).sum();
                let total = difference.total.absolute();
                let mut rows = changes(difference);
                rows.iter_mut().for_each(|(name, ..)| name.truncate(name.find(" (").unwrap_or(name.len())));
                (sum, total, rows, difference.flame().frames.len())
            })
        };
        let (sum, total, mut rows, frames) = compared(&one, &other);
        let (_, _, mut swapped, swapped_frames) = compared(&other, &one);
        prop_assert!(is_close(sum, total, size), "{sum} {total}");
        prop_assert_eq!(frames, swapped_frames);
        for (_, presence, all) in &mut swapped {
            *presence = match presence {
                Presence::Both => Presence::Both,
                Presence::Added => Presence::Removed,
                Presence::Removed => Presence::Added,
            };
            for change in all {
                (change.old, change.new) = (change.new, change.old);
            }
        }
        // Functions of both sides may have two names of which each side shows its own.
        let text = |(_, presence, all): &(String, Presence, [Change; 3])| format!("{presence:?} {all:?}");
        let [mut rows, mut swapped] = [&mut rows, &mut swapped].map(|rows| rows.iter().map(text).collect::<Vec<_>>());
        rows.sort();
        swapped.sort();
        prop_assert_eq!(rows, swapped);
    }
}
