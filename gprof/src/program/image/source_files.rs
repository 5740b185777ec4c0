//! Reads source files, lines, and inlined functions from the debug information of a program, and looks up the file and
//! line of code addresses.

use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;

use gimli::{Dwarf, SectionId};

use super::debug_files::{self, Split};
use super::frames::Frames;
use super::line_tables::{Header, LineTables, Row};
use super::sections::{Owned, Reader, Sections};
use super::supplements::{Search, Supplement};
use super::units::{self, SharedStrings};

/// The path of a source file at the time of compilation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FilePath<'a> {
    /// The working directory of the compiler; empty if unknown.
    pub compiled_in: &'a [u8],
    /// The directory of the file, usually relative to the working directory; empty if unknown.
    pub directory: &'a [u8],
    /// The file name, which may also start with directories.
    pub name: &'a [u8],
}

impl<'a> FilePath<'a> {
    /// The whole path, as far as it is known.
    #[must_use]
    pub fn full(&self) -> Vec<u8> {
        let mut path = Vec::new();
        for part in [self.compiled_in, self.directory, self.name] {
            if part.first() == Some(&b'/') {
                path.clear();
            } else if !part.is_empty() && path.last().is_some_and(|last| *last != b'/') {
                path.push(b'/');
            }
            path.extend_from_slice(part);
        }
        path
    }
}

/// The last part of a path, unless that is empty.
pub(super) fn base(path: &[u8]) -> Option<&[u8]> {
    path.rsplit(|byte| *byte == b'/').next().filter(|name| !name.is_empty())
}

/// The index of a file in [`Lines`]. Two indexes may stand for the same file, if several parts of the program come
/// from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(u32);

/// A cache with one value for each file.
#[derive(Debug, Default)]
pub(crate) struct OfFiles<T> {
    known: Vec<Option<T>>,
}

impl<T: Copy> OfFiles<T> {
    /// The value for a file; `find` computes it the first time.
    pub(crate) fn get(&mut self, file: FileId, find: impl FnOnce() -> T) -> T {
        let at = file.0 as usize;
        if self.known.len() <= at {
            self.known.resize_with(at + 1, || None);
        }
        *self.known[at].get_or_insert_with(find)
    }
}

/// A range of code that comes from one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineRange {
    /// The first address.
    pub start: u64,
    /// The address after the last byte.
    pub end: u64,
    /// The file.
    pub file: FileId,
    /// The line number, counted from one; 0 for code that comes from no line.
    pub line: u32,
}

/// The source line of every address.
#[derive(Debug, Default)]
pub struct Lines<'a> {
    files: Vec<FilePath<'a>>,
    /// Sorted and without overlaps.
    ranges: Vec<LineRange>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(
        sections: &'a Sections<'_>,
        shared_strings: SharedStrings<'_, 'a>,
        starts_in_first_file: bool,
    ) -> Lines<'a> {
        let mut collector = Collector {
            tables: &LineTables::new(sections, starts_in_first_file),
            directories: units::directories(sections, shared_strings),
            lines: Lines::default(),
            table: None,
            known: HashMap::new(),
            room: ROOM,
        };
        collector.tables.each_row(|header, row| collector.add(header, row));
        let Lines { files, mut ranges } = collector.lines;
        // Where tables overlap, the first one in the section counts.
        ranges.sort_by_key(|range| range.start);
        let mut end = 0;
        ranges.retain_mut(|range| {
            range.start = range.start.max(end);
            end = end.max(range.end);
            range.start < range.end
        });
        Lines { files, ranges }
    }

    /// The line that an address comes from.
    #[must_use]
    pub fn find(&self, address: u64) -> Option<&LineRange> {
        let at = self.ranges.partition_point(|range| range.end <= address);
        self.ranges.get(at).filter(|range| range.start <= address)
    }

    /// The lines within a range of addresses, in ascending order. The first and the last may extend past the range.
    pub fn within(&self, part: Range<u64>) -> impl Iterator<Item = &LineRange> {
        let first = self.ranges.partition_point(|range| range.end <= part.start);
        self.ranges.iter().skip(first).take_while(move |range| range.start < part.end)
    }

    /// The path of a file.
    #[must_use]
    pub fn path(&self, file: FileId) -> FilePath<'a> {
        self.files.get(file.0 as usize).copied().unwrap_or_default()
    }

    /// Whether there are no lines.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
}

