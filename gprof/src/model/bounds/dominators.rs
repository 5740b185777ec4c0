//! Dominators of a directed graph, by the algorithm of Lengauer and Tarjan with path compression.
//!
//! A node D dominates a node N if every path from the root to N goes through D. The time is in O(edges · log nodes) for
//! every graph. Simpler algorithms take quadratic time for graphs that a hostile profile can have. Nothing recurses.

/// The number of the root.
pub(super) const ROOT: u32 = 0;

/// No node.
const NONE: u32 = u32::MAX;

/// The dominators of all nodes that the root reaches.
#[derive(Debug)]
pub(super) struct Dominators {
    /// For each node, the nearest node that dominates it; `None` for the root and for nodes that the root does not
    /// reach.
    pub(super) immediate: Vec<Option<u32>>,
    /// The nodes that the root reaches. Every node stands behind its dominators.
    pub(super) order: Vec<u32>,
    /// The steps that the algorithm took.
    #[cfg(test)]
    pub(super) steps: usize,
}

impl Dominators {
    /// Computes the dominators of a graph with nodes `0..nodes` and these edges (from, to). The root is [`ROOT`].
    pub(super) fn new(nodes: usize, edges: &[(u32, u32)]) -> Dominators {
        let walk = Walk::new(nodes, &Neighbors::new(nodes, edges.iter().copied()));
        let mut search = Search::new(&walk);
        let callers = Neighbors::new(nodes, edges.iter().map(|(from, to)| (*to, *from)));
        let by_number = search.dominators(&walk, &callers);
        let mut immediate = vec![None; nodes];
        for (node, dominator) in walk.order.iter().zip(&by_number).skip(1) {
            immediate[*node as usize] = Some(walk.order[*dominator as usize]);
        }
        Dominators {
            immediate,
            order: walk.order,
            #[cfg(test)]
            steps: search.steps,
        }
    }
}

/// The neighbors of each node in one direction.
struct Neighbors {
    /// The index in `all` where the neighbors of each node begin, followed by the length of `all`.
    starts: Vec<usize>,
    all: Vec<u32>,
}

