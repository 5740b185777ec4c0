//! The stacks of the samples: a tree of return addresses, in the common address space of the images.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use gmon::Arc;
use gmon::side_file::CutReason;

/// A place on a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Place {
    /// An address in an image, in the common address space of the images. The address is a return address if the node
    /// has children, and the program counter if the node has ticks. A node may be both.
    Code(u64),
    /// The kernel.
    Kernel,
    /// Code in none of the images.
    Elsewhere,
    /// The outer part of the chains below is not known, for this reason.
    Cut(CutReason),
    /// The stacks below are those of the thread with this index in [`Stacks::threads`].
    Thread(u32),
}

/// A node of the tree: a place with all its callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackNode {
    parent: u32,
    place: Place,
    ticks: u64,
}

/// The parent of a node without a parent.
const NO_PARENT: u32 = u32::MAX;

impl StackNode {
    /// Returns the index of the caller's node; `None` for an outermost node.
    #[must_use]
    pub fn parent(&self) -> Option<u32> {
        (self.parent != NO_PARENT).then_some(self.parent)
    }

    /// Returns the place.
    #[must_use]
    pub fn place(&self) -> Place {
        self.place
    }

    /// Returns the ticks whose innermost frame is this node. The ticks of callees are in the nodes below.
    #[must_use]
    pub fn ticks(&self) -> u64 {
        self.ticks
    }
}

/// A number of profiles, and the number of ticks in these profiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Profiles {
    /// The profiles.
    pub count: u64,
    /// Their ticks, inside and outside of the images.
    pub ticks: u64,
}

/// A thread, or several threads of one name in a sum of runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    /// The name, which need not be text.
    pub name: Vec<u8>,
    /// The system's number of the thread; `None` for several threads.
    pub number: Option<u64>,
    /// The calls that the thread made, with addresses in the common address space; empty if the run did not count by
    /// thread.
    pub calls: Vec<Arc>,
}

/// The stacks of the samples of all runs, as one tree. A path from an outermost node is a chain of callers.
///
/// [`Loaded::with_stacks`](crate::Loaded::with_stacks) adds stacks that were made in memory to a profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stacks {
    nodes: Vec<StackNode>,
    threads: Vec<Thread>,
    cuts: BTreeMap<CutReason, u64>,
    covered: Profiles,
    uncovered: Profiles,
    partial: Profiles,
}

impl Stacks {
    /// Makes a tree without nodes.
    #[must_use]
    pub fn new() -> Stacks {
        Stacks::default()
    }

    /// Adds a node, and returns its index. Several nodes may have the same parent and place: their ticks add up.
    ///
    /// Returns `None`, and adds nothing, if the parent is not a node of the tree, or the tree has 2³² − 1 nodes.
    pub fn push(&mut self, parent: Option<u32>, place: Place, ticks: u64) -> Option<u32> {
        let index = u32::try_from(self.nodes.len()).ok().filter(|index| *index != NO_PARENT)?;
        if parent.is_some_and(|parent| parent >= index) {
            return None;
        }
        self.nodes.push(StackNode { parent: parent.unwrap_or(NO_PARENT), place, ticks });
        Some(index)
    }

    /// Adds a thread, and returns its index for [`Place::Thread`].
    ///
    /// Returns `None`, and adds nothing, if there are 2³² threads.
    pub fn add_thread(&mut self, thread: Thread) -> Option<u32> {
        let index = u32::try_from(self.threads.len()).ok()?;
        self.threads.push(thread);
        Some(index)
    }

    /// Adds ticks that are in no node, because nothing of their stacks is known, for this reason.
    pub fn add_cut(&mut self, reason: CutReason, ticks: u64) {
        let sum = self.cuts.entry(reason).or_insert(0);
        *sum = sum.saturating_add(ticks);
    }

    /// Counts a profile with this many ticks. `has_stacks` tells whether the stacks of the profile's ticks are in this
    /// tree.
    pub fn add_profile(&mut self, ticks: u64, has_stacks: bool) {
        let Profiles { count, ticks: sum } = if has_stacks { &mut self.covered } else { &mut self.uncovered };
        *count = count.saturating_add(1);
        *sum = sum.saturating_add(ticks);
    }

