//! Chains of functions in which those that call each other often are neighbours.
//!
//! Each arc tries to make its ends neighbours: a function that is in no chain yet is attached to the chain of the other,
//! to its nearer end. Which end is GNU's choice, as is the share of calls that makes no chains.

/// An arc between two functions, which are numbers here.
#[derive(Clone, Copy)]
pub(super) struct Link {
    /// The caller.
    pub(super) parent: usize,
    /// The function called.
    pub(super) child: usize,
    /// How often.
    pub(super) count: u64,
}

/// A chain of neighbours: the functions between which more can be attached, and their places on a line.
#[derive(Clone, Copy)]
struct Chain {
    first: (usize, i64),
    last: (usize, i64),
}

/// An order that is being made.
pub(super) struct Layout {
    /// All arcs. What follows names them by their places here.
    pub(super) links: Vec<Link>,
    /// The functions that have a place, in order.
    pub(super) order: Vec<usize>,
    /// The functions that are not to be attached to any other, because they have a place or get one elsewhere.
    pub(super) placed: Vec<bool>,
    /// The arcs that are not to make neighbours, because they did or must not.
    pub(super) link_placed: Vec<bool>,
    /// The neighbour behind each function.
    behind: Vec<Option<usize>>,
    /// The chain that a function is in, and its place there.
    chain_of: Vec<Option<(usize, i64)>>,
    chains: Vec<Chain>,
}

impl Layout {
    /// An empty order for so many functions with these arcs.
    pub(super) fn new(functions: usize, links: Vec<Link>) -> Layout {
        Layout {
            order: Vec::with_capacity(functions),
            placed: vec![false; functions],
            link_placed: vec![false; links.len()],
            behind: vec![None; functions],
            chain_of: vec![None; functions],
            chains: Vec::new(),
            links,
        }
    }

    /// The calls of some arcs together.
    pub(super) fn calls(&self, links: &[usize]) -> u64 {
        links.iter().fold(0, |sum: u64, at| sum.saturating_add(self.links[*at].count))
    }

    /// Makes chains of arcs, puts their functions in order, and gives the arcs that found no place. Unless `all` count,
    /// the last hundredth of calls does not.
    pub(super) fn chain(&mut self, links: &[usize], all: bool) -> Vec<usize> {
        let total = self.calls(links);
        let mut so_far = 0_u64;
        let mut left = Vec::new();
        for at in links {
            let link = self.links[*at];
            so_far = so_far.saturating_add(link.count);
            if self.link_placed[*at] {
                continue;
            }
            let rare = !all && so_far as f64 / total as f64 > 0.99;
            let done = self.placed[link.parent] || self.placed[link.child];
            if !rare && !done && self.attach(link) {
                self.link_placed[*at] = true;
            } else {
                left.push(*at);
            }
        }
        self.emit(links, all);
        left
    }

    /// Attaches one end of an arc to the chain of the other, if one of them is in no chain.
    fn attach(&mut self, Link { parent, child, .. }: Link) -> bool {
        if parent == child {
            return false;
        }
        let (alone, other) = match (self.chain_of[parent], self.chain_of[child]) {
            (None, _) => (parent, child),
            (_, None) => (child, parent),
            _ => return false,
        };
        let Some((at, place)) = self.chain_of[other] else {
            // Two that are alone: the caller comes first.
            self.chains.push(Chain { first: (parent, 0), last: (child, 1) });
            self.chain_of[parent] = Some((self.chains.len() - 1, 0));
            self.chain_of[child] = Some((self.chains.len() - 1, 1));
            self.join(parent, child);
            return true;
        };
        let Chain { first, last } = self.chains[at];
        let (to_last, to_first) = (last.1 - place, place - first.1);
        // Where both are equally near, a caller goes to the front and a called function to the back.
        let at_last = to_last < to_first || (to_last == to_first && alone == child);
        if at_last {
            self.chains[at].last = (alone, last.1 + 1);
            self.chain_of[alone] = Some((at, last.1 + 1));
            self.join(last.0, alone);
        } else {
            self.chains[at].first = (alone, first.1 - 1);
            self.chain_of[alone] = Some((at, first.1 - 1));
            self.join(alone, first.0);
        }
        true
    }

    fn join(&mut self, before: usize, behind: usize) {
        self.behind[before] = Some(behind);
    }

    /// Puts chains in order, each where the first arc of one of its callers stands; with `all`, callers in no chain too.
    fn emit(&mut self, links: &[usize], all: bool) {
        for (chains, wanted) in [(true, true), (false, all)] {
            for at in links.iter().filter(|_| wanted) {
                let Link { parent, child, .. } = self.links[*at];
                if self.placed[parent] || self.placed[child] {
                    continue;
                }
                match self.chain_of[parent].filter(|_| chains) {
                    Some((chain, _)) => self.emit_chain(self.chains[chain].first.0),
                    None if chains => {}
                    None => self.emit_one(parent),
                }
            }
        }
    }

    fn emit_chain(&mut self, first: usize) {
        let mut next = Some(first);
        while let Some(function) = next {
            self.emit_one(function);
            next = self.behind[function];
        }
    }

    fn emit_one(&mut self, function: usize) {
        self.placed[function] = true;
        self.order.push(function);
    }
}
