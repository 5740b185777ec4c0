//! Visits the units of the debug information one by one, with bounded work.
//!
//! Units refer to abbreviation tables. In a real program, each table belongs to one unit or a few; in a hostile file,
//! ten thousand units may each have a table that extends to the end of the file. So the work is added up.

use std::collections::HashMap;
use std::rc::Rc;

use gimli::{Abbreviations, AttributeValue, DebugAbbrevOffset, DebugRngListsBase, DebugStrOffsetsBase, SectionId};

use super::line_tables::text_at;
use super::sections::{Reader, Sections};

/// The maximum amount of work, as a multiple of the length of the debug information. Units that share much, for
/// instance after `dwz`, stay far below.
const FACTOR: u64 = 16;

/// The amount of work that is always allowed.
const SLACK: u64 = 1 << 20;

/// The header of a unit.
pub(super) type Header<'a> = gimli::UnitHeader<Reader<'a>>;

/// The first entry of a unit.
#[derive(Default)]
pub(super) struct Root<'a> {
    /// The offset of the unit's line table.
    pub(super) line_table: Option<usize>,
    pub(super) directory: Option<&'a [u8]>,
    /// The base offset of the unit's range lists.
    pub(super) range_lists: Option<DebugRngListsBase>,
    /// The base offset of the unit's strings.
    pub(super) strings: Option<DebugStrOffsetsBase>,
}

/// Returns the strings that a file shares with others. The search may take time, so the search starts when a unit needs
/// the strings.
pub(super) type SharedStrings<'f, 'a> = &'f dyn Fn() -> &'a [u8];

/// The working directories of the compiler, by the offsets of the line tables.
pub(super) fn directories<'a>(
    sections: &'a Sections<'_>,
    shared_strings: SharedStrings<'_, 'a>,
) -> HashMap<usize, &'a [u8]> {
    let mut found = HashMap::new();
    // Damage only ends the walk.
    let _ = walk(sections, shared_strings, |_, _, root, _| {
        if let (Some(table), Some(directory)) = (root.line_table, root.directory) {
            found.entry(table).or_insert(directory);
        }
    });
    found
}

/// The amount of work that is left.
pub(super) struct Work {
    pub(super) left: u64,
}

impl Work {
    /// The amount of work for debug information of this length.
    pub(super) fn of(length: u64) -> Work {
        Work { left: length.saturating_mul(FACTOR).saturating_add(SLACK) }
    }

    pub(super) fn take(&mut self, work: u64) {
        self.left = self.left.saturating_sub(work);
    }
}

/// The error for debug information that requires too much work for its length.
pub(super) struct TooMuch;

/// Visits each unit while there is work left.
pub(super) fn walk<'a>(
    sections: &'a Sections<'_>,
    shared_strings: SharedStrings<'_, 'a>,
    mut visit: impl FnMut(&Header<'a>, &Abbreviations, &Root<'a>, &mut Work),
) -> Result<(), TooMuch> {
    let info: gimli::DebugInfo<Reader<'a>> = sections.get(SectionId::DebugInfo).into();
    let mut abbreviations = Known { sections, tables: HashMap::new() };
    let mut work = Work::of(sections.len());
    let mut units = info.units();
    while let Ok(Some(header)) = units.next() {
        if let Some(table) = abbreviations.get(header.debug_abbrev_offset(), &mut work) {
            visit(&header, &table, &root(sections, shared_strings, &header, &table), &mut work);
        }
        if work.left == 0 {
            return Err(TooMuch);
        }
    }
    Ok(())
}

