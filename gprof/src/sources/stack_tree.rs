//! Makes one tree of the stacks in side files.

use std::collections::{BTreeMap, HashMap};

use gmon::side_file::{self, CUT, CutReason, KERNEL, SideFile, THREAD};

use super::stacks::{Place, Stacks, Thread};

/// A tree in which no two nodes have the same parent and place.
#[derive(Default)]
pub(super) struct StackTree {
    nodes: Vec<Node>,
    /// The index of each node.
    indexes: HashMap<(Option<u32>, Place), u32>,
    cuts: BTreeMap<CutReason, u64>,
}

struct Node {
    parent: Option<u32>,
    place: Place,
    ticks: u64,
}

/// The node for a node of a side file.
#[derive(Clone, Copy)]
enum Target {
    /// Nothing: the children have no parent.
    Top,
    Node(u32),
    /// The stacks below are left out.
    LeftOut,
}

impl StackTree {
    /// Adds the stacks of a side file. `address` returns the address of a place in code in the common address space of
    /// the images, if the place is in an image. `thread` returns the index of a thread of the side file among all
    /// threads.
    pub(super) fn add(
        &mut self,
        side: &SideFile,
        address: impl Fn(side_file::Place) -> Option<u64>,
        thread: impl Fn(u64) -> Option<u32>,
    ) {
        self.add_nodes(side, address, thread, Target::Top);
        for (reason, ticks) in side.unwalked() {
            self.add_cut(reason, ticks);
        }
    }

    /// Adds the stacks of the threads that have an index among all threads. Ticks without a stack belong to no thread
    /// and are left out.
    pub(super) fn add_threads(
        &mut self,
        side: &SideFile,
        address: impl Fn(side_file::Place) -> Option<u64>,
        thread: impl Fn(u64) -> Option<u32>,
    ) {
        self.add_nodes(side, address, thread, Target::LeftOut);
    }

    /// Adds the nodes of a side file. Nodes below no thread, or below one without an index, hang below `top`.
    fn add_nodes(
        &mut self,
        side: &SideFile,
        address: impl Fn(side_file::Place) -> Option<u64>,
        thread: impl Fn(u64) -> Option<u32>,
        top: Target,
    ) {
        let nodes = side.contexts().nodes();
        let mut targets: Vec<Target> = Vec::with_capacity(nodes.len());
        for node in nodes {
            let place = node.place();
            let parent = node.parent().and_then(|parent| targets.get(parent)).copied().unwrap_or(top);
            let target = match (place.object, parent) {
                (THREAD, _) => match thread(place.address) {
                    Some(index) => self.add_node(None, Place::Thread(index), node.ticks()),
                    None => top,
                },
                (_, Target::LeftOut) => Target::LeftOut,
                (_, Target::Top) => self.add_node(None, translated(place, &address), node.ticks()),
                (_, Target::Node(parent)) => self.add_node(Some(parent), translated(place, &address), node.ticks()),
            };
            targets.push(target);
        }
    }

    fn add_node(&mut self, parent: Option<u32>, place: Place, ticks: u64) -> Target {
        let next = u32::try_from(self.nodes.len()).ok().filter(|next| *next < u32::MAX);
        let known = self.indexes.get(&(parent, place)).copied();
        let Some(index) = known.or(next) else {
            self.add_cut(CutReason::NO_MEMORY, ticks);
            return Target::LeftOut;
        };
        match self.nodes.get_mut(index as usize) {
            Some(node) => node.ticks = node.ticks.saturating_add(ticks),
            None => {
                self.nodes.push(Node { parent, place, ticks });
                self.indexes.insert((parent, place), index);
            }
        }
        Target::Node(index)
    }

    fn add_cut(&mut self, reason: CutReason, ticks: u64) {
        let sum = self.cuts.entry(reason).or_insert(0);
        *sum = sum.saturating_add(ticks);
    }

    /// The stacks, with all threads; `None` if no sample has a stack.
    pub(super) fn finish(self, threads: Vec<Thread>) -> Option<Stacks> {
        // The ticks of each node and of all nodes below. The runtime makes a node before it counts the ticks of a walk.
        // If the walk does not end, the node has no ticks, and would make functions and arcs without time.
        let mut whole: Vec<u64> = self.nodes.iter().map(|node| node.ticks).collect();
        for (at, node) in self.nodes.iter().enumerate().rev() {
            let below = whole.get(at).copied().unwrap_or(0);
            if let Some(sum) = node.parent.and_then(|parent| whole.get_mut(parent as usize)) {
                *sum = sum.saturating_add(below);
            }
        }
        if whole.iter().all(|ticks| *ticks == 0) {
            return None;
        }
        let mut stacks = Stacks::new();
        for thread in threads {
            stacks.add_thread(thread);
        }
        let mut numbers: Vec<Option<u32>> = Vec::with_capacity(whole.len());
        for (Node { parent, place, ticks }, whole) in self.nodes.into_iter().zip(whole) {
            // The parent has at least the ticks of its children.
            let parent = parent.and_then(|parent| numbers.get(parent as usize).copied().flatten());
            numbers.push(if whole > 0 { stacks.push(parent, place, ticks) } else { None });
        }
        self.cuts.into_iter().for_each(|(reason, ticks)| stacks.add_cut(reason, ticks));
        Some(stacks)
    }
}