/// The number of ranges that are kept before the first search for hidden ranges.
const ROOM: usize = 1 << 20;

/// Collects [`Lines`].
struct Collector<'t, 'a> {
    tables: &'t LineTables<'a>,
    /// The working directory of the compiler, for each table that does not contain it.
    directories: HashMap<usize, &'a [u8]>,
    lines: Lines<'a>,
    /// The current table, and those of its files that occurred.
    table: Option<usize>,
    known: HashMap<u64, Option<FileId>>,
    /// The number of ranges at which the next search for hidden ranges starts.
    room: usize,
}

impl<'a> Collector<'_, 'a> {
    fn add(&mut self, header: &Header<'a>, row: Row) {
        if self.table != Some(header.offset().0) {
            self.table = Some(header.offset().0);
            self.known.clear();
        }
        let file = match self.known.get(&row.file) {
            Some(known) => *known,
            None => {
                let path = self.path(header, row.file);
                let id = path.and_then(|path| {
                    let id = u32::try_from(self.lines.files.len()).ok()?;
                    self.lines.files.push(path);
                    Some(FileId(id))
                });
                self.known.insert(row.file, id);
                id
            }
        };
        let Row { start, end, line, .. } = row;
        self.lines.ranges.extend(file.map(|file| LineRange { start, end, file, line }));
        if self.lines.ranges.len() >= self.room {
            self.drop_hidden();
        }
    }

    /// Removes the ranges that are completely covered by ranges that start before them: a table may have any number
    /// of rows for the same few addresses. Later ranges can only cover more.
    fn drop_hidden(&mut self) {
        let ranges = &mut self.lines.ranges;
        ranges.sort_by_key(|range| range.start);
        let mut end = 0;
        ranges.retain(|range| {
            let is_seen = range.end > end.max(range.start);
            end = end.max(range.end);
            is_seen
        });
        self.room = ROOM.max(2 * ranges.len());
    }

    fn path(&self, header: &Header<'a>, file: u64) -> Option<FilePath<'a>> {
        let (directory, name) = self.tables.file(header, file)?;
        // Since version 5, directory 0 is the working directory of the compiler; before, there is no directory 0.
        let first = if header.version() >= 5 { self.tables.directory(header, 0) } else { None };
        let compiled_in = first.or_else(|| self.directories.get(&header.offset().0).copied()).unwrap_or_default();
        let directory = if directory == 0 { None } else { self.tables.directory(header, directory) };
        Some(FilePath { compiled_in, directory: directory.unwrap_or_default(), name })
    }
}

/// The debug information of a program: the source file and line of its code, as far as known.
///
/// Damaged parts count as missing.
pub struct SourceFiles<'data> {
    pub(super) sections: Sections<'data>,
    /// The path of the image, if split units are wanted.
    pub(super) image: Option<PathBuf>,
    /// Whether code belongs to the first file of its line table until a row names a file.
    pub(super) starts_in_first_file: bool,
    split: OnceLock<Split>,
    /// Where the debug information is that the image shares with others, if there is such a file.
    pub(super) search: Option<Search>,
    supplement: OnceLock<Supplement>,
}

