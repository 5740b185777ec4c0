//! The arcs that options name, as GNU's orders of functions show them.

use super::matching::Matcher;
use super::runtime::NAMES;
use crate::cli::options::{Choice, Subject};
use crate::cli::symspec::{Pattern, Spec};
use crate::symbols::functions::FunctionId;

/// A function that the left side of an option names, and for an arc the one of its right side.
struct Named {
    /// What the choice is for, and whether that alone is wanted: functions for each are in a table of their own.
    table: (Subject, bool),
    from: FunctionId,
    to: Option<FunctionId>,
}

/// The ends of each arc that an option names, the last option first.
///
/// GNU keeps the functions that options name in a table for each subject, in the order of their addresses, and arcs by
/// places in that table. Afterwards it takes repeated functions out of the table and moves the others up, so that arcs
/// behind them begin elsewhere. Where a name stands for functions in several places, its lists of these get mixed up
/// with the order, which may then have no end: such arcs are left out here.
pub(super) fn arcs(choices: &[Choice], matcher: &Matcher<'_, '_>) -> Vec<(FunctionId, FunctionId)> {
    let choices = choices.iter().rev().filter_map(|choice| named(choice, matcher));
    let named: Vec<Named> = runtime(matcher).chain(choices).collect();
    // For each of them, where its arc begins in the end.
    let mut begins: Vec<FunctionId> = named.iter().map(|one| one.from).collect();
    let mut sorted: Vec<usize> = (0..named.len()).collect();
    sorted.sort_by_key(|at| (named[*at].table, named[*at].from));
    for table in sorted.chunk_by(|one, other| named[*one].table == named[*other].table) {
        let mut kept: Vec<FunctionId> = table.iter().map(|at| named[*at].from).collect();
        kept.dedup();
        for (at, moved_up) in table.iter().zip(kept) {
            begins[*at] = moved_up;
        }
    }
    named.iter().zip(begins).filter_map(|(one, from)| Some((from, one.to?))).collect()
}

/// The functions of the profiling runtime, which are in the tables as if options named them last.
fn runtime<'a>(matcher: &'a Matcher<'_, '_>) -> impl Iterator<Item = Named> + use<'a> {
    let ids = matcher.functions.ids().filter(|id| NAMES.contains(&matcher.functions[*id].name));
    let subjects = [Subject::Flat, Subject::Graph, Subject::Time];
    ids.flat_map(move |from| subjects.map(|subject| Named { table: (subject, false), from, to: None }))
}

fn named(choice: &Choice, matcher: &Matcher<'_, '_>) -> Option<Named> {
    let (from, to) = match &choice.pattern {
        Pattern::Functions(spec) => (spec, None),
        Pattern::Arcs(from, to) => (from, Some(to)),
    };
    let to = to.and_then(|spec| only_place(spec, matcher));
    Some(Named { table: (choice.subject, choice.only), from: only_place(from, matcher)?, to })
}

/// The first of the functions that a spec names, if there are any and all are neighbours.
fn only_place(spec: &Spec, matcher: &Matcher<'_, '_>) -> Option<FunctionId> {
    let found = matcher.find(spec);
    let mut ids = matcher.functions.ids().filter(|id| found[id.index()]);
    let first = ids.next()?;
    let last = ids.next_back().unwrap_or(first);
    let has_gap = found[first.index()..=last.index()].contains(&false);
    (!has_gap).then_some(first)
}
