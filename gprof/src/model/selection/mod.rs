//! The functions and arcs that the user selected.

mod matching;
mod runtime;

use std::collections::HashSet;
use std::sync::Arc;

use crate::error::Error;
use crate::program::symbols::functions::{FunctionId, Functions};
use crate::program::symbols::sources::Sources;
use crate::question::options::{Choice, Options, Subject};
use crate::question::pattern::{Pattern, Spec, What};
use matching::Matcher;

/// A selection of functions: the included functions, or all functions but the excluded ones.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Whether any function is included by name, so that all other functions are out.
    only_included: bool,
    included: Vec<bool>,
    excluded: Vec<bool>,
    /// Whether each function is part of the profiling runtime.
    runtime: Arc<[bool]>,
}

impl Selection {
    /// Selects everything but the profiling runtime. Only tests select nothing else.
    #[cfg(any(test, feature = "internals"))]
    #[must_use]
    pub fn program(functions: &Functions<'_>) -> Selection {
        Selection::without(&runtime::all(functions).into())
    }

    /// Selects everything but these functions of the profiling runtime.
    fn without(runtime: &Arc<[bool]>) -> Selection {
        let excluded = runtime.to_vec();
        Selection { only_included: false, included: vec![false; runtime.len()], excluded, runtime: Arc::clone(runtime) }
    }

    /// Selects functions by name: the functions in `included`, or, if `included` is empty, all functions but those in
    /// `excluded`. Names that no function has count as well.
    #[must_use]
    pub fn by_names(functions: &Functions<'_>, included: &HashSet<&[u8]>, excluded: &HashSet<&[u8]>) -> Selection {
        let of = |names: &HashSet<&[u8]>| functions.as_slice().iter().map(|f| names.contains(f.name)).collect();
        let runtime = Arc::default();
        Selection { only_included: !included.is_empty(), included: of(included), excluded: of(excluded), runtime }
    }

    /// Selects everything.
    pub(crate) fn all(functions: &Functions<'_>) -> Selection {
        let none = vec![false; functions.len()];
        Selection { only_included: false, included: none.clone(), excluded: none, runtime: Arc::default() }
    }

    /// Returns whether any function is included by name.
    #[must_use]
    pub fn is_restricted(&self) -> bool {
        self.only_included
    }

    /// Returns whether a function is part of the profiling runtime.
    #[must_use]
    pub fn is_runtime(&self, id: FunctionId) -> bool {
        self.runtime.get(id.index()) == Some(&true)
    }

    /// Returns whether a function is included by name.
    #[must_use]
    pub fn includes(&self, id: FunctionId) -> bool {
        self.included[id.index()]
    }

    /// Returns whether a function is excluded and not included.
    #[must_use]
    pub fn excludes(&self, id: FunctionId) -> bool {
        self.excluded[id.index()] && !self.includes(id)
    }

    /// Returns whether a function is selected: included by name; or not excluded, if no function is included by name.
    #[must_use]
    pub fn selects(&self, id: FunctionId) -> bool {
        self.includes(id) || (!self.only_included && !self.excluded[id.index()])
    }

    fn add(&mut self, named: &[bool], only: bool) {
        self.only_included |= only && named.contains(&true);
        let set = if only { &mut self.included } else { &mut self.excluded };
        for (all, one) in set.iter_mut().zip(named) {
            *all |= one;
        }
    }
}

/// The functions that a SPEC names. If the SPEC names arcs, these are the callers, and the second list has the called
/// functions.
type Named = (Vec<bool>, Vec<bool>);

/// A selection of arcs.
#[derive(Clone, Debug, Default)]
pub struct ArcSelection {
    included: Vec<Named>,
    excluded: Vec<Named>,
}

impl ArcSelection {
    /// Returns whether any arc is excluded.
    #[must_use]
    pub fn has_exclusions(&self) -> bool {
        !self.excluded.is_empty()
    }

    /// Returns whether an arc is excluded.
    #[must_use]
    pub fn excludes(&self, from: FunctionId, to: FunctionId) -> bool {
        are_named(&self.excluded, from, to)
    }

    /// Returns whether an arc is selected.
    #[must_use]
    pub fn selects(&self, from: FunctionId, to: FunctionId) -> bool {
        are_named(&self.included, from, to) || (self.included.is_empty() && !self.excludes(from, to))
    }
}

