//! Which functions and arcs a report is about.

mod matching;
mod runtime;

use std::collections::HashSet;
use std::sync::Arc;

use crate::cli::options::{Choice, Options, Subject};
use crate::cli::symspec::{Pattern, Spec, What};
use crate::error::Error;
use crate::symbols::functions::{FunctionId, Functions};
use crate::symbols::sources::Sources;
use matching::Matcher;

/// A choice of functions: those named, or all but those named.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Whether any function was named to be in.
    only_included: bool,
    included: Vec<bool>,
    excluded: Vec<bool>,
    /// Which functions are the profiling runtime.
    runtime: Arc<[bool]>,
}

impl Selection {
    /// Selects everything but the profiling runtime. Only tests select nothing else.
    #[cfg(any(test, feature = "internals"))]
    #[must_use]
    pub fn program(functions: &Functions<'_>) -> Selection {
        Selection::without(&runtime::all(functions).into())
    }

    /// Everything but the functions of the profiling runtime, which are these.
    fn without(runtime: &Arc<[bool]>) -> Selection {
        let excluded = runtime.to_vec();
        Selection { only_included: false, included: vec![false; runtime.len()], excluded, runtime: Arc::clone(runtime) }
    }

    /// Functions of these names, or, when no name is given, all but those of other names. Names that no function has
    /// count as names.
    #[must_use]
    pub fn by_names(functions: &Functions<'_>, included: &HashSet<&[u8]>, excluded: &HashSet<&[u8]>) -> Selection {
        let of = |names: &HashSet<&[u8]>| functions.as_slice().iter().map(|f| names.contains(f.name)).collect();
        let runtime = Arc::default();
        Selection { only_included: !included.is_empty(), included: of(included), excluded: of(excluded), runtime }
    }

    /// Everything.
    fn all(functions: &Functions<'_>) -> Selection {
        let none = vec![false; functions.len()];
        Selection { only_included: false, included: none.clone(), excluded: none, runtime: Arc::default() }
    }

    /// Whether some functions were named to be in.
    #[must_use]
    pub fn is_restricted(&self) -> bool {
        self.only_included
    }

    /// Whether a function is part of the profiling runtime.
    #[must_use]
    pub fn is_runtime(&self, id: FunctionId) -> bool {
        self.runtime.get(id.index()) == Some(&true)
    }

    /// Whether a function was named to be in.
    #[must_use]
    pub fn includes(&self, id: FunctionId) -> bool {
        self.included[id.index()]
    }

    /// Whether a function was named to be out, and not to be in.
    #[must_use]
    pub fn excludes(&self, id: FunctionId) -> bool {
        self.excluded[id.index()] && !self.includes(id)
    }

    /// Whether a function is chosen: named to be in; or, where none was named so, not named to be out.
    #[must_use]
    pub fn chooses(&self, id: FunctionId) -> bool {
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

/// The functions that a choice names, and for arcs those that are called.
type Named = (Vec<bool>, Vec<bool>);

/// A choice of arcs.
#[derive(Clone, Debug, Default)]
pub struct ArcSelection {
    included: Vec<Named>,
    excluded: Vec<Named>,
}

impl ArcSelection {
    /// Whether an arc is chosen.
    #[must_use]
    pub fn chooses(&self, from: FunctionId, to: FunctionId) -> bool {
        let named = |sets: &[Named]| sets.iter().any(|(callers, called)| callers[from.index()] && called[to.index()]);
        named(&self.included) || (self.included.is_empty() && !named(&self.excluded))
    }
}

/// All choices.
#[derive(Clone, Debug)]
pub struct Selections {
    /// Functions in the flat profile.
    pub flat: Selection,
    /// Functions with entries of their own in the call graph.
    pub graph: Selection,
    /// Functions whose time counts in the call graph.
    pub time: Selection,
    /// Functions in the list of counts.
    pub counts: Selection,
    /// Functions in annotated source files.
    pub source: Selection,
    /// Arcs of the call graph.
    pub arcs: ArcSelection,
}

impl Selections {
    /// Everything but the profiling runtime.
    #[must_use]
    pub fn program(functions: &Functions<'_>) -> Selections {
        Selections::without(runtime::all(functions), functions)
    }

    /// Everything but the functions of the profiling runtime, which are these.
    fn without(runtime: Vec<bool>, functions: &Functions<'_>) -> Selections {
        let program = Selection::without(&runtime.into());
        Selections {
            flat: program.clone(),
            graph: program.clone(),
            time: program,
            counts: Selection::all(functions),
            source: Selection::all(functions),
            arcs: ArcSelection::default(),
        }
    }

    /// What the options choose.
    ///
    /// # Errors
    ///
    /// When an option names no function that there is. GNU then takes the option for not given.
    pub fn new(options: &Options, functions: &Functions<'_>, sources: &Sources) -> Result<Selections, Error> {
        let rules = options.rules;
        let runtime = if rules.knows_whole_runtime { runtime::all(functions) } else { runtime::named(functions) };
        let mut all = Selections::without(runtime, functions);
        let matcher = Matcher { functions, sources, finds_readable: rules.finds_readable_names };
        for subject in [Subject::Flat, Subject::Graph, Subject::Time, Subject::Counts, Subject::Source, Subject::Arcs] {
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

/// The functions that each of some choices names, and for arcs those that are called.
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

/// Whoever names a function means its lines too, whatever was inlined there.
fn add_lines(named: &mut [bool], functions: &Functions<'_>) {
    let whole: Vec<_> = functions.ids().filter(|id| named[id.index()] && functions.is_marked(*id)).collect();
    for id in whole {
        named[functions.with_its_lines(id)].fill(true);
    }
}

/// Where copies count for their function, whoever names a copy means the function.
fn add_owners(named: &mut [bool], functions: &Functions<'_>) {
    for id in functions.ids().filter(|id| functions[*id].counts_for != *id) {
        if named[id.index()] {
            named[functions[id].counts_for.index()] = true;
        }
    }
}

/// GNU keeps chosen functions as ranges of neighbours, of which only one may begin at an address: that of the last
/// option. With `clipped`, as for all but arcs, a range ends where the next one begins, since an address is looked up in
/// the last that begins at it or below. A range reaches as far as the last of its neighbours does.
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
