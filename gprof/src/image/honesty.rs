//! Whether debug information is what it seems: no larger to read than it is.
//!
//! Entries refer to line tables, lists of ranges and names, and in a program few refer to the same. In a file made to
//! harm, ten thousand may share one list of ten thousand ranges, or be nested ten thousand deep; whoever reads them one
//! by one, as the reader of inlined functions does, would run out of time, memory or stack. So it is added up here
//! first what they ask for.

use gimli::{
    Abbreviations, AttributeValue, DebugLine, DebugLineOffset, DebugRngListsBase, RangeLists, RangeListsOffset,
    SectionId,
};

use super::sections::{Reader, Sections};
use super::units::{self, Header, Root, Work};

/// The deepest nesting of entries that is believed.
const DEEPEST: isize = 1000;

/// The longest name that is believed, in bytes.
const LONGEST: usize = 1 << 16;

/// Whether reading the debug information entry by entry takes work in proportion to its length.
pub(super) fn is_honest(sections: &Sections<'_>) -> bool {
    let judge = Judge {
        lines: sections.get(SectionId::DebugLine).into(),
        ranges: RangeLists::new(
            sections.get(SectionId::DebugRanges).into(),
            sections.get(SectionId::DebugRngLists).into(),
        ),
        long_strings: Some(sections.get(SectionId::DebugStr)).filter(|strings| has_long(strings.slice())),
        address_size: sections.address_size,
    };
    units::walk(sections, |header, abbreviations, root, work| {
        judge.line_table(root, work);
        if judge.entries(header, abbreviations, root, work).is_none() {
            *work = Work { left: 0 };
        }
    })
    .is_ok()
}

/// Whether any text of a section is too long to be a name.
fn has_long(strings: &[u8]) -> bool {
    // Of texts that are so long, one at least covers any piece of this length from end to end.
    const HALF: usize = LONGEST / 2;
    strings.chunks_exact(HALF).any(|piece| !piece.contains(&0))
}

struct Judge<'a> {
    lines: DebugLine<Reader<'a>>,
    ranges: RangeLists<Reader<'a>>,
    /// The section of texts, if any of them is too long to be a name.
    long_strings: Option<Reader<'a>>,
    address_size: u8,
}

impl<'a> Judge<'a> {
    fn line_table(&self, root: &Root<'a>, work: &mut Work) {
        if let Some(table) = root.line_table
            && let Ok(program) = self.lines.program(DebugLineOffset(table), self.address_size, None, None)
        {
            work.take(program.header().unit_length() as u64);
        }
    }

    /// Adds up what the entries of a unit ask for, or gives `None` when one asks for what cannot be.
    fn entries(
        &self,
        header: &Header<'a>,
        abbreviations: &Abbreviations,
        root: &Root<'a>,
        work: &mut Work,
    ) -> Option<()> {
        // Damaged units are no danger: whoever reads them stops where this does.
        let Ok(mut entries) = header.entries_raw(abbreviations, None) else {
            return Some(());
        };
        while work.left > 0 && !entries.is_empty() {
            if entries.next_depth() > DEEPEST {
                return None;
            }
            let Ok(abbreviation) = entries.read_abbreviation() else {
                break;
            };
            for attribute in abbreviation.into_iter().flat_map(gimli::Abbreviation::attributes) {
                let Ok(attribute) = entries.read_attribute(*attribute) else {
                    return Some(());
                };
                match (attribute.name(), attribute.value()) {
                    (gimli::DW_AT_ranges, value) => self.range_list(header, root, &value, work),
                    (gimli::DW_AT_name | gimli::DW_AT_linkage_name | gimli::DW_AT_MIPS_linkage_name, value) => {
                        self.name(&value)?;
                    }
                    _ => {}
                }
            }
        }
        Some(())
    }

    fn range_list(&self, header: &Header<'a>, root: &Root<'a>, value: &AttributeValue<Reader<'a>>, work: &mut Work) {
        let encoding = header.encoding();
        let offset = match *value {
            AttributeValue::RangeListsRef(offset) => RangeListsOffset(offset.0),
            AttributeValue::SecOffset(offset) => RangeListsOffset(offset),
            AttributeValue::DebugRngListsIndex(index) => {
                let first = DebugRngListsBase::default_for_encoding_and_file(encoding, gimli::DwarfFileType::Main);
                let base = root.range_lists.unwrap_or(first);
                let Ok(offset) = self.ranges.get_offset(encoding, base, index) else {
                    return;
                };
                offset
            }
            _ => return,
        };
        let Ok(mut ranges) = self.ranges.raw_ranges(offset, encoding) else {
            return;
        };
        while work.left > 0 && matches!(ranges.next(), Ok(Some(_))) {
            // What is kept of a range is larger than what the file has of it.
            work.take(16);
        }
    }

    /// Nothing when a name is too long to be one.
    fn name(&self, value: &AttributeValue<Reader<'a>>) -> Option<()> {
        let text = match value {
            AttributeValue::String(text) => text.slice(),
            AttributeValue::DebugStrRef(offset) => {
                let Some(strings) = &self.long_strings else {
                    return Some(());
                };
                let rest = strings.slice().get(offset.0..).unwrap_or_default();
                let near = rest.get(..LONGEST + 1).unwrap_or(rest);
                near.split(|byte| *byte == 0).next().unwrap_or_default()
            }
            _ => return Some(()),
        };
        (text.len() <= LONGEST).then_some(())
    }
}
