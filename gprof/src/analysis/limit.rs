//! How much of a report is shown: the first rows of the flat profile and the first entries of the call graph.

use crate::analysis::graph::{Graph, Node, whole};
use crate::cli::options::Limit;

/// What a limit left out of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LeftOut {
    /// How many rows, or entries of functions.
    pub count: usize,
    /// The self time of their functions, in samples.
    pub time: f64,
}

/// How many rows are shown of those with these times, the longest time first, and what the other rows are. Percentages are of
/// `total`.
pub(super) fn rows(times: impl Iterator<Item = f64> + Clone, total: f64, limit: Limit) -> (usize, LeftOut) {
    let shown = shown(times.clone(), total, limit);
    (shown, times.skip(shown).fold(LeftOut::default(), LeftOut::with))
}

/// Shortens entries that are in the order of their ranks. Gives the rank of the last one that is shown as well.
pub(super) fn entries(entries: &mut Vec<Node>, graph: &Graph, limit: Limit) -> (LeftOut, u32) {
    let share = |node: &Node| graph.node_share(*node);
    let times = entries.iter().map(share).map(|share| share.own + share.children);
    let shown = with_members(entries, graph, shown(times, graph.total(), limit));
    if shown == entries.len() {
        return (LeftOut::default(), u32::MAX);
    }
    let last = entries[..shown].last().map_or(0, |node| graph.rank(*node));
    // The time of a cycle is that of its members.
    let functions = entries.drain(shown..).filter(|node| matches!(node, Node::Function(_)));
    let left_out = functions.fold(LeftOut::default(), |sum, node| sum.with(share(&node).own));
    (left_out, last)
}

/// How many of the entries are shown, so that the members of each cycle that is among them are shown too: readers of the report look
/// for the entries of a cycle's members.
fn with_members(entries: &[Node], graph: &Graph, mut shown: usize) -> usize {
    let mut at = 0;
    while at < shown {
        if let Some(Node::Cycle(cycle)) = entries.get(at) {
            for member in &graph.cycles()[*cycle].members {
                let rank = graph.rank(Node::Function(*member));
                shown = shown.max(entries.partition_point(|node| graph.rank(*node) <= rank));
            }
        }
        at += 1;
    }
    shown
}

impl LeftOut {
    /// The part of all samples that it is, in percent.
    #[must_use]
    pub fn percent(&self, total: f64) -> f64 {
        100.0 * self.time / whole(total)
    }

    fn with(self, time: f64) -> LeftOut {
        LeftOut { count: self.count + 1, time: self.time + time }
    }
}

/// How many of some times are shown, of which the greatest comes first.
fn shown(times: impl Iterator<Item = f64>, total: f64, limit: Limit) -> usize {
    let total = whole(total);
    let is_enough = |time: &f64| limit.min_percent.is_none_or(|least| 100.0 * time / total >= least);
    times.take(limit.top.unwrap_or(usize::MAX)).take_while(is_enough).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_limits_hold() {
        let of = |top, min_percent| {
            let limit = Limit { top, min_percent };
            shown([60.0, 25.0, 10.0, 5.0, 0.0].into_iter(), 100.0, limit)
        };
        assert_eq!([of(None, None), of(Some(2), None), of(Some(0), None), of(Some(9), None)], [5, 2, 0, 5]);
        assert_eq!([of(None, Some(10.0)), of(None, Some(0.0)), of(None, Some(100.0))], [3, 5, 0]);
        assert_eq!([of(Some(2), Some(10.0)), of(Some(4), Some(10.0))], [2, 3]);
    }
}