impl Neighbors {
    fn new(nodes: usize, edges: impl Iterator<Item = (u32, u32)> + Clone) -> Neighbors {
        let mut starts = vec![0_usize; nodes + 1];
        for (from, _) in edges.clone() {
            starts[from as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let (mut next, mut all) = (starts.clone(), vec![0; starts[nodes]]);
        for (from, to) in edges {
            all[next[from as usize]] = to;
            next[from as usize] += 1;
        }
        Neighbors { starts, all }
    }

    fn of(&self, node: u32) -> &[u32] {
        &self.all[self.starts[node as usize]..self.starts[node as usize + 1]]
    }
}

/// A depth-first walk from the root, which numbers the nodes in the order in which it enters them.
struct Walk {
    /// The nodes by their numbers.
    order: Vec<u32>,
    /// The number of each node, or [`NONE`].
    number: Vec<u32>,
    /// For each number, the number of the node from which the walk came.
    parent: Vec<u32>,
}

impl Walk {
    fn new(nodes: usize, callees: &Neighbors) -> Walk {
        let mut walk = Walk { order: Vec::new(), number: vec![NONE; nodes], parent: Vec::new() };
        // The nodes on the current path, each with the number of its edges that were followed.
        let mut path = vec![(ROOT, 0_usize)];
        walk.enter(ROOT, ROOT);
        while let Some((node, followed)) = path.last_mut() {
            let Some(next) = callees.of(*node).get(*followed).copied() else {
                path.pop();
                continue;
            };
            *followed += 1;
            if walk.number[next as usize] == NONE {
                let parent = walk.number[*node as usize];
                walk.enter(next, parent);
                path.push((next, 0));
            }
        }
        walk
    }

    fn enter(&mut self, node: u32, parent: u32) {
        self.number[node as usize] = self.order.len() as u32;
        self.order.push(node);
        self.parent.push(parent);
    }
}

/// The state of the algorithm. All nodes are numbers of the walk.
struct Search {
    /// The smallest number from which a path of larger numbers leads to each node: the semidominator.
    semi: Vec<u32>,
    /// The forest of the nodes that were processed, with compressed paths.
    ancestor: Vec<u32>,
    /// For each node, the node with the smallest semidominator on the compressed path above.
    label: Vec<u32>,
    path: Vec<u32>,
    #[cfg(test)]
    steps: usize,
}

impl Search {
    fn new(walk: &Walk) -> Search {
        let numbers: Vec<u32> = (0..walk.order.len() as u32).collect();
        Search {
            semi: numbers.clone(),
            ancestor: vec![NONE; numbers.len()],
            label: numbers,
            path: Vec::new(),
            #[cfg(test)]
            steps: 0,
        }
    }

    /// Returns the immediate dominator of each number; 0 for the root.
    fn dominators(&mut self, walk: &Walk, callers: &Neighbors) -> Vec<u32> {
        let count = walk.order.len();
        let mut dominator = vec![0_u32; count];
        // Lists of the nodes with each semidominator.
        let (mut first, mut next) = (vec![NONE; count], vec![NONE; count]);
        for node in (1..count).rev() {
            for caller in callers.of(walk.order[node]) {
                let number = walk.number[*caller as usize];
                if number != NONE {
                    let best = self.best(number);
                    self.semi[node] = self.semi[node].min(self.semi[best as usize]);
                }
            }
            next[node] = std::mem::replace(&mut first[self.semi[node] as usize], node as u32);
            let parent = walk.parent[node];
            self.ancestor[node] = parent;
            let mut waiting = std::mem::replace(&mut first[parent as usize], NONE);
            while waiting != NONE {
                let best = self.best(waiting);
                let is_below = self.semi[best as usize] < self.semi[waiting as usize];
                dominator[waiting as usize] = if is_below { best } else { parent };
                waiting = next[waiting as usize];
            }
        }
        for node in 1..count {
            if dominator[node] != self.semi[node] {
                dominator[node] = dominator[dominator[node] as usize];
            }
        }
        dominator
    }

    /// Returns the node with the smallest semidominator between a node and the root of its tree in the forest.
    fn best(&mut self, node: u32) -> u32 {
        self.count_step();
        if self.ancestor[node as usize] == NONE {
            return node;
        }
        let mut top = node;
        while self.ancestor[self.ancestor[top as usize] as usize] != NONE {
            self.path.push(top);
            top = self.ancestor[top as usize];
        }
        while let Some(lower) = self.path.pop() {
            self.count_step();
            let above = self.ancestor[lower as usize] as usize;
            let (known, other) = (self.label[lower as usize], self.label[above]);
            if self.semi[other as usize] < self.semi[known as usize] {
                self.label[lower as usize] = other;
            }
            self.ancestor[lower as usize] = self.ancestor[above];
        }
        self.label[node as usize]
    }

    #[inline]
    fn count_step(&mut self) {
        #[cfg(test)]
        {
            self.steps += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns which nodes the root reaches without a path through `without`.
    fn reached(nodes: usize, edges: &[(u32, u32)], without: Option<u32>) -> Vec<bool> {
        let mut is_reached = vec![false; nodes];
        let mut left = if without == Some(ROOT) { Vec::new() } else { vec![ROOT] };
        while let Some(node) = left.pop() {
            if !std::mem::replace(&mut is_reached[node as usize], true) {
                left.extend(edges.iter().filter(|edge| edge.0 == node && Some(edge.1) != without).map(|edge| edge.1));
            }
        }
        is_reached
    }

    /// Returns whether `above` is `node` or dominates it.
    fn dominates(found: &Dominators, above: u32, node: u32) -> bool {
        let mut at = Some(node);
        while let Some(one) = at.filter(|one| *one != above) {
            at = found.immediate[one as usize];
        }
        at.is_some()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn dominators_are_what_no_path_avoids(edges in prop::collection::vec((0..12_u32, 0..12_u32), 0..40)) {
            let found = Dominators::new(12, &edges);
            let all = reached(12, &edges, None);
            for (node, is_reached) in (0..12_u32).zip(&all) {
                prop_assert_eq!(found.order.contains(&node), *is_reached);
                for above in (0..12).filter(|_| *is_reached) {
                    let is_avoided = above != node && reached(12, &edges, Some(above))[node as usize];
                    prop_assert_eq!(dominates(&found, above, node), !is_avoided, "{} {}", above, node);
                }
            }
        }
    }

    #[test]
    fn the_work_is_that_of_a_sort() {
        // Graphs on which simpler algorithms take quadratic time: ladders with jumps in both directions, and a chain
        // that every node jumps into.
        const NODES: u32 = 50_000;
        let chain = || (1..NODES).map(|node| (node - 1, node));
        let back = chain().chain((1..NODES).map(|node| (node, node / 2))).collect::<Vec<_>>();
        let forward = chain().chain((0..NODES / 2).map(|node| (node, NODES - 1 - node))).collect::<Vec<_>>();
        let both = back.iter().chain(&forward).copied().collect::<Vec<_>>();
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u32 % NODES
        };
        let scattered = (0..4 * NODES).map(|_| (random(), random())).chain(chain()).collect::<Vec<_>>();
        for edges in [back, forward, both, scattered] {
            let steps = Dominators::new(NODES as usize, &edges).steps;
            let bound = (edges.len() + NODES as usize) * NODES.ilog2() as usize;
            assert!((NODES as usize..=bound).contains(&steps), "{steps} {bound}");
        }
    }
}
