//! Annotated source files: the number of calls at each function, or of executions at each line.

mod labels;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::model::Analysis;
use crate::output;
use crate::program::image::files::{self, FileKey};
use crate::question::options::{Annotation, Options};
pub use labels::Label;
use labels::{CodeLine, Labels};

/// An annotated source file.
#[derive(Debug)]
pub struct AnnotatedFile {
    /// The path, as the debug information has it.
    pub path: Vec<u8>,
    /// The contents of the file.
    text: Vec<u8>,
    /// The labels of lines that have code.
    labels: BTreeMap<u32, Label>,
    /// The lines with most calls, and their calls; most calls first.
    pub top: Vec<(u32, u64)>,
    /// The number of lines that have code.
    pub executable: u64,
    /// The number of lines that have a count, which may be 0.
    pub counted: u64,
    /// The number of all calls.
    pub calls: u64,
    /// The self times of lines, if the user wants these.
    pub times: Option<Times>,
}

/// The self times of the lines of a file.
#[derive(Debug)]
pub struct Times {
    /// The unit of the times, normally `seconds`.
    pub unit: String,
    /// The time of each line that has any.
    pub of_lines: BTreeMap<u32, f64>,
}

impl AnnotatedFile {
    /// Returns the lines with their line ends and labels.
    pub fn lines(&self) -> impl Iterator<Item = (&[u8], &Label)> {
        let lines = (1..).zip(self.text.split_inclusive(|byte| *byte == b'\n'));
        lines.map(|(at, line)| (line, self.labels.get(&at).unwrap_or(&Label::NoCode)))
    }
}

/// A source file that cannot be shown.
pub struct Missing {
    /// The path.
    pub path: PathBuf,
    /// The reason.
    pub why: &'static str,
}

/// The number of bytes of source files that may be shown again under other names, in addition to the number of bytes
/// that were shown the first time. Compilers that ran in different directories give one file several names; a hostile
/// image may give it a million.
const MOST_AGAIN: u64 = 4 << 20;

/// The source files shown so far.
#[derive(Default)]
struct Shown {
    files: HashSet<FileKey>,
    /// The bytes of all files, and the bytes of files that were shown again.
    bytes: u64,
    again: u64,
}

impl Shown {
    /// Returns whether a file of this length may be shown.
    fn may_show(&self, key: Option<FileKey>, length: u64) -> bool {
        let is_first = key.is_none_or(|key| !self.files.contains(&key));
        is_first || self.again.saturating_add(length) <= self.bytes.saturating_add(MOST_AGAIN)
    }

    /// Counts a file as shown.
    fn add(&mut self, key: Option<FileKey>, length: u64) {
        let is_first = key.is_none_or(|key| self.files.insert(key));
        let sum = if is_first { &mut self.bytes } else { &mut self.again };
        *sum = sum.saturating_add(length);
    }
}

/// Reads the source files of all selected functions, in reverse order of the symbol table. A file is read when the
/// iterator reaches it.
pub fn annotate<'a>(
    analysis: &'a Analysis<'_>,
    options: &'a Options,
) -> impl Iterator<Item = Result<AnnotatedFile, Missing>> + 'a {
    let mut files: BTreeMap<usize, BTreeMap<u32, CodeLine>> = BTreeMap::new();
    for id in analysis.functions.ids().filter(|id| analysis.selections.source.selects(*id)) {
        if let Some(place) = analysis.sources.place(id) {
            let lines = files.entry(place.file).or_default();
            let add = |known: &mut CodeLine| known.add(analysis, id);
            lines.entry(place.line).and_modify(add).or_insert_with(|| CodeLine::new(analysis, id));
        }
    }
    let times = analysis.line_times.of_files(|id| analysis.selections.source.selects(id));
    let paths = paths(analysis, &times);
    for (at, _) in paths.iter().enumerate().filter(|(_, path)| times.contains_key(*path)) {
        files.entry(at).or_default();
    }
    let wanted = |lines: &BTreeMap<u32, CodeLine>, path: &[u8]| {
        let is_called = |known: &CodeLine| known.calls != 0 || known.is_seen(analysis);
        options.unused || lines.values().any(is_called) || times.contains_key(path)
    };
    let files = files.into_iter().rev().map(|(file, lines)| (paths[file], lines));
    let files: Vec<_> = files.filter(|(path, lines)| wanted(lines, path)).collect();
    let all = options.annotation.all_lines;
    let by_preceding_line = !options.rules.labels_lines_by_function;
    let mut labels = Labels { analysis, all, by_preceding_line, last: 0 };
    let mut shown = Shown::default();
    files.into_iter().map(move |(path, lines)| {
        let (path, text) = read(path, &options.annotation, &mut shown)?;
        let file = annotated(path, text, &lines, labels.of(&lines), options.annotation.table_length);
        let times = options.annotation.times.then(|| Times::new(analysis, times.get(path)));
        Ok(AnnotatedFile { times, ..file })
    })
}

