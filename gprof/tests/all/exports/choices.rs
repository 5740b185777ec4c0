//! What choices of functions leave in the exports of `knots`.

use std::io::sink;

use gprof::internals::Symbol;
use gprof::{Analysis, Format, Options};

use super::{check_callgrind, check_calls, check_folded, text};
use crate::common::{LOW, Table, image};
use crate::knots::{self, knots, with_analysis};

/// Analyzes `knots` with these options.
fn with_options(words: &str, has_stacks: bool, check: impl Fn(&Analysis<'_>)) {
    let files = ["", ".gmon"].map(|suffix| format!("{}bsd/knots{suffix}", knots::DATA));
    let is_for_text = ["-A", "-C"].iter().any(|option| words.starts_with(option));
    let words = words.split(' ').filter(|word| !word.is_empty()).map(str::to_owned);
    // Execution counts and annotated sources exist only as text.
    let format = if is_for_text { "text" } else { "csv" };
    let options = Options::parse(words.chain([format!("--format={format}")]).chain(files)).unwrap();
    with_analysis(options, has_stacks.then(knots), check);
}

/// Options that choose rows, entries, or lines leave out no time.
#[test]
fn samples_without_stacks_stay_unless_time_is_left_out() {
    for words in ["", "--callers=burn", "-pburn", "-Pburn", "-Aburn", "-Cburn", "-e burn", "-f burn", "-qburn"] {
        with_options(words, true, |analysis| {
            let folded = text(analysis, Format::Folded);
            assert!(folded.contains("<no stack> 2\n"), "{words}: {folded}");
            assert_eq!(check_folded(&folded), 201, "{words}");
            assert_eq!(analysis.flame().total(), 201.0, "{words}");
        });
    }
    for words in ["-n burn", "-N burn", "-E burn", "-F burn", "-k red/burn"] {
        with_options(words, true, |analysis| {
            assert!(!text(analysis, Format::Folded).contains("<no stack>"), "{words}");
            assert!(analysis.flame().total() <= 199.0, "{words}");
        });
    }
}

/// Estimated flame graphs have bounds where they are about the whole program.
#[test]
fn estimates_have_bounds_unless_time_is_left_out() {
    let symbol = |at: u64, name| Symbol { address: LOW + 4 * at, name, is_static: false, is_func: true };
    let names: [&[u8]; 3] = [b"_start", b"main", b"f"];
    let table = Table { symbols: (0..).zip(names).map(|(at, name)| symbol(at, name)).collect(), end: LOW + 12 };
    let (highpc, bins) = (LOW + 12, vec![0_u16, 2, 5]);
    let histogram = gmon::Histogram::new(LOW..highpc, gmon::Unit::seconds(100), bins).unwrap();
    let arcs = [(LOW + 1, LOW + 4, 1), (LOW + 5, LOW + 8, 3)];
    let arcs = arcs.map(|(frompc, selfpc, count)| gmon::Arc::new(frompc, selfpc, count)).to_vec();
    let profile = gmon::Profile::of_samples(vec![histogram]).unwrap().with_arcs(arcs);
    for (words, has_bounds) in [
        ("", true),
        ("-Cf", true),
        ("-e f", true),
        ("-f f", true),
        ("-pf", false),
        ("-N f", false),
        ("-k main/f", false),
    ] {
        let words = words.split(' ').filter(|word| !word.is_empty()).chain(["image", "profile"]).map(str::to_owned);
        let options = Options::parse(words).unwrap();
        let loaded = gprof::from_memory(&options, image(&table), profile.clone()).unwrap();
        let analysis = gprof::analyze(&loaded, &options, &mut sink()).unwrap();
        assert_eq!(analysis.flame().frames.iter().any(|frame| frame.bounds.is_some()), has_bounds, "{options:?}");
    }
}

/// A hidden caller has no row and no costs of its own, but its calls are there.
#[test]
fn arcs_have_at_least_one_function_that_is_shown() {
    for has_stacks in [false, true] {
        with_options("", has_stacks, check_calls);
        for words in ["-e odd", "-f burn", "-e green", "-E odd"] {
            with_options(words, has_stacks, |analysis| {
                check_calls(analysis);
                let shown: Vec<_> = analysis.function_times().map(|function| Some(function.id)).collect();
                let is_shown = |id| shown.contains(&id);
                assert!(analysis.arc_times().all(|arc| is_shown(arc.caller) || is_shown(arc.callee)), "{words}");
                assert!(analysis.arc_times().any(|arc| !is_shown(arc.caller) && arc.caller.is_some()), "{words}");
                check_callgrind(&text(analysis, Format::Callgrind));
            });
        }
    }
    with_options("-e odd", false, |analysis| {
        let callgrind = text(analysis, Format::Callgrind);
        let number = callgrind.lines().find_map(|line| line.strip_prefix("cfn=")?.strip_suffix(" odd")).unwrap();
        // The calls follow the names at once: there are no costs.
        assert!(callgrind.contains(&format!("\nfn={number}\ncob=")), "{callgrind}");
    });
}
