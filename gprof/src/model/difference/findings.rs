//! Where a change is: the functions whose own time changed, why it changed, and who calls them.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::model::{ArcChange, Cause, Difference, DifferenceRow, Finding, RowSubject};
use crate::model::analysis::Analysis;
use crate::model::ordered::Ordered;
use crate::program::symbols::functions::FunctionId;

/// The callers that a path names at most.
const LONGEST: usize = 32;

impl Difference<'_, '_> {
    /// Finds out why the self times of these rows changed. `arcs` are all calls that changed, the largest changes
    /// first.
    pub(super) fn findings(&self, changed: impl Iterator<Item = DifferenceRow>, arcs: &[ArcChange]) -> Vec<Finding> {
        let mut to: HashMap<usize, &ArcChange> = HashMap::new();
        arcs.iter().for_each(|arc| _ = to.entry(arc.ends.1).or_insert(arc));
        let finding = |row: DifferenceRow| {
            let cause = cause(&row);
            let is_by_calls = matches!(cause, Cause::Calls | Cause::Both);
            let origin = match row.subject {
                RowSubject::Functions(at) if is_by_calls => origin(at, &to),
                _ => None,
            };
            let path = self.row_function(&row).map(|(side, id)| path(side, id)).unwrap_or_default();
            Finding { row, cause, origin, path }
        };
        changed.map(finding).collect()
    }

    /// Returns the names of the callers through which most of the time of a function comes, the outermost first.
    #[must_use]
    pub fn path_names(&self, finding: &Finding) -> Vec<Cow<'_, [u8]>> {
        let side = self.row_function(&finding.row).map(|(side, _)| side);
        side.map(|side| finding.path.iter().map(|id| side.name(*id)).collect()).unwrap_or_default()
    }

    /// Returns the names of the caller and of the called function.
    #[must_use]
    pub fn arc_names(&self, arc: &ArcChange) -> [Cow<'_, [u8]>; 2] {
        [self.joined_name(arc.ends.0), self.joined_name(arc.ends.1)]
    }
}

fn cause(row: &DifferenceRow) -> Cause {
    let Some((calls, each)) = row.runs.calls.zip(row.runs.for_each_call) else { return Cause::Unknown };
    let grows_with_calls = (calls.new > calls.base) == (row.runs.own.change() > 0.0);
    match (calls.has_changed, each.is_certain) {
        (false, _) => Cause::EachCall,
        (true, false) => Cause::Calls,
        (true, true) if grows_with_calls => Cause::Both,
        (true, true) => Cause::EachCall,
    }
}

/// The arc at which the calls of a function changed: the largest change that leads to the function, or from there on to
/// its callers as long as a caller only hands on that it was called another number of times.
fn origin(mut at: usize, to: &HashMap<usize, &ArcChange>) -> Option<ArcChange> {
    let (mut found, mut seen) = (None, HashSet::new());
    while let Some(arc) = to.get(&at).filter(|_| seen.insert(at)) {
        found = Some(**arc);
        if arc.is_origin {
            break;
        }
        at = arc.ends.0;
    }
    found
}

/// The callers of a function, each the one from which most time or most calls come. What calls `main` is left out.
fn path(side: &Analysis<'_>, of: FunctionId) -> Vec<FunctionId> {
    let graph = side.graph();
    let (mut path, mut seen, mut at) = (Vec::new(), HashSet::from([of]), of);
    while path.len() < LONGEST {
        let callers = graph.parents(at).iter().map(|arc| graph.arc(*arc)).filter(|(arc, _)| arc.parent != arc.child);
        let time = |handed: Option<(f64, f64)>| handed.map_or(0.0, |(own, below)| own + below);
        let most = callers.max_by_key(|(arc, handed)| (Ordered(time(*handed)), arc.count, arc.parent));
        match most.map(|(arc, _)| arc.parent).filter(|caller| seen.insert(*caller)) {
            Some(caller) => path.push(caller),
            None => break,
        }
        at = path.last().copied().unwrap_or(at);
        if side.functions[at].name == b"main" {
            break;
        }
    }
    path.reverse();
    path
}
