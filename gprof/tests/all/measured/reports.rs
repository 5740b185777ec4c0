//! What reports say of doubts that tail calls leave.

use std::io::sink;

use gmon::Profile;
use gprof::internals::Symbol;
use gprof::{Analysis, ContextRow, ContextTable, EntryLine, Format, FunctionId, LineKind, Node, Options, Terminal};

use super::simulator::{NAMES, Program, SIZE, Step, start};
use super::{CHEAP, DEAR, MAIN, SPIN, by_hand};
use crate::common::{Table, image_with_code};

/// Analyzes a run. Hundred samples take a second.
fn with_analysis(program: &Program, steps: &[Step], options: Options, check: impl FnOnce(&Analysis<'_>)) {
    let symbol = |at: usize| Symbol { address: start(at), name: NAMES[at].as_bytes(), is_static: false, is_func: true };
    let table = Table { symbols: (0..NAMES.len()).map(symbol).collect(), end: start(NAMES.len()) };
    let run = program.run(steps);
    let profile = Profile::of_samples([run.histogram()]).unwrap().with_arcs(run.arcs.clone());
    let loaded = gprof::from_memory(&options, image_with_code(&table, &program.code()), profile).unwrap();
    let mut stacks = run.stacks;
    stacks.add_profile(run.bins.iter().sum(), true);
    let loaded = loaded.with_stacks(stacks);
    check(&gprof::analyze(&loaded, &options, &mut sink()).unwrap());
}

fn options() -> Options {
    Options::new("image", ["profile"]).min_percent(0.0)
}

fn id(analysis: &Analysis<'_>, function: usize) -> FunctionId {
    analysis.functions().nth(function).unwrap()
}

/// The least and the longest inclusive time of a function, in samples.
fn range(analysis: &Analysis<'_>, function: usize) -> Option<(f64, f64)> {
    let id = id(analysis, function);
    let row = analysis.flat_rows().find(|row| row.function == id).unwrap().range;
    let in_samples = |(least, most): (f64, f64)| ((least * 100.0).round(), (most * 100.0).round());
    let is_own = |line: &&EntryLine| matches!(line.kind, LineKind::Primary(_));
    let entry = analysis.entry(Node::Function(id));
    assert_eq!(entry.iter().find(is_own).unwrap().range, row);
    let times = analysis.function_times().find(|function| function.id == id).unwrap();
    assert_eq!(times.range, row.map(in_samples));
    times.range
}

/// The range of the time of an arc, in samples.
fn arc_range(analysis: &Analysis<'_>, caller: usize, callee: usize) -> Option<(f64, f64)> {
    let (caller, callee) = (Some(id(analysis, caller)), Some(id(analysis, callee)));
    analysis.arc_times().find(|arc| (arc.caller, arc.callee) == (caller, callee)).unwrap().range
}

/// `dear` jumps to `spin`, or to `cheap`, which jumps to `spin`.
const SHORT: [Step; 4] = [Step::Call(0, 0), Step::Tail(0), Step::Tick(0), Step::Return];
const LONG: [Step; 5] = [Step::Call(0, 0), Step::Tail(1), Step::Tail(0), Step::Tick(0), Step::Return];

#[test]
fn times_have_ranges_where_tail_calls_leave_a_doubt() {
    let program = by_hand(&[(DEAR, SPIN), (DEAR, CHEAP), (CHEAP, SPIN)]);
    let called = [Step::Call(1, 0), Step::Tick(0), Step::Return];
    with_analysis(&program, &[SHORT.as_slice(), &LONG, &called].concat(), options(), |analysis| {
        assert!(analysis.has_doubts());
        // The report shows `cheap` in one of the stacks, and says that each of the other two may have `cheap`.
        let ranges = [MAIN, DEAR, CHEAP, SPIN].map(|function| range(analysis, function));
        assert_eq!(ranges, [None, None, Some((1.0, 3.0)), None]);
        assert_eq!(arc_range(analysis, DEAR, SPIN), Some((0.0, 2.0)));
    });
    // The report shows `cheap` in each of the stacks, and says that `cheap` may be in none.
    let direct = by_hand(&[(DEAR, CHEAP), (DEAR, SPIN), (CHEAP, SPIN)]);
    let program = Program { through_register: [(DEAR, 1)].into(), ..direct };
    let long = [Step::Call(0, 0), Step::Tail(0), Step::Tail(0), Step::Tick(0), Step::Return];
    let short = [Step::Call(0, 0), Step::Tail(1), Step::Tick(0), Step::Return];
    with_analysis(&program, &[long.as_slice(), &short, &short].concat(), options(), |analysis| {
        assert_eq!(range(analysis, CHEAP), Some((0.0, 3.0)));
    });
    // Without jumps, nothing is in doubt.
    with_analysis(&by_hand(&[]), &[Step::Call(0, 0), Step::Tick(0), Step::Return], options(), |analysis| {
        assert!(!analysis.has_doubts() && analysis.flat_rows().all(|row| row.range.is_none()));
    });
}

/// Each output has the mark or the range beside the time of `cheap`, and the text explains the mark.
#[test]
fn outputs_say_which_times_are_in_doubt() {
    let program = by_hand(&[(DEAR, SPIN), (DEAR, CHEAP), (CHEAP, SPIN)]);
    let steps = [SHORT.as_slice(), &LONG, &[Step::Call(1, 0), Step::Tick(0), Step::Return]].concat();
    let none = [Step::Call(0, 0), Step::Tick(0), Step::Return];
    let written = |steps: &[Step], format, is_brief| {
        let mut out = Vec::new();
        with_analysis(&program, steps, options().brief(is_brief), |analysis| {
            gprof::render(analysis, format, &Terminal::default(), &mut out, &mut sink()).unwrap();
        });
        String::from_utf8(out).unwrap()
    };
    let text = |is_brief| written(&steps, Format::Text, is_brief);
    // In the flat profile, and in the entry of the call graph.
    let marked: Vec<String> = text(true).lines().filter(|line| line.contains("(?)")).map(str::to_owned).collect();
    assert!(marked[0].ends_with(" b (?) 0.01 to 0.03") && marked.len() == 4, "{marked:#?}");
    assert!(marked[1..].iter().all(|line| line.contains("in doubt because of a tail call")), "{marked:#?}");
    assert!(text(false).contains(" (?)       A tail call removed a function from the stack"));
    assert!(!written(&none, Format::Text, false).contains("(?)"));
    assert!(written(&steps, Format::Table, true).contains("b (?) 0.01 to 0.03"));
    let json: serde_json::Value = serde_json::from_str(&written(&steps, Format::Json, true)).unwrap();
    let rows: Vec<_> = json["flat_profile"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (&row["inclusive_least"], &row["inclusive_most"]))
        .collect();
    let in_doubt: Vec<_> = rows.iter().filter(|(least, most)| !least.is_null() && !most.is_null()).collect();
    assert_eq!(in_doubt.len(), 1, "{json}");
    assert_eq!((in_doubt[0].0.as_f64(), in_doubt[0].1.as_f64()), (Some(0.01), Some(0.03)));
    let csv = written(&steps, Format::Csv, true);
    assert_eq!(
        csv.lines().filter(|row| row.starts_with("function,") && row.ends_with(",0.01,0.03")).count(),
        1,
        "{csv}"
    );
}

fn rows(analysis: &Analysis<'_>, table: &ContextTable<'_>) -> Vec<String> {
    let row = |row: &ContextRow<'_>| {
        let name = String::from_utf8(analysis.context_name(row).into_owned()).unwrap();
        let (ticks, calls) =
            ((row.inclusive * 100.0).round(), row.calls.map_or("-".to_owned(), |calls| calls.to_string()));
        format!("{} {name}{} {ticks} {calls}", row.depth, if row.is_doubtful { "?" } else { "" })
    };
    table.rows.iter().map(row).collect()
}

