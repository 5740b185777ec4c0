//! The statistics and the footer as text.

use std::io::{self, Write};

use crate::model::{Analysis, LeftOut, Stats};
use crate::reports::number::{Fixed, General};
use crate::sources::OutsideImages;
use crate::sources::profile_file::FileInfo;
use crate::sources::side_sum::Conservation;

/// Which lines to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// All lines.
    All,
    /// The number of samples and calls, and all lines that a reader would not expect.
    Notable,
}

pub(crate) fn render(
    analysis: &Analysis<'_>,
    files: &[FileInfo],
    detail: Detail,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "Statistics:\n")?;
    rows(analysis, files, detail).try_for_each(|(number, text)| writeln!(out, "{number:>12}  {text}"))
}

/// Returns the lines of the footer, each with its number and its text.
pub(crate) fn footer(analysis: &Analysis<'_>) -> Vec<(String, String)> {
    rows(analysis, analysis.files, Detail::Notable).collect()
}

/// Returns lines, each with its number and its text.
pub(crate) fn rows(
    analysis: &Analysis<'_>,
    files: &[FileInfo],
    detail: Detail,
) -> impl Iterator<Item = (String, String)> {
    let lines = lines(analysis, files).into_iter().filter(move |line| detail == Detail::All || line.is_notable);
    lines.map(|line| (line.number, line.text))
}

struct Line {
    number: String,
    text: String,
    /// Whether the footer has this line.
    is_notable: bool,
}

fn lines(analysis: &Analysis<'_>, files: &[FileInfo]) -> Vec<Line> {
    let stats = analysis.stats();
    let saturated: usize = files.iter().map(|file| file.saturated).sum();
    let runs = files.iter().filter(|file| !file.is_shared_object).count();
    let mut lines = vec![count(runs as u64, "runs merged", 1), all_samples(analysis)];
    lines.extend(analysis.conservation().map(cpu_time));
    lines.extend(samples(stats));
    // The bins of a profile have the samples of its side file, unless the two are of different moments.
    let missing = "samples of stacks that no bin has: the profile and its side file differ, or a bin is at its limit";
    lines.extend(Some(count(stats.missing_in_bins, missing, 0)).filter(|line| line.is_notable));
    // A line about limits is needed only if a limit left something out.
    lines.extend(limited(analysis).into_iter().filter(|line| line.is_notable));
    lines.push(count(saturated as u64, "bins at the limit of their counters: samples may be missing", 0));
    let calls = if analysis.has_estimates() { "calls, without estimated calls" } else { "calls" };
    lines.push(Line { is_notable: true, ..count(stats.calls, calls, 0) });
    lines.extend([
        count(stats.from_outside, "of them from outside of the program's functions", 0),
        count(stats.to_outside, "of them to outside of the program's functions", 0),
        count(stats.unknown, "of them with both ends unknown", 0),
    ]);
    // A line about code outside of all images is needed only if there was a sample or a call.
    lines.extend(outside_images(&stats.outside_images).into_iter().filter(|line| line.is_notable));
    lines
}

/// Returns the line of a whole number. The footer has the line if the number is greater than `usual`.
fn count(number: u64, text: &str, usual: u64) -> Line {
    Line { number: number.to_string(), text: text.to_owned(), is_notable: number > usual }
}

/// Returns what the limits of the user left out.
fn limited(analysis: &Analysis<'_>) -> [Line; 2] {
    let (clock, table, calls) = (&analysis.clock, analysis.flat_profile(), analysis.graph_entries());
    // The last line of a table names the option that shows all rows.
    let by = if analysis.options.has_limit_of_tables() { "of the table" } else { "by --top or --min-percent" };
    let line = |left_out: LeftOut, total: f64, what: &str| {
        let unit = String::from_utf8_lossy(clock.dimension.as_bytes());
        let rate = if clock.rate > 0.0 { clock.rate } else { 1.0 };
        let (time, percent) = (Fixed(left_out.time / rate + 0.0), Fixed(left_out.percent(total) + 0.0));
        let text = format!("{what} left out {by}, with {time:.2} {unit} ({percent:.2} %)");
        Line { number: left_out.count.to_string(), text, is_notable: left_out.count > 0 }
    };
    [
        line(table.left_out, table.total, "rows of the flat profile"),
        line(calls.left_out, analysis.graph_samples(), "functions of the call graph"),
    ]
}

/// Returns the samples and calls in none of the images.
fn outside_images(outside: &OutsideImages) -> [Line; 4] {
    [
        count(outside.kernel, "more samples in the kernel", 0),
        count(outside.vdso, "more samples in the vDSO, code of the kernel in the program", 0),
        count(outside.elsewhere, "more samples outside of the program and the objects that it used", 0),
        count(outside.calls, "more calls of functions outside of the program and the objects that it used", 0),
    ]
}

/// Returns all samples, and the time that the samples stand for.
fn all_samples(analysis: &Analysis<'_>) -> Line {
    let (stats, clock) = (analysis.stats(), &analysis.clock);
    let number = format!("{:.1}", rounded(stats.samples));
    if clock.rate == 0.0 {
        return Line { number, text: "samples".to_owned(), is_notable: false };
    }
    let unit = String::from_utf8_lossy(clock.dimension.as_bytes());
    let text = format!(
        "samples at a profrate of {}: {:.2} ±{:.2} {unit} (standard error)",
        General(clock.rate),
        Fixed(clock.time(stats.samples) + 0.0),
        Fixed(clock.time(stats.error) + 0.0),
    );
    Line { number, text, is_notable: true }
}

/// Returns the CPU time of the runs. The footer has the line if samples are missing, or are too many.
fn cpu_time(conservation: &Conservation) -> Line {
    let (time, expected, error) = (conservation.cpu_time(), conservation.expected(), conservation.error());
    let worth = format!("{:.2} seconds of CPU time are worth {:.1} ±{:.1}", Fixed(time), Fixed(expected), Fixed(error));
    let is_notable = conservation.is_broken();
    if !is_notable {
        return Line { number: format!("{:.1}", Fixed(expected)), text: format!("expected: {worth}"), is_notable };
    }
    let difference = conservation.difference();
    let what = if difference < 0.0 { "missing" } else { "too many" };
    let text = format!("{what}: {worth} samples. Likely reason: {}", conservation.likely_reason());
    Line { number: format!("{:.1}", Fixed(difference.abs())), text, is_notable }
}

/// Returns what the samples are divided into.
fn samples(stats: &Stats) -> [Line; 4] {
    let line = |samples: f64, text: &str, notable: f64| Line {
        number: format!("{:.1}", rounded(samples)),
        text: format!("of them {text} ({:.2} %)", Fixed(stats.percent(samples) + 0.0)),
        is_notable: rounded(notable) != 0.0,
    };
    [
        line(stats.attributed, "in functions shown", stats.samples - stats.attributed),
        line(stats.runtime, "in the profiling runtime", stats.runtime),
        line(stats.left_out, "in functions left out", stats.left_out),
        line(stats.outside, "outside of all functions", stats.outside),
    ]
}

/// Rounds a number to one decimal. Sums of shares differ from whole numbers in their last bits, and a zero must have no
/// sign.
fn rounded(number: f64) -> f64 {
    (number * 10.0).round() / 10.0 + 0.0
}
