//! Flame graphs: no time is lost, and each frame has the time of its path.

use std::collections::BTreeMap;

use gmon::{Arc, Histogram, Profile, Unit};
use gprof::internals::Symbol;
use gprof::{Analysis, Certainty, Flame, FlameOrigin, FlameSubject, Options, Place, Thread};
use proptest::prelude::*;

use crate::common::{LOW, Table, image, is_close, magnitude, profile, table};
use crate::knots::{BURN, KNOTS, SITES, knots, options, with_analysis};

/// The names of the frames from the outermost one to each frame, and the samples of the frame alone.
fn paths(analysis: &Analysis<'_>, flame: &Flame) -> BTreeMap<String, f64> {
    let mut names: Vec<String> = Vec::new();
    let mut paths = BTreeMap::new();
    for frame in &flame.frames {
        let name = match frame.subject {
            FlameSubject::Function(id) => String::from_utf8(analysis.function(id).symbol.to_vec()).unwrap(),
            other => String::from_utf8(analysis.flame_name(flame, other).into_owned()).unwrap(),
        };
        let path = frame.parent.map_or(name.clone(), |parent| format!("{} {name}", names[parent]));
        if frame.own > 0.0 {
            *paths.entry(path.clone()).or_default() += frame.own;
        }
        names.push(path);
    }
    paths
}

/// Checks that the frames form a tree in which no time is lost. Sums may differ by rounding.
fn check(flame: &Flame, size: f64) {
    let mut sums: Vec<f64> = flame.frames.iter().map(|frame| frame.own).collect();
    for (at, frame) in flame.frames.iter().enumerate().rev() {
        assert!(is_close(sums[at], frame.inclusive, size), "{frame:?}: {}", sums[at]);
        assert_eq!(frame.parent.is_none(), at == 0);
        if let Some(parent) = frame.parent {
            assert!(parent < at && frame.inclusive > 0.0);
            sums[parent] += sums[at];
        }
    }
}

#[test]
fn measured_frames_are_the_stacks() {
    with_analysis(options(), Some(knots()), |analysis| {
        let flame = analysis.flame();
        assert_eq!(flame.origin, FlameOrigin::Measured);
        check(flame, 0.0);
        let named = |stack: &str| format!("all {}", stack.replace("...", "<cut: stack too deep>"));
        let mut expected: BTreeMap<String, f64> =
            KNOTS.iter().map(|(stack, ticks)| (named(stack), *ticks as f64)).collect();
        expected.insert("all <no stack>".to_owned(), 2.0);
        assert_eq!(paths(analysis, flame), expected);
        let red = flame.frames.iter().find(|frame| frame.inclusive == 89.0).unwrap();
        assert_eq!(red.error, (89.0 * (1.0 - 89.0 / 201.0_f64)).sqrt());
        assert!(flame.frames.iter().all(|frame| frame.bounds.is_none() && frame.certainty == Certainty::Certain));
    });
}

/// The functions of `knots` that time is left out of have no time in the flame graph either.
#[test]
fn choices_apply_to_frames() {
    let files = ["", ".gmon"].map(|suffix| format!("{}bsd/knots{suffix}", crate::knots::DATA));
    let words = ["-N", "even"].map(str::to_owned).into_iter().chain(files);
    with_analysis(Options::parse(words).unwrap(), Some(knots()), |analysis| {
        assert_eq!(analysis.flame().total(), 112.0);
    });
}

#[test]
fn estimated_frames_hand_the_time_of_calls_down() {
    with_analysis(options(), None, |analysis| {
        let flame = analysis.flame();
        assert_eq!(flame.origin, FlameOrigin::Estimated);
        check(flame, 201.0);
        assert!(is_close(flame.total(), analysis.graph_samples(), 201.0));
        let paths = paths(analysis, flame);
        // `burn` has all time. Its callers get time by their calls.
        assert!(paths.iter().all(|(path, _)| path.ends_with(" burn") || path.ends_with("(cut)")), "{paths:?}");
        for (at, frame) in flame.frames.iter().enumerate().skip(1) {
            let parent = &flame.frames[frame.parent.unwrap()];
            // A frame on a frame that is not certain is not certain.
            assert!(frame.certainty == Certainty::Estimated || parent.certainty == Certainty::Certain, "{at}");
            if let Some((lower, upper)) = frame.bounds {
                assert!(lower <= frame.inclusive + 1e-9 && frame.inclusive <= upper + 1e-9, "{frame:?}");
            }
        }
        let certain = |name: &str| {
            let of = |subject| matches!(subject, FlameSubject::Function(id) if analysis.function(id).symbol == name.as_bytes());
            flame.frames.iter().filter(|frame| of(frame.subject)).all(|frame| frame.certainty == Certainty::Certain)
        };
        assert!(certain("main") && !certain("burn"));
    });
}