    /// Counts a profile that is a sum of runs with stacks and of runs without. `ticks` are those of the runs with
    /// stacks, `without` those of the others.
    pub fn add_partial(&mut self, ticks: u64, without: u64) {
        self.add_profile(ticks, true);
        let Profiles { count, ticks: sum } = &mut self.partial;
        (*count, *sum) = (count.saturating_add(1), sum.saturating_add(without));
    }

    /// Makes callers of `main` outermost functions if they were cut because they have no unwind table: beyond them is
    /// the start of a C library without tables. `main` has the addresses of the function `main`, and the address behind
    /// them, which a return address can be.
    pub(super) fn end_at_callers_of(&mut self, main: &RangeInclusive<u64>) {
        // Whether a node has callees, and none but `main`.
        let mut calls_main: Vec<Option<bool>> = vec![None; self.nodes.len()];
        for node in &self.nodes {
            if let Some(calls_main) = node.parent().and_then(|parent| calls_main.get_mut(parent as usize)) {
                let is_main = matches!(node.place, Place::Code(address) if main.contains(&address));
                *calls_main = Some(calls_main.unwrap_or(true) && is_main);
            }
        }
        for (index, calls_main) in calls_main.into_iter().enumerate() {
            let StackNode { parent, ticks, .. } = self.nodes[index];
            let Some(above) = self.nodes.get(parent as usize) else { continue };
            if calls_main == Some(true) && ticks == 0 && above.place == Place::Cut(CutReason::NO_TABLE) {
                self.nodes[index].parent = above.parent;
            }
        }
    }

    /// Returns the nodes, each after its parent.
    #[must_use]
    pub fn nodes(&self) -> &[StackNode] {
        &self.nodes
    }

    /// Returns the threads, if the runs counted by thread.
    #[must_use]
    pub fn threads(&self) -> &[Thread] {
        &self.threads
    }

