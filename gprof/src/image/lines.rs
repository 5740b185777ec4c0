//! Files and lines of code.

use std::collections::HashMap;
use std::ops::Range;

use super::line_tables::{Header, LineTables, Row};
use super::sections::Sections;
use super::units;

/// A source file: where it was when the program was compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FilePath<'a> {
    /// The directory in which the compiler ran, or nothing.
    pub compiled_in: &'a [u8],
    /// The directory of the file, as a rule in relation to the one before, or nothing.
    pub directory: &'a [u8],
    /// The name, which may begin with directories as well.
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

/// A path without its directories, if anything is left of it.
pub(super) fn base(path: &[u8]) -> Option<&[u8]> {
    path.rsplit(|byte| *byte == b'/').next().filter(|name| !name.is_empty())
}

/// A file of [`Lines`]. Two of them may be the same file, when several parts of the program come from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(u32);

/// Something known of each file.
#[derive(Debug, Default)]
pub(crate) struct OfFiles<T> {
    known: Vec<Option<T>>,
}

impl<T: Copy> OfFiles<T> {
    /// What is known of a file; `find` tells if nothing is yet.
    pub(crate) fn get(&mut self, file: FileId, find: impl FnOnce() -> T) -> T {
        let at = file.0 as usize;
        if self.known.len() <= at {
            self.known.resize_with(at + 1, || None);
        }
        *self.known[at].get_or_insert_with(find)
    }
}

/// Code that comes from one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineRange {
    /// The first address.
    pub start: u64,
    /// The address behind the last.
    pub end: u64,
    /// The file.
    pub file: FileId,
    /// The line, counted from one; 0 for code that comes from no line.
    pub line: u32,
}

/// Which line every address comes from.
#[derive(Debug, Default)]
pub struct Lines<'a> {
    files: Vec<FilePath<'a>>,
    /// Sorted, and none overlaps another.
    ranges: Vec<LineRange>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(sections: &'a Sections<'_>, is_gnu: bool) -> Lines<'a> {
        let mut collector = Collector {
            tables: &LineTables::new(sections, is_gnu),
            directories: units::directories(sections),
            lines: Lines::default(),
            table: None,
            known: HashMap::new(),
            room: ROOM,
        };
        collector.tables.each_row(|header, row| collector.add(header, row));
        let Lines { files, mut ranges } = collector.lines;
        // What the section has first counts where tables overlap.
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

    /// The lines of a part of the code, in the order of addresses. The first and the last may reach beyond it.
    pub fn within(&self, part: Range<u64>) -> impl Iterator<Item = &LineRange> {
        let first = self.ranges.partition_point(|range| range.end <= part.start);
        self.ranges.iter().skip(first).take_while(move |range| range.start < part.end)
    }

    /// The path of a file.
    #[must_use]
    pub fn path(&self, file: FileId) -> FilePath<'a> {
        self.files.get(file.0 as usize).copied().unwrap_or_default()
    }

    /// Whether there are none at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
}

/// How many ranges are kept without a look at whether others hide them.
const ROOM: usize = 1 << 20;

/// Gathers [`Lines`].
struct Collector<'t, 'a> {
    tables: &'t LineTables<'a>,
    /// Where the compiler ran, for each table that does not say so itself.
    directories: HashMap<usize, &'a [u8]>,
    lines: Lines<'a>,
    /// The table being read, and the files of it that were met.
    table: Option<usize>,
    known: HashMap<u64, Option<FileId>>,
    /// How many ranges there may be before those are looked for that others hide.
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

    /// Leaves out the ranges of which nothing is seen, since those that begin before them cover them: a table may have any
    /// number of rows for the same few addresses. What comes later can only hide more.
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
        // Since version 5 the first directory is the one in which the compiler ran; before, none has number 0.
        let first = if header.version() >= 5 { self.tables.directory(header, 0) } else { None };
        let compiled_in = first.or_else(|| self.directories.get(&header.offset().0).copied()).unwrap_or_default();
        let directory = if directory == 0 { None } else { self.tables.directory(header, directory) };
        Some(FilePath { compiled_in, directory: directory.unwrap_or_default(), name })
    }
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
