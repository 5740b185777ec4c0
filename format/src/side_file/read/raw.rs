//! Reads the tree of a live file: nodes as the program has them in memory, at addresses of that run.
//!
//! The program may be adding nodes while the file is read, and so may have been when it was killed. What is not
//! described yet is therefore not an error: a place in no mapping is elsewhere, and a chain whose outer part is not
//! there is cut.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::encode::side_file::{CutReason, Place};
use crate::layout::side_file::{ADDRESS_BITS, ELSEWHERE, RAW_NODE_SIZE, SETTLED};
use crate::read::cursor::Cursor;
use crate::side_file::content::{Added, Refused, SideFile};
use crate::side_file::object::Mapping;
use crate::{Field, Result};

/// The raw nodes of a file, in pieces.
#[derive(Default)]
pub(super) struct RawNodes<'a> {
    /// The number of the first node of each piece, and the nodes.
    pieces: Vec<(u64, Cursor<'a>)>,
}

/// A raw node, and its offset in the file.
struct Raw {
    address: u64,
    parent: u32,
    ticks: u64,
    offset: u64,
}

impl<'a> RawNodes<'a> {
    /// Adds the content of a part: the number of the first node, then nodes.
    pub(super) fn add(&mut self, content: &mut Cursor<'a>) -> Result<()> {
        let first = content.u64()?;
        let size = content.left();
        if !size.is_multiple_of(RAW_NODE_SIZE as u64) {
            return Err(Refused(Field::NodesSize, size).at(content.offset()));
        }
        self.pieces.push((first, *content));
        Ok(())
    }

    /// Adds all nodes to the tree.
    pub(super) fn finish(mut self, side: &mut SideFile) -> Result<()> {
        self.pieces.sort_by_key(|(first, _)| *first);
        let places = Places::new(&side.mappings);
        let size = self.pieces.iter().fold(0, |sum: usize, (_, piece)| sum.saturating_add(piece.rest().len()));
        let most = size / RAW_NODE_SIZE;
        side.contexts.nodes.reserve(most);
        // For each raw node the index of its node in the tree, if it is used.
        let mut indexes: Vec<Option<u32>> = Vec::with_capacity(most);
        let mut unfinished = None;
        for (first, mut piece) in self.pieces {
            if first != indexes.len() as u64 {
                return Err(Refused(Field::FirstNode, first).at(piece.offset()));
            }
            while piece.left() > 0 {
                let raw = Raw::read(&mut piece)?;
                let index = if raw.address == 0 || indexes.is_empty() {
                    None
                } else {
                    Some(raw.add(side, &places, &indexes, &mut unfinished).map_err(|refused| refused.at(raw.offset))?)
                };
                indexes.push(index);
            }
        }
        Ok(())
    }
}

impl Raw {
    fn read(piece: &mut Cursor<'_>) -> Result<Raw> {
        let offset = piece.offset();
        let address = piece.u64()?;
        let parent = piece.u32()?;
        // The next node in the bucket, which means something only in the program.
        let _ = piece.u32()?;
        Ok(Raw { address, parent, ticks: piece.u64()?, offset })
    }

    /// Adds the node to the tree, and returns its index there. `indexes` has the nodes before, and `unfinished` the
    /// node below which chains without an outer part hang.
    fn add(
        &self,
        side: &mut SideFile,
        places: &Places,
        indexes: &[Option<u32>],
        unfinished: &mut Option<usize>,
    ) -> Added<u32> {
        let known = indexes.get(self.parent as usize).ok_or(Refused(Field::Parent, u64::from(self.parent)))?;
        let parent = match known {
            _ if self.parent == 0 => None,
            Some(parent) => Some(*parent as usize),
            None => match *unfinished {
                Some(cut) => Some(cut),
                None => {
                    *unfinished = Some(side.push_context(None, CutReason::UNFINISHED.place(), 0)?);
                    *unfinished
                }
            },
        };
        let place = places.of(self.address);
        let is_known = side.context_place(place).is_ok();
        let place = if is_known { place } else { Place { object: ELSEWHERE, ..place } };
        let index = side.push_context(parent, place, self.ticks)?;
        u32::try_from(index).map_err(|_| Refused(Field::Items, index as u64))
    }
}

/// The mappings at the end: the start of each range, with its end and the last mapping there.
struct Places {
    ranges: BTreeMap<u64, (u64, Mapping)>,
}

impl Places {
    fn new(mappings: &[Mapping]) -> Places {
        let mut ranges: BTreeMap<u64, (u64, Mapping)> = BTreeMap::new();
        for mapping in mappings {
            let (start, end) = (mapping.addresses.start, mapping.addresses.end);
            // A range that contains the start keeps what is before it, and what is behind the end.
            if let Some((_, (known_end, known))) = ranges.range_mut(..start).next_back()
                && *known_end > start
            {
                let (behind, known) = (*known_end, known.clone());
                *known_end = start;
                if behind > end {
                    ranges.insert(end, (behind, known));
                }
            }
            while let Some((first, (known_end, known))) =
                ranges.range(start..end).next().map(|(first, known)| (*first, known.clone()))
            {
                ranges.remove(&first);
                if known_end > end {
                    ranges.insert(end, (known_end, known));
                }
            }
            if start < end {
                ranges.insert(start, (end, mapping.clone()));
            }
        }
        Places { ranges }
    }

    /// The place of the address of a raw node.
    fn of(&self, address: u64) -> Place {
        if address & SETTLED != 0 {
            let object = (address & !SETTLED).wrapping_shr(ADDRESS_BITS) as u32;
            return Place { object, address: address & 1_u64.wrapping_shl(ADDRESS_BITS).wrapping_sub(1) };
        }
        // A call may be the last instruction of the code: its return address is then behind the code.
        let mapping = self.at(address).or_else(|| self.at(address.checked_sub(1)?));
        match mapping {
            Some(mapping) => Place { object: mapping.object, address: address.wrapping_sub(mapping.bias) },
            None => Place { object: ELSEWHERE, address },
        }
    }

    fn at(&self, address: u64) -> Option<&Mapping> {
        let (_, (end, mapping)) = self.ranges.range(..=address).next_back()?;
        (address < *end).then_some(mapping)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_mapping_replaces_what_it_covers() {
        let mapping = |start, end, object| Mapping::new(start..end, start, object);
        let places = Places::new(&[
            mapping(0x1000, 0x9000, 1),
            mapping(0x3000, 0x4000, 2),
            mapping(0x3800, 0x5000, 3),
            mapping(0x5000, 0x5000, 4),
        ]);
        let object = |address| places.of(address).object;
        assert_eq!([0x0fff, 0x1000, 0x2fff, 0x3000, 0x37ff].map(object), [ELSEWHERE, 1, 1, 2, 2]);
        assert_eq!([0x3800, 0x4fff, 0x5000, 0x8fff].map(object), [3, 3, 1, 1]);
        assert_eq!(places.of(0x8fff).address, 0x7fff, "by the mapping's own bias");
        assert_eq!((object(0x9000), object(0x9001)), (1, ELSEWHERE), "a return address behind the last call");
        assert_eq!(places.of(SETTLED | 7 << 48 | 0x123), Place { object: 7, address: 0x123 });
    }
}
