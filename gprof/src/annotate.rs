//! Source files with the number of calls at each function.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::analysis::Analysis;
use crate::error::Error;
use crate::options::{Annotation, Options};

/// A source file that is to be shown.
#[derive(Debug)]
pub struct AnnotatedFile {
    /// Its path, as the debug information has it.
    pub path: Vec<u8>,
    /// Its lines with their ends, and for those on which functions begin how often these were called.
    pub lines: Vec<(Vec<u8>, Option<u64>)>,
    /// The lines with most calls, the first first: number and calls.
    pub top: Vec<(u32, u64)>,
    /// How many lines have a count.
    pub executable: u64,
    /// All calls.
    pub calls: u64,
}

/// A file that is to be shown and was not found.
pub struct Missing {
    /// Its path.
    pub path: PathBuf,
}

/// Reads the source files of all functions that are to be annotated, the one that the symbol table names last first.
pub fn annotate(analysis: &Analysis<'_>, options: &Options) -> Vec<Result<AnnotatedFile, Missing>> {
    let mut counts: BTreeMap<usize, BTreeMap<u32, u64>> = BTreeMap::new();
    for id in analysis.functions.ids().filter(|id| analysis.selections.source.chooses(*id)) {
        if let Some(place) = analysis.sources.place(id) {
            let calls = counts.entry(place.file).or_default().entry(place.line).or_default();
            *calls = calls.saturating_add(analysis.calls.graph.calls(id));
        }
    }
    let files = counts.into_iter().rev();
    let wanted = files.filter(|(_, lines)| options.unused || lines.values().any(|calls| *calls != 0));
    wanted.map(|(file, lines)| read(&analysis.sources.files[file], &lines, &options.annotation)).collect()
}

fn read(path: &[u8], counts: &BTreeMap<u32, u64>, annotation: &Annotation) -> Result<AnnotatedFile, Missing> {
    let path_on_disk = Path::new(OsStr::from_bytes(path));
    let missing = || Missing { path: path_on_disk.to_owned() };
    let text = candidates(path_on_disk, &annotation.directories)
        .find_map(|path| fs::metadata(&path).ok().filter(fs::Metadata::is_file).and_then(|_| fs::read(path).ok()))
        .ok_or_else(missing)?;
    let lines: Vec<_> = (1..)
        .zip(text.split_inclusive(|byte| *byte == b'\n'))
        .map(|(number, line): (u32, _)| (line.to_vec(), counts.get(&number).copied()))
        .collect();
    let mut top: Vec<(u32, u64)> = counts.iter().map(|(line, calls)| (*line, *calls)).collect();
    top.sort_by_key(|(_, calls)| std::cmp::Reverse(*calls));
    top.retain(|(_, calls)| *calls != 0);
    top.truncate(annotation.table_length);
    Ok(AnnotatedFile {
        path: path.to_vec(),
        executable: lines.iter().filter(|(_, count)| count.is_some()).count() as u64,
        lines,
        top,
        calls: counts.values().fold(0, |sum, calls| sum.saturating_add(*calls)),
    })
}

/// Where a source file may be: where it was, or else in one of the directories, there at last without its own.
fn candidates<'a>(path: &'a Path, directories: &'a [PathBuf]) -> impl Iterator<Item = PathBuf> + 'a {
    let relative = directories.iter().filter(|_| path.is_relative()).map(move |directory| directory.join(path));
    let names = directories.iter().filter_map(move |directory| Some(directory.join(path.file_name()?)));
    std::iter::once(path.to_owned()).chain(relative).chain(names)
}

/// Writes a source file to `NAME-ann` in the current directory.
///
/// # Errors
///
/// When that cannot be written.
pub fn store(file: &AnnotatedFile, render: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
    let base = file.path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let name = PathBuf::from(OsStr::from_bytes(&[base, b"-ann"].concat()));
    let mut text = Vec::new();
    let written = render(&mut text).and_then(|()| fs::write(&name, text));
    written.map_err(|source| Error::Write { file: name.display().to_string(), source })
}
