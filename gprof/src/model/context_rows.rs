//! The rows of the reports with calling contexts and with callers.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::contexts::callers::callers;
use super::contexts::measured::time_counts;
use super::contexts::ranges::{self, Pair};
use super::contexts::ticks::StackSums;
use super::contexts::tree::{Children, Contexts, Frame};
use super::graph::Graph;
use super::intermediate::Intermediate;
use super::percent::whole;
use super::selection::Selections;
use crate::program::symbols::functions::{FunctionId, Functions};
use crate::question::options::Limit;
use crate::question::reports::{CALLERS, CONTEXTS};

/// A row of the tree of contexts or of callers. Times are in the unit of the samples, normally seconds.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ContextRow<'data> {
    /// The number of rows between this row and the root of its tree. The row above with a depth one lower is the
    /// caller; in a tree of callers it is the called function.
    pub depth: usize,
    /// The function or other code.
    pub frame: Frame,
    /// The symbol of an inlined function, if the frame is one.
    pub inlined: Option<&'data [u8]>,
    /// The inclusive time as a percentage of the time of all stacks.
    pub percent: f64,
    /// The time during which this frame was on the stack above its callers; in a tree of callers the time for which
    /// this chain of callers is responsible.
    pub inclusive: f64,
    /// The time of the frame itself; in a tree of callers the time without known callers.
    pub self_time: f64,
    /// The calls of the function by its caller, if the profile tells them: if the tree has this arc once.
    pub calls: Option<u64>,
    /// Whether the tail calls of the program allow other functions, or none, in place of this frame, or other functions
    /// between this frame and its caller.
    pub is_doubtful: bool,
}

/// A tree of contexts or of callers.
#[derive(Debug)]
#[non_exhaustive]
pub struct ContextTable<'data> {
    /// The rows that the report shows: each below its parent, the longest time first.
    pub rows: Vec<ContextRow<'data>>,
    /// The number of rows beyond the limits of the options.
    pub left_out: usize,
    /// The time that is 100 percent: the time of all stacks, without that in the profiling runtime and that which the
    /// options leave out.
    pub total: f64,
}

/// Both reports.
#[derive(Debug, Default)]
pub(crate) struct ContextTables<'data> {
    pub(crate) contexts: Option<ContextTable<'data>>,
    pub(crate) callers: Option<ContextTable<'data>>,
    /// How much of the samples has stacks, if the user wants a tree.
    pub(crate) sums: Option<StackSums>,
}

/// Rows with less than this percentage of the time are not shown if the user sets no limit.
const LEAST_PERCENT: f64 = 1.0;

impl<'data> ContextTables<'data> {
    /// Makes the reports that the user wants, from the tree of calling contexts and the names of inlined functions.
    pub(super) fn new(
        intermediate: &Intermediate<'_, 'data>,
        (tree, inlined): (Contexts, Vec<&'data [u8]>),
    ) -> ContextTables<'data> {
        let Intermediate { functions, graph, selections, options, wanted, rate, stacks, .. } = *intermediate;
        let sums = stacks.map(|input| StackSums::new(input.stacks, &tree));
        let Selections { time, arcs: chosen_arcs, .. } = selections;
        let tree = ranges::without_excluded(tree, functions, time, chosen_arcs);
        let own = own(&tree, selections);
        let total = own.iter().fold(0_u64, |sum, own| sum.saturating_add(*own));
        let limit = Limits::new(options.limit, total);
        let arcs = &counted_arcs(graph);
        let rows = Rows { functions, inlined: &inlined, limit, total, rate };
        let contexts = options.reports.number(CONTEXTS).map(|depth| {
            let calls = unique_calls(&ranges::entered_by(&tree, functions, time), arcs);
            rows.table(&tree, &own, depth, |at, _| calls[at])
        });
        let is_chosen = |id: FunctionId| selections.callers.includes(id);
        let callers = wanted.has(CALLERS).then(|| {
            let tree = callers(&tree, &own, functions.len(), is_chosen, limit.least);
            let own: Vec<u64> = tree.all().iter().map(|context| context.ticks).collect();
            let certain = certain_callers(&tree);
            let calls = |at: usize, depth: usize| {
                let pair =
                    caller_pair(&tree, at).filter(|pair| !tree.all()[at].is_doubtful() || !certain.contains(pair));
                calls_of_row(&tree, at, depth, graph, pair.and_then(|pair| arcs.get(&pair).copied()))
            };
            rows.table(&tree, &own, usize::MAX, calls)
        });
        ContextTables { contexts, callers, sums }
    }
}

