//! Totals of reports: every sample and every call of a random profile is in the report exactly once.

use gmon::Profile;
use gprof::internals::{Flat, Functions, Innermost, Selection, Symbol};
use gprof::{Analysis, Format, FunctionId, FunctionInfo, Options, Terminal};
use proptest::prelude::*;

use crate::common::{image, is_close, magnitude, owner, profile, table};

/// Calls `add` for each byte of each bin, with the byte's share of the samples.
fn for_each_byte(profile: &Profile, mut add: impl FnMut(u64, f64)) {
    for histogram in profile.histograms() {
        for bin in 0..histogram.len() {
            let range = histogram.bin_range(bin);
            // A bin without an address stands for the byte that it lies in.
            let bytes = range.start..range.end.max(range.start + 1);
            let part = histogram.count(bin) as f64 / (bytes.end - bytes.start) as f64;
            bytes.for_each(|byte| add(byte, part));
        }
    }
}

/// Returns the time of each function in samples, added up byte by byte. Copies count for their functions.
fn time_by_bytes(profile: &Profile, functions: &Functions<'_>) -> Vec<f64> {
    let mut time = vec![0.0; functions.len()];
    for_each_byte(profile, |byte, part| {
        if let Some(id) = owner(functions, byte) {
            time[functions[id].counts_for.index()] += part;
        }
    });
    time
}

/// Returns the function of an address after looking at all functions.
fn function_of(analysis: &Analysis<'_>, address: u64) -> Option<FunctionId> {
    analysis.functions().rev().find(|id| {
        let FunctionInfo { address: start, size, .. } = analysis.function(*id);
        address.checked_sub(start).is_some_and(|offset| offset < size)
    })
}

/// Returns the time of each function in samples, added up byte by byte.
fn times(profile: &Profile, analysis: &Analysis<'_>) -> Vec<f64> {
    let mut time = vec![0.0; analysis.functions().count()];
    for_each_byte(profile, |byte, part| {
        if let Some(id) = function_of(analysis, byte) {
            time[id.index()] += part;
        }
    });
    time
}

/// Returns the number of calls of each function by other functions, added up arc by arc.
fn calls(profile: &Profile, analysis: &Analysis<'_>) -> Vec<u64> {
    let mut calls = vec![0; analysis.functions().count()];
    for arc in profile.arcs() {
        let marked = |id: &FunctionId| analysis.function(*id).is_marked;
        // A call of a label counts for the marked function before the label.
        let called = function_of(analysis, arc.selfpc)
            .and_then(|label| analysis.functions().rev().filter(|id| *id <= label).find(marked));
        if let Some(called) = called.filter(|called| function_of(analysis, arc.frompc) != Some(*called)) {
            calls[called.index()] += arc.count;
        }
    }
    calls
}

/// For each function whether it is part of the profiling runtime.
fn runtime(analysis: &Analysis<'_>) -> Vec<bool> {
    analysis.functions().map(|id| analysis.function(id).symbol == b"mcount").collect()
}

/// Compares the sums of the rows, and of the text of the flat profile, with the statistics and with the calls of
/// functions.
fn rows_have_the_same_sums(analysis: &Analysis<'_>, profile: &Profile, calls: &[u64]) -> Result<(), TestCaseError> {
    let (stats, magnitude) = (analysis.stats(), magnitude(profile));
    let rows: Vec<_> = analysis.flat_rows().collect();
    if !profile.histograms().is_empty() {
        let sum: f64 = rows.iter().map(|row| row.self_time * analysis.clock().rate).sum();
        prop_assert!(is_close(sum, stats.attributed, magnitude));
    } else {
        prop_assert_eq!(stats.attributed, 0.0);
    }
    for row in &rows {
        prop_assert_eq!(row.calls, calls[row.function.index()]);
    }
    let shown: u64 = rows.iter().map(|row| row.calls).sum();
    let all: u64 = calls.iter().zip(&runtime(analysis)).filter(|(_, is)| !**is).map(|(calls, _)| calls).sum();
    prop_assert_eq!(shown, all);
    let mut text = Vec::new();
    gprof::render(analysis, Format::Text, &Terminal::default(), &mut text, &mut std::io::sink()).unwrap();
    let text = String::from_utf8(text).unwrap();
    let flat = text.split('\x0c').next().unwrap();
    let lines: Vec<&str> = flat.lines().skip_while(|line| !line.contains("time   seconds")).skip(1).collect();
    prop_assert_eq!(lines.len(), rows.len());
    if let Some(last) = lines.last().filter(|_| !profile.histograms().is_empty()) {
        let cumulative: f64 = last.split_whitespace().nth(1).unwrap().parse().unwrap();
        prop_assert!((cumulative - stats.attributed / 100.0).abs() <= 0.0051 + 1e-9 * magnitude, "{}", text);
    }
    Ok(())
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
        let flat = Flat::exact(profile.histograms(), &Innermost::default(), &functions, &everything);
        let magnitude = magnitude(&profile);
        for (found, expected) in flat.time.iter().zip(time_by_bytes(&profile, &functions)) {
            prop_assert!(is_close(*found, expected, magnitude), "{found} {expected}");
        }
        let samples = profile.histograms().iter().map(|histogram| histogram.total() as f64).sum();
        prop_assert!(is_close(flat.total, samples, magnitude));
    }

    #[test]
    fn reports_account_for_the_whole_profile(table in table(), profile in profile()) {
        // gprof refuses an image without functions.
        prop_assume!(table.symbols.iter().any(|symbol| symbol.is_func));
        let options = Options::new("image", ["profile"]).brief(true);
        let loaded = gprof::from_memory(&options, image(&table), profile.clone()).unwrap();
        let analysis = gprof::analyze(&loaded, &options, &mut std::io::sink()).unwrap();
        let (time, calls) = (times(&profile, &analysis), calls(&profile, &analysis));
        let runtime = runtime(&analysis);
        let (stats, magnitude) = (analysis.stats(), magnitude(&profile));
        let sum = |is_runtime: bool| -> f64 {
            time.iter().zip(&runtime).filter(|(_, is)| **is == is_runtime).map(|(time, _)| time).sum()
        };
        let samples: i128 = profile.histograms().iter().map(gmon::Histogram::total).sum();
        prop_assert!(is_close(stats.samples, samples as f64, magnitude));
        prop_assert!(is_close(stats.attributed, sum(false), magnitude));
        prop_assert!(is_close(stats.runtime, sum(true), magnitude));
        prop_assert!(is_close(stats.left_out, 0.0, magnitude));
        let parts = stats.attributed + stats.runtime + stats.left_out + stats.outside;
        prop_assert!(is_close(parts, stats.samples, magnitude));
        prop_assert_eq!(stats.calls, profile.arcs().iter().map(|arc| arc.count).sum::<u64>());
        rows_have_the_same_sums(&analysis, &profile, &calls)?;
    }
}

#[test]
fn a_table_without_symbols_has_no_functions() {
    let symbol = Symbol { address: 16, name: b"f", is_static: false, is_func: true };
    let is_empty = |symbols: Vec<Symbol<'static>>| {
        let functions = Functions::new(symbols, 32);
        (functions.is_empty(), functions.len())
    };
    assert_eq!([is_empty(Vec::new()), is_empty(vec![symbol])], [(true, 0), (false, 1)]);
}
