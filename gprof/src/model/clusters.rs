//! Clusters of functions for linkers: callers directly before the functions that they call most, dense code first.
//!
//! This is call-chain clustering (C3; Ottoni and Maher, "Optimizing function placement for large-scale data-center
//! applications", 2017). At first each function is a cluster. The function with most calls goes first: its cluster is
//! appended to the cluster of the caller that calls the function most. At the end, clusters are sorted by density:
//! calls for each byte of code. A called function then often lies in the page, and sometimes in the cache line, that
//! follows its caller, and all code that runs lies together.

use std::cmp::{Ordering, Reverse};

use super::chains::Link;

/// A cluster does not grow beyond this number of bytes: the gain of neighbors does not reach farther than pages do.
const LARGEST: u64 = 1 << 20;

/// A cluster is not appended to another cluster if the result would have less than this part of the other cluster's
/// density: rare code would move frequent code apart.
const LEAST_DENSITY: f64 = 1.0 / 8.0;

/// A function that is placed.
#[derive(Clone, Copy)]
pub(super) struct Placed {
    /// The number of bytes of code.
    pub(super) size: u64,
    /// How often the function runs.
    pub(super) weight: u64,
}

/// A cluster: a list of functions, with sums.
#[derive(Clone, Copy)]
struct Cluster {
    last: usize,
    size: u64,
    weight: u64,
}

impl Cluster {
    fn density(&self) -> f64 {
        self.weight as f64 / self.size.max(1) as f64
    }
}

/// Returns the functions with a weight, as indexes, in the order of clusters. Equal weights and densities keep the
/// order of the functions.
pub(super) fn clustered(functions: &[Placed], links: &[Link]) -> Vec<usize> {
    let mut clusters = Clusters::new(functions);
    let callers = most_frequent_callers(functions.len(), links);
    let mut by_weight: Vec<usize> = (0..functions.len()).filter(|at| functions[*at].weight != 0).collect();
    let placed = by_weight.clone();
    by_weight.sort_by_key(|at| Reverse(functions[*at].weight));
    for at in by_weight {
        if let Some(caller) = callers[at].filter(|caller| functions[*caller].weight != 0) {
            clusters.append(caller, at);
        }
    }
    clusters.in_order(&placed)
}

/// Returns for each function the caller with most calls, the first of equal callers.
fn most_frequent_callers(functions: usize, links: &[Link]) -> Vec<Option<usize>> {
    let mut best: Vec<Option<(u64, Reverse<usize>)>> = vec![None; functions];
    for Link { parent, child, count } in links.iter().filter(|link| link.parent != link.child && link.count != 0) {
        best[*child] = best[*child].max(Some((*count, Reverse(*parent))));
    }
    best.into_iter().map(|caller| caller.map(|(_, Reverse(at))| at)).collect()
}

struct Clusters {
    /// For each function, a function nearer to the first function of its cluster; the first function has itself.
    first: Vec<usize>,
    /// The function after each function in its cluster.
    next: Vec<Option<usize>>,
    /// The cluster of each function that is the first one of a cluster.
    clusters: Vec<Cluster>,
}

impl Clusters {
    fn new(functions: &[Placed]) -> Clusters {
        let alone = |(last, function): (usize, &Placed)| Cluster { last, size: function.size, weight: function.weight };
        Clusters {
            first: (0..functions.len()).collect(),
            next: vec![None; functions.len()],
            clusters: functions.iter().enumerate().map(alone).collect(),
        }
    }

    /// Returns the first function of a function's cluster. Each search halves the path of the next search.
    fn first(&mut self, mut function: usize) -> usize {
        while self.first[function] != function {
            self.first[function] = self.first[self.first[function]];
            function = self.first[function];
        }
        function
    }

