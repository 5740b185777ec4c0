//! The reports as JSON, for programs. `docs/json.md` has the schema.
//!
//! This renderer uses the public methods of [`Analysis`] only, so that it can serve as a model for other formats.

use std::io::{self, Write};

use gmon::side_file::CutReason;

use super::json_value::{Record, Value, write_list, write_record, write_text};
use crate::model::entries::{Calls, Endpoint, EntryLine, LineKind};
use crate::model::graph::Node;
use crate::model::{Analysis, BoundsDoubt, BoundsRow, BoundsTable, ContextRow, FlatRow, Frame, StackSums, Stats};
use crate::program::image::address_space::Mapping;
use crate::program::symbols::functions::FunctionId;
use crate::reports::warnings;
use crate::sources::conservation::Conservation;
use crate::sources::cut_words::words;
use crate::sources::profile_file::FileInfo;
use crate::sources::side_info::SideThread;

/// The version of the schema. The version grows when a program for the old schema would misread the new schema.
const VERSION: u64 = 1;

pub(super) fn render(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{{\"version\":{VERSION},")?;
    write_warnings(&warnings::of(analysis), out)?;
    out.write_all(b"\"time\":")?;
    write_record(&time(analysis), out)?;
    write_list("profiles", analysis.files().iter().filter(|file| !file.is_shared_object).map(profile), out)?;
    write_list("images", analysis.images().iter().map(image), out)?;
    let is_mentioned = mentioned(analysis);
    let functions = analysis.functions().filter(|id| is_mentioned[id.index()]);
    write_list("functions", functions.map(|id| function(analysis, id)), out)?;
    if analysis.wants_flat_profile() {
        write_list("flat_profile", analysis.flat_rows().map(|row| flat_row(analysis, &row)), out)?;
    }
    if analysis.wants_call_graph() {
        write_list("call_graph", analysis.entries().map(|node| entry(analysis, node)), out)?;
    }
    if let Some(bounds) = analysis.bounds() {
        write_list("bounds", bounds.rows.iter().map(bounds_row), out)?;
        out.write_all(b",\n\"bounds_summary\":")?;
        write_record(&bounds_summary(bounds), out)?;
    }
    for (field, table) in [("contexts", analysis.contexts()), ("callers", analysis.callers())] {
        if let Some(table) = table {
            write_list(field, table.rows.iter().map(|row| context_row(analysis, row)), out)?;
        }
    }
    if let Some(stacks) = analysis.stacks_of_reports() {
        out.write_all(b",\n\"stacks\":")?;
        write_record(&stack_sums(stacks, analysis.stats()), out)?;
    }
    if let Some(cut) = analysis.cut_stacks() {
        write_list("cut_stacks", cut.reasons.iter().map(cut_stack), out)?;
    }
    if analysis.wants_threads() {
        let threads = analysis.side_files().iter().flat_map(|side| &side.threads);
        write_list("threads", threads.map(thread), out)?;
    }
    if let Some(conservation) = analysis.conservation() {
        out.write_all(b",\n\"conservation\":")?;
        write_record(&conserved(conservation), out)?;
    }
    out.write_all(b",\n\"statistics\":")?;
    write_record(&statistics(analysis.stats(), analysis.files()), out)?;
    out.write_all(b"}\n")
}

/// Writes the warnings at the head of a file, if there are any.
pub(super) fn write_warnings(warnings: &[String], out: &mut dyn Write) -> io::Result<()> {
    for (at, warning) in warnings.iter().enumerate() {
        out.write_all(if at == 0 { b"\"warnings\":[" } else { b",\n" })?;
        write_text(warning.as_bytes(), out)?;
    }
    if warnings.is_empty() { Ok(()) } else { out.write_all(b"],\n") }
}

fn time<'a>(analysis: &'a Analysis<'_>) -> Record<'a> {
    let clock = analysis.clock();
    vec![
        ("unit", clock.dimension.as_bytes().into()),
        ("samples_per_unit", clock.rate.into()),
        ("bytes_per_bin", clock.granularity.into()),
        ("per_call_factor", analysis.call_unit().factor.into()),
        ("flat_profile_samples", analysis.flat_samples().into()),
        ("call_graph_samples", analysis.graph_samples().into()),
    ]
}

fn profile(file: &FileInfo) -> Record<'_> {
    vec![
        ("path", file.file.as_bytes().into()),
        ("rank", file.rank.into()),
        ("host", file.host.as_deref().map(str::as_bytes).into()),
    ]
}

fn image(image: &Mapping) -> Record<'_> {
    vec![
        ("path", image.path.as_os_str().as_encoded_bytes().into()),
        ("build_id", image.build_id.as_deref().map(str::as_bytes).into()),
        ("code_start", address(image.code.start)),
        ("code_end", address(image.code.end)),
    ]
}