/// Whether one of the lists has the arc.
fn are_named(lists: &[Named], from: FunctionId, to: FunctionId) -> bool {
    lists.iter().any(|(callers, called)| callers[from.index()] && called[to.index()])
}

/// The selections for all reports.
#[derive(Clone, Debug)]
pub struct Selections {
    /// The functions in the flat profile.
    pub flat: Selection,
    /// The functions with entries in the call graph.
    pub graph: Selection,
    /// The functions whose time counts in the call graph.
    pub time: Selection,
    /// The functions in the list of execution counts.
    pub counts: Selection,
    /// The functions in annotated source files.
    pub source: Selection,
    /// The arcs of the call graph.
    pub arcs: ArcSelection,
    /// The functions whose callers are shown.
    pub callers: Selection,
}

impl Selections {
    /// Selects everything but the profiling runtime.
    #[must_use]
    pub fn program(functions: &Functions<'_>) -> Selections {
        Selections::without(runtime::all(functions), functions)
    }

    /// Selects everything but these functions of the profiling runtime.
    fn without(runtime: Vec<bool>, functions: &Functions<'_>) -> Selections {
        let program = Selection::without(&runtime.into());
        Selections {
            flat: program.clone(),
            graph: program.clone(),
            time: program,
            counts: Selection::all(functions),
            source: Selection::all(functions),
            arcs: ArcSelection::default(),
            callers: Selection::all(functions),
        }
    }

    /// Applies the options that select functions and arcs.
    ///
    /// # Errors
    ///
    /// If an option names no function of the program. GNU ignores such an option.
    pub fn new(options: &Options, functions: &Functions<'_>, sources: &Sources) -> Result<Selections, Error> {
        let rules = options.rules;
        let runtime = if rules.knows_whole_runtime { runtime::all(functions) } else { runtime::named(functions) };
        let mut all = Selections::without(runtime, functions);
        let matcher = Matcher { functions, sources, finds_readable: rules.finds_readable_names };
        for subject in Subject::ALL {
            for only in [true, false] {
                let choices = options.choices.iter().filter(|choice| (choice.subject, choice.only) == (subject, only));
                let choices: Vec<&Choice> = choices.collect();
                let mut named = sets(&choices, &matcher)?;
                if !rules.chooses_sets && !named.is_empty() {
                    keep_ranges(&mut named, subject != Subject::Arcs, functions);
                }
                all.add(subject, only, named);
            }
        }
        Ok(all)
    }

    fn add(&mut self, subject: Subject, only: bool, named: Vec<Named>) {
        let selection = match subject {
            Subject::Flat => &mut self.flat,
            Subject::Graph => &mut self.graph,
            Subject::Time => &mut self.time,
            Subject::Counts => &mut self.counts,
            Subject::Source => &mut self.source,
            Subject::Callers => &mut self.callers,
            // These choose among stacks, before reports choose.
            Subject::Focus | Subject::Ignored | Subject::Hidden | Subject::Start => return,
            Subject::Arcs => {
                let arcs = if only { &mut self.arcs.included } else { &mut self.arcs.excluded };
                arcs.extend(named.into_iter().filter(|(callers, _)| callers.contains(&true)));
                return;
            }
        };
        for (functions, _) in named {
            selection.add(&functions, only);
        }
    }
}

/// The functions that filters of stacks name.
#[derive(Debug)]
pub(super) struct StackFilters {
    /// For each of [`Subject::OF_STACKS`], whether an option has it, and which functions the options name.
    named: Vec<(bool, Vec<bool>)>,
}

impl StackFilters {
    /// Finds the functions that the options name.
    ///
    /// # Errors
    ///
    /// If an option names no function of the program.
    pub(super) fn new(options: &Options, functions: &Functions<'_>, sources: &Sources) -> Result<StackFilters, Error> {
        let matcher = Matcher { functions, sources, finds_readable: true };
        let of = |subject: Subject| {
            let choices: Vec<&Choice> = options.choices.iter().filter(|choice| choice.subject == subject).collect();
            let mut all = vec![false; functions.len()];
            for (named, _) in sets(&choices, &matcher)? {
                all.iter_mut().zip(named).for_each(|(all, named)| *all |= named);
            }
            Ok((!choices.is_empty(), all))
        };
        Ok(StackFilters { named: Subject::OF_STACKS.into_iter().map(of).collect::<Result<_, _>>()? })
    }

