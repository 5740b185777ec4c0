//! Exports of runs that counted by thread.

use std::collections::BTreeMap;

use gmon::Arc;
use gprof::{Analysis, ArcTimes, Format, FunctionTimes, Place, Stacks, Thread};

use super::{check_callgrind, check_folded, check_speedscope, main_and_f, text, with_analysis};
use crate::common::LOW;

const NAMES: [&[u8]; 4] = [b"worker", b"a;b\xff\n", b"", b"worker"];

/// Adds threads with calls, and returns the indexes of their nodes.
pub(crate) fn add(stacks: &mut Stacks, calls: &[Arc]) -> [Option<u32>; NAMES.len()] {
    let mut number = 0;
    NAMES.map(|name| {
        number += 1;
        // The first thread says more calls than there were, the last none.
        let count = |count: u64| [count.saturating_mul(2), count / 2, count, 0][number as usize - 1];
        let calls = calls.iter().map(|arc| Arc::new(arc.frompc, arc.selfpc, count(arc.count))).collect();
        let thread = Thread { name: name.to_vec(), number: Some(number).filter(|number| *number != 2), calls };
        stacks.add_thread(thread).and_then(|thread| stacks.push(None, Place::Thread(thread), 0))
    })
}

type Sums = BTreeMap<String, (f64, f64, u64, u64)>;

fn add_function(sums: &mut Sums, function: &FunctionTimes) {
    let sum = sums.entry(format!("{:?}", function.id)).or_default();
    *sum = (
        sum.0 + function.own,
        sum.1 + function.inclusive,
        sum.2.saturating_add(function.calls),
        sum.3.saturating_add(function.self_calls),
    );
}

fn add_arc(sums: &mut Sums, arc: &ArcTimes) {
    let sum = sums.entry(format!("{:?} {:?}", arc.caller, arc.callee)).or_default();
    let (own, inclusive) = arc.times.unwrap_or_default();
    *sum = (sum.0 + own, sum.1 + inclusive, sum.2.saturating_add(arc.calls), 0);
}

/// The sums of the threads are the whole.
pub(crate) fn check(analysis: &Analysis<'_>) {
    let (mut whole, mut parts) = (Sums::new(), Sums::new());
    analysis.function_times().for_each(|function| add_function(&mut whole, &function));
    analysis.arc_times().for_each(|arc| add_arc(&mut whole, &arc));
    for part in analysis.thread_times() {
        part.functions.iter().for_each(|function| add_function(&mut parts, function));
        part.arcs.iter().for_each(|arc| add_arc(&mut parts, arc));
    }
    for (key, all) in &whole {
        let sum = parts.get(key).copied().unwrap_or_default();
        let is_near = |one: f64, other: f64| (one - other).abs() <= 1e-4 + 1e-9 * one.abs();
        assert!(is_near(all.0, sum.0) && is_near(all.1, sum.1), "{key}: {sum:?}, not {all:?}");
        assert_eq!((all.2, all.3), (sum.2, sum.3), "{key}");
    }
    assert!(parts.keys().all(|key| whole.contains_key(key)));
}

/// `main` calls `f` in two threads; a sample belongs to no thread.
#[test]
fn each_thread_has_its_part() {
    let (table, profile) = main_and_f([3, 10], 9);
    let arc = profile.arcs()[0];
    let mut stacks = Stacks::new();
    for (name, count, [own, below]) in [(b"reader", 2, [1, 4]), (b"writer", 6, [0, 6])] {
        let thread = Thread {
            name: name.to_vec(),
            number: Some(count + 40),
            calls: vec![Arc::new(arc.frompc, arc.selfpc, count)],
        };
        let thread = stacks.add_thread(thread).and_then(|thread| stacks.push(None, Place::Thread(thread), 0));
        let main = stacks.push(thread, Place::Code(LOW + 1), own);
        stacks.push(main, Place::Code(LOW + 5), below);
    }
    stacks.push(None, Place::Code(LOW), 2);
    stacks.add_profile(13, true);
    with_analysis(&table, profile, Some(stacks), |analysis| {
        check(analysis);
        let folded = text(analysis, Format::Folded);
        let lines = "writer (46);main;f 6\nreader (42);main 1\nreader (42);main;f 4\n<no thread>;main 2\n";
        assert_eq!((folded.as_str(), check_folded(&folded)), (lines, 13));
        let speedscope = text(analysis, Format::Speedscope);
        assert!((check_speedscope(&speedscope) - 0.13).abs() < 1e-9);
        for name in ["writer (46)", "reader (42)", "<no thread>"] {
            assert!(speedscope.contains(&format!("\"name\":\"{name}\",\"unit\"")), "{speedscope}");
        }
        let callgrind = text(analysis, Format::Callgrind);
        check_callgrind(&callgrind);
        let parts: Vec<&str> = callgrind.split("part: ").skip(1).collect();
        assert!(parts[0].starts_with("1\nthread: 1\ndesc: Thread: writer (46)\n"), "{callgrind}");
        for (part, calls) in parts.iter().zip(["6 0\n0 6000000\n", "2 0\n0 4000000\n", "1 0\n0 0\n"]) {
            assert!(part.contains(&format!("calls={calls}")), "{callgrind}");
        }
        assert_eq!(parts.len(), 3);
    });
}
