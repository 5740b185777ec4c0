//! The lines of source files that have time, as JSON for the scripts of the page.

use std::cmp::Reverse;
use std::io::{self, Write};

use crate::model::ordered::Ordered;
use crate::model::{Analysis, CallEstimate};
use crate::question::options::{Annotation, Options};
use crate::reports::estimates;
use crate::reports::source::annotate::{AnnotatedFile, Label, annotate};
use crate::sink::json::{Record, Value, write_list};
use crate::sink::limits::{Room, SOURCE_LINES};

/// The number of lines around a line with time.
const AROUND: u32 = 6;

/// A line of the page.
struct Line {
    number: u32,
    time: f64,
    calls: Option<u64>,
    estimate: Option<CallEstimate>,
    text: Vec<u8>,
}

/// What the page shows of a file.
struct File {
    path: Vec<u8>,
    time: f64,
    lines: Vec<Line>,
}

/// Writes the files that can be read and have time.
pub(super) fn write(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    let annotation = Annotation { times: true, all_lines: false, ..analysis.options.annotation.clone() };
    let options = Options { annotation, ..analysis.options.clone() };
    let mut files = Files::default();
    // Only one file is in memory as a whole.
    for file in annotate(analysis, &options).flatten() {
        files.add(File::new(&file));
    }
    write_list("sources", files.finish().iter().map(|file| record(analysis, file)), out)
}

fn record<'a>(analysis: &Analysis<'_>, file: &'a File) -> Record<'a> {
    let line = |line: &'a Line| -> Record<'a> {
        let mut record: Record<'a> = vec![
            ("line", u64::from(line.number).into()),
            ("time", line.time.into()),
            ("calls", line.calls.into()),
            ("text", line.text.as_slice().into()),
        ];
        if line.estimate.is_some() {
            record.push(("estimate", estimates::cell(line.estimate).into()));
        }
        record
    };
    let lines = Value::from(file.lines.iter().map(line).collect::<Vec<Record<'a>>>());
    vec![("path", analysis.shortened(&file.path).into_owned().into()), ("time", file.time.into()), ("lines", lines)]
}

/// Files with time. The lines of files beyond the most lines are removed while files are added.
#[derive(Default)]
struct Files {
    files: Vec<File>,
    /// The lines of all files.
    lines: usize,
}

impl Files {
    fn add(&mut self, file: File) {
        if file.time > 0.0 {
            self.lines += file.lines.len();
            self.files.push(file);
        }
        // Each sort removes as many lines as a page has.
        if self.lines > 2 * SOURCE_LINES {
            self.shorten();
        }
    }

    /// Sorts the files by time, and removes the lines for which there is no room.
    fn shorten(&mut self) {
        self.files.sort_by(|one, other| {
            (Reverse(Ordered(one.time)), &one.path).cmp(&(Reverse(Ordered(other.time)), &other.path))
        });
        let mut room = Room::new(SOURCE_LINES);
        for file in &mut self.files {
            file.lines.truncate(room.take(file.lines.len()));
            file.lines.shrink_to_fit();
        }
        self.lines = room.taken();
    }

    /// Returns the files, the longest time first.
    fn finish(mut self) -> Vec<File> {
        self.shorten();
        self.files
    }
}

impl File {
    fn new(file: &AnnotatedFile) -> File {
        let time = file.times.iter().flat_map(|times| times.of_lines.values()).sum();
        File { path: file.path.clone(), time, lines: lines(file).take(SOURCE_LINES).collect() }
    }
}

/// The lines near a line with time.
fn lines(file: &AnnotatedFile) -> impl Iterator<Item = Line> {
    let times = file.times.as_ref().map(|times| &times.of_lines);
    let is_near = move |line: u32| {
        let near = line.saturating_sub(AROUND)..=line.saturating_add(AROUND);
        times.is_some_and(|times| times.range(near).next().is_some())
    };
    let numbered = (1_u32..).zip(file.lines()).filter(move |(number, _)| is_near(*number));
    numbered.map(move |(number, (text, label))| Line {
        number,
        time: times.and_then(|times| times.get(&number)).copied().unwrap_or_default(),
        calls: match label {
            Label::NoCode | Label::Uncounted | Label::Estimated(_) => None,
            Label::Counts(counts) => Some(counts.iter().fold(0_u64, |sum, count| sum.saturating_add(*count))),
        },
        estimate: match label {
            Label::Estimated(estimate) => Some(*estimate),
            _ => None,
        },
        text: text.strip_suffix(b"\n").unwrap_or(text).to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: u8, time: f64, lines: usize) -> File {
        let line = |number| Line { number, time, calls: None, estimate: None, text: Vec::new() };
        File { path: vec![name], time, lines: (1..).take(lines).map(line).collect() }
    }

    #[test]
    fn the_files_with_the_longest_times_keep_their_lines() {
        let mut files = Files::default();
        for round in 0..10 {
            for (name, time) in [(b'a', 1.0), (b'b', 0.0), (b'c', 3.0)] {
                files.add(file(name, time * f64::from(round), SOURCE_LINES / 3));
                assert!(files.lines <= 2 * SOURCE_LINES);
                assert_eq!(files.lines, files.files.iter().map(|file| file.lines.len()).sum::<usize>());
            }
        }
        let files: Vec<_> = files.finish().iter().map(|file| (file.path[0], file.time, file.lines.len())).collect();
        let part = SOURCE_LINES / 3;
        let first = [(b'c', 27.0, part), (b'c', 24.0, part), (b'c', 21.0, part), (b'c', 18.0, SOURCE_LINES - 3 * part)];
        assert_eq!(files[..4], first);
        assert!(files.len() == 18 && files[4..].iter().all(|(_, time, lines)| *time > 0.0 && *lines == 0));
    }
}