    /// Whether only stacks with certain functions count.
    pub(super) fn has_focus(&self) -> bool {
        self.of(Subject::Focus).is_some_and(|(is_given, _)| *is_given)
    }

    /// Whether stacks begin at certain functions.
    pub(super) fn has_start(&self) -> bool {
        self.of(Subject::Start).is_some_and(|(is_given, _)| *is_given)
    }

    /// Whether an option names a function.
    pub(super) fn has(&self, subject: Subject, id: FunctionId) -> bool {
        self.of(subject).is_some_and(|(_, named)| named.get(id.index()) == Some(&true))
    }

    fn of(&self, subject: Subject) -> Option<&(bool, Vec<bool>)> {
        self.named.get(Subject::OF_STACKS.iter().position(|of| *of == subject)?)
    }
}

/// Returns the functions that each choice names.
fn sets(choices: &[&Choice], matcher: &Matcher<'_, '_>) -> Result<Vec<Named>, Error> {
    let find = |choice: &Choice, spec: &Spec| {
        let mut found = matcher.find(spec);
        if !matcher.finds_readable {
            return Ok(found);
        }
        if found.contains(&true) {
            add_lines(&mut found, matcher.functions);
            add_owners(&mut found, matcher.functions);
            return Ok(found);
        }
        let what = match &spec.what {
            What::Function(name) => format!("no function '{}'", name.escape_ascii()),
            What::Line(line) => format!("no function on line {line}"),
            What::All => "no function in that file".to_owned(),
        };
        Err(Error::Usage(format!("'{}': {what}", choice.given)))
    };
    let sets = choices.iter().map(|choice| match &choice.pattern {
        Pattern::Functions(spec) => Ok((find(choice, spec)?, vec![false; matcher.functions.len()])),
        Pattern::Arcs(from, to) => Ok((find(choice, from)?, find(choice, to)?)),
    });
    sets.collect()
}

/// Adds the lines of each function that is named.
fn add_lines(named: &mut [bool], functions: &Functions<'_>) {
    let whole: Vec<_> = functions.ids().filter(|id| named[id.index()] && functions.is_marked(*id)).collect();
    for id in whole {
        named[functions.with_its_lines(id)].fill(true);
    }
}

/// Adds the function that a copy counts for, for each copy that is named.
fn add_owners(named: &mut [bool], functions: &Functions<'_>) {
    for id in functions.ids().filter(|id| functions[*id].counts_for != *id) {
        if named[id.index()] {
            named[functions[id].counts_for.index()] = true;
        }
    }
}

/// Keeps the selection that GNU gprof keeps. GNU stores ranges of neighboring functions. Only one range may begin at an
/// address: the range of the last option. If `clipped` is set, as for everything but arcs, a range ends where the next
/// range begins, because GNU looks up an address in the last range that begins at or below the address. A range ends
/// where its last function ends.
fn keep_ranges(sets: &mut [Named], clipped: bool, known: &Functions<'_>) {
    let mut begun: Vec<bool> = Vec::new();
    let mut ranges = Vec::new();
    for (at, (functions, _)) in sets.iter_mut().enumerate().rev() {
        begun.resize(functions.len(), false);
        let mut next = 0;
        while let Some(start) = functions[next..].iter().position(|named| *named).map(|more| next + more) {
            next = functions[start..].iter().position(|named| !named).map_or(functions.len(), |more| start + more);
            if !std::mem::replace(&mut begun[start], true) {
                let last = known.id(next - 1).filter(|id| known.is_marked(*id));
                ranges.push((start, last.map_or(next, |id| known.with_its_lines(id).end), at));
            }
        }
        functions.fill(false);
    }
    ranges.sort_unstable();
    let starts: Vec<usize> = ranges.iter().skip(1).map(|(start, ..)| *start).chain([usize::MAX]).collect();
    for ((start, end, at), next) in ranges.into_iter().zip(starts) {
        sets[at].0[start..if clipped { end.min(next) } else { end }].fill(true);
    }
}
