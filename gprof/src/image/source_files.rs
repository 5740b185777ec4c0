//! The debug information of a program.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;

use gimli::Dwarf;

use super::frames::Frames;
use super::line_tables::LineTables;
use super::lines::{Lines, base};
use super::sections::{Reader, Sections};
use super::split_units::{self, Split};

/// The debug information of a program: what source file and line its code comes from, as far as it says so.
///
/// What is damaged in it is taken for absent.
pub struct SourceFiles<'data> {
    pub(super) sections: Sections<'data>,
    /// Where the image lies, if units in other files are to be looked for.
    pub(super) image: Option<PathBuf>,
    /// Whether GNU's faults are wanted.
    pub(super) is_gnu: bool,
    split: OnceLock<Split>,
}

impl<'data> SourceFiles<'data> {
    pub(super) fn new(sections: Sections<'data>, is_gnu: bool) -> SourceFiles<'data> {
        SourceFiles { sections, image: None, is_gnu, split: OnceLock::new() }
    }

    /// The units in other files.
    fn split<'a>(&'a self, main: &Dwarf<Reader<'a>>) -> split_units::Units<'a> {
        let Some(image) = &self.image else {
            return split_units::Units::new();
        };
        self.split.get_or_init(|| Split::find(main, image)).units(main)
    }

    /// The base name of the source file that each of these addresses comes from.
    ///
    /// An address whose file or line is not known has no entry. This takes one pass through the line tables and, unlike
    /// [`SourceFiles::lines`], no memory for them.
    #[must_use]
    pub fn base_names(&self, mut addresses: Vec<u64>) -> HashMap<u64, &[u8]> {
        let mut found = HashMap::new();
        addresses.sort_unstable();
        addresses.dedup();
        if addresses.is_empty() {
            return found;
        }
        let tables = LineTables::new(&self.sections, self.is_gnu);
        // For each address, where the next one is of which nothing is known. A thousand rows may have the same code.
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

    /// The lines of all code, ready to be looked up.
    #[must_use]
    pub fn lines(&self) -> Lines<'_> {
        Lines::new(&self.sections, self.is_gnu)
    }

    /// Whether a part of what was read of the line tables so far could not be understood.
    #[must_use]
    pub fn has_damaged_lines(&self) -> bool {
        self.sections.has_damaged_lines.load(Relaxed)
    }

    /// The functions that code comes from, those that were inlined among them; `None` when the debug information does
    /// not say or cannot be trusted to be small.
    #[must_use]
    pub fn frames(&self) -> Option<Frames<'_>> {
        Frames::new(&self.sections, |dwarf| self.split(dwarf))
    }
}

/// Follows a list in which each place names a later one, or itself at the end; shortens the way for those who come after.
fn next_open(open: &mut [usize], mut at: usize) -> usize {
    while open[at] != at {
        open[at] = open[open[at]];
        at = open[at];
    }
    at
}
