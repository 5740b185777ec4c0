//! Checks that reading debug information takes work in proportion to its size.
//!
//! Entries refer to line tables, range lists and names, and in a real program few entries share one. In a hostile
//! file, ten thousand entries may share one list of ten thousand ranges, or be nested ten thousand deep. The reader
//! of inlined functions reads entry by entry and would run out of time, memory or stack. So this module first adds up
//! the work that the entries require.

use gimli::{
    Abbreviations, AttributeValue, DebugRngListsBase, DebugStrOffsetsBase, Dwarf, RangeListsOffset, Section, Unit,
};

use super::sections::{Reader, Sections};
use super::units::{self, Header, SharedStrings, Work};

/// The maximum depth of entries.
const DEEPEST: isize = 1000;

/// The maximum depth of inlined functions: each lookup of an address walks through all levels.
const DEEPEST_INLINED: usize = 128;

/// The maximum length of a name in bytes.
const LONGEST: usize = 1 << 16;

/// Whether reading the debug information entry by entry takes work in proportion to its length. `shared_strings`
/// returns the strings that the file shares with others.
pub(super) fn is_within_limits<'a>(
    sections: &'a Sections<'_>,
    dwarf: &Dwarf<Reader<'a>>,
    shared_strings: SharedStrings<'_, 'a>,
) -> bool {
    let judge = WorkCounter { dwarf, address_size: sections.address_size };
    units::walk(sections, shared_strings, |header, abbreviations, root, work| {
        let encoding = header.encoding();
        let lists = DebugRngListsBase::default_for_encoding_and_file(encoding, dwarf.file_type);
        let strings = DebugStrOffsetsBase::default_for_encoding_and_file(encoding, dwarf.file_type);
        let bases =
            Bases { lists: root.range_lists.unwrap_or(lists), strings: root.strings.unwrap_or(strings), first: 0 };
        let directory = root.directory.map_or(0, <[u8]>::len);
        if let Some(table) = root.line_table {
            judge.line_table(header, table, directory, &bases, work);
        }
        if judge.entries(header, abbreviations, &bases, work).is_none() {
            *work = Work { left: 0 };
        }
    })
    .is_ok()
}

/// The same check for the single unit of a split file. The image's part of the unit is in the skeleton.
pub(super) fn is_split_within_limits<'a>(dwo: &Dwarf<Reader<'a>>, skeleton: &Unit<Reader<'a>>) -> bool {
    let sections = [
        dwo.debug_info.reader(),
        dwo.debug_abbrev.reader(),
        dwo.debug_str_offsets.reader(),
        dwo.ranges.debug_rnglists().reader(),
    ];
    let mut work = Work::of(sections.iter().map(|section| section.slice().len() as u64).sum());
    let Ok(Some(header)) = dwo.units().next() else {
        return false;
    };
    let table = dwo.debug_abbrev.reader().slice().get(header.debug_abbrev_offset().0..).unwrap_or_default();
    work.take(units::table_length(table, work.left));
    if work.left == 0 {
        return false;
    }
    let Ok(mut unit) = dwo.unit(header) else {
        return false;
    };
    unit.copy_relocated_attributes(skeleton);
    // Before version 5, range lists stay in the image, and the skeleton has the offset of the unit's lists.
    let first = if unit.header.version() < 5 { unit.rnglists_base.0 } else { 0 };
    let bases = Bases { lists: unit.rnglists_base, strings: unit.str_offsets_base, first };
    let judge = WorkCounter { dwarf: dwo, address_size: unit.header.address_size() };
    judge.entries(&unit.header, &unit.abbreviations, &bases, &mut work).is_some() && work.left > 0
}

/// The base offsets of a unit's tables.
struct Bases {
    lists: DebugRngListsBase,
    strings: DebugStrOffsetsBase,
    /// The number that is added to offsets of range lists.
    first: usize,
}

/// Whether an attribute can require more work than it has bytes.
fn costs_work(name: gimli::DwAt) -> bool {
    use gimli::{DW_AT_MIPS_linkage_name, DW_AT_linkage_name, DW_AT_name, DW_AT_ranges};
    [DW_AT_ranges, DW_AT_name, DW_AT_linkage_name, DW_AT_MIPS_linkage_name].contains(&name)
}

struct WorkCounter<'d, 'a> {
    dwarf: &'d Dwarf<Reader<'a>>,
    address_size: u8,
}

