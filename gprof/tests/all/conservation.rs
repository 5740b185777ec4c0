//! Conservation of time in the call graph: no time is lost on its way to the callers, and no time comes from nowhere.
//!
//! A *component* is a cycle as a whole, or a function that is in no cycle. The calls of a component are the calls from
//! other components and from outside of the program. Calls of a function by itself and calls within a cycle do not
//! count. Then, up to rounding:
//!
//! 1. The children's time of a component is the time that the arcs from the component hand up.
//! 2. A component that is called hands up all its time, its own and its children's, to all its callers together,
//!    including callers outside of the program.
//! 3. The components without callers, and the callers outside of the program, together have the time of the whole
//!    report: the sum of all self times that count.
//!
//! This holds whatever the user excludes (`-E`, `-N`), as long as a cycle is excluded as a whole: what is excluded has
//! no time, and functions that only excluded functions call have no time either. It does not hold if the user includes
//! functions (`-F`, `-n`), because then a function counts all its time, whoever called it.

use std::collections::HashSet;

use gmon::Profile;
use gprof::internals::{ArcSelection, Arcs, Flat, Functions, Graph, GraphSelection, Innermost, Selection, Share};
use gprof::{FunctionId, Node};
use proptest::prelude::*;

use crate::common::{distinct_table, is_close, magnitude, profile};

/// Returns a graph without the functions of these names, and the self times of its functions.
fn graph(
    profile: &Profile,
    functions: &Functions<'_>,
    possible: &[(FunctionId, FunctionId)],
    without: &HashSet<&[u8]>,
) -> (Graph, Flat) {
    let none = HashSet::new();
    let flat = Flat::exact(
        profile.histograms(),
        &Innermost::default(),
        functions,
        &Selection::by_names(functions, &none, &none),
    );
    let arcs = Arcs::selected(profile.arcs(), functions, &ArcSelection::default(), possible, true);
    let selected = Selection::by_names(functions, &none, without);
    let graph = Graph::new(
        arcs,
        &flat,
        functions,
        GraphSelection { entries: &selected, time: &selected, excludes_callees: true },
    );
    (graph, flat)
}

/// Returns the components of a graph, with their members.
fn components(graph: &Graph, functions: &Functions<'_>) -> Vec<(Node, Vec<FunctionId>)> {
    let alone = functions.ids().filter(|id| graph.cycle_of(*id).is_none());
    let cycles = graph.cycles().iter().enumerate().map(|(at, cycle)| (Node::Cycle(at), cycle.members.clone()));
    alone.map(|id| (Node::Function(id), vec![id])).chain(cycles).collect()
}

fn share(graph: &Graph, component: Node) -> &Share {
    match component {
        Node::Function(id) => graph.share(id),
        Node::Cycle(at) => graph.cycle_share(at),
    }
}

/// Returns the number of calls of a component from outside.
fn calls(graph: &Graph, component: Node) -> u64 {
    match component {
        Node::Function(id) => graph.calls(id),
        Node::Cycle(at) => graph.cycles()[at].calls,
    }
}

/// Returns the time that a component gets from all functions that it calls.
fn handed_to(graph: &Graph, members: &[FunctionId]) -> f64 {
    let arcs = members.iter().flat_map(|member| graph.children(*member));
    arcs.filter_map(|arc| graph.arc(*arc).1).map(|(own, children)| own + children).sum()
}

/// Returns the time that a component hands to callers outside of the program.
fn handed_outside(graph: &Graph, members: &[FunctionId]) -> f64 {
    members.iter().filter_map(|member| graph.from_outside(*member).1).map(|(own, children)| own + children).sum()
}

/// Returns the time that a component hands to all its callers.
fn handed_by(graph: &Graph, members: &[FunctionId]) -> f64 {
    let arcs = members.iter().flat_map(|member| graph.parents(*member));
    let to_functions: f64 = arcs.filter_map(|arc| graph.arc(*arc).1).map(|(own, children)| own + children).sum();
    to_functions + handed_outside(graph, members)
}

