//! Inlined functions inside of one that has no range.
//!
//! DWARF 2 has no lists of ranges, and does not tell where a function was called. So a compiler that keeps to this
//! version (gcc -gdwarf-2 -gstrict-dwarf) gives an empty range to an inlined function whose code has several ranges.
//! addr2line looks for an inlined function in the range of the one around it, and does not find what was inlined into
//! such a function.

use std::cmp::Reverse;
use std::ops::Range;

use gimli::{Abbreviations, AttributeValue, SectionId, UnitOffset};

use super::line_tables::text_at;
use super::sections::{Reader, Sections};
use super::units::{self, Header, Work};

/// The version of DWARF that has no lists of ranges.
const VERSION: u16 = 2;

/// The maximum number of references from the entry of an inlined function to the entry with its name.
const REFERENCES: usize = 16;

/// An inlined function that addr2line does not find: one without a range, or one inside of such a function.
#[derive(Debug)]
pub(super) struct Unreached<'a> {
    pub(super) name: &'a [u8],
    /// The index of the function into which it was inlined, if addr2line does not find that function either.
    around: Option<usize>,
}

/// All of these functions, and their code.
#[derive(Debug, Default)]
pub(super) struct AllUnreached<'a> {
    functions: Vec<Unreached<'a>>,
    /// In ascending order: the innermost function from this address on.
    starts: Vec<(u64, Option<usize>)>,
}

impl<'a> AllUnreached<'a> {
    /// Finds the functions. Damaged parts count as missing.
    pub(super) fn find(sections: &'a Sections<'_>) -> AllUnreached<'a> {
        let (mut functions, mut code) = (Vec::new(), Vec::new());
        let _ = units::walk(sections, &|| &[], |header, abbreviations, _, work| {
            if header.version() == VERSION {
                let unit = Unit { sections, header, abbreviations };
                let _ = unit.add(&mut functions, &mut code, work);
            }
        });
        AllUnreached { functions, starts: starts(code) }
    }

    /// Returns the functions at an address, from the inside out.
    pub(super) fn at(&self, address: u64) -> impl Iterator<Item = &Unreached<'a>> {
        let after = self.starts.partition_point(|(start, _)| *start <= address);
        let innermost = after.checked_sub(1).and_then(|at| self.starts[at].1);
        let function = |index: usize| self.functions.get(index);
        std::iter::successors(innermost.and_then(function), move |inner| inner.around.and_then(function))
    }
}

/// Returns the innermost of nested ranges from each address on where this changes. Where ranges overlap otherwise, the
/// one that starts first counts to its end.
fn starts(mut code: Vec<(Range<u64>, usize)>) -> Vec<(u64, Option<usize>)> {
    code.sort_by_key(|(range, index)| (range.start, Reverse(range.end), *index));
    let (mut found, mut open) = (Vec::new(), Vec::<(u64, usize)>::new());
    let close = |open: &mut Vec<(u64, usize)>, found: &mut Vec<_>, until: u64| {
        while let Some((end, _)) = open.pop_if(|(end, _)| *end <= until) {
            found.push((end, open.last().map(|around| around.1)));
        }
    };
    for (range, index) in code {
        close(&mut open, &mut found, range.start);
        let end = range.end.min(open.last().map_or(u64::MAX, |around| around.0));
        open.push((end, index));
        found.push((range.start, Some(index)));
    }
    close(&mut open, &mut found, u64::MAX);
    found
}

/// What is read of the entry of an inlined function.
#[derive(Default)]
struct Entry {
    start: Option<u64>,
    end: Option<u64>,
    has_list: bool,
}

/// A unit of the debug information.
struct Unit<'u, 'a, 's> {
    sections: &'a Sections<'s>,
    header: &'u Header<'a>,
    abbreviations: &'u Abbreviations,
}