/// Reads the first entry of a unit, which describes the unit.
fn root<'a>(
    sections: &'a Sections<'_>,
    shared_strings: SharedStrings<'_, 'a>,
    header: &gimli::UnitHeader<Reader<'a>>,
    abbreviations: &Abbreviations,
) -> Root<'a> {
    let mut root = Root::default();
    let Ok(mut entries) = header.entries_raw(abbreviations, None) else {
        return root;
    };
    let Ok(Some(abbreviation)) = entries.read_abbreviation() else {
        return root;
    };
    let text = |section, offset| text_at(sections.get(section).slice(), offset);
    for attribute in abbreviation.attributes() {
        let Ok(attribute) = entries.read_attribute(*attribute) else {
            break;
        };
        match (attribute.name(), attribute.value()) {
            (gimli::DW_AT_stmt_list, AttributeValue::DebugLineRef(offset)) => root.line_table = Some(offset.0),
            (gimli::DW_AT_rnglists_base, AttributeValue::DebugRngListsBase(base)) => root.range_lists = Some(base),
            (gimli::DW_AT_str_offsets_base, AttributeValue::DebugStrOffsetsBase(base)) => root.strings = Some(base),
            (gimli::DW_AT_comp_dir, AttributeValue::String(text)) => root.directory = text_at(text.slice(), 0),
            (gimli::DW_AT_comp_dir, AttributeValue::DebugStrRef(at)) => {
                root.directory = text(SectionId::DebugStr, at.0);
            }
            (gimli::DW_AT_comp_dir, AttributeValue::DebugLineStrRef(at)) => {
                root.directory = text(SectionId::DebugLineStr, at.0);
            }
            (gimli::DW_AT_comp_dir, AttributeValue::DebugStrRefSup(at)) => {
                root.directory = text_at(shared_strings(), at.0);
            }
            _ => {}
        }
    }
    root
}

/// The abbreviation tables that were read, which units share.
struct Known<'a, 'data> {
    sections: &'a Sections<'data>,
    tables: HashMap<usize, Option<Rc<Abbreviations>>>,
}

impl Known<'_, '_> {
    fn get(&mut self, offset: DebugAbbrevOffset, work: &mut Work) -> Option<Rc<Abbreviations>> {
        if let Some(known) = self.tables.get(&offset.0) {
            return known.clone();
        }
        let section = self.sections.get(SectionId::DebugAbbrev);
        work.take(table_length(section.slice().get(offset.0..).unwrap_or_default(), work.left));
        if work.left == 0 {
            return None;
        }
        let table = gimli::DebugAbbrev::from(section).abbreviations(offset).ok().map(Rc::new);
        self.tables.insert(offset.0, table.clone());
        table
    }
}

/// The length of an abbreviation table in bytes, at most `most`.
pub(super) fn table_length(bytes: &[u8], most: u64) -> u64 {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let mut rest = bytes.get(..most).unwrap_or(bytes);
    let whole = rest.len();
    // An abbreviation is a code, a tag and a flag for children; then pairs of numbers up to a pair of zeros.
    while number(&mut rest).is_some_and(|code| code != 0) {
        number(&mut rest);
        rest = rest.get(1..).unwrap_or_default();
        while let (Some(name), Some(form)) = (number(&mut rest), number(&mut rest)) {
            if form == u64::from(gimli::DW_FORM_implicit_const.0) {
                number(&mut rest);
            }
            if (name, form) == (0, 0) {
                break;
            }
        }
    }
    (whole - rest.len()) as u64
}

/// Reads a LEB128 number from the front. Bits past the 64th are lost.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    let mut shift = 0_u32;
    loop {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
        shift = shift.saturating_add(7);
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_abbreviations() {
        // An entry with two attributes, an entry without attributes, and the end.
        let table = [1, 0x11, 1, 0x10, 0x17, 0x03, 0x08, 0, 0, 2, 0x2e, 0, 0, 0, 0, 9, 9];
        assert_eq!(table_length(&table, 100), 15);
        assert_eq!(table_length(&table, 5), 5);
        // The value of a constant attribute is in the table itself.
        let table = [1, 0x11, 1, 0x10, 0x21, 0xff, 0x01, 0, 0, 0, 9];
        assert_eq!(table_length(&table, 100), 10);
        assert_eq!(table_length(&[], 100), 0);
        assert_eq!(table_length(&[0x80; 20], 100), 20);
    }
}
