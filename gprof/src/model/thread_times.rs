//! The functions and the arcs of each thread, for files of other programs.

use std::collections::{HashMap, HashSet};

use super::analysis::Analysis;
use super::contexts::measured::{StackSelection, Ticks};
use super::function_times::{ArcTimes, FunctionTimes};
use super::selection::Selections;
use super::thread_ticks::{Ends, ThreadTicks};
use crate::program::symbols::functions::FunctionId;
use crate::sources::stacks::Thread;

/// The functions and the arcs of a thread. The sums of all threads, and of what belongs to no thread, are the functions
/// and arcs of the whole program.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ThreadTimes<'data> {
    /// The thread; `None` for all threads, or for times and calls of no thread.
    pub thread: Option<&'data Thread>,
    /// The functions that took time or called others, in the order of [`Analysis::function_times`].
    pub functions: Vec<FunctionTimes>,
    /// The arcs with time or calls, in the order of [`Analysis::arc_times`].
    pub arcs: Vec<ArcTimes>,
}

/// Negative counters of hostile profiles stay with what belongs to no thread. Times below this number of samples are
/// what rounding leaves of nothing.
const NOTHING: f64 = 1e-6;

impl<'data> Analysis<'data> {
    /// Returns the functions and the arcs of each thread if the runs counted by thread and the times are measured;
    /// otherwise of all threads together.
    #[must_use]
    pub fn thread_times(&self) -> Vec<ThreadTimes<'data>> {
        let whole =
            ThreadTimes { thread: None, functions: self.function_times().collect(), arcs: self.arc_times().collect() };
        let Selections { flat, time, arcs, .. } = &self.selections;
        let selection = StackSelection { flat, time, arcs };
        let threads = self.measured_stacks().map(|input| input.ticks_by_thread(&self.functions, selection));
        let mut threads = threads.unwrap_or_default();
        if threads.is_empty() {
            return vec![whole];
        }
        // What belongs to no thread is what the threads leave.
        threads.retain(|part| part.thread.is_some());
        let mut dividing = Dividing::new(self, whole, &threads);
        let mut parts: Vec<ThreadTimes<'data>> = threads.into_iter().map(|part| dividing.part(part)).collect();
        parts.push(dividing.left);
        parts.iter_mut().for_each(ThreadTimes::retain_used);
        // An empty profile has one part, which is empty.
        let is_used = |part: &ThreadTimes<'_>| !part.functions.is_empty() || !part.arcs.is_empty();
        match parts.iter().any(is_used) {
            true => parts.retain(is_used),
            false => drop(parts.drain(1..)),
        }
        let own = |part: &ThreadTimes<'_>| part.functions.iter().map(|function| function.own).sum::<f64>();
        parts.sort_by(|one, other| {
            one.thread.is_none().cmp(&other.thread.is_none()).then_with(|| own(other).total_cmp(&own(one)))
        });
        parts
    }
}

impl ThreadTimes<'_> {
    /// Leaves out what took no time and has no calls.
    fn retain_used(&mut self) {
        self.arcs.retain(|arc| arc.calls > 0 || arc.times.is_some_and(|(_, inclusive)| inclusive.abs() > NOTHING));
        let callers: HashSet<FunctionId> = self.arcs.iter().filter_map(|arc| arc.caller).collect();
        self.functions.retain(|function| {
            let has_time = function.own.abs() > NOTHING || function.inclusive.abs() > NOTHING;
            // A function that calls itself is among the callers.
            has_time || function.calls > 0 || callers.contains(&function.id)
        });
    }
}

/// The times and calls of the whole program, while threads take theirs.
struct Dividing<'a, 'data> {
    analysis: &'a Analysis<'data>,
    /// The place of each function and of each arc in the lists of the whole program.
    functions: HashMap<FunctionId, usize>,
    arcs: HashMap<Ends, usize>,
    /// For each function, the part of its samples in stacks that counts. The bins of a histogram may be in two
    /// functions, so that a function may have less self time than its stacks say.
    scales: Vec<f64>,
    /// What the threads so far have left.
    left: ThreadTimes<'data>,
}