    /// Appends the cluster of `called` to the cluster of `caller`, unless they are the same or the result is too large
    /// or too thin.
    fn append(&mut self, caller: usize, called: usize) {
        let (front, back) = (self.first(caller), self.first(called));
        let (one, other) = (self.clusters[front], self.clusters[back]);
        let both = Cluster {
            last: other.last,
            size: one.size.saturating_add(other.size),
            weight: one.weight.saturating_add(other.weight),
        };
        if front == back || both.size > LARGEST || both.density() < one.density() * LEAST_DENSITY {
            return;
        }
        self.next[one.last] = Some(back);
        self.first[back] = front;
        self.clusters[front] = both;
    }

    /// Returns these functions, the densest cluster first.
    fn in_order(&self, functions: &[usize]) -> Vec<usize> {
        let mut firsts: Vec<usize> = functions.iter().copied().filter(|at| self.first[*at] == *at).collect();
        let density = |at: usize| self.clusters[at].density();
        firsts.sort_by(|one, other| density(*other).partial_cmp(&density(*one)).unwrap_or(Ordering::Equal));
        let functions_of = |first: usize| std::iter::successors(Some(first), |at| self.next[*at]);
        firsts.into_iter().flat_map(functions_of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(functions: &[(u64, u64)], links: &[(usize, usize, u64)]) -> Vec<usize> {
        let functions: Vec<Placed> =
            functions.iter().map(|(size, weight)| Placed { size: *size, weight: *weight }).collect();
        let links: Vec<Link> =
            links.iter().map(|(parent, child, count)| Link { parent: *parent, child: *child, count: *count }).collect();
        clustered(&functions, &links)
    }

    #[test]
    fn a_function_follows_the_caller_that_calls_it_most() {
        // 0 calls 2 once and 1 calls 2 nine times; nobody runs 3.
        assert_eq!(order(&[(16, 1), (16, 2), (16, 10), (16, 0)], &[(0, 2, 1), (1, 2, 9)]), [1, 2, 0]);
        // A chain of calls stays a chain.
        assert_eq!(order(&[(16, 10), (16, 10), (16, 10)], &[(2, 0, 10), (0, 1, 10)]), [2, 0, 1]);
    }

    #[test]
    fn dense_clusters_come_first() {
        assert_eq!(order(&[(1000, 10), (10, 9), (100, 9)], &[]), [1, 2, 0]);
        // Equal densities keep the order.
        assert_eq!(order(&[(10, 1), (10, 1), (20, 2)], &[]), [0, 1, 2]);
    }

    #[test]
    fn clusters_have_a_largest_size_and_a_least_density() {
        assert_eq!(order(&[(LARGEST, 1 << 20), (2, 1)], &[(0, 1, 1)]), [0, 1], "order of density, not of the call");
        assert_eq!(order(&[(2, 2), (LARGEST, 1 << 21)], &[(0, 1, 1)]), [1, 0]);
        // The caller is dense; with the called function it would have a hundredth of its density.
        assert_eq!(order(&[(10, 1000), (1000, 1), (10, 500)], &[(0, 1, 1)]), [0, 2, 1]);
        assert_eq!(order(&[(10, 1000), (10, 1), (10, 500)], &[(0, 1, 1)]), [0, 1, 2]);
    }

    #[test]
    fn circles_and_calls_of_itself_end() {
        assert_eq!(order(&[(8, 5), (8, 5)], &[(0, 1, 5), (1, 0, 5), (0, 0, 9)]), [1, 0]);
        assert_eq!(order(&[(0, 1), (0, 0)], &[(0, 1, 0), (1, 0, 3)]), [0]);
        assert!(order(&[], &[]).is_empty());
    }

    #[test]
    fn a_cluster_may_have_exactly_the_largest_size_and_the_least_density() {
        assert_eq!(order(&[(LARGEST - 2, 1), (2, 4)], &[(0, 1, 1)]), [0, 1], "order of the call, not of density");
        // The caller has a density of 8, and both together of 1. The third function is between them in density.
        assert_eq!(order(&[(1, 8), (8, 1), (10, 5)], &[(0, 1, 1)]), [0, 1, 2]);
        assert_eq!(order(&[(1, 8), (9, 1), (10, 5)], &[(0, 1, 1)]), [0, 2, 1]);
    }
}
