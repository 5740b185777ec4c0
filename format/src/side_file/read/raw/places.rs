//! The places of addresses when the program ran.

use alloc::collections::BTreeMap;

use crate::encode::side_file::Place;
use crate::layout::side_file::{ADDRESS_BITS, ELSEWHERE, MARKED, SETTLED};
use crate::side_file::object::Mapping;

/// The mappings at the end.
pub(super) struct Places<'m> {
    mappings: &'m [Mapping],
    /// The start of each range, with its end and the index of the last mapping there.
    ranges: BTreeMap<u64, (u64, usize)>,
}

impl<'m> Places<'m> {
    pub(super) fn new(mappings: &'m [Mapping]) -> Places<'m> {
        let mut ranges: BTreeMap<u64, (u64, usize)> = BTreeMap::new();
        for (index, mapping) in mappings.iter().enumerate() {
            let (start, end) = (mapping.addresses.start, mapping.addresses.end);
            // A range that contains the start keeps what is before it, and what is behind the end.
            let before = ranges.range_mut(..start).next_back();
            if let Some((_, (known_end, known))) = before.filter(|(_, (known_end, _))| *known_end > start) {
                let (behind, known) = (*known_end, *known);
                *known_end = start;
                if behind > end {
                    ranges.insert(end, (behind, known));
                }
            }
            while let Some((first, (known_end, known))) =
                ranges.range(start..end).next().map(|(first, known)| (*first, *known))
            {
                ranges.remove(&first);
                if known_end > end {
                    ranges.insert(end, (known_end, known));
                }
            }
            if start < end {
                ranges.insert(start, (end, index));
            }
        }
        Places { mappings, ranges }
    }

    /// The place of the address of a raw node.
    pub(super) fn of(&self, address: u64) -> Place {
        if address & SETTLED != 0 {
            let object = (address & !SETTLED).wrapping_shr(ADDRESS_BITS) as u32;
            return Place { object, address: address & 1_u64.wrapping_shl(ADDRESS_BITS).wrapping_sub(1) };
        }
        let address = address & !MARKED;
        // A call may be the last instruction of the code: its return address is then behind the code.
        let mapping = self.at(address).or_else(|| self.at(address.checked_sub(1)?));
        match mapping {
            Some(mapping) => Place { object: mapping.object, address: address.wrapping_sub(mapping.bias) },
            None => Place { object: ELSEWHERE, address },
        }
    }

    fn at(&self, address: u64) -> Option<&Mapping> {
        let (_, (end, index)) = self.ranges.range(..=address).next_back()?;
        self.mappings.get(*index).filter(|_| address < *end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_mapping_replaces_what_it_covers() {
        let mapping = |start, end, object| Mapping::new(start..end, start, object);
        let mappings = [
            mapping(0x1000, 0x9000, 1),
            mapping(0x3000, 0x4000, 2),
            mapping(0x3800, 0x5000, 3),
            mapping(0x5000, 0x5000, 4),
        ];
        let places = Places::new(&mappings);
        let object = |address| places.of(address).object;
        assert_eq!([0x0fff, 0x1000, 0x2fff, 0x3000, 0x37ff].map(object), [ELSEWHERE, 1, 1, 2, 2]);
        assert_eq!([0x3800, 0x4fff, 0x5000, 0x8fff].map(object), [3, 3, 1, 1]);
        assert_eq!(places.of(0x8fff).address, 0x7fff, "by the mapping's own bias");
        assert_eq!((object(0x9000), object(0x9001)), (1, ELSEWHERE), "a return address behind the last call");
        assert_eq!(object(MARKED | 0x3000), 2);
        assert_eq!(places.of(SETTLED | 7 << 48 | 0x123), Place { object: 7, address: 0x123 });
    }
}