impl<'data> SourceFiles<'data> {
    pub(super) fn new(sections: Sections<'data>, starts_in_first_file: bool) -> SourceFiles<'data> {
        let (split, supplement) = (OnceLock::new(), OnceLock::new());
        SourceFiles { sections, image: None, starts_in_first_file, split, search: None, supplement }
    }

    /// The split units.
    fn split<'a>(&'a self, main: &Dwarf<Reader<'a>>) -> debug_files::Units<'a> {
        let Some(image) = &self.image else {
            return debug_files::Units::new();
        };
        self.split.get_or_init(|| Split::find(main, image)).units(main)
    }

    /// The debug information that the image shares with others, if it is found.
    fn shared(&self) -> Option<&Owned> {
        let search = self.search.as_ref()?;
        match self.supplement.get_or_init(|| search.find()) {
            Supplement::Found(file) => Some(file),
            Supplement::Missing(_) => None,
        }
    }

    /// The ID of the file with debug information that the image shares with others, if this file is not found.
    #[must_use]
    pub fn missing_id(&self) -> Option<String> {
        let search = self.search.as_ref()?;
        self.shared().is_none().then(|| search.id())
    }

    /// Takes the file that was missing. Another file is ignored.
    pub fn add_shared(&mut self, bytes: &[u8]) {
        if let Some(found) = self.search.as_ref().and_then(|search| search.supplement(bytes)) {
            self.supplement = OnceLock::from(found);
        }
    }

    /// The warning about debug information that the image shares with others: some was needed, and is missing.
    #[must_use]
    pub fn missing_names(&self) -> Option<&str> {
        match self.supplement.get()? {
            Supplement::Missing(why) => Some(why),
            Supplement::Found(_) => None,
        }
    }

    /// Returns the base name of the source file that each of these addresses comes from.
    ///
    /// An address whose file or line is unknown has no entry. This takes one pass over the line tables and, unlike
    /// [`SourceFiles::lines`], no memory for them.
    #[must_use]
    pub fn base_names(&self, mut addresses: Vec<u64>) -> HashMap<u64, &[u8]> {
        let mut found = HashMap::new();
        addresses.sort_unstable();
        addresses.dedup();
        if addresses.is_empty() {
            return found;
        }
        let tables = LineTables::new(&self.sections, self.starts_in_first_file);
        // For each address, the index of the next address without a result. A thousand rows may cover the same code.
        let mut open: Vec<usize> = (0..=addresses.len()).collect();
        tables.each_row(|header, row| {
            let mut at = next_open(&mut open, addresses.partition_point(|address| *address < row.start));
            if addresses.get(at).is_none_or(|address| *address >= row.end) {
                return;
            }
            let Some(name) = tables.file(header, row.file).and_then(|(_, name)| base(name)) else {
                return;
            };
            while let Some(address) = addresses.get(at).filter(|address| **address < row.end) {
                found.insert(*address, name);
                open[at] = at + 1;
                at = next_open(&mut open, at);
            }
        });
        found
    }

    /// Returns whether there are line tables, damaged or not.
    #[must_use]
    pub fn has_lines(&self) -> bool {
        !self.sections.get(SectionId::DebugLine).slice().is_empty()
    }

    /// Returns whether there is debug information in stabs, which this crate does not read.
    #[must_use]
    pub fn has_stabs(&self) -> bool {
        self.sections.has_stabs
    }

    /// Reads the lines of all code.
    #[must_use]
    pub fn lines(&self) -> Lines<'_> {
        let shared_strings = || self.shared().map_or(&[][..], |shared| shared.get(SectionId::DebugStr).slice());
        Lines::new(&self.sections, &shared_strings, self.starts_in_first_file)
    }

    /// Whether any part of the line tables that were read so far is damaged.
    #[must_use]
    pub fn has_damaged_lines(&self) -> bool {
        self.sections.has_damaged_lines.load(Relaxed)
    }

    /// Returns the functions that code comes from, including inlined functions; `None` if the debug information is
    /// missing or fails the check of [`super::limits`].
    #[must_use]
    pub fn frames(&self) -> Option<Frames<'_>> {
        let shared = self.shared().and_then(|shared| shared.dwarf().ok());
        Frames::new(&self.sections, shared, |dwarf| self.split(dwarf))
    }
}

/// Follows a list in which each entry is the index of a later entry, or its own index at the end. Shortens the path
/// for later calls.
fn next_open(open: &mut [usize], mut at: usize) -> usize {
    while open[at] != at {
        open[at] = open[open[at]];
        at = open[at];
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        let full = |compiled_in: &'static str, directory: &'static str, name: &'static str| {
            let [compiled_in, directory, name] = [compiled_in, directory, name].map(str::as_bytes);
            String::from_utf8(FilePath { compiled_in, directory, name }.full()).unwrap()
        };
        assert_eq!(full("/src", "lib", "a.c"), "/src/lib/a.c");
        assert_eq!(full("/src", "", "lib/a.c"), "/src/lib/a.c");
        assert_eq!(full("/src/", "/usr/include", "a.h"), "/usr/include/a.h");
        assert_eq!(full("/src/", "lib", "/a.c"), "/a.c");
        assert_eq!(full("", "", "a.c"), "a.c");
        assert_eq!(base(b"lib/a.c"), Some(b"a.c".as_slice()));
    }
}
