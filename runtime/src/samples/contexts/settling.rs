//! Turns run-time addresses of nodes into places, before other code is at these addresses.

use core::sync::atomic::Ordering::SeqCst;

use super::storage::{Contexts, PLACE};
use super::tree::can_go;

impl Contexts {
    /// See [`super::settle`].
    pub(super) fn settle(&self, has_changed: bool, mut place: impl FnMut(usize, bool) -> Option<usize>) {
        if !self.has_closing.swap(false, SeqCst) && !has_changed {
            return;
        }
        self.tree.each_unsettled(|node, read| {
            let is_address = read.address != 0 && read.address & PLACE == 0;
            if is_address && let Some(place) = place(read.address as usize, read.is_while_closing) {
                self.tree.unlink(read.number);
                node.address.store(PLACE | place as u64, SeqCst);
                return false;
            }
            can_go(read.address)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::storage::WHILE_CLOSING;
    use super::*;
    use crate::unwind::Ending;

    /// The nodes as (parent, address, ticks).
    fn nodes(contexts: &Contexts) -> Vec<(u32, u64, u64)> {
        let mut nodes = Vec::new();
        contexts.tree.each(|_, node| nodes.push((node.parent, node.address, node.ticks)));
        nodes
    }

    #[test]
    fn ticks_of_an_object_are_apart_from_those_of_the_object_before_at_the_same_addresses() {
        let contexts = Contexts::new();
        let count =
            |mark: u64, ticks| _ = contexts.count_chain(None, &[0x20 | mark, 0x10], &[], Ending::Outermost, ticks);
        count(0, 1);
        count(WHILE_CLOSING, 2);
        count(WHILE_CLOSING, 4);
        let settle = |has_changed| {
            contexts.settle(has_changed, |pc, is_while_closing| {
                (pc == 0x20).then_some(if is_while_closing { 0x2_0000 } else { 0x1_0000 })
            });
        };
        settle(false);
        assert_eq!(nodes(&contexts), [(0, 0x10, 0), (1, 0x20, 1), (1, 0x20, 6)], "nothing has changed");
        contexts.has_closing.store(true, SeqCst);
        settle(false);
        let settled = [(0, 0x10, 0), (1, PLACE | 0x1_0000, 1), (1, PLACE | 0x2_0000, 6)];
        assert_eq!(nodes(&contexts), settled);
        count(0, 8);
        settle(false);
        assert_eq!(nodes(&contexts), [&settled[..], &[(1, 0x20, 8)]].concat());
        settle(true);
        assert_eq!(nodes(&contexts)[3], (1, PLACE | 0x1_0000, 8));
    }

    #[test]
    fn only_groups_with_addresses_that_can_go_are_looked_at() {
        let contexts = Contexts::new();
        let count = |address| _ = contexts.count_chain(None, &[address], &[], Ending::Outermost, 1);
        (1..=5000).for_each(count);
        let looks = |is_settled: fn(usize) -> bool| {
            let mut looks = 0;
            contexts.settle(true, |pc, _| {
                looks += 1;
                is_settled(pc).then_some(1 << 48 | pc)
            });
            looks
        };
        assert_eq!(looks(|pc| pc != 3000), 5000);
        assert_eq!(looks(|_| false), 1);
        count(6000);
        assert_eq!((looks(|_| true), looks(|_| true)), (2, 0));
        let groups = contexts.tree.unsettled.iter().filter(|group| group.load(SeqCst));
        assert_eq!(groups.count(), 0);
    }

    #[test]
    fn settled_nodes_are_not_in_the_way_of_others() {
        let contexts = Contexts::new();
        let count = |address| _ = contexts.count_chain(None, &[address], &[], Ending::Outermost, 1);
        for round in 1..=100 {
            (1..=20).for_each(count);
            contexts.settle(true, |pc, _| (pc % 2 == 0).then_some(round << 48 | pc));
        }
        let found = nodes(&contexts);
        assert_eq!(found.len(), 10 + 100 * 10);
        assert_eq!(found.iter().filter(|node| node.2 == 100).count(), 10, "others are found again");
        let lists = (0..).map_while(|segment| contexts.tree.segment(segment)).flat_map(|segment| segment.heads);
        let linked = lists.filter(|head| head.load(SeqCst) != 0).count();
        assert!(linked <= 10, "{linked}");
    }
}