/// `dear` also calls `spin` directly: the calls stand beside the caller without a doubt.
#[test]
fn a_caller_with_a_doubt_does_not_repeat_the_calls() {
    let program = by_hand(&[(DEAR, SPIN), (DEAR, CHEAP), (CHEAP, SPIN)]);
    let call = [Step::Call(0, 0), Step::Call(0, 0), Step::Tick(0), Step::Return, Step::Return];
    let options = options().add_callers(NAMES[SPIN]).unwrap();
    with_analysis(&program, &[SHORT.as_slice(), &LONG, &call, &call, &call].concat(), options, |analysis| {
        let callers = rows(analysis, analysis.callers().unwrap());
        let certain = ["1 a 3 3", "2 main 3 -", "3 <outside> 3 -"];
        let doubtful = ["1 a? 2 -", "2 main 2 -", "3 <outside> 2 -"];
        assert_eq!(callers, [&["0 c 5 5"], &certain[..], &doubtful].concat());
    });
}

/// `dear` calls nobody whom mcount could count for it, and `spin` takes the time of `dear`.
#[test]
fn bounds_know_tail_calls() {
    let program = by_hand(&[(DEAR, SPIN)]);
    let steps = [Step::Call(0, 0), Step::Tail(0), Step::Tick(0), Step::Tick(SIZE - 1), Step::Return];
    with_analysis(&program, &steps, options().bounds(true).propagate(true), |analysis| {
        let bounds = analysis.bounds().unwrap();
        let row = bounds.rows.iter().find(|row| row.function == id(analysis, DEAR)).unwrap();
        assert_eq!((row.upper * 100.0).round(), 2.0, "{bounds:?}");
    });
}