    /// Returns the stacks of each thread: element `n` has those of the thread with index `n`, and the last element
    /// those of no thread. The elements have no threads of their own, and count no profiles.
    #[must_use]
    pub fn by_thread(&self) -> Vec<Stacks> {
        let rest = self.threads.len();
        let mut parts = vec![Stacks::new(); rest + 1];
        parts[rest].cuts.clone_from(&self.cuts);
        // The part and the index of each node. A thread is no node of its part, unless samples have no other frame.
        let mut places: Vec<(usize, Option<u32>)> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let (part, parent) = node.parent().map_or((rest, None), |parent| places[parent as usize]);
            places.push(match node.place {
                Place::Thread(thread) => {
                    let part = (thread as usize).min(rest);
                    if node.ticks > 0 {
                        parts[part].push(None, Place::Elsewhere, node.ticks);
                    }
                    (part, None)
                }
                place => (part, parts[part].push(parent, place, node.ticks)),
            });
        }
        parts
    }

    /// Returns the ticks that are in no node, by reason. The ticks of nodes below [`Place::Cut`] do not count here.
    #[must_use]
    pub fn cuts(&self) -> &BTreeMap<CutReason, u64> {
        &self.cuts
    }

    /// Returns the profiles whose stacks are in this tree.
    #[must_use]
    pub fn covered(&self) -> Profiles {
        self.covered
    }

    /// Returns the profiles without stacks.
    #[must_use]
    pub fn uncovered(&self) -> Profiles {
        self.uncovered
    }

    /// Returns the profiles that are sums of runs with stacks and of runs without, with the ticks of the latter runs.
    /// These profiles also count as profiles with stacks, with the ticks of the other runs.
    #[must_use]
    pub fn partial(&self) -> Profiles {
        self.partial
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_comes_before_its_children() {
        let mut stacks = Stacks::new();
        assert_eq!(stacks.push(Some(0), Place::Kernel, 1), None);
        let main = stacks.push(None, Place::Code(0x1005), 2);
        assert_eq!(main, Some(0));
        assert_eq!(stacks.push(main, Place::Code(0x2000), 3), Some(1));
        assert_eq!(stacks.push(Some(2), Place::Elsewhere, 3), None);
        let nodes: Vec<_> = stacks.nodes().iter().map(|node| (node.parent(), node.place(), node.ticks())).collect();
        assert_eq!(nodes, [(None, Place::Code(0x1005), 2), (Some(0), Place::Code(0x2000), 3)]);
    }

    #[test]
    fn callers_of_main_without_a_table_are_outermost_functions() {
        /// The parents of all nodes below a cut for a reason, and below a thread: a caller of `main`, and what the
        /// caller calls.
        fn parents(reason: CutReason, ticks: u64, callees: &[u64]) -> Vec<Option<u32>> {
            let mut stacks = Stacks::new();
            let thread = stacks.push(None, Place::Thread(0), 0);
            let cut = stacks.push(thread, Place::Cut(reason), 0);
            let caller = stacks.push(cut, Place::Code(0x9000), ticks);
            for callee in callees {
                stacks.push(caller, Place::Code(*callee), 1);
            }
            stacks.end_at_callers_of(&(0x1000..=0x1100));
            stacks.nodes().iter().map(StackNode::parent).collect()
        }
        let no_table = |ticks, callees: &[u64]| parents(CutReason::NO_TABLE, ticks, callees)[2];
        let (ended, cut) = (Some(0), Some(1));
        assert_eq!(no_table(0, &[0x1000]), ended);
        assert_eq!(no_table(0, &[0x1005, 0x1100]), ended);
        assert_eq!([no_table(0, &[0x1101]), no_table(0, &[0xfff]), no_table(0, &[])], [cut; 3]);
        assert_eq!([no_table(0, &[0x1005, 0x2000]), no_table(0, &[0x2000, 0x1005]), no_table(1, &[0x1005])], [cut; 3]);
        assert_eq!(parents(CutReason::UNREADABLE, 0, &[0x1005]), [None, Some(0), cut, Some(2)]);
    }

    #[test]
    fn stacks_are_divided_by_thread() {
        let mut stacks = Stacks::new();
        let [one, other] = [b"one", b"two"].map(|name| {
            stacks.add_thread(Thread { name: name.to_vec(), ..Thread::default() }).and_then(|thread| {
                let thread = stacks.push(None, Place::Thread(thread), 0);
                stacks.push(thread, Place::Code(0x10), 1)
            })
        });
        stacks.push(None, Place::Code(0x10), 100);
        stacks.push(other, Place::Code(0x20), 2);
        stacks.push(one, Place::Kernel, 3);
        stacks.add_cut(CutReason::OFF, 7);
        let parts = stacks.by_thread();
        let nodes =
            |part: &Stacks| -> Vec<_> { part.nodes().iter().map(|of| (of.parent(), of.place(), of.ticks())).collect() };
        assert_eq!(nodes(&parts[0]), [(None, Place::Code(0x10), 1), (Some(0), Place::Kernel, 3)]);
        assert_eq!(nodes(&parts[1]), [(None, Place::Code(0x10), 1), (Some(0), Place::Code(0x20), 2)]);
        assert_eq!((nodes(&parts[2]), parts[2].cuts().len()), (vec![(None, Place::Code(0x10), 100)], 1));
    }

    #[test]
    fn sums() {
        let mut stacks = Stacks::new();
        for (ticks, has_stacks) in [(5, true), (7, false), (2, true)] {
            stacks.add_profile(ticks, has_stacks);
            stacks.add_cut(CutReason::OFF, ticks);
        }
        assert_eq!(stacks.covered(), Profiles { count: 2, ticks: 7 });
        assert_eq!(stacks.uncovered(), Profiles { count: 1, ticks: 7 });
        stacks.add_partial(3, 4);
        assert_eq!(stacks.covered(), Profiles { count: 3, ticks: 10 });
        assert_eq!(stacks.partial(), Profiles { count: 1, ticks: 4 });
        stacks.add_cut(CutReason::OFF, u64::MAX);
        assert_eq!(stacks.cuts().get(&CutReason::OFF), Some(&u64::MAX));
    }
}