impl<'a> Unit<'_, 'a, '_> {
    /// Adds the unreached functions of the unit, and the code of each.
    fn add(
        &self,
        functions: &mut Vec<Unreached<'a>>,
        code: &mut Vec<(Range<u64>, usize)>,
        work: &mut Work,
    ) -> gimli::Result<()> {
        let mut entries = self.header.entries_raw(self.abbreviations, None)?;
        // The depths of the functions around the current entry, and the index of each that is unreached.
        let mut around: Vec<(isize, Option<usize>)> = Vec::new();
        while work.left > 0 && !entries.is_empty() {
            let (offset, depth) = (entries.next_offset(), entries.next_depth());
            let Some(abbreviation) = entries.read_abbreviation()? else { continue };
            around.truncate(around.partition_point(|(outer, _)| *outer < depth));
            if abbreviation.tag() != gimli::DW_TAG_inlined_subroutine {
                entries.skip_attributes(abbreviation.attributes())?;
                if abbreviation.tag() == gimli::DW_TAG_subprogram {
                    around.push((depth, None));
                }
                continue;
            }
            let mut entry = Entry::default();
            for attribute in abbreviation.attributes() {
                entry.add(&entries.read_attribute(*attribute)?);
            }
            let outer = around.last().and_then(|(_, index)| *index);
            let range = entry.start.zip(entry.end).map(|(start, end)| start..end).filter(|range| !range.is_empty());
            let is_unreached = outer.is_some() || (range.is_none() && !entry.has_list);
            around.push((depth, is_unreached.then_some(functions.len())));
            if is_unreached {
                code.extend(range.filter(|_| outer.is_some()).map(|range| (range, functions.len())));
                functions.push(Unreached { name: self.name(offset, work).unwrap_or_default(), around: outer });
            }
        }
        Ok(())
    }

    /// The name of a function: that of its symbol, or else that of the source.
    fn name(&self, mut offset: UnitOffset, work: &mut Work) -> Option<&'a [u8]> {
        for _ in 0..REFERENCES {
            let entry = self.header.entry(self.abbreviations, offset).ok()?;
            work.take(1 + entry.attrs().len() as u64);
            let text = |name| entry.attr_value(name).and_then(|value| self.text(&value));
            let linkage = text(gimli::DW_AT_linkage_name).or_else(|| text(gimli::DW_AT_MIPS_linkage_name));
            if let Some(name) = linkage.or_else(|| text(gimli::DW_AT_name)) {
                work.take(name.len() as u64);
                return Some(name);
            }
            let origin = entry.attr_value(gimli::DW_AT_abstract_origin);
            match origin.or_else(|| entry.attr_value(gimli::DW_AT_specification))? {
                AttributeValue::UnitRef(next) if work.left > 0 => offset = next,
                _ => return None,
            }
        }
        None
    }

    fn text(&self, value: &AttributeValue<Reader<'a>>) -> Option<&'a [u8]> {
        match value {
            AttributeValue::String(text) => text_at(text.slice(), 0),
            AttributeValue::DebugStrRef(offset) => text_at(self.sections.get(SectionId::DebugStr).slice(), offset.0),
            _ => None,
        }
    }
}

impl Entry {
    fn add(&mut self, attribute: &gimli::Attribute<Reader<'_>>) {
        match (attribute.name(), attribute.value()) {
            (gimli::DW_AT_low_pc, AttributeValue::Addr(start)) => self.start = Some(start),
            (gimli::DW_AT_high_pc, AttributeValue::Addr(end)) => self.end = Some(end),
            // An extension of DWARF 2.
            (gimli::DW_AT_ranges, _) => self.has_list = true,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_range_counts() {
        let all = AllUnreached {
            functions: Vec::new(),
            starts: starts(vec![(30..40, 0), (10..50, 1), (10..20, 2), (12..14, 3), (45..60, 4), (70..80, 5)]),
        };
        let at = |address: u64| {
            let after = all.starts.partition_point(|(start, _)| *start <= address);
            after.checked_sub(1).and_then(|at| all.starts[at].1)
        };
        let found = [9, 10, 12, 13, 14, 20, 30, 39, 40, 45, 49, 50, 69, 70, 79, 80].map(at);
        let [one, two, three] = [Some(1), Some(2), Some(3)];
        let (zero, four, five) = (Some(0), Some(4), Some(5));
        let expected = [None, two, three, three, two, one, zero, zero, one, four, four, None, None, five, five, None];
        assert_eq!(found, expected);
    }
}
