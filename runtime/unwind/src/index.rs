//! `.eh_frame_hdr`: the sorted index of an object's functions.

use super::architecture::Architecture;
use super::bytes::{Cursor, OMITTED, Section};
use super::entry::Entry;
use super::instructions::rule_at;
use super::rule::Rule;

/// The index of the functions of a section.
#[derive(Clone, Copy)]
pub(super) struct Index {
    /// The address of `.eh_frame_hdr`, from which the numbers in the index count.
    address: usize,
    /// The offset of the first pair.
    pairs: usize,
    /// The number of pairs.
    number: usize,
}

/// The rule at a program counter.
#[derive(Clone, Copy)]
pub struct Found<'a> {
    /// The rule.
    pub rule: Rule,
    /// Whether the function starts at the program counter.
    pub(super) is_start: bool,
    /// Whether the caller is code that a signal interrupted.
    pub is_signal: bool,
    /// The section with the expressions of the rule; `None` if there are none.
    pub section: Option<Section<'a>>,
}

impl Found<'_> {
    /// A rule from the cache: without expressions, and not of a signal frame.
    pub(super) fn of(rule: Rule) -> Self {
        Found { rule, is_start: false, is_signal: false, section: None }
    }
}

const VERSION: u8 = 1;
/// The encoding of the pairs that all linkers write: 32 bits, signed, counted from the start of `.eh_frame_hdr`.
const DATA_RELATIVE_32: u8 = 0x3b;
/// A function's address and the address of its entry.
const PAIR: usize = 8;

impl Index {
    /// Reads the header of the index at an offset of the section.
    pub(super) fn read(section: Section<'_>, offset: usize) -> Option<Index> {
        let address = section.address.checked_add(offset)?;
        let mut cursor = section.at(offset);
        if cursor.u8()? != VERSION {
            return None;
        }
        let (frames, number, pairs) = (cursor.u8()?, cursor.u8()?, cursor.u8()?);
        if frames != OMITTED {
            cursor.pointer(frames, address)?;
        }
        if number == OMITTED || pairs != DATA_RELATIVE_32 {
            return None;
        }
        let number = cursor.pointer(number, address)?;
        let index = Index { address, pairs: cursor.address().wrapping_sub(section.address), number };
        cursor.skip(number.checked_mul(PAIR)?)?;
        Some(index)
    }

    fn pair(&self, section: Section<'_>, number: usize) -> Option<(usize, usize)> {
        let mut cursor = section.at(self.pairs.wrapping_add(number.wrapping_mul(PAIR)));
        let mut next =
            || Cursor::u32(&mut cursor).map(|offset| self.address.wrapping_add_signed(offset.cast_signed() as isize));
        Some((next()?, next()?))
    }

    /// The address of the last function that starts at or before `pc`.
    pub(super) fn function(&self, section: Section<'_>, pc: usize) -> Option<usize> {
        Some(self.last(section, pc)?.0)
    }

    /// The address of the last function that starts at or before `pc`, and the address of its entry.
    fn last(&self, section: Section<'_>, pc: usize) -> Option<(usize, usize)> {
        // The functions before `low` start at or before pc, those from `high` on behind.
        let (mut low, mut high) = (0, self.number);
        let mut found = None;
        while low < high {
            let middle = low + (high - low) / 2;
            let (start, entry) = self.pair(section, middle)?;
            if start <= pc {
                found = Some((start, entry));
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        found
    }

    /// The rule at a program counter, if the section describes the function there.
    #[inline(never)]
    pub(super) fn find<'a, A: Architecture>(&self, section: Section<'a>, pc: usize) -> Option<Found<'a>> {
        let (_, entry) = self.last(section, pc)?;
        let offset = entry.checked_sub(section.address)?;
        // By reference: a move of the whole entry can be a call of memcpy.
        let entry = Entry::read(section, offset);
        let entry = entry.as_ref()?;
        if pc.wrapping_sub(entry.start) >= entry.length {
            return None;
        }
        let rule = rule_at::<A>(entry, section.address, pc)?;
        Some(Found { rule, is_start: pc == entry.start, is_signal: entry.common.is_signal, section: Some(section) })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::x86_64::tables;
    use super::super::tests::{CODE, TABLES};
    use super::*;

    #[test]
    fn functions_are_found_by_their_index() {
        let bytes = tables();
        let function = |bytes: &[u8], pc| {
            let section = Section { address: TABLES, bytes };
            Index::read(section, 0)?.function(section, pc)
        };
        for (pc, start) in [
            (CODE - 1, None),
            (CODE, Some(CODE)),
            (CODE + 0xff, Some(CODE)),
            (CODE + 0x100, Some(CODE + 0x100)),
            (CODE + 0x300, Some(CODE + 0x300)),
            (usize::MAX, Some(CODE + 0x300)),
        ] {
            assert_eq!(function(&bytes, pc), start, "{pc:#x}");
        }
        // The version, the encodings of the number and of the pairs, and the number.
        for (place, value) in [(0, 2), (2, OMITTED), (3, 0x1b), (3, OMITTED), (6, 1)] {
            let mut other = bytes.clone();
            other[place] = value;
            assert_eq!(function(&other, CODE), None, "{place} {value:x}");
        }
    }
}