/// A place of a side file as a place of the common address space.
fn translated(place: side_file::Place, address: &impl Fn(side_file::Place) -> Option<u64>) -> Place {
    match place.object {
        KERNEL => Place::Kernel,
        CUT => Place::Cut(CutReason::from_code(u32::try_from(place.address).unwrap_or(0))),
        // Address 0 is in none of the images.
        _ => address(place).filter(|address| *address != 0).map_or(Place::Elsewhere, Place::Code),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::stacks::StackNode;
    use gmon::Word;
    use gmon::side_file::{ELSEWHERE, Kind, Object, PROGRAM, Thread};

    /// Two threads with the same stack, a cut chain, and a sample of no thread.
    fn side() -> SideFile {
        let mut side = SideFile::new(Word::W64);
        side.add_object(PROGRAM, Object::new(Kind::Program, b"a")).unwrap();
        side.add_object(3, Object::new(Kind::Shared, b"b")).unwrap();
        let place = |object, address| side_file::Place { object, address };
        for (thread, ticks) in [(0, 5), (1, 7)] {
            side.add_thread(Thread::new(thread, b"name"));
            let level = side.add_context(None, place(THREAD, thread), 0).unwrap();
            let main = side.add_context(Some(level), place(PROGRAM, 0x10), ticks).unwrap();
            // A walk that was under way has no ticks.
            let under_way = side.add_context(Some(main), place(PROGRAM, 0x30), 0).unwrap();
            side.add_context(Some(under_way), place(PROGRAM, 0x40), 0).unwrap();
            side.add_context(Some(main), place(3, 0x20), ticks).unwrap();
            side.add_context(Some(main), place(KERNEL, 0), 1).unwrap();
            let cut = side.add_context(Some(level), CutReason::NO_TABLE.place(), 0).unwrap();
            side.add_context(Some(cut), place(ELSEWHERE, 0x7777), ticks).unwrap();
        }
        side.add_context(None, place(PROGRAM, 0x10), 100).unwrap();
        side.add_cut(CutReason::NO_STACK, 4).unwrap();
        side
    }

    fn nodes(stacks: &Stacks) -> Vec<(Option<u32>, Place, u64)> {
        stacks.nodes().iter().map(|node| (node.parent(), node.place(), node.ticks())).collect()
    }

    /// The program is at its own addresses, and object 3 is no image.
    fn address(place: side_file::Place) -> Option<u64> {
        (place.object == PROGRAM).then_some(place.address)
    }

    #[test]
    fn stacks_of_threads_are_apart() {
        let mut tree = StackTree::default();
        // The other thread is not told apart.
        tree.add(&side(), address, |thread| (thread == 1).then_some(0));
        let stacks = tree.finish(Vec::new()).unwrap();
        let cut = Place::Cut(CutReason::NO_TABLE);
        let expected = [
            (None, Place::Code(0x10), 105),
            (Some(0), Place::Elsewhere, 5),
            (Some(0), Place::Kernel, 1),
            (None, cut, 0),
            (Some(3), Place::Elsewhere, 5),
            (None, Place::Thread(0), 0),
            (Some(5), Place::Code(0x10), 7),
            (Some(6), Place::Elsewhere, 7),
            (Some(6), Place::Kernel, 1),
            (Some(5), cut, 0),
            (Some(9), Place::Elsewhere, 7),
        ];
        assert_eq!(nodes(&stacks), expected);
        assert_eq!(stacks.cuts(), &[(CutReason::NO_STACK, 4)].into());
    }

    #[test]
    fn the_stacks_of_one_thread() {
        let mut tree = StackTree::default();
        tree.add_threads(&side(), address, |thread| (thread == 1).then_some(0));
        let stacks = tree.finish(Vec::new()).unwrap();
        let ticks: Vec<u64> = stacks.nodes().iter().map(StackNode::ticks).collect();
        assert_eq!((ticks, stacks.cuts().len()), (vec![0, 7, 7, 1, 0, 7], 0));
        let mut nothing = StackTree::default();
        nothing.add_threads(&side(), address, |_| None);
        assert_eq!(nothing.finish(Vec::new()), None);
    }
}
