//! What reports add up to, for any profile of any table of functions: everything in the profile is in them once.
#![allow(clippy::unwrap_used, reason = "a test fails loudly")]

mod common;

use gmon::Profile;
use gprof::analysis::flat::Flat;
use gprof::analysis::selection::Selection;
use gprof::symbols::functions::{FunctionId, Functions};
use gprof::{Format, Options};
use proptest::prelude::*;

use common::{image, is_close, magnitude, owner, profile, table};

/// The time of each function, worked out byte by byte.
fn time_by_bytes(profile: &Profile, functions: &Functions<'_>) -> Vec<f64> {
    let mut time = vec![0.0; functions.len()];
    for histogram in &profile.histograms {
        for bin in 0..histogram.bins.len() {
            let range = histogram.bin_range(bin);
            // A bin in which there is no address stands for the byte that it lies in.
            let bytes = range.start..range.end.max(range.start + 1);
            let part = histogram.count(bin) as f64 / (bytes.end - bytes.start) as f64;
            for id in bytes.filter_map(|byte| owner(functions, byte)) {
                time[functions[id].counts_for.index()] += part;
            }
        }
    }
    time
}

/// How often each function was called by others, worked out arc by arc.
fn calls_by_arcs(profile: &Profile, functions: &Functions<'_>) -> Vec<u64> {
    let mut calls = vec![0; functions.len()];
    let counts_for = |id: FunctionId| functions[id].counts_for;
    for arc in &profile.arcs {
        let called = owner(functions, arc.selfpc).and_then(|id| functions[id].called_as).map(counts_for);
        if let Some(called) = called.filter(|called| owner(functions, arc.frompc).map(counts_for) != Some(*called)) {
            calls[called.index()] += arc.count;
        }
    }
    calls
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_byte_of_a_bin_gets_its_part(table in table(), profile in profile(), merge in any::<bool>()) {
        let mut functions = table.functions();
        if merge {
            functions.merge_copies(&std::collections::HashMap::new());
        }
        let everything = Selection::by_names(&functions, &Default::default(), &Default::default());
        let flat = Flat::exact(&profile.histograms, &functions, &everything);
        let magnitude = magnitude(&profile);
        for (found, expected) in flat.time.iter().zip(time_by_bytes(&profile, &functions)) {
            prop_assert!(is_close(*found, expected, magnitude), "{found} {expected}");
        }
        let samples = profile.histograms.iter().map(|histogram| histogram.total() as f64).sum();
        prop_assert!(is_close(flat.total, samples, magnitude));
    }

    #[test]
    fn reports_account_for_the_whole_profile(table in table(), profile in profile()) {
        // An image without functions is refused.
        prop_assume!(table.symbols.iter().any(|symbol| symbol.is_func));
        let options = Options::parse(["-b", "-p", "--stats", "made-up"]).unwrap();
        let loaded = gprof::from_memory(&options, image(&table), profile.clone()).unwrap();
        let analysis = gprof::analyze(&loaded, &options, &mut std::io::sink()).unwrap();
        let mut text = Vec::new();
        gprof::render(&analysis, Format::Text, &mut text, &mut std::io::sink()).unwrap();
        let text = String::from_utf8(text).unwrap();
        let functions = &analysis.functions;
        let (time, calls) = (time_by_bytes(&profile, functions), calls_by_arcs(&profile, functions));
        let runtime: Vec<bool> = functions.as_slice().iter().map(|function| function.name == b"mcount").collect();
        let (stats, magnitude) = (analysis.stats.as_ref().unwrap(), magnitude(&profile));
        let sum = |is_runtime: bool| -> f64 {
            time.iter().zip(&runtime).filter(|(_, is)| **is == is_runtime).map(|(time, _)| time).sum()
        };
        let samples: i128 = profile.histograms.iter().map(gmon::Histogram::total).sum();
        prop_assert!(is_close(stats.samples, samples as f64, magnitude));
        prop_assert!(is_close(stats.attributed, sum(false), magnitude));
        prop_assert!(is_close(stats.runtime, sum(true), magnitude));
        prop_assert!(is_close(stats.left_out, 0.0, magnitude));
        let parts = stats.attributed + stats.runtime + stats.left_out + stats.outside;
        prop_assert!(is_close(parts, stats.samples, magnitude));
        prop_assert_eq!(stats.calls, profile.arcs.iter().map(|arc| arc.count).sum::<u64>());
        // The rows have the same sums, and so has the text.
        let rows = &analysis.flat.rows;
        prop_assert!(is_close(rows.iter().map(|row| row.time).sum(), stats.attributed, magnitude));
        for row in rows {
            prop_assert_eq!(row.calls, calls[row.function.index()]);
        }
        let shown: u64 = rows.iter().map(|row| row.calls).sum();
        let all: u64 = calls.iter().zip(&runtime).filter(|(_, is)| !**is).map(|(calls, _)| calls).sum();
        prop_assert_eq!(shown, all);
        let flat = text.split('\x0c').next().unwrap();
        let lines: Vec<&str> = flat.lines().skip_while(|line| !line.contains("time   seconds")).skip(1).collect();
        prop_assert_eq!(lines.len(), rows.len());
        if let Some(last) = lines.last().filter(|_| !profile.histograms.is_empty()) {
            let cumulative: f64 = last.split_whitespace().nth(1).unwrap().parse().unwrap();
            prop_assert!((cumulative - stats.attributed / 100.0).abs() <= 0.0051 + 1e-9 * magnitude, "{}", text);
        }
    }
}