/// The ticks of each context alone, without those in the profiling runtime and those that the user leaves out.
pub(super) fn own(tree: &Contexts, selections: &Selections) -> Vec<u64> {
    let Selections { flat, time, .. } = selections;
    let is_runtime = |frame| match frame {
        Frame::Function(id) => flat.is_runtime(id) && !flat.includes(id),
        _ => false,
    };
    let contexts = tree.all().iter().zip(time_counts(tree, time));
    contexts.map(|(context, counts)| if counts && !is_runtime(context.frame) { context.ticks } else { 0 }).collect()
}

/// The counted calls of each arc; `None` stands for callers outside of all functions.
fn counted_arcs(graph: &Graph) -> HashMap<Pair, u64> {
    let arcs = graph.arc_ids().map(|id| graph.arc(id).0).map(|arc| ((Some(arc.parent), arc.child), arc.count));
    arcs.filter(|(_, calls)| *calls > 0).collect()
}

/// The calls by which each context was entered, if only this context was entered by its arc. `pairs` has the arcs of
/// the contexts.
fn unique_calls(pairs: &[Option<Pair>], arcs: &HashMap<Pair, u64>) -> Vec<Option<u64>> {
    let mut times: HashMap<Pair, usize> = HashMap::new();
    pairs.iter().flatten().for_each(|pair| *times.entry(*pair).or_insert(0) += 1);
    let calls = |pair: &Option<Pair>| {
        let pair = pair.as_ref().filter(|pair| times.get(pair) == Some(&1))?;
        arcs.get(pair).copied()
    };
    pairs.iter().map(calls).collect()
}

/// A function whose callers are shown, and its direct caller in the tree of callers.
fn caller_pair(tree: &Contexts, at: usize) -> Option<Pair> {
    let all = tree.all();
    let called = all[at].parent().filter(|called| all[*called].parent().is_none())?;
    match (all[at].frame, all[called].frame) {
        (Frame::Function(caller), Frame::Function(called)) => Some((Some(caller), called)),
        _ => None,
    }
}

/// The direct callers that have a row without a doubt. A row with a doubt for the same caller does not repeat the
/// calls.
fn certain_callers(tree: &Contexts) -> HashSet<Pair> {
    let certain = (0..tree.all().len()).filter(|at| !tree.all()[*at].is_doubtful());
    certain.filter_map(|at| caller_pair(tree, at)).collect()
}

/// The calls of a function whose callers are shown, or those by a direct caller.
fn calls_of_row(tree: &Contexts, at: usize, depth: usize, graph: &Graph, of_caller: Option<u64>) -> Option<u64> {
    match (depth, tree.all()[at].frame) {
        (0, Frame::Function(id)) => Some(graph.calls(id)).filter(|calls| *calls > 0),
        _ => of_caller,
    }
}

/// The limits of the user, in ticks.
#[derive(Clone, Copy)]
struct Limits {
    top: usize,
    least: u64,
}

impl Limits {
    fn new(limit: Limit, total: u64) -> Limits {
        let percent = limit.min_percent.unwrap_or(if limit.top.is_some() { 0.0 } else { LEAST_PERCENT });
        // The least number of ticks that is at least this percentage, as rows show percentages.
        let least = (percent * total as f64 / 100.0).floor() as u64;
        let is_enough = 100.0 * least as f64 / whole(total as f64) >= percent;
        let least = if is_enough { least } else { least.saturating_add(1) };
        // A row without ticks is never shown.
        Limits { top: limit.top.unwrap_or(usize::MAX), least: least.max(1) }
    }
}

/// What all rows need.
struct Rows<'a, 'data> {
    functions: &'a Functions<'data>,
    inlined: &'a [&'data [u8]],
    limit: Limits,
    total: u64,
    rate: f64,
}