/// Returns the paths of all files that may be shown: files in which functions begin, and files that have time because
/// their code was inlined.
fn paths<'a>(analysis: &'a Analysis<'_>, times: &HashMap<&'a [u8], BTreeMap<u32, f64>>) -> Vec<&'a [u8]> {
    let mut paths: Vec<&[u8]> = analysis.sources.files.iter().map(Vec::as_slice).collect();
    let known: HashSet<&[u8]> = paths.iter().copied().collect();
    let mut others: Vec<&[u8]> = times.keys().copied().filter(|path| !known.contains(path)).collect();
    others.sort_unstable();
    paths.extend(others);
    paths
}

impl Times {
    /// Returns the times of a file's lines. `samples` are the samples of each line.
    fn new(analysis: &Analysis<'_>, samples: Option<&BTreeMap<u32, f64>>) -> Times {
        let clock = &analysis.clock;
        let samples = samples.into_iter().flatten();
        Times {
            unit: String::from_utf8_lossy(clock.dimension.as_bytes()).into_owned(),
            of_lines: samples.map(|(line, samples)| (*line, clock.time(*samples))).collect(),
        }
    }
}

/// Reads a source file, unless it was shown too often. Returns `path` with the contents.
fn read<'a>(path: &'a [u8], annotation: &Annotation, shown: &mut Shown) -> Result<(&'a [u8], Vec<u8>), Missing> {
    let on_disk = Path::new(OsStr::from_bytes(path));
    let missing = |why| Missing { path: on_disk.to_owned(), why };
    for candidate in candidates(on_disk, &annotation.directories) {
        let Some(file) = fs::metadata(&candidate).ok().filter(fs::Metadata::is_file) else { continue };
        let key = files::key(&candidate);
        // A file that is shown too often is not read again.
        if !shown.may_show(key, file.len()) {
            return Err(missing("left out: the same source file is shown under many other names"));
        }
        if let Ok(text) = files::regular(&candidate) {
            shown.add(key, file.len());
            return Ok((path, text));
        }
    }
    Err(missing("source file not found"))
}

fn annotated(
    path: &[u8],
    text: Vec<u8>,
    known: &BTreeMap<u32, CodeLine>,
    labels: BTreeMap<u32, Label>,
    table_length: usize,
) -> AnnotatedFile {
    let mut top: Vec<(u32, u64)> = known.iter().map(|(line, known)| (*line, known.calls)).collect();
    top.sort_by_key(|(_, calls)| std::cmp::Reverse(*calls));
    top.retain(|(_, calls)| *calls != 0);
    top.truncate(table_length);
    let calls = known.values().fold(0_u64, |sum, known| sum.saturating_add(known.calls));
    let mut file =
        AnnotatedFile { path: path.to_vec(), text, labels, top, executable: 0, counted: 0, calls, times: None };
    // Labels may be for lines that the file does not have.
    let count = |is: fn(&Label) -> bool| file.lines().filter(|(_, label)| is(label)).count() as u64;
    let executable = count(|label| *label != Label::NoCode);
    let counted = count(|label| matches!(label, Label::Counts(_)));
    (file.executable, file.counted) = (executable, counted);
    file
}

/// Returns the paths where a source file may be: the path itself, the relative path in each of the directories, and the
/// file name in each of the directories.
fn candidates<'a>(path: &'a Path, directories: &'a [PathBuf]) -> impl Iterator<Item = PathBuf> + 'a {
    let relative = directories.iter().filter(|_| path.is_relative()).map(move |directory| directory.join(path));
    let names = directories.iter().filter_map(move |directory| Some(directory.join(path.file_name()?)));
    std::iter::once(path.to_owned()).chain(relative).chain(names)
}

/// Writes a source file to `NAME-ann` in the current directory.
///
/// # Errors
///
/// If the file cannot be written.
pub fn store(file: &AnnotatedFile, render: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
    let base = file.path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let name = PathBuf::from(OsStr::from_bytes(&[base, b"-ann"].concat()));
    let mut text = Vec::new();
    output::write(&name, |out| render(&mut text).and_then(|()| out.write_all(&text)).map_err(Error::Output))
}