#[test]
fn dominators_have_the_time_that_only_they_lead_to() {
    with_analysis(options().bounds(true), None, |analysis| {
        let flame = analysis.dominators();
        check(flame, 201.0);
        for row in &analysis.bounds().unwrap().rows {
            let frame = flame.frames.iter().find(|frame| frame.subject == FlameSubject::Function(row.function));
            let time = frame.map_or(0.0, |frame| frame.inclusive / 100.0);
            assert!(is_close(time, row.lower, 201.0), "{row:?} {time}");
        }
    });
}

/// A bin that two functions share belongs to what calls both, and the other samples in no function to nobody.
#[test]
fn dominators_tell_what_is_outside_and_what_is_shared() {
    let symbol = |(at, name): (u64, &'static str)| Symbol {
        address: LOW + 16 * at,
        name: name.as_bytes(),
        is_static: false,
        is_func: true,
    };
    let table = Table { symbols: [(0, "main"), (1, "f"), (2, "g")].map(symbol).to_vec(), end: LOW + 48 };
    // Bins of 8 bytes: the second one is in `main`, the fifth one in `f` and `g`, and the last one outside.
    let histogram = Histogram::new(LOW - 4..LOW + 60, Unit::seconds(100), vec![0_u16, 1, 0, 0, 3, 0, 0, 5]).unwrap();
    let arc = |from: u64, to: u64| Arc::new(from, LOW + 16 * to, 1);
    let arcs = vec![arc(8, 0), arc(LOW + 4, 1), arc(LOW + 8, 2)];
    let profile = Profile::of_samples(vec![histogram]).unwrap().with_arcs(arcs);
    let options = Options::new("image", ["profile"]).brief(true);
    let loaded = gprof::from_memory(&options, image(&table), profile).unwrap();
    let analysis = gprof::analyze(&loaded, &options, &mut std::io::sink()).unwrap();
    let expected = [("all <outside>", 5.0), ("all main", 1.0), ("all main <shared>", 3.0)];
    let expected = expected.map(|(path, samples)| (path.to_owned(), samples));
    assert_eq!(paths(&analysis, analysis.dominators()), BTreeMap::from(expected));
}

/// Each of many threads gets its part of the frames of a picture.
#[test]
fn the_flames_of_many_threads_have_fewer_frames_each() {
    let mut stacks = knots();
    let thread = Thread { name: b"worker".to_vec(), ..Thread::default() };
    let thread = stacks.add_thread(thread).and_then(|thread| stacks.push(None, Place::Thread(thread), 0));
    let red = stacks.push(thread, Place::Code(SITES[4].2), 0);
    stacks.push(red, Place::Code(BURN), 2);
    with_analysis(options(), Some(stacks), |analysis| {
        let thread = analysis.thread_times().into_iter().find_map(|times| times.thread);
        let subjects = |threads| {
            let flame = analysis.thread_flame(thread, threads).unwrap();
            flame
                .frames
                .iter()
                .map(|frame| String::from_utf8(analysis.flame_name(&flame, frame.subject).into_owned()).unwrap())
                .collect::<Vec<_>>()
        };
        assert_eq!(subjects(1), ["all", "red", "burn"]);
        assert_eq!(subjects(20_000), ["all", "red", "(cut)"]);
        assert_eq!(subjects(40_000), ["all", "(cut)"]);
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// The flame graph of any profile has the time of the call graph.
    #[test]
    fn no_time_is_lost(table in table(), profile in profile()) {
        prop_assume!(table.symbols.iter().any(|symbol| symbol.is_func));
        // A counter below zero has no width in a picture.
        prop_assume!(profile.histograms().iter().all(|all| (0..all.bins().len()).all(|bin| all.count(bin) >= 0)));
        let options = Options::new("image", ["profile"]).brief(true);
        let loaded = gprof::from_memory(&options, image(&table), profile.clone()).unwrap();
        let analysis = gprof::analyze(&loaded, &options, &mut std::io::sink()).unwrap();
        let size = magnitude(&profile);
        let flame = analysis.flame();
        check(flame, size);
        prop_assert!(is_close(flame.total(), analysis.graph_samples(), size), "{} {}", flame.total(), analysis.graph_samples());
        let dominators = analysis.dominators();
        check(dominators, size);
        let stats = analysis.stats();
        // A bin that the program shares with the profiling runtime is in this graph as a whole.
        let (least, most) = (stats.samples - stats.runtime, stats.samples);
        prop_assert!((least - 1e-9 * size..=most + 1e-9 * size).contains(&dominators.total()));
    }
}