fn thread(thread: &SideThread) -> Record<'_> {
    vec![
        ("name", thread.name.as_slice().into()),
        ("number", thread.number.into()),
        ("threads", thread.threads.into()),
        ("percent", thread.percent.into()),
        ("self", thread.time.into()),
        ("calls", thread.calls.into()),
    ]
}

/// Returns for each function whether a row or an entry names the function.
fn mentioned(analysis: &Analysis<'_>) -> Vec<bool> {
    let mut is_mentioned = vec![false; analysis.functions().count()];
    let rows = analysis.flat_rows().filter(|_| analysis.wants_flat_profile());
    rows.for_each(|row| is_mentioned[row.function.index()] = true);
    let bounds = analysis.bounds().into_iter();
    bounds.clone().flat_map(|bounds| &bounds.rows).for_each(|row| is_mentioned[row.function.index()] = true);
    for doubt in bounds.flat_map(|bounds| &bounds.doubts) {
        if let BoundsDoubt::CallsAreMissing { example, .. } = doubt {
            is_mentioned[example.index()] = true;
        }
    }
    for row in [analysis.contexts(), analysis.callers()].into_iter().flatten().flat_map(|table| &table.rows) {
        if let Frame::Function(id) = row.frame {
            is_mentioned[id.index()] = true;
        }
    }
    for line in analysis.entries().filter(|_| analysis.wants_call_graph()).flat_map(|node| analysis.entry(node)) {
        if let Endpoint::Function(id) = line.endpoint {
            is_mentioned[id.index()] = true;
        }
    }
    is_mentioned
}

fn function<'a>(analysis: &'a Analysis<'_>, id: FunctionId) -> Record<'a> {
    let (function, location) = (analysis.function(id), analysis.source_location(id));
    vec![
        ("id", id.index().into()),
        ("name", analysis.name(id).into()),
        ("symbol", analysis.shortened(function.symbol).into()),
        ("image", function.image.into()),
        ("address", address(function.address)),
        ("file", location.map(|location| analysis.shortened(location.file)).into()),
        ("line", location.map(|location| u64::from(location.line)).into()),
    ]
}

fn flat_row<'a>(analysis: &'a Analysis<'_>, row: &FlatRow<'a>) -> Record<'a> {
    let (self_per_call, total_per_call) = row.per_call.unzip();
    let mut record: Record<'_> = vec![
        ("function", row.function.index().into()),
        ("inlined", row.inlined.map(|symbol| analysis.inlined_name(symbol)).into()),
        ("percent", row.percent.into()),
        ("cumulative", row.cumulative.into()),
        ("self", row.self_time.into()),
        ("error", Some(row.error).filter(|error| *error != 0.0).into()),
        ("calls", row.calls.into()),
        ("self_per_call", self_per_call.into()),
        ("total_per_call", total_per_call.into()),
    ];
    record.extend(range(row.range));
    record
}

/// Returns the least and the longest inclusive time, if tail calls leave a doubt.
fn range<'a>(range: Option<(f64, f64)>) -> Record<'a> {
    range
        .map_or_else(Vec::new, |(least, most)| vec![("inclusive_least", least.into()), ("inclusive_most", most.into())])
}

fn bounds_summary<'a>(bounds: &BoundsTable) -> Record<'a> {
    let doubt = |doubt: &BoundsDoubt| {
        let (reason, example, count) = match doubt {
            BoundsDoubt::CallsAreMissing { example, count } => ("missing calls", Some(example.index()), Some(*count)),
            BoundsDoubt::StartIsNotCounted => ("no call from outside", None, None),
            BoundsDoubt::NegativeSamples => ("negative samples", None, None),
            BoundsDoubt::JumpsAreUnknown { count } => ("unknown jumps", None, Some(*count)),
        };
        vec![("reason", reason.as_bytes().into()), ("function", example.into()), ("functions", count.into())]
    };
    vec![
        ("unseen", bounds.unseen.into()),
        ("upper_is_exact", bounds.is_upper_exact.into()),
        ("tail_calls", bounds.tail_calls.into()),
        ("rows_left_out", bounds.left_out.into()),
        ("doubts", bounds.doubts.iter().map(doubt).collect::<Vec<_>>().into()),
    ]
}

fn bounds_row<'a>(row: &BoundsRow) -> Record<'a> {
    vec![
        ("function", row.function.index().into()),
        ("self", row.self_time.into()),
        ("lower", row.lower.into()),
        ("estimate", row.estimate.into()),
        ("upper", row.upper.into()),
        ("calls", row.calls.into()),
    ]
}

fn entry<'a>(analysis: &Analysis<'_>, node: Node) -> Record<'a> {
    let lines = analysis.entry(node);
    let is_measured = analysis.stacks().is_some();
    let line = |of: &EntryLine| line(of, is_measured);
    let of = |is: fn(LineKind) -> bool| lines.iter().filter(move |entry| is(entry.kind)).map(line);
    let (number, _) = analysis.entry_number(node);
    let mut record = vec![("number", u64::from(number).into()), ("percent", analysis.percent(node).into())];
    record.extend(of(|kind| matches!(kind, LineKind::Primary(_))).flatten());
    record.push(("above", of(|kind| kind == LineKind::Caller).collect::<Vec<_>>().into()));
    record.push(("below", of(|kind| kind == LineKind::Callee).collect::<Vec<_>>().into()));
    record
}

