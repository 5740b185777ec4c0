//! Finds equal items among many, usually in linear time.

use alloc::vec;
use alloc::vec::Vec;

/// A hash table of the indexes of distinct items.
///
/// A hostile file may make all hashes collide. The caller then gets [`Crowded`] before that becomes expensive, and
/// must use another method, such as sorting.
#[derive(Clone, Debug)]
pub struct Distinct {
    /// For each slot an index, or `NONE`. There are at least twice as many slots as items.
    slots: Vec<u32>,
    /// The number of useless probes that are left.
    left: usize,
}

/// The error for too many collisions or too many items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crowded;

const NONE: u32 = u32::MAX;

/// The number of useless probes for each item.
const PATIENCE: usize = 8;

impl Distinct {
    /// Makes a table for this number of items.
    #[must_use]
    pub fn with_room(count: usize) -> Distinct {
        let is_small = u32::try_from(count).is_ok_and(|count| count < NONE / 4);
        let slots = if is_small { count.saturating_mul(2).next_power_of_two() } else { 0 };
        Distinct { slots: vec![NONE; slots], left: count.saturating_mul(PATIENCE) }
    }

    /// Returns the index of an item that is equal to this one, if there is one; otherwise adds this item's index.
    ///
    /// # Errors
    ///
    /// When too many hashes collided.
    pub fn find_or_keep(
        &mut self,
        key: (u64, u64),
        place: usize,
        is_equal: impl Fn(usize) -> bool,
    ) -> Result<Option<usize>, Crowded> {
        let last = self.slots.len().checked_sub(1).ok_or(Crowded)?;
        let mut at = hash(key) as usize & last;
        loop {
            let slot = self.slots.get_mut(at).ok_or(Crowded)?;
            match *slot {
                NONE => {
                    *slot = u32::try_from(place).map_err(|_| Crowded)?;
                    return Ok(None);
                }
                known if is_equal(known as usize) => return Ok(Some(known as usize)),
                _ => {}
            }
            self.left = self.left.checked_sub(1).ok_or(Crowded)?;
            at = at.wrapping_add(1) & last;
        }
    }
}

/// Two multiplications mix all bits of both halves.
fn hash((one, other): (u64, u64)) -> u64 {
    let mixed = (one ^ other.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed.wrapping_shr(32) ^ other).wrapping_mul(0xd6e8_feb8_6659_fd93);
    mixed ^ mixed.wrapping_shr(32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_things_have_one_place() {
        let things: Vec<(u64, u64)> = (0..1000).map(|n| ((n % 37) << 20, n % 10)).collect();
        let mut distinct = Distinct::with_room(things.len());
        let mut kept: Vec<(u64, u64)> = Vec::new();
        for thing in &things {
            let found = distinct.find_or_keep(*thing, kept.len(), |at| kept[at] == *thing).unwrap();
            assert_eq!(found, kept.iter().position(|known| known == thing));
            if found.is_none() {
                kept.push(*thing);
            }
        }
        assert_eq!(kept.len(), 370);
    }

    #[test]
    fn hashes_that_meet_end_the_search() {
        let mut distinct = Distinct::with_room(1000);
        // All have the same hash, and none are equal.
        let crowded = (0..1000).any(|place| distinct.find_or_keep((7, 7), place, |_| false) == Err(Crowded));
        assert!(crowded);
        assert_eq!(Distinct::with_room(usize::MAX).find_or_keep((0, 0), 0, |_| false), Err(Crowded));
    }
}
