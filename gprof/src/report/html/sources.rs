//! The lines of source files that have time, as JSON for the scripts of the page.

use std::cmp::Reverse;
use std::io::{self, Write};

use crate::analysis::Analysis;
use crate::analysis::ordered::Ordered;
use crate::cli::options::{Annotation, Options};
use crate::report::annotate::{AnnotatedFile, Label, annotate};
use crate::report::json_value::{Record, write_list};

/// The number of lines around a line with time.
const AROUND: u32 = 6;

/// The most lines of all files. The files with the longest times come first.
const MOST_LINES: usize = 20_000;

/// Writes the files that can be read and have time.
pub(super) fn write(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    let annotation = Annotation { times: true, all_lines: false, ..analysis.options.annotation.clone() };
    let options = Options { annotation, ..analysis.options.clone() };
    let mut files: Vec<(f64, AnnotatedFile)> = annotate(analysis, &options)
        .flatten()
        .map(|file| (time(&file), file))
        .filter(|(time, _)| *time > 0.0)
        .collect();
    files.sort_by(|one, other| (Reverse(Ordered(one.0)), &one.1.path).cmp(&(Reverse(Ordered(other.0)), &other.1.path)));
    let mut left = MOST_LINES;
    write_list("sources", files.iter().map(|(time, file)| record(analysis, *time, file, &mut left)), out)
}

/// Returns a file with its lines; `left` is the number of lines for which there is room.
fn record<'a>(analysis: &Analysis<'_>, time: f64, file: &'a AnnotatedFile, left: &mut usize) -> Record<'a> {
    let lines: Vec<Record<'a>> = lines(file).take(*left).collect();
    *left -= lines.len();
    vec![("path", analysis.shortened(&file.path).into_owned().into()), ("time", time.into()), ("lines", lines.into())]
}

/// The time of all lines of a file.
fn time(file: &AnnotatedFile) -> f64 {
    file.times.iter().flat_map(|times| times.of_lines.values()).sum()
}

/// The lines near a line with time.
fn lines(file: &AnnotatedFile) -> impl Iterator<Item = Record<'_>> {
    let times = file.times.as_ref().map(|times| &times.of_lines);
    let is_near = move |line: u32| {
        let near = line.saturating_sub(AROUND)..=line.saturating_add(AROUND);
        times.is_some_and(|times| times.range(near).next().is_some())
    };
    let numbered = (1_u32..).zip(file.lines()).filter(move |(line, _)| is_near(*line));
    numbered.map(move |(line, (text, label))| {
        let calls = match label {
            Label::NoCode | Label::Uncounted => None,
            Label::Counts(counts) => Some(counts.iter().fold(0_u64, |sum, count| sum.saturating_add(*count))),
        };
        let time = times.and_then(|times| times.get(&line)).copied().unwrap_or_default();
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        vec![("line", u64::from(line).into()), ("time", time.into()), ("calls", calls.into()), ("text", text.into())]
    })
}
