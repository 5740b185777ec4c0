//! The numbers that the library returns.

use std::io::sink;

use gmon::{Arc, Bins, Histogram, Profile, Unit};
use gprof::internals::Symbol;
use gprof::{Analysis, Endpoint, LineKind, Node, Options, Place, SamplePlace, Stacks, Thread};

use crate::common::{LOW, Table, image};
use crate::knots::{DATA, options as knots_options, with_analysis as with_knots};

/// Analyzes a profile of a program whose functions have 8 bytes.
fn with_profile(
    words: &str,
    names: &[&'static [u8]],
    profile: Profile,
    stacks: Option<Stacks>,
    check: impl FnOnce(&Analysis<'_>),
) {
    let symbol =
        |(at, name): (u64, &&'static [u8])| Symbol { address: LOW + 8 * at, name, is_static: false, is_func: true };
    let table = Table { symbols: (0..).zip(names).map(symbol).collect(), end: LOW + 8 * names.len() as u64 };
    let words = words.split_whitespace().chain(["image", "profile"]).map(str::to_owned);
    let options = Options::parse(words).unwrap();
    let loaded = gprof::from_memory(&options, image(&table), profile).unwrap();
    let loaded = stacks.into_iter().fold(loaded, gprof::Loaded::with_stacks);
    check(&gprof::analyze(&loaded, &options, &mut sink()).unwrap());
}

/// Analyzes a program whose functions have these samples, and calls (from, to, count). Function 9 is code outside of
/// all functions.
fn with_analysis(
    words: &str,
    functions: &[(&'static [u8], u64)],
    calls: &[(u64, u64, u64)],
    stacks: Option<Stacks>,
    check: impl FnOnce(&Analysis<'_>),
) {
    let (names, bins): (Vec<&[u8]>, Vec<u64>) = functions.iter().copied().unzip();
    let end = LOW + 8 * names.len() as u64;
    let histogram = Histogram::new(LOW..end, Unit::seconds(100), bins).unwrap();
    let arcs = calls.iter().map(|(from, to, count)| Arc::new(LOW + 8 * from + 1, LOW + 8 * to, *count));
    let profile = Profile::of_samples(vec![histogram]).unwrap().with_arcs(arcs.collect::<Vec<_>>());
    with_profile(words, &names, profile, stacks, check);
}

fn code(function: u64) -> Place {
    Place::Code(LOW + 8 * function + 1)
}

/// Hundred thousandths.
fn rounded(number: f64) -> f64 {
    (number * 1e5).round() / 1e5
}

#[test]
fn members_know_their_cycle() {
    with_knots(knots_options(), None, |analysis| {
        let mut in_cycles = Vec::new();
        for node in analysis.entries() {
            let Node::Cycle(cycle) = node else { continue };
            for line in analysis.entry(node) {
                if let (LineKind::Callee, Endpoint::Function(member)) = (line.kind, line.endpoint) {
                    assert_eq!(analysis.cycle_of(member), Some(cycle));
                    in_cycles.push(member);
                }
            }
        }
        assert!(in_cycles.len() > 4, "{in_cycles:?}");
        let others = analysis.functions().filter(|id| !in_cycles.contains(id));
        assert!(others.map(|id| analysis.cycle_of(id)).all(|cycle| cycle.is_none()));
    });
}

/// A limit shows whole cycles, and nothing else beyond it.
#[test]
fn a_limit_shows_the_members_of_each_cycle() {
    let entries = |options: Options| {
        with_knots(options, None, |analysis| {
            let members = |node| {
                let lines = if matches!(node, Node::Cycle(_)) { analysis.entry(node) } else { Vec::new() };
                lines.into_iter().skip(1).map(|line| line.endpoint).collect::<Vec<_>>()
            };
            analysis.entries().map(|node| (node, members(node))).collect::<Vec<_>>()
        })
    };
    let all = entries(knots_options());
    let place = |member: &Endpoint| match member {
        Endpoint::Function(id) => all.iter().position(|(node, _)| *node == Node::Function(*id)).unwrap(),
        _ => unreachable!("a member of a cycle is a function"),
    };
    for top in 0..=all.len() {
        let (mut shown, mut at) = (top, 0);
        while at < shown {
            shown = all[at].1.iter().map(|member| place(member) + 1).fold(shown, usize::max);
            at += 1;
        }
        assert_eq!(entries(knots_options().top(top)), all[..shown], "{top}");
    }
}

#[test]
fn an_analysis_has_the_doubts_about_its_files() {
    let options = Options::new(format!("{DATA}bsd/basic"), [format!("{DATA}bsd/knots.gmon")]);
    let loaded = gprof::load(&options, &mut sink()).unwrap();
    let analysis = gprof::analyze(&loaded, &options, &mut sink()).unwrap();
    assert!(!loaded.mismatches().is_empty());
    assert_eq!(analysis.mismatches(), loaded.mismatches());
}

/// `main` calls `f` and `other`, and `other` calls `f`. Outside code calls `main`, which calls outside code.
const CALLS: [(u64, u64, u64); 5] = [(0, 1, 997), (2, 1, 3), (0, 2, 1), (9, 0, 1), (0, 9, 4)];
const SAMPLES: [(&[u8], u64); 3] = [(b"main", 0), (b"f", 990), (b"other", 10)];

#[test]
fn a_drawing_has_percentages_of_functions_and_calls() {
    with_analysis("", &SAMPLES, &CALLS, None, |analysis| {
        let drawn = analysis.drawn_graph();
        let functions: Vec<_> = drawn.functions.iter().map(|one| (one.inclusive, one.own, one.calls)).collect();
        let functions: Vec<_> =
            functions.iter().map(|(all, own, calls)| (rounded(*all), rounded(*own), *calls)).collect();
        assert_eq!(functions, [(100.0, 0.0, 1), (99.0, 99.0, 1000), (1.297, 1.0, 1)]);
        let call = |call: &gprof::DrawnCall| (call.caller, call.callee, call.inclusive.map(rounded), call.calls);
        let mut calls: Vec<_> = drawn.calls.iter().map(call).collect();
        calls.sort_by_key(|call| (call.0, call.1));
        assert_eq!(calls, [(0, 1, Some(98.703), 997), (0, 2, Some(1.297), 1), (2, 1, Some(0.297), 3)]);
        assert_eq!((drawn.functions_left_out, drawn.calls_left_out), (0, 0));
    });
    // Calls need a fifth of the least part of a function.
    with_analysis("--min-percent=1", &SAMPLES, &CALLS, None, |analysis| {
        let drawn = analysis.drawn_graph();
        assert_eq!((drawn.calls.len(), drawn.calls_left_out), (3, 0));
    });
    with_analysis("--min-percent=1.29", &SAMPLES, &CALLS, None, |analysis| {
        assert_eq!(analysis.drawn_graph().calls.len(), 3);
    });
    with_analysis("", &SAMPLES, &[(0, 1, 9997), (2, 1, 3), (0, 2, 1)], None, |analysis| {
        assert_eq!((analysis.drawn_graph().calls.len(), analysis.drawn_graph().calls_left_out), (2, 1));
    });
}

#[test]
fn calls_from_and_to_outside_code_are_arcs() {
    with_analysis("", &SAMPLES, &CALLS, None, |analysis| {
        let ids: Vec<_> = analysis.functions().collect();
        let arcs: Vec<_> = analysis.arc_times().filter(|arc| arc.caller.is_none() || arc.callee.is_none()).collect();
        let ends: Vec<_> = arcs.iter().map(|arc| (arc.caller, arc.callee, arc.calls)).collect();
        assert_eq!(ends, [(None, Some(ids[0]), 1), (Some(ids[0]), None, 4)]);
        let times: Vec<_> =
            analysis.function_times().map(|times| (times.id, rounded(times.own), rounded(times.inclusive))).collect();
        assert_eq!(times, [(ids[0], 0.0, 1000.0), (ids[1], 990.0, 990.0), (ids[2], 10.0, 12.97)]);
        let entry = analysis.entry(Node::Function(ids[0]));
        let outside: Vec<_> = entry.iter().filter(|line| line.endpoint == Endpoint::Outside).collect();
        assert_eq!(outside.len(), 2, "{entry:?}");
        // Code outside of all functions called `main`, which has an entry all the same.
        assert_eq!(analysis.entries().next(), Some(Node::Function(ids[0])));
    });
    with_analysis("-f f", &SAMPLES, &CALLS, None, |analysis| {
        let f = analysis.functions().nth(1).unwrap();
        assert_eq!(analysis.all_entries().collect::<Vec<_>>(), [Node::Function(f)]);
    });
}

/// Outside code calls `main`, which calls `f`.
fn main_and_f() -> Stacks {
    let mut stacks = Stacks::new();
    let main = stacks.push(None, code(0), 5);
    stacks.push(main, code(1), 3).unwrap();
    stacks.add_profile(8, true);
    stacks
}

#[test]
fn trees_have_no_calls_that_nobody_counted() {
    let functions: [(&[u8], u64); 2] = [(b"main", 5), (b"f", 3)];
    with_analysis("--contexts", &functions, &[(9, 0, 1)], Some(main_and_f()), |analysis| {
        let table = analysis.contexts().unwrap();
        let calls: Vec<_> = table.rows.iter().map(|row| (row.depth, row.calls)).collect();
        assert_eq!((calls, table.left_out, rounded(table.total)), (vec![(0, None), (1, None)], 0, 0.08));
        // The stacks show how long outside code waited.
        let main = analysis.functions().next().unwrap();
        let line = analysis.entry(Node::Function(main))[0];
        assert_eq!((line.endpoint, line.times), (Endpoint::Outside, Some((0.05, 0.03))));
    });
}

#[test]
fn trees_leave_out_the_profiling_runtime_unless_it_is_chosen() {
    let functions: [(&[u8], u64); 2] = [(b"main", 5), (b"mcount", 3)];
    let totals = |words: &str| {
        let mut totals = (0.0, 0, 0);
        with_analysis(words, &functions, &[(9, 0, 1)], Some(main_and_f()), |analysis| {
            let table = analysis.contexts().unwrap();
            totals = (rounded(table.total), table.rows.len(), table.left_out);
        });
        totals
    };
    assert_eq!(totals("--contexts"), (0.05, 1, 0));
    assert_eq!(totals("--contexts -pmcount"), (0.08, 2, 0));
}

#[test]
fn time_below_no_function_counts_unless_functions_are_chosen() {
    let mut stacks = main_and_f();
    stacks.push(None, Place::Kernel, 4).unwrap();
    let functions: [(&[u8], u64); 2] = [(b"main", 5), (b"f", 3)];
    for (words, total) in [("--contexts", 0.12), ("--contexts -n main", 0.08), ("--contexts -n f", 0.03)] {
        with_analysis(words, &functions, &[(9, 0, 1), (0, 1, 2)], Some(stacks.clone()), |analysis| {
            assert_eq!(rounded(analysis.contexts().unwrap().total), total, "{words}");
        });
    }
}

#[test]
fn each_frame_of_an_export_has_a_sample() {
    let mut stacks = main_and_f();
    stacks.push(Some(0), code(2), 0).unwrap();
    let functions: [(&[u8], u64); 3] = [(b"main", 5), (b"f", 3), (b"idle", 0)];
    with_analysis("", &functions, &[(9, 0, 1)], Some(stacks), |analysis| {
        let trees = analysis.sample_trees();
        let nodes: Vec<_> = trees.trees[0].nodes.iter().map(|node| (node.depth, node.own, node.inclusive)).collect();
        assert_eq!((nodes, trees.total), (vec![(0, 5, 8), (1, 3, 3)], 8));
        assert!(!trees.places.contains(&SamplePlace::LeftOut));
    });
    // Without stacks, a fifth of a sample in a function is no frame.
    let bins = Bins::U64(vec![1, 8]);
    let histogram = Histogram::new(LOW + 6..LOW + 26, Unit::seconds(100), bins).unwrap();
    let names: [&[u8]; 4] = [b"main", b"f", b"g", b"idle"];
    with_profile("", &names, Profile::of_samples(vec![histogram]).unwrap(), None, |analysis| {
        let trees = analysis.sample_trees();
        let own: Vec<_> = trees.trees[0].nodes.iter().map(|node| node.own).collect();
        assert_eq!(own.iter().sum::<u64>(), 9);
        assert!(own.iter().all(|own| *own > 0), "{own:?}");
    });
}

/// The address of a sample that has a stack is known better than by the bin of the address.
#[test]
fn stacks_divide_bins() {
    let histogram = Histogram::new(LOW..LOW + 16, Unit::seconds(100), vec![8_u64]).unwrap();
    let profile = Profile::of_samples(vec![histogram]).unwrap();
    let samples = |stacks| {
        let mut times = Vec::new();
        with_profile("-z", &[b"main", b"f"], profile.clone(), stacks, |analysis| {
            let time = |id| analysis.flat_rows().find(|row| row.function == id).unwrap().self_time;
            times = analysis.functions().map(|id| rounded(time(id))).collect();
        });
        times
    };
    assert_eq!((samples(None), samples(Some(main_and_f()))), (vec![0.04, 0.04], vec![0.05, 0.03]));
}

/// `main` and `f` with stacks of two threads and of no thread: the calls of each thread, and its ticks in `main` and
/// `f`.
fn threads(parts: [(&str, u64, [u64; 2]); 2], of_none: u64) -> Stacks {
    let mut stacks = Stacks::new();
    for (name, count, [own, below]) in parts {
        let calls = vec![Arc::new(LOW + 1, LOW + 8, count)];
        let thread = Thread { name: name.as_bytes().to_vec(), number: None, calls };
        let thread = stacks.add_thread(thread).and_then(|thread| stacks.push(None, Place::Thread(thread), 0));
        let main = stacks.push(thread, code(0), own);
        stacks.push(main, code(1), below);
    }
    stacks.push(None, code(0), of_none);
    stacks.add_profile(parts.iter().map(|(.., ticks)| ticks.iter().sum::<u64>()).sum::<u64>() + of_none, true);
    stacks
}

#[test]
fn threads_have_only_the_functions_and_calls_with_counts() {
    let stacks = threads([("reader", 2, [1, 4]), ("idle", 6, [0, 0])], 2);
    with_analysis("", &[(b"main", 3), (b"f", 4)], &[(0, 1, 8)], Some(stacks), |analysis| {
        let part = |part: &gprof::ThreadTimes<'_>| {
            let functions: Vec<_> = part.functions.iter().map(|function| (function.own, function.calls)).collect();
            let arcs: Vec<_> = part.arcs.iter().map(|arc| (arc.times, arc.calls)).collect();
            (functions, arcs)
        };
        let parts: Vec<_> = analysis.thread_times().iter().map(part).collect();
        let reader = (vec![(1.0, 0), (4.0, 2)], vec![(Some((4.0, 4.0)), 2)]);
        // The caller of the idle thread has neither time nor calls of its own.
        let idle = (vec![(0.0, 0), (0.0, 6)], vec![(Some((0.0, 0.0)), 6)]);
        // `f` belongs to threads, with all its calls.
        assert_eq!(parts, [reader, idle, (vec![(2.0, 0)], vec![])]);
    });
}

#[test]
fn times_of_threads_have_errors_and_fit_the_bins() {
    // The bin of `f` has half of the samples of its stacks.
    let stacks = threads([("reader", 2, [0, 14]), ("writer", 6, [0, 6])], 5);
    with_analysis("--errors", &[(b"main", 5), (b"f", 10)], &[(0, 1, 8)], Some(stacks), |analysis| {
        let parts = analysis.thread_times();
        let f = |at: usize| *parts[at].functions.iter().find(|function| function.calls > 0).unwrap();
        assert_eq!(([f(0).own, f(1).own], [f(0).inclusive, f(1).inclusive]), ([7.0, 3.0], [7.0, 3.0]));
        let error = |samples: f64| rounded((samples * (1.0 - samples / 25.0)).sqrt());
        for (at, own, below) in [(0, 7.0, 14.0), (1, 3.0, 6.0)] {
            assert_eq!((rounded(f(at).own_error), rounded(f(at).inclusive_error)), (error(own), error(own)), "{at}");
            let arc = parts[at].arcs[0];
            assert_eq!((arc.times, rounded(arc.inclusive_error)), (Some((below, below)), error(below)), "{at}");
        }
    });
}

/// The time of a cycle whose callers do not count is the time of its members.
#[test]
fn a_measured_cycle_has_the_error_of_its_members() {
    let mut stacks = Stacks::new();
    let main = stacks.push(None, code(0), 5);
    let a = stacks.push(main, code(1), 4);
    stacks.push(a, code(2), 3).unwrap();
    stacks.add_profile(12, true);
    let calls = [(9, 0, 1), (0, 1, 1), (1, 2, 2), (2, 1, 1)];
    with_analysis("--errors -n a", &[(b"main", 5), (b"a", 4), (b"b", 3)], &calls, Some(stacks), |analysis| {
        let line = analysis.entry(Node::Cycle(0))[0];
        let error = (7.0 * (1.0 - 7.0 / 12.0_f64)).sqrt() / 100.0;
        assert_eq!((line.times, rounded(line.error)), (Some((0.07, 0.0)), rounded(error)));
    });
}

#[test]
fn lists_of_records_need_no_stacks() {
    let functions: [(&[u8], u64); 2] = [(b"main", 5), (b"f", 3)];
    with_analysis("-i", &functions, &[], Some(main_and_f()), |analysis| assert!(analysis.stacks().is_none()));
    with_analysis("-q", &functions, &[], Some(main_and_f()), |analysis| assert!(analysis.stacks().is_some()));
}