/// Returns which functions reach which functions by calls, over any number of steps.
fn reach(graph: &Graph, functions: &Functions<'_>) -> Vec<Vec<bool>> {
    let mut reach = vec![vec![false; functions.len()]; functions.len()];
    for arc in graph.arc_ids() {
        let arc = graph.arc(arc).0;
        reach[arc.parent.index()][arc.child.index()] = true;
    }
    for by in 0..functions.len() {
        for from in 0..functions.len() {
            if reach[from][by] {
                let onward = reach[by].clone();
                reach[from].iter_mut().zip(onward).for_each(|(known, more)| *known |= more);
            }
        }
    }
    reach
}

/// Returns calls that the machine code contains, whether they happened or not.
fn possible(
    functions: &Functions<'_>,
    pairs: &[(prop::sample::Index, prop::sample::Index)],
) -> Vec<(FunctionId, FunctionId)> {
    let id = |at: &prop::sample::Index| functions.id(at.index(functions.len())).unwrap();
    pairs.iter().map(|(from, to)| (id(from), id(to))).collect()
}

fn pairs() -> impl Strategy<Value = Vec<(prop::sample::Index, prop::sample::Index)>> {
    let pair = any::<(prop::sample::Index, prop::sample::Index)>();
    prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec(pair, 0..6)]
}

/// Checks the three rules for all components of a graph.
fn hands_up_all_time(graph: &Graph, functions: &Functions<'_>, magnitude: f64) -> Result<(), TestCaseError> {
    let mut top = 0.0;
    for (component, members) in components(graph, functions) {
        let share = share(graph, component);
        let all = share.own + share.children;
        prop_assert!(is_close(share.children, handed_to(graph, &members), magnitude), "{component:?} 1");
        if calls(graph, component) == 0 {
            top += all;
        } else {
            prop_assert!(is_close(all, handed_by(graph, &members), magnitude), "{component:?} 2");
            top += handed_outside(graph, &members);
        }
    }
    let own: f64 = functions.ids().map(|id| graph.share(id).own).sum();
    prop_assert!(is_close(own, graph.total(), magnitude));
    prop_assert!(is_close(top, graph.total(), magnitude), "{top} {} 3", graph.total());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_time_is_handed_up_once(
        table in distinct_table(),
        profile in profile(),
        pairs in pairs(),
        left_out in prop::collection::vec(prop::bool::weighted(0.15), 16),
    ) {
        let functions = table.functions();
        let possible = possible(&functions, &pairs);
        let (whole, _) = graph(&profile, &functions, &possible, &HashSet::new());
        let without: HashSet<&[u8]> = components(&whole, &functions)
            .into_iter()
            .zip(left_out.iter().cycle())
            .filter(|(_, left_out)| **left_out)
            .flat_map(|((_, members), _)| members.into_iter().map(|id| functions[id].name).collect::<Vec<_>>())
            .collect();
        for without in [HashSet::new(), without] {
            let (graph, flat) = graph(&profile, &functions, &possible, &without);
            let magnitude = magnitude(&profile);
            hands_up_all_time(&graph, &functions, magnitude)?;
            if without.is_empty() {
                prop_assert!(is_close(graph.total(), flat.time.iter().sum(), magnitude));
            }
            for id in functions.ids() {
                let fraction = graph.share(id).fraction;
                prop_assert!((-1e-9..1.0 + 1e-9).contains(&fraction), "{fraction}");
                prop_assert!(fraction == 0.0 || !without.contains(functions[id].name));
            }
        }
    }

    #[test]
    fn a_cycle_is_what_reaches_each_other(table in distinct_table(), profile in profile(), pairs in pairs()) {
        let functions = table.functions();
        let (graph, _) = graph(&profile, &functions, &possible(&functions, &pairs), &HashSet::new());
        let reach = reach(&graph, &functions);
        for one in functions.ids() {
            for other in functions.ids().filter(|other| *other != one) {
                let is_circle = reach[one.index()][other.index()] && reach[other.index()][one.index()];
                let is_cycle = graph.cycle_of(one).is_some() && graph.cycle_of(one) == graph.cycle_of(other);
                prop_assert_eq!(is_circle, is_cycle);
            }
        }
    }
}