impl<'data> Rows<'_, 'data> {
    fn table(
        &self,
        tree: &Contexts,
        own: &[u64],
        depth: usize,
        calls: impl Fn(usize, usize) -> Option<u64>,
    ) -> ContextTable<'data> {
        let mut whole = own.to_vec();
        tree.add_up(&mut whole);
        let is_shown = self.shown(&whole);
        let mut children = Children::new(tree);
        let all = tree.all();
        children.sort_by_key(|at| (Reverse(whole[at]), self.name(all[at].frame), all[at].frame, all[at].doubt));
        let mut rows = Vec::new();
        children.each(|at, level| {
            if is_shown[at] && level < depth {
                rows.push(self.row(tree, at, level, own[at], whole[at], calls(at, level)));
            }
        });
        let with_time = whole.iter().filter(|ticks| **ticks > 0).count();
        ContextTable { left_out: with_time - rows.len(), rows, total: self.total as f64 / self.rate }
    }

    /// Which contexts the limits show. The callers of a shown context are shown: they have at least as much time, and
    /// come first.
    fn shown(&self, whole: &[u64]) -> Vec<bool> {
        let mut is_shown: Vec<bool> = whole.iter().map(|ticks| *ticks >= self.limit.least).collect();
        if self.limit.top < whole.len() {
            let mut order: Vec<usize> = (0..whole.len()).collect();
            order.sort_by_key(|at| (Reverse(whole[*at]), *at));
            order.iter().skip(self.limit.top).for_each(|at| is_shown[*at] = false);
        }
        is_shown
    }

    fn row(
        &self,
        tree: &Contexts,
        at: usize,
        depth: usize,
        own: u64,
        inclusive: u64,
        calls: Option<u64>,
    ) -> ContextRow<'data> {
        let context = &tree.all()[at];
        let inlined = match context.frame {
            Frame::Inlined(number) => self.inlined.get(number as usize).copied(),
            _ => None,
        };
        ContextRow {
            depth,
            frame: context.frame,
            inlined,
            percent: 100.0 * inclusive as f64 / whole(self.total as f64),
            inclusive: inclusive as f64 / self.rate,
            self_time: own as f64 / self.rate,
            calls,
            is_doubtful: context.is_doubtful(),
        }
    }

    /// The name that orders rows with the same time.
    fn name(&self, frame: Frame) -> &'data [u8] {
        match frame {
            Frame::Function(id) => self.functions[id].name,
            Frame::Inlined(number) => self.inlined.get(number as usize).copied().unwrap_or_default(),
            _ => b"",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::contexts::build::with_inlined;
    use crate::model::contexts::call_sites::CallSites;
    use crate::program::image::{Code, Machine};
    use crate::sources::stacks::{Place, Stacks};

    #[test]
    fn a_row_with_exactly_the_least_percentage_is_shown() {
        let least = |percent, total| Limits::new(Limit { top: None, min_percent: Some(percent) }, total).least;
        for total in [1_u64, 7, 100, 199, 1000, 12_345] {
            for ticks in 1..=total.min(1000) {
                assert_eq!(least(100.0 * ticks as f64 / total as f64, total), ticks, "{ticks} of {total}");
            }
        }
        assert_eq!((least(7.0, 100), least(1.1, 1000), least(1.0, 199), least(0.0, 100)), (7, 11, 2, 1));
    }

    #[test]
    fn rows_of_one_time_are_in_the_order_of_names() {
        let symbol = crate::program::image::Symbol { address: 0x100, name: b"main", is_static: false, is_func: true };
        let functions = Functions::new(vec![symbol], 0x110);
        let mut stacks = Stacks::new();
        for address in [0x104, 0x108] {
            stacks.push(None, Place::Code(address), 3).unwrap();
        }
        let inlined_at = |address: u64| vec![if address < 0x108 { b"zeta".as_slice() } else { b"alpha" }];
        let code = Code { machine: Machine::X86_64, start: 0x100, bytes: &[] };
        let sites = CallSites::in_memory(&[], &functions, code);
        let (tree, inlined) = with_inlined(&stacks, &functions, &sites, Some(&inlined_at));
        let own: Vec<u64> = tree.all().iter().map(|context| context.ticks).collect();
        let limit = Limits { top: usize::MAX, least: 1 };
        let rows = Rows { functions: &functions, inlined: &inlined, limit, total: 6, rate: 100.0 };
        let table = rows.table(&tree, &own, usize::MAX, |_, _| None);
        let names: Vec<_> = table.rows.iter().map(|row| row.inlined).collect();
        assert_eq!(names, [None, Some(b"alpha".as_slice()), Some(b"zeta")]);
    }
}
