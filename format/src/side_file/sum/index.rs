//! Finds the child of a node at a place.

use alloc::collections::BTreeMap;

use crate::distinct::{Crowded, Distinct};
use crate::side_file::contexts::Node;

/// The nodes of a tree by parent and place. Every step is constant on average; if an attacker makes hashes collide,
/// the index falls back to a sorted map.
#[derive(Clone, Debug)]
pub(super) struct Index {
    table: Table,
    /// The number of nodes that fit the hash table.
    room: usize,
    /// The number of searches since the table was built.
    searches: usize,
    /// The number of nodes that were compared or put into a table.
    #[cfg(test)]
    work: core::cell::Cell<usize>,
}

#[derive(Clone, Debug)]
enum Table {
    Hashed(Distinct),
    Sorted(BTreeMap<(u64, u64), usize>),
}

/// The smallest table.
const LEAST_ROOM: usize = 64;

impl Default for Index {
    fn default() -> Index {
        Index {
            table: Table::Hashed(Distinct::with_room(LEAST_ROOM)),
            room: LEAST_ROOM,
            searches: 0,
            #[cfg(test)]
            work: core::cell::Cell::default(),
        }
    }
}

fn key(node: &Node) -> (u64, u64) {
    (u64::from(node.parent) << 32 | u64::from(node.object), node.address)
}

impl Index {
    /// The index of the node with the same parent and place, or else the index at which the caller must add the node.
    pub(super) fn find(&mut self, nodes: &[Node], node: &Node) -> usize {
        if nodes.len() >= self.room {
            self.build(nodes);
        }
        self.searches = self.searches.saturating_add(1);
        let key = key(node);
        loop {
            let found = match &mut self.table {
                Table::Sorted(map) => return *map.entry(key).or_insert(nodes.len()),
                Table::Hashed(table) => table.find_or_keep(key, nodes.len(), |at| {
                    #[cfg(test)]
                    self.work.update(|work| work + 1);
                    is_at(nodes, at, key)
                }),
            };
            match found {
                Ok(found) => return found.unwrap_or(nodes.len()),
                Err(Crowded) => self.rebuild(nodes),
            }
        }
    }

    /// Makes a table after too many collisions. Collisions of chance use up the patience of a table only after many
    /// searches.
    #[cold]
    fn rebuild(&mut self, nodes: &[Node]) {
        if self.searches > self.room {
            self.build(nodes);
        } else {
            self.sort(nodes);
        }
    }

    /// Makes a hash table with room for twice the nodes.
    fn build(&mut self, nodes: &[Node]) {
        if matches!(self.table, Table::Sorted(_)) {
            self.room = usize::MAX;
            return;
        }
        self.room = nodes.len().saturating_mul(2).max(LEAST_ROOM);
        self.searches = 0;
        let mut table = Distinct::with_room(self.room);
        let is_built = nodes.iter().enumerate().all(|(at, node)| {
            #[cfg(test)]
            self.work.update(|work| work + 1);
            table.find_or_keep(key(node), at, |known| is_at(nodes, known, key(node))).is_ok()
        });
        if is_built {
            self.table = Table::Hashed(table);
        } else {
            self.sort(nodes);
        }
    }

    fn sort(&mut self, nodes: &[Node]) {
        self.table = Table::Sorted(nodes.iter().enumerate().map(|(at, node)| (key(node), at)).collect());
    }
}

/// Whether a node has this key.
fn is_at(nodes: &[Node], at: usize, of: (u64, u64)) -> bool {
    nodes.get(at).is_some_and(|node| key(node) == of)
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use super::*;

    /// Adds a node unless it is there.
    fn add(index: &mut Index, nodes: &mut Vec<Node>, node: Node) {
        let at = index.find(nodes, &node);
        assert!(at <= nodes.len());
        if at == nodes.len() {
            nodes.push(node);
        }
        assert_eq!(key(&nodes[at]), key(&node));
    }

    #[test]
    fn work_is_linear_for_any_number_of_equal_trees() {
        for size in [1 << 10, 1 << 14, 1 << 17] {
            let (mut index, mut nodes) = (Index::default(), Vec::new());
            for _ in 0..20 {
                // Many children of few parents, at neighboring addresses.
                for at in 0..size {
                    let (parent, object) = (at / 7, at % 3);
                    add(&mut index, &mut nodes, Node { parent, object, address: 0x1000 + u64::from(at), ticks: 1 });
                }
            }
            assert_eq!(nodes.len(), size as usize);
            assert!(matches!(index.table, Table::Hashed(_)));
            let (work, searches) = (index.work.get(), 20 * size as usize);
            assert!(work < 3 * searches, "{work} steps for {searches} searches");
        }
    }

    #[test]
    fn hashes_that_meet_take_a_sorted_map() {
        let (mut index, mut nodes) = (Index::default(), Vec::new());
        // The inverse of the first multiplier of the hash.
        let inverse = (0..6).fold(1_u64, |inverse, _| {
            inverse.wrapping_mul(2_u64.wrapping_sub(inverse.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
        });
        for mixed in 1..20_000_u64 {
            let mixed = mixed << 32;
            let address = mixed ^ mixed >> 32;
            let words = mixed.wrapping_mul(inverse) ^ address.rotate_left(32);
            add(&mut index, &mut nodes, Node { parent: (words >> 32) as u32, object: words as u32, address, ticks: 0 });
        }
        assert_eq!(nodes.len(), 19_999);
        assert!(matches!(index.table, Table::Sorted(_)));
        assert!(index.work.get() < 20_000, "{} steps", index.work.get());
    }
}
