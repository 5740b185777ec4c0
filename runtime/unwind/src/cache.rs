//! Rules by program counter, so that a frame that was seen before costs a few nanoseconds.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::rule::{Packing, Rule};

/// Spreads program counters over the entries: 2^64 divided by the golden ratio.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// A direct-mapped cache of rules. All threads and their signal handlers may use one cache at the same time, without a
/// lock. `N` is a power of two.
///
/// An entry is two words that are written one after the other. The first is the exclusive or of its key and the second,
/// so an entry that two threads wrote at the same time matches no key. The key contains the generation of the objects:
/// once an object is closed, no entry of an earlier generation matches.
pub struct Cache<const N: usize> {
    entries: [Entry; N],
}

struct Entry {
    check: AtomicU64,
    rule: AtomicU64,
}

impl<const N: usize> Cache<N> {
    /// An empty cache.
    #[must_use]
    pub const fn new() -> Cache<N> {
        Cache { entries: [const { Entry { check: AtomicU64::new(0), rule: AtomicU64::new(0) } }; N] }
    }

    fn entry(&self, pc: usize) -> Option<&Entry> {
        let index = (pc as u64).wrapping_mul(SPREAD) >> (u64::BITS / 2);
        self.entries.get(index as usize & (N - 1))
    }

    /// The rule at a program counter.
    pub(super) fn get(&self, pc: usize, generation: u64, packing: Packing) -> Option<Rule> {
        let entry = self.entry(pc)?;
        let rule = entry.rule.load(Relaxed);
        if rule == 0 || entry.check.load(Relaxed) != key(pc, generation) ^ rule {
            return None;
        }
        Rule::unpack(rule, packing)
    }

    /// Remembers the rule at a program counter, if the rule can be packed.
    pub(super) fn put(&self, pc: usize, generation: u64, packing: Packing, rule: &Rule) {
        if let (Some(entry), Some(rule)) = (self.entry(pc), rule.pack(packing)) {
            entry.check.store(key(pc, generation) ^ rule, Relaxed);
            entry.rule.store(rule, Relaxed);
        }
    }
}

impl<const N: usize> Default for Cache<N> {
    fn default() -> Cache<N> {
        Cache::new()
    }
}

/// A program counter of a generation. The addresses of user space leave the upper bits free.
fn key(pc: usize, generation: u64) -> u64 {
    pc as u64 ^ generation.wrapping_mul(SPREAD).reverse_bits()
}

#[cfg(test)]
mod tests {
    use super::super::rule::{Cfa, Place, Stored};
    use super::*;

    const PACKING: Packing = Packing { registers: [7, 6, 3] };

    fn rule(offset: i32) -> Rule {
        Rule {
            cfa: Cfa::Register(7, offset),
            return_address: Stored::of(Place::Stack(-8)).unwrap(),
            frame_pointer: Stored::SAME,
            base: Stored::SAME,
            stack_pointer: Stored::SAME,
        }
    }

    #[test]
    fn a_rule_is_found_in_its_generation_only() {
        let cache = Cache::<16>::new();
        assert_eq!(cache.get(0x1000, 1, PACKING), None);
        cache.put(0x1000, 1, PACKING, &rule(8));
        assert_eq!(cache.get(0x1000, 1, PACKING), Some(rule(8)));
        assert_eq!(cache.get(0x1000, 2, PACKING), None);
        assert_eq!(cache.get(0x1001, 1, PACKING), None);
        for pc in 0..64 {
            cache.put(pc, 1, PACKING, &rule(16));
        }
        assert_eq!(cache.get(0x1000, 1, PACKING), None, "another took the place");
    }

    #[test]
    fn half_an_entry_is_no_rule() {
        let cache = Cache::<1>::new();
        cache.put(0x1000, 1, PACKING, &rule(8));
        let half = cache.entries[0].rule.load(Relaxed);
        cache.put(0x2000, 1, PACKING, &rule(16));
        cache.entries[0].rule.store(half, Relaxed);
        assert_eq!([cache.get(0x1000, 1, PACKING), cache.get(0x2000, 1, PACKING)], [None, None]);
    }

    #[test]
    fn each_bit_of_an_address_distinguishes_it() {
        let cache = Cache::<1>::new();
        for (pc, generation) in [(0x55_5555_1000, 1), (0, 3), (usize::MAX, 1 << 40)] {
            cache.put(pc, generation, PACKING, &rule(8));
            assert_eq!(cache.get(pc, generation, PACKING), Some(rule(8)));
            assert!((0..usize::BITS).all(|bit| cache.get(pc ^ 1 << bit, generation, PACKING).is_none()));
            assert!((0..u64::BITS).all(|bit| cache.get(pc, generation ^ 1 << bit, PACKING).is_none()));
        }
    }

    #[test]
    fn functions_at_the_same_place_of_their_pages_have_entries_of_their_own() {
        let cache = Box::new(Cache::<4096>::new());
        let pcs = || (0..64).map(|page| 0x40_0123 + 4096 * page);
        pcs().for_each(|pc| cache.put(pc, 1, PACKING, &rule(8)));
        assert_eq!(pcs().filter(|pc| cache.get(*pc, 1, PACKING).is_some()).count(), 64);
    }
}
