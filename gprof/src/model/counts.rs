//! The list of execution counts, in the order of source files.

use std::cmp::Ordering;

use gmon::Block;

use super::blocks::Blocks;
use super::estimates::CallEstimate;
use super::intermediate::Intermediate;
use crate::program::symbols::functions::FunctionId;

/// A line of the list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Count {
    /// The function or source line.
    pub function: FunctionId,
    /// The address where the function, or one of its basic blocks, begins.
    pub address: u64,
    /// The number of executions.
    pub count: u64,
    /// The estimated number of calls, if they were estimated and not counted.
    pub estimate: Option<CallEstimate>,
}

/// Computes the list.
pub(super) fn counts(intermediate: &Intermediate<'_, '_>, blocks: &Blocks) -> Vec<Count> {
    let Intermediate { functions, graph, sources, selections, options, .. } = intermediate;
    let selected = functions.ids().filter(|id| functions.is_whole(*id) && selections.counts.selects(*id));
    let place = |id: FunctionId| sources.place(id).map(|place| (sources.files[place.file].as_slice(), place.line));
    let mut list: Vec<FunctionId> = selected.collect();
    if !options.rules.lists_unknown_files_last {
        // GNU compares functions in unknown files with all other functions by address. This comparison is not an order,
        // and the result depends on which functions the sort compares.
        let compare = |one: &FunctionId, other: &FunctionId| match (place(*one), place(*other)) {
            // Functions of one place stay in the order of addresses.
            (Some(one), Some(other)) => one.cmp(&other),
            _ => one.cmp(other),
        };
        merge_sort(&mut list, &compare);
    } else {
        list.sort_by_key(|id| (place(*id).is_none(), place(*id), *id));
    }
    // The option -m sets the threshold for annotated lines, and by our rules for this list as well.
    let least = if options.rules.limits_counts { options.annotation.min_count.max(1) } else { 1 };
    let all = options.unused && least == 1;
    list.into_iter()
        .flat_map(|function| {
            let (address, estimate) = (functions[function].address, graph.estimate(function));
            let whole = Count { function, address, count: graph.calls(function), estimate };
            let parts = blocks.of(function).iter();
            let part = move |block: &Block| Count { address: block.addr, count: block.count, estimate: None, ..whole };
            let parts = parts.map(part);
            std::iter::once(whole).chain(parts)
        })
        .filter(|count| all || count.count.max(count.estimate.map_or(0, |estimate| estimate.calls)) >= least)
        .collect()
}

/// Sorts by merging two halves, of which the first may be shorter by one. The C library's qsort makes the same
/// comparisons.
fn merge_sort<T: Copy>(list: &mut [T], compare: &dyn Fn(&T, &T) -> Ordering) {
    if list.len() < 2 {
        return;
    }
    let (first, second) = list.split_at_mut(list.len() / 2);
    merge_sort(first, compare);
    merge_sort(second, compare);
    let mut merged = Vec::with_capacity(list.len());
    let (mut one, mut other) = (list[..list.len() / 2].iter().peekable(), list[list.len() / 2..].iter().peekable());
    while let (Some(left), Some(right)) = (one.peek(), other.peek()) {
        let next = if compare(left, right).is_le() { one.next() } else { other.next() };
        merged.extend(next);
    }
    merged.extend(one.chain(other));
    let merged: Vec<T> = merged.into_iter().copied().collect();
    list.copy_from_slice(&merged);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts() {
        let mut list = [5, 3, 9, 1, 1, 8, 2];
        merge_sort(&mut list, &|one, other| one.cmp(other));
        assert_eq!(list, [1, 1, 2, 3, 5, 8, 9]);
    }
}