impl<'a> WorkCounter<'_, 'a> {
    /// Adds the work of a line table: its length, and the paths of its files, which are built for every unit.
    fn line_table(&self, header: &Header<'a>, table: usize, directory: usize, bases: &Bases, work: &mut Work) {
        let offset = gimli::DebugLineOffset(table);
        let Ok(program) = self.dwarf.debug_line.program(offset, self.address_size, None, None) else {
            return;
        };
        let table = program.header();
        work.take(table.unit_length() as u64);
        for file in table.file_names() {
            if work.left == 0 {
                break;
            }
            let within = file.directory(table).map_or(0, |path| self.length(header, &path, bases, work.left));
            let name = self.length(header, &file.path_name(), bases, work.left);
            // In most programs, the entry of a file in the table is not larger than this.
            let usual = 256;
            work.take((directory as u64).saturating_add(within).saturating_add(name).saturating_sub(usual));
        }
    }

    /// Adds the work of a unit's entries. Returns `None` if an entry exceeds a limit.
    fn entries(
        &self,
        header: &Header<'a>,
        abbreviations: &Abbreviations,
        bases: &Bases,
        work: &mut Work,
    ) -> Option<()> {
        // Damaged units are harmless: every reader stops where this one stops.
        let Ok(mut entries) = header.entries_raw(abbreviations, None) else {
            return Some(());
        };
        // The depths of the inlined functions around the current entry.
        let mut inlined: Vec<isize> = Vec::new();
        while work.left > 0 && !entries.is_empty() {
            let depth = entries.next_depth();
            if depth > DEEPEST || inlined.len() > DEEPEST_INLINED {
                return None;
            }
            let Ok(abbreviation) = entries.read_abbreviation() else {
                break;
            };
            inlined.truncate(inlined.partition_point(|around| *around < depth));
            if abbreviation.is_some_and(|abbreviation| abbreviation.tag() == gimli::DW_TAG_inlined_subroutine) {
                inlined.push(depth);
            }
            for attribute in abbreviation.into_iter().flat_map(gimli::Abbreviation::attributes) {
                if !costs_work(attribute.name()) {
                    if entries.skip_attributes(std::slice::from_ref(attribute)).is_err() {
                        return Some(());
                    }
                    continue;
                }
                let Ok(attribute) = entries.read_attribute(*attribute) else {
                    return Some(());
                };
                self.attribute(header, attribute.name(), &attribute.value(), bases, work)?;
            }
        }
        Some(())
    }

    /// Adds the work of an attribute's value. Returns `None` for a name that is too long.
    fn attribute(
        &self,
        header: &Header<'a>,
        name: gimli::DwAt,
        value: &AttributeValue<Reader<'a>>,
        bases: &Bases,
        work: &mut Work,
    ) -> Option<()> {
        match name {
            gimli::DW_AT_ranges => self.range_list(header, value, bases, work),
            gimli::DW_AT_name | gimli::DW_AT_linkage_name | gimli::DW_AT_MIPS_linkage_name => {
                let most = LONGEST as u64;
                (self.length(header, value, bases, most + 1) <= most).then_some(())?;
            }
            _ => {}
        }
        Some(())
    }

    fn range_list(&self, header: &Header<'a>, value: &AttributeValue<Reader<'a>>, bases: &Bases, work: &mut Work) {
        let encoding = header.encoding();
        let offset = match *value {
            AttributeValue::RangeListsRef(offset) => RangeListsOffset(offset.0.wrapping_add(bases.first)),
            AttributeValue::SecOffset(offset) => RangeListsOffset(offset.wrapping_add(bases.first)),
            AttributeValue::DebugRngListsIndex(index) => {
                let Ok(offset) = self.dwarf.ranges.get_offset(encoding, bases.lists, index) else {
                    return;
                };
                offset
            }
            _ => return,
        };
        let Ok(mut ranges) = self.dwarf.ranges.raw_ranges(offset, encoding) else {
            return;
        };
        while work.left > 0 && matches!(ranges.next(), Ok(Some(_))) {
            // A range takes more memory than bytes in the file.
            work.take(16);
        }
    }

    /// The length of a string, at most `most`.
    fn length(&self, header: &Header<'a>, value: &AttributeValue<Reader<'a>>, bases: &Bases, most: u64) -> u64 {
        let (section, offset) = match *value {
            AttributeValue::String(text) => return text.slice().len() as u64,
            AttributeValue::DebugStrRef(offset) => (self.dwarf.debug_str.reader(), offset.0),
            AttributeValue::DebugLineStrRef(offset) => (self.dwarf.debug_line_str.reader(), offset.0),
            AttributeValue::DebugStrOffsetsIndex(index) => {
                let offset = self.dwarf.debug_str_offsets.get_str_offset(header.format(), bases.strings, index);
                let Ok(offset) = offset else {
                    return 0;
                };
                (self.dwarf.debug_str.reader(), offset.0)
            }
            AttributeValue::DebugStrRefSup(offset) => match self.dwarf.sup() {
                Some(shared) => (shared.debug_str.reader(), offset.0),
                None => return 0,
            },
            _ => return 0,
        };
        let rest = section.slice().get(offset..).unwrap_or_default();
        let near = usize::try_from(most).ok().and_then(|most| rest.get(..most)).unwrap_or(rest);
        near.iter().position(|byte| *byte == 0).unwrap_or(near.len()) as u64
    }
}
