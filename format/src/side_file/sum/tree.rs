//! Adds up trees of calling contexts.

use alloc::vec;
use alloc::vec::Vec;

use super::index::Index;
use crate::encode::side_file::{CutReason, Place};
use crate::side_file::content::{Added, Refused};
use crate::side_file::contexts::{ContextTree, NO_PARENT, Node};
use crate::{Error, Part};

/// The sum of trees. No two nodes have the same parent and place.
#[derive(Clone, Debug, Default)]
pub(super) struct TreeSum {
    nodes: Vec<Node>,
    index: Index,
}

impl TreeSum {
    /// Checks that the sum has indexes for the nodes of a tree.
    pub(super) fn check(&self, tree: &ContextTree) -> Added<()> {
        let nodes = self.nodes.len().saturating_add(tree.nodes.len());
        let fits = u32::try_from(nodes).is_ok_and(|nodes| nodes < NO_PARENT);
        if fits { Ok(()) } else { Err(Refused(Part::Items, nodes as u64)) }
    }

    /// Adds a tree whose places `place` translates to those of the sum. There are indexes for the nodes, and the ticks
    /// fit.
    pub(super) fn add(&mut self, tree: &ContextTree, place: impl Fn(Place) -> Place) {
        let mut indexes: Vec<u32> = Vec::with_capacity(tree.nodes.len());
        for node in &tree.nodes {
            let Place { object, address } = place(node.place());
            let parent = node.parent().and_then(|parent| indexes.get(parent)).copied().unwrap_or(NO_PARENT);
            indexes.push(self.add_node(Node { parent, object, address, ticks: node.ticks }));
        }
    }

    /// Takes the ticks of a tree away, whose places `place` translates to those of the sum. There are indexes for the
    /// nodes.
    pub(super) fn take_away(&mut self, tree: &ContextTree, place: impl Fn(Place) -> Place) -> Result<(), Error> {
        let mut indexes: Vec<u32> = Vec::with_capacity(tree.nodes.len());
        for (node, cut) in tree.nodes.iter().zip(tree.cuts()) {
            let Place { object, address } = place(node.place());
            let parent = node.parent().and_then(|parent| indexes.get(parent)).copied().unwrap_or(NO_PARENT);
            let at = self.add_node(Node { parent, object, address, ticks: 0 });
            indexes.push(at);
            let Some(known) = self.nodes.get_mut(at as usize) else { continue };
            let later = known.ticks;
            known.ticks = later.saturating_sub(node.ticks);
            if later < node.ticks && !cut.is_some_and(is_temporary) {
                let (earlier, later) = (node.ticks.into(), later.into());
                return Err(Error::Lower { part: Part::Contexts, address: node.address, earlier, later });
            }
        }
        Ok(())
    }

    /// Adds a node, and returns its index.
    fn add_node(&mut self, node: Node) -> u32 {
        let at = self.index.find(&self.nodes, &node);
        match self.nodes.get_mut(at) {
            Some(known) => known.ticks = known.ticks.saturating_add(node.ticks),
            None => self.nodes.push(node),
        }
        at as u32
    }

    /// The sum in an order that depends only on its content: callees of a node are sorted by place, and each is
    /// followed by its own callees. `place` translates the places.
    pub(super) fn finish(mut self, place: impl Fn(Place) -> Place) -> ContextTree {
        for node in &mut self.nodes {
            let Place { object, address } = place(node.place());
            (node.object, node.address) = (object, address);
        }
        let nodes = in_order(&self.nodes, &Children::new(&self.nodes));
        let total = nodes.iter().fold(0, |sum: u64, node| sum.saturating_add(node.ticks));
        ContextTree { nodes, total }
    }
}

/// Whether a later file of the run may have the ticks that are cut for this reason in another place, because their
/// walks had not ended.
pub(super) fn is_temporary(reason: CutReason) -> bool {
    matches!(reason, CutReason::UNFINISHED | CutReason::STILL_WALKING)
}

/// The children of all nodes, sorted by place.
struct Children {
    /// The indexes of nodes, those of each parent in a row.
    nodes: Vec<u32>,
    /// Where the children of each node start; then those of no node; then the end.
    starts: Vec<usize>,
}

impl Children {
    fn new(nodes: &[Node]) -> Children {
        let slot = |node: &Node| node.parent().unwrap_or(nodes.len());
        // Count, add up, and put each child in its place: linear.
        let mut starts = vec![0_usize; nodes.len().saturating_add(2)];
        for node in nodes {
            if let Some(count) = starts.get_mut(slot(node).saturating_add(1)) {
                *count = count.saturating_add(1);
            }
        }
        let mut sum = 0_usize;
        for start in &mut starts {
            sum = sum.saturating_add(*start);
            *start = sum;
        }
        let mut next = starts.clone();
        let mut children = vec![0_u32; nodes.len()];
        for (index, node) in (0_u32..).zip(nodes) {
            let Some(next) = next.get_mut(slot(node)) else { continue };
            if let Some(child) = children.get_mut(*next) {
                *child = index;
            }
            *next = next.saturating_add(1);
        }
        for bounds in starts.windows(2) {
            let [start, end] = *bounds else { continue };
            if let Some(siblings) = children.get_mut(start..end) {
                siblings.sort_unstable_by_key(|index| nodes.get(*index as usize).map(Node::place));
            }
        }
        Children { nodes: children, starts }
    }

    /// The children of a node; those without a parent have the parent `nodes.len()`.
    fn of(&self, parent: usize) -> &[u32] {
        let bounds = (self.starts.get(parent), self.starts.get(parent.saturating_add(1)));
        let (Some(start), Some(end)) = bounds else { return &[] };
        self.nodes.get(*start..*end).unwrap_or_default()
    }
}

/// The nodes, each before its children, without recursion.
fn in_order(nodes: &[Node], children: &Children) -> Vec<Node> {
    let mut ordered: Vec<Node> = Vec::with_capacity(nodes.len());
    // Nodes that are still to be added, with the indexes of their parents among the added nodes.
    let mut left: Vec<(u32, u32)> = Vec::new();
    left.extend(children.of(nodes.len()).iter().rev().map(|child| (*child, NO_PARENT)));
    while let Some((index, parent)) = left.pop() {
        let Some(node) = nodes.get(index as usize) else { continue };
        let new = ordered.len() as u32;
        ordered.push(Node { parent, ..*node });
        left.extend(children.of(index as usize).iter().rev().map(|child| (*child, new)));
    }
    ordered
}