impl<'a, 'data> Dividing<'a, 'data> {
    fn new(analysis: &'a Analysis<'data>, whole: ThreadTimes<'data>, threads: &[ThreadTicks<'data>]) -> Self {
        let functions: HashMap<FunctionId, usize> =
            whole.functions.iter().enumerate().map(|(at, function)| (function.id, at)).collect();
        let arcs = whole.arcs.iter().enumerate().map(|(at, arc)| ((arc.caller, arc.callee), at)).collect();
        let mut sums = vec![0.0; whole.functions.len()];
        for (id, Ticks { own, .. }) in threads.iter().flat_map(|part| &part.ticks.functions) {
            if let Some(at) = functions.get(id) {
                sums[*at] += *own as f64;
            }
        }
        let scale =
            |(function, sum): (&FunctionTimes, f64)| if sum > function.own { function.own.max(0.0) / sum } else { 1.0 };
        let scales = whole.functions.iter().zip(sums).map(scale).collect();
        Dividing { analysis, functions, arcs, scales, left: whole }
    }

    /// Takes the times and calls of a thread.
    fn part(&mut self, part: ThreadTicks<'data>) -> ThreadTimes<'data> {
        let ThreadTicks { thread, ticks, calls } = part;
        // The calls and the times of each arc.
        let mut of_arcs: HashMap<usize, (u64, Ticks)> = HashMap::new();
        for (ends, count) in calls {
            if let Some(at) = self.arcs.get(&ends) {
                of_arcs.entry(*at).or_default().0 = count;
            }
        }
        for ((caller, called), ticks) in ticks.pairs {
            if let Some(at) = self.arcs.get(&(caller, Some(called))) {
                of_arcs.entry(*at).or_default().1 = ticks;
            }
        }
        let mut of_functions: HashMap<usize, (Ticks, u64, u64)> = HashMap::new();
        for (id, ticks) in ticks.functions {
            if let Some(at) = self.functions.get(&id) {
                of_functions.entry(*at).or_default().0 = ticks;
            }
        }
        let mut arcs: Vec<(usize, ArcTimes)> = Vec::with_capacity(of_arcs.len());
        for (at, (count, ticks)) in of_arcs {
            let arc = self.take_arc(at, count, ticks);
            if let Some(at) = arc.callee.and_then(|callee| self.functions.get(&callee)) {
                let (_, calls, self_calls) = of_functions.entry(*at).or_default();
                let sum = if arc.caller == arc.callee { self_calls } else { calls };
                *sum = sum.saturating_add(arc.calls);
            }
            if let Some(at) = arc.caller.and_then(|caller| self.functions.get(&caller)) {
                of_functions.entry(*at).or_default();
            }
            arcs.push((at, arc));
        }
        let take = |(at, (ticks, calls, self_calls))| (at, self.take_function(at, ticks, calls, self_calls));
        let functions: Vec<(usize, FunctionTimes)> = of_functions.into_iter().map(take).collect();
        ThreadTimes { thread, functions: in_order(functions), arcs: in_order(arcs) }
    }

    fn take_arc(&mut self, at: usize, calls: u64, ticks: Ticks) -> ArcTimes {
        let left = &mut self.left.arcs[at];
        let calls = calls.min(left.calls);
        left.calls -= calls;
        let times = left.times.map(|(own, inclusive)| {
            let part = (ticks.own as f64).min(own.max(0.0));
            (part, (ticks.own as f64 + ticks.below as f64).min(inclusive.max(0.0)))
        });
        if let (Some((own, inclusive)), Some((part, whole))) = (left.times.as_mut(), times) {
            (*own, *inclusive) = (*own - part, *inclusive - whole);
        }
        let error = |times: Option<(f64, f64)>| times.map_or(0.0, |(_, time)| self.analysis.errors().of_measured(time));
        left.inclusive_error = error(left.times);
        ArcTimes { times, calls, inclusive_error: error(times), ..*left }
    }

    fn take_function(&mut self, at: usize, ticks: Ticks, calls: u64, self_calls: u64) -> FunctionTimes {
        let left = &mut self.left.functions[at];
        let own = (ticks.own as f64 * self.scales[at]).min(left.own.max(0.0));
        let inclusive = (own + ticks.below as f64).min(left.inclusive.max(0.0));
        let error = |time: f64| self.analysis.errors().of_measured(time);
        (left.own, left.inclusive) = (left.own - own, left.inclusive - inclusive);
        (left.own_error, left.inclusive_error) = (error(left.own), error(left.inclusive));
        (left.calls, left.self_calls) = (left.calls.saturating_sub(calls), left.self_calls.saturating_sub(self_calls));
        FunctionTimes {
            own,
            inclusive,
            own_error: error(own),
            inclusive_error: error(inclusive),
            calls,
            self_calls,
            ..*left
        }
    }
}

/// Sorts by place.
fn in_order<T>(mut list: Vec<(usize, T)>) -> Vec<T> {
    list.sort_by_key(|(at, _)| *at);
    list.into_iter().map(|(_, one)| one).collect()
}
