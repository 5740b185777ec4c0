//! Builds chains of functions in which functions that call each other often are neighbors.
//!
//! Each arc tries to make its caller and its called function neighbors: if one of the two is in no chain yet, the
//! function is attached to the nearer end of the other function's chain. The rules for ties, and for the share of rare
//! calls that build no chains, are GNU's.

/// An arc between two functions, which are given by their numbers.
#[derive(Clone, Copy)]
pub(super) struct Link {
    /// The number of the caller.
    pub(super) parent: usize,
    /// The number of the called function.
    pub(super) child: usize,
    /// The number of calls.
    pub(super) count: u64,
}

/// A chain of neighbors: the functions at its two ends, with their positions along the chain.
#[derive(Clone, Copy)]
struct Chain {
    first: (usize, i64),
    last: (usize, i64),
}

/// An order of functions while the order is being built.
pub(super) struct Layout {
    /// All arcs. The methods of this type identify an arc by its index in this list.
    pub(super) links: Vec<Link>,
    /// The functions that have a place in the order, in this order.
    pub(super) order: Vec<usize>,
    /// Whether each function must not be attached to a chain, because the function has a place or gets one elsewhere.
    pub(super) placed: Vec<bool>,
    /// Whether each arc must not make neighbors, because the arc already did or is excluded.
    pub(super) link_placed: Vec<bool>,
    /// The neighbor after each function.
    next: Vec<Option<usize>>,
    /// The chain of each function, and the function's position along the chain.
    chain_of: Vec<Option<(usize, i64)>>,
    chains: Vec<Chain>,
}

impl Layout {
    /// Returns an empty order for this number of functions and these arcs.
    pub(super) fn new(functions: usize, links: Vec<Link>) -> Layout {
        Layout {
            order: Vec::with_capacity(functions),
            placed: vec![false; functions],
            link_placed: vec![false; links.len()],
            next: vec![None; functions],
            chain_of: vec![None; functions],
            chains: Vec::new(),
            links,
        }
    }

    /// Returns the sum of the calls of some arcs.
    pub(super) fn calls(&self, links: &[usize]) -> u64 {
        links.iter().fold(0, |sum: u64, at| sum.saturating_add(self.links[*at].count))
    }

    /// Builds chains from arcs, appends the functions of these chains to the order, and returns the arcs that made no
    /// neighbors. Unless `all` is set, the rarest hundredth of the calls makes no neighbors.
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

    /// Attaches one end of an arc to the chain of the other end, if one of the two is in no chain.
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
            // Neither function is in a chain: the caller comes first.
            self.chains.push(Chain { first: (parent, 0), last: (child, 1) });
            self.chain_of[parent] = Some((self.chains.len() - 1, 0));
            self.chain_of[child] = Some((self.chains.len() - 1, 1));
            self.join(parent, child);
            return true;
        };
        let Chain { first, last } = self.chains[at];
        let (to_last, to_first) = (last.1 - place, place - first.1);
        // If both ends of the chain are equally near, a caller goes to the front and a called function to the back.
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

    fn join(&mut self, before: usize, next: usize) {
        self.next[before] = Some(next);
    }

    /// Appends chains to the order. The first arc whose caller is in a chain decides the place of the chain. With
    /// `all`, callers that are in no chain are appended, too.
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
            next = self.next[function];
        }
    }

    fn emit_one(&mut self, function: usize) {
        self.placed[function] = true;
        self.order.push(function);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the arcs that make no neighbors, and the order of the functions after that. An arc has a caller, a
    /// called function, and a number of calls.
    fn chained(links: &[(usize, usize, u64)], all: bool) -> (Vec<usize>, Vec<usize>) {
        let link =
            |(parent, child, count): &(usize, usize, u64)| Link { parent: *parent, child: *child, count: *count };
        let mut layout = Layout::new(8, links.iter().map(link).collect());
        let left = layout.chain(&(0..links.len()).collect::<Vec<_>>(), all);
        (left, layout.order)
    }

    #[test]
    fn a_function_is_attached_to_the_nearer_end_of_a_chain() {
        let order = |links: &[(usize, usize)]| {
            let links: Vec<_> = links.iter().map(|(parent, child)| (*parent, *child, 1)).collect();
            chained(&links, true).1
        };
        assert_eq!(order(&[(0, 1), (1, 2), (2, 3)]), [0, 1, 2, 3]);
        assert_eq!(order(&[(0, 1), (2, 0), (3, 2)]), [3, 2, 0, 1]);
        assert_eq!(order(&[(0, 1), (1, 2), (3, 2)]), [0, 1, 2, 3], "a caller of the last function");
        assert_eq!(order(&[(0, 1), (2, 0), (2, 3)]), [3, 2, 0, 1], "what the first function calls");
        // The function in the middle is as near to one end as to the other.
        assert_eq!(order(&[(0, 1), (1, 2), (1, 3)]), [0, 1, 2, 3], "a called function");
        assert_eq!(order(&[(0, 1), (1, 2), (3, 1)]), [3, 0, 1, 2], "a caller");
    }

    #[test]
    fn the_rarest_hundredth_of_the_calls_makes_no_neighbors() {
        assert_eq!(chained(&[(0, 1, 99), (2, 3, 1)], false), (vec![1], vec![0, 1]));
        assert_eq!(chained(&[(0, 1, 99), (2, 3, 1)], true), (vec![], vec![0, 1, 2, 3]));
    }

    #[test]
    fn a_caller_in_no_chain_is_appended_if_all_are() {
        assert_eq!([true, false].map(|all| chained(&[(5, 5, 7)], all).1), [vec![5], vec![]]);
    }
}
