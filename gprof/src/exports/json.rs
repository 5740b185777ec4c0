//! The reports as JSON, for programs. `docs/json.md` has the schema.
//!
//! This renderer uses the public methods of [`Analysis`] only, so that it can serve as a model for other formats.

use std::io::{self, Write};

use gmon::side_file::CutReason;

use crate::model::{Analysis, StackSums, Stats};
use crate::program::image::address_space::Mapping;
use crate::program::symbols::functions::FunctionId;
use crate::reports::list::REPORTS;
use crate::reports::{on_demand, warnings};
use crate::sink::json::{Record, Value, write_list, write_record, write_text};
use crate::sources::profile_file::FileInfo;
use crate::sources::side_info::cut_words;
use crate::sources::side_sum::Conservation;

/// The version of the schema. The version grows when a program for the old schema would misread the new schema.
const VERSION: u64 = 1;

pub(super) fn render(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{{\"version\":{VERSION},")?;
    write_warnings(&warnings::of(analysis), out)?;
    out.write_all(b"\"time\":")?;
    write_record(&time(analysis), out)?;
    if let Some(calls) = analysis.calls_on_demand() {
        out.write_all(b",\n\"calls_on_demand\":")?;
        write_record(&on_demand::record(calls), out)?;
    }
    if let Some(windows) = analysis.call_windows() {
        out.write_all(b",\n\"calls_estimated\":")?;
        write_record(&on_demand::record_of_windows(windows), out)?;
    }
    write_list("profiles", analysis.files().iter().filter(|file| !file.is_shared_object).map(profile), out)?;
    write_list("images", analysis.images().iter().map(image), out)?;
    let reports = || REPORTS.iter().filter(|report| analysis.wanted.has(report.name));
    let mut is_mentioned = vec![false; analysis.functions().count()];
    for report in reports().filter(|report| report.json.is_some()) {
        (report.mentions)(analysis, &mut |id| is_mentioned[id.index()] = true);
    }
    let functions = analysis.functions().filter(|id| is_mentioned[id.index()]);
    write_list("functions", functions.map(|id| function(analysis, id)), out)?;
    // What the files contain comes behind the reports about functions.
    let of_functions = reports().filter(|report| !report.is_first).filter_map(|report| report.json);
    of_functions.into_iter().try_for_each(|json| json(analysis, out))?;
    if let Some(stacks) = analysis.stacks_of_reports() {
        out.write_all(b",\n\"stacks\":")?;
        write_record(&stack_sums(stacks, analysis.stats()), out)?;
    }
    if let Some(cut) = analysis.cut_stacks() {
        write_list("cut_stacks", cut.reasons.iter().map(cut_stack), out)?;
    }
    let of_files = reports().filter(|report| report.is_first).filter_map(|report| report.json);
    of_files.into_iter().try_for_each(|json| json(analysis, out))?;
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
    let text = cut_words(*reason).map(|words| words.text.as_bytes());
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
