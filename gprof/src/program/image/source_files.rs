//! Reads source files, lines and inlined functions from the debug information of a program.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;

use gimli::{Dwarf, SectionId};

use super::frames::Frames;
use super::line_tables::LineTables;
use super::lines::{Lines, base};
use super::sections::{Reader, Sections};
use super::split_units::{self, Split};

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
}

impl<'data> SourceFiles<'data> {
    pub(super) fn new(sections: Sections<'data>, starts_in_first_file: bool) -> SourceFiles<'data> {
        SourceFiles { sections, image: None, starts_in_first_file, split: OnceLock::new() }
    }

    /// The split units.
    fn split<'a>(&'a self, main: &Dwarf<Reader<'a>>) -> split_units::Units<'a> {
        let Some(image) = &self.image else {
            return split_units::Units::new();
        };
        self.split.get_or_init(|| Split::find(main, image)).units(main)
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
        Lines::new(&self.sections, self.starts_in_first_file)
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
        Frames::new(&self.sections, |dwarf| self.split(dwarf))
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