fn line<'a>(line: &EntryLine, is_measured: bool) -> Record<'a> {
    let (function, cycle) = match line.endpoint {
        Endpoint::Function(id) => (Some(id.index()), None),
        Endpoint::Cycle(at) => (None, Some(at + 1)),
        Endpoint::Spontaneous | Endpoint::Outside => (None, None),
    };
    let (calls, calls_of, self_calls) = match line.calls {
        Calls::None => (None, None, None),
        Calls::WithinCycle(calls) => (Some(calls), None, None),
        Calls::Total { outer, inner } => (Some(outer), None, Some(inner)),
        Calls::Part { some, all } => (Some(some), Some(all), None),
    };
    let (self_time, children) = line.times.unzip();
    let mut record = vec![
        ("function", function.into()),
        ("cycle", cycle.into()),
        ("self", self_time.into()),
        ("children", children.into()),
        ("calls", calls.into()),
        ("calls_of", calls_of.into()),
        ("self_calls", self_calls.into()),
    ];
    if is_measured {
        let known = |error: f64| Some(error).filter(|error| *error != 0.0).into();
        record.push(("self_error", known(line.error)));
        record.push(("children_error", known(line.children_error)));
        record.push(("inclusive_error", known(line.inclusive_error)));
        record.extend(range(line.range));
    }
    record
}

fn context_row<'a>(analysis: &'a Analysis<'_>, row: &ContextRow<'_>) -> Record<'a> {
    let function = match row.frame {
        Frame::Function(id) => Some(id.index()),
        _ => None,
    };
    vec![
        ("depth", row.depth.into()),
        ("function", function.into()),
        ("name", analysis.context_name(row).into()),
        ("percent", row.percent.into()),
        ("inclusive", row.inclusive.into()),
        ("self", row.self_time.into()),
        ("calls", row.calls.into()),
        ("is_doubtful", row.is_doubtful.into()),
    ]
}

fn stack_sums<'a>(sums: &StackSums, stats: &Stats) -> Record<'a> {
    vec![
        ("stacks", sums.stacks.into()),
        ("whole", sums.whole.into()),
        ("samples_without_stack", sums.without_stack.into()),
        ("doubtful", sums.doubtful.into()),
        ("samples_without_room", sums.without_room.into()),
        ("profiles", sums.covered.count.into()),
        ("profiles_without_stacks", sums.uncovered.count.into()),
        ("samples_of_profiles_without_stacks", sums.uncovered.ticks.into()),
        ("samples_of_runs_without_stacks", sums.partial.ticks.into()),
        ("samples_missing_in_bins", stats.missing_in_bins.into()),
    ]
}

fn cut_stack<'a>((reason, samples): &(CutReason, u64)) -> Record<'a> {
    let text = words(*reason).map(|words| words.text.as_bytes());
    vec![("code", u64::from(reason.code()).into()), ("reason", text.into()), ("samples", (*samples).into())]
}

fn conserved<'a>(conservation: &Conservation) -> Record<'a> {
    let reason = conservation.is_broken().then(|| conservation.likely_reason().as_bytes());
    vec![
        ("cpu_time", conservation.cpu_time().into()),
        ("samples", conservation.samples.into()),
        ("expected_samples", conservation.expected().into()),
        ("expected_error", conservation.error().into()),
        ("is_broken", conservation.is_broken().into()),
        ("likely_reason", reason.into()),
    ]
}

fn statistics<'a>(stats: &Stats, files: &[FileInfo]) -> Record<'a> {
    let outside = &stats.outside_images;
    vec![
        ("runs", files.iter().filter(|file| !file.is_shared_object).count().into()),
        ("saturated_bins", files.iter().map(|file| file.saturated).sum::<usize>().into()),
        ("samples", stats.samples.into()),
        ("samples_error", stats.error.into()),
        ("samples_shown", stats.attributed.into()),
        ("samples_runtime", stats.runtime.into()),
        ("samples_left_out", stats.left_out.into()),
        ("samples_outside", stats.outside.into()),
        ("calls", stats.calls.into()),
        ("calls_from_outside", stats.from_outside.into()),
        ("calls_to_outside", stats.to_outside.into()),
        ("calls_unknown", stats.unknown.into()),
        ("more_samples_kernel", outside.kernel.into()),
        ("more_samples_vdso", outside.vdso.into()),
        ("more_samples_elsewhere", outside.elsewhere.into()),
        ("more_calls_elsewhere", outside.calls.into()),
    ]
}

/// Returns an address as a string, because many readers of JSON keep 53 bits of a number only.
fn address<'a>(address: u64) -> Value<'a> {
    Value::Text(format!("0x{address:x}").into_bytes().into())
}
