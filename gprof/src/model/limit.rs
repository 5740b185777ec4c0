//! Limits a report to the first rows of the flat profile and the first entries of the call graph.

use crate::model::graph::{Graph, Node};
use crate::model::percent::whole;
use crate::question::options::Limit;

/// The rows or entries that a limit left out of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LeftOut {
    /// The number of rows, or of functions that have entries.
    pub count: usize,
    /// The self time of their functions, in samples.
    pub time: f64,
}

/// Returns how many rows the limit shows, and the sum of the other rows. `times` are the times of the rows, the longest
/// time first. 100 percent are `total`.
pub(super) fn rows(times: impl Iterator<Item = f64> + Clone, total: f64, limit: Limit) -> (usize, LeftOut) {
    let shown = shown(times.clone(), total, limit);
    (shown, times.skip(shown).fold(LeftOut::default(), LeftOut::with))
}

/// Removes the entries beyond the limit from a list in the order of ranks. With `keeps_members`, the members of cycles
/// that are left stay too. Returns the sum of the removed entries, and the rank of the last entry that is left.
pub(super) fn entries(entries: &mut Vec<Node>, graph: &Graph, limit: Limit, keeps_members: bool) -> (LeftOut, u32) {
    let share = |node: &Node| graph.node_share(*node);
    let times = entries.iter().map(share).map(|share| share.own + share.children);
    let shown = shown(times, graph.total(), limit);
    let shown = if keeps_members { with_members(entries, graph, shown) } else { shown };
    if shown == entries.len() {
        return (LeftOut::default(), u32::MAX);
    }
    let last = entries[..shown].last().map_or(0, |node| graph.rank(*node));
    // The time of a cycle is the time of its members, which are in the list themselves.
    let functions = entries.drain(shown..).filter(|node| matches!(node, Node::Function(_)));
    let left_out = functions.fold(LeftOut::default(), |sum, node| sum.with(share(&node).own));
    (left_out, last)
}

/// Returns how many entries to show so that the members of each shown cycle are shown, too. Programs that read the
/// report look up the entries of a cycle's members.
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
    /// Returns the time as a percentage of all samples.
    #[must_use]
    pub fn percent(&self, total: f64) -> f64 {
        100.0 * self.time / whole(total)
    }

    fn with(self, time: f64) -> LeftOut {
        LeftOut { count: self.count + 1, time: self.time + time }
    }
}

/// Returns how many times the limit shows. The longest time comes first.
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
