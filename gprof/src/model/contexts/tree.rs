//! The tree of calling contexts.

use std::collections::{HashMap, HashSet};

use gmon::side_file::CutReason;

use crate::program::symbols::functions::FunctionId;

/// What a frame of a stack belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Frame {
    /// A function.
    Function(FunctionId),
    /// A function that was inlined into the caller: the index of its name in the list of inlined functions.
    Inlined(u32),
    /// The kernel.
    Kernel,
    /// Code in no function of the images.
    Outside,
    /// The outer part of the stack is not known, for this reason.
    Cut(CutReason),
}

/// What a tail call leaves in doubt about a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Doubt {
    /// Nothing.
    #[default]
    None,
    /// The frame was on the stack, but other functions may have been between the frame and its caller.
    Between,
    /// Another function, or none, may have been in the place of the frame.
    Frame,
}

/// The functions that may have been between two frames of which one called the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Undecided {
    /// The functions, chosen or not.
    pub possible: Vec<FunctionId>,
    /// The function that was called for certain, if the call instruction names a function.
    pub from: Option<FunctionId>,
    /// The list of functions in [`Contexts::crowds`] that are possible too.
    pub crowd: Option<usize>,
}

/// A context: a frame, with the frames of its callers.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    parent: u32,
    /// The innermost frame of the context.
    pub frame: Frame,
    /// The ticks whose innermost frame this is.
    pub ticks: u64,
    /// What a tail call leaves in doubt about the frame.
    pub doubt: Doubt,
}

impl Context {
    /// Returns the index of the caller's context; `None` for an outermost frame.
    #[must_use]
    pub fn parent(&self) -> Option<usize> {
        (self.parent != ROOT).then_some(self.parent as usize)
    }

    /// Returns whether the frame, or the lack of a frame between this one and its caller, is one of several
    /// possibilities.
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        self.doubt != Doubt::None
    }
}

/// The parent of contexts without a caller.
const ROOT: u32 = u32::MAX;

/// All contexts, each after the context of its caller. No two contexts have the same caller, frame and doubt.
#[derive(Debug, Default)]
pub struct Contexts {
    all: Vec<Context>,
    /// What is possible instead of the frames of the tree.
    undecided: Vec<Undecided>,
    /// For the contexts of frames that such functions may have called: indexes in `undecided`, each once.
    undecided_at: HashMap<u32, Vec<u32>>,
    /// The functions that were counted at call sites with very many functions.
    crowds: Vec<Vec<FunctionId>>,
}

/// Contexts to which more contexts can be added.
#[derive(Default)]
pub(super) struct Growing {
    contexts: Contexts,
    known: HashMap<(u32, Frame, Doubt), u32>,
    /// What was noted: contexts with indexes in `undecided`. A context may have an index for each call site of its
    /// caller.
    noted: HashSet<(u32, u32)>,
}

impl Growing {
    /// Returns the context of a frame below a context, which is added if the tree does not have it yet. Returns the
    /// caller's context if the tree is full.
    pub(super) fn add(&mut self, parent: Option<u32>, frame: Frame, doubt: Doubt) -> Option<u32> {
        let Growing { contexts: Contexts { all, .. }, known, .. } = self;
        let above = parent.unwrap_or(ROOT);
        let Some(next) = u32::try_from(all.len()).ok().filter(|next| *next != ROOT) else { return parent };
        let index = *known.entry((above, frame, doubt)).or_insert_with(|| {
            all.push(Context { parent: above, frame, ticks: 0, doubt });
            next
        });
        Some(index)
    }

    /// Adds ticks to a context.
    pub(super) fn count(&mut self, context: Option<u32>, ticks: u64) {
        if let Some(context) = context.and_then(|context| self.contexts.all.get_mut(context as usize)) {
            context.ticks = context.ticks.saturating_add(ticks);
        }
    }

    /// Adds a list of functions that were counted at one call site, and returns its index.
    pub(super) fn add_crowd(&mut self, crowd: Vec<FunctionId>) -> usize {
        self.contexts.crowds.push(crowd);
        self.contexts.crowds.len() - 1
    }

    /// Adds what may have been between two frames, and returns its index.
    pub(super) fn add_undecided(&mut self, undecided: Undecided) -> u32 {
        self.contexts.undecided.push(undecided);
        (self.contexts.undecided.len() - 1) as u32
    }

    /// Notes what may have been between the frame of a context and its caller.
    pub(super) fn note(&mut self, context: Option<u32>, undecided: u32) {
        let Some(context) = context else { return };
        if self.noted.insert((context, undecided)) {
            self.contexts.undecided_at.entry(context).or_default().push(undecided);
        }
    }

    /// Returns the contexts so far.
    pub(super) fn contexts(&self) -> &Contexts {
        &self.contexts
    }

    /// Ends the building.
    pub(super) fn finish(self) -> Contexts {
        self.contexts
    }
}

impl Contexts {
    /// Returns all contexts, each after the context of its caller.
    #[must_use]
    pub fn all(&self) -> &[Context] {
        &self.all
    }

    /// Returns what may have been between the frame of a context and its caller.
    pub(super) fn undecided(&self, context: usize) -> impl Iterator<Item = (usize, &Undecided)> {
        let noted = u32::try_from(context).ok().and_then(|context| self.undecided_at.get(&context));
        noted.into_iter().flatten().map(|at| (*at as usize, &self.undecided[*at as usize]))
    }

    /// Returns whether tail calls leave something in doubt.
    pub(super) fn has_undecided(&self) -> bool {
        !self.undecided_at.is_empty()
    }

    /// Returns the functions that were counted at call sites with very many functions.
    pub(super) fn crowds(&self) -> &[Vec<FunctionId>] {
        &self.crowds
    }

    /// Makes outermost contexts of those for which `is_cut` returns true.
    pub fn cut(&mut self, is_cut: impl Fn(usize) -> bool) {
        for (at, context) in self.all.iter_mut().enumerate() {
            if is_cut(at) {
                context.parent = ROOT;
            }
        }
    }

    /// Joins contexts with the same caller, frame, and doubt, which a cut may have made.
    pub(super) fn merged(self) -> Contexts {
        let mut growing = Growing::default();
        let mut places: Vec<Option<u32>> = Vec::with_capacity(self.all.len());
        for context in &self.all {
            let parent = context.parent().and_then(|parent| places[parent]);
            let place = growing.add(parent, context.frame, context.doubt);
            growing.count(place, context.ticks);
            places.push(place);
        }
        growing.finish()
    }

    /// Adds to the number of each context the numbers of all contexts below it.
    pub fn add_up(&self, numbers: &mut [u64]) {
        for (at, context) in self.all.iter().enumerate().rev() {
            if let Some(parent) = context.parent() {
                numbers[parent] = numbers[parent].saturating_add(numbers[at]);
            }
        }
    }

    /// Visits all contexts that have a key, except those below another context with the same key. `keys` is the number
    /// of keys, which are counted from 0.
    pub fn each_outermost(&self, keys: usize, key: impl Fn(usize) -> Option<usize>, take: impl FnMut(usize, usize)) {
        self.each_outermost_of(keys, |at, keys| keys.extend(key(at)), take);
    }

    /// Visits all contexts with each of their keys, except for the keys that a context above has too. `find` appends
    /// the keys of a context to a list.
    pub(super) fn each_outermost_of(
        &self,
        keys: usize,
        find: impl Fn(usize, &mut Vec<usize>),
        mut take: impl FnMut(usize, usize),
    ) {
        let mut found = Vec::new();
        let tree = Children::new(self);
        let mut on_path = vec![0_u32; keys];
        let mut open: Vec<usize> = Vec::new();
        tree.each(|at, depth| {
            for closed in open.drain(depth..) {
                found.clear();
                find(closed, &mut found);
                found.iter().for_each(|key| on_path[*key] -= 1);
            }
            open.push(at);
            found.clear();
            find(at, &mut found);
            for key in &found {
                if on_path[*key] == 0 {
                    take(*key, at);
                }
                on_path[*key] += 1;
            }
        });
    }
}

/// The contexts below each context.
#[derive(Debug)]
pub(crate) struct Children {
    /// The index in `all` where the children of each context begin, and the end of the last. The outermost contexts
    /// come first.
    starts: Vec<u32>,
    all: Vec<u32>,
}

impl Children {
    pub(crate) fn new(contexts: &Contexts) -> Children {
        // Group 0 has the outermost contexts, group 1 + n the children of context n.
        let group = |context: &Context| context.parent().map_or(0, |parent| parent + 1);
        let mut starts = vec![0_u32; contexts.all.len() + 2];
        for context in &contexts.all {
            starts[group(context) + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let (mut next, mut all) = (starts.clone(), vec![0; contexts.all.len()]);
        for (at, context) in (0..).zip(&contexts.all) {
            let place = &mut next[group(context)];
            all[*place as usize] = at;
            *place += 1;
        }
        Children { starts, all }
    }

    /// Returns the children of a context, or the outermost contexts.
    pub(crate) fn of(&self, context: Option<usize>) -> &[u32] {
        let group = context.map_or(0, |context| context + 1);
        &self.all[self.starts[group] as usize..self.starts[group + 1] as usize]
    }

    /// Sorts the children of each context.
    pub(crate) fn sort_by_key<K: Ord>(&mut self, key: impl Fn(usize) -> K) {
        for borders in self.starts.windows(2) {
            self.all[borders[0] as usize..borders[1] as usize].sort_by_cached_key(|at| key(*at as usize));
        }
    }

    /// Visits all contexts, each before its children, with the number of callers of each context.
    pub(crate) fn each(&self, mut take: impl FnMut(usize, usize)) {
        let mut left: Vec<(u32, usize)> = self.of(None).iter().rev().map(|at| (*at, 0)).collect();
        while let Some((at, depth)) = left.pop() {
            take(at as usize, depth);
            left.extend(self.of(Some(at as usize)).iter().rev().map(|child| (*child, depth + 1)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function with many call sites. Work in proportion to the square of their number would not end.
    #[test]
    fn what_many_call_sites_leave_undecided_is_noted_once() {
        const SITES: u32 = 2_000_000;
        let mut growing = Growing::default();
        let context = growing.add(None, Frame::Outside, Doubt::Between);
        for site in 0..SITES {
            growing.note(context, site);
            growing.note(context, site);
        }
        growing.note(None, 0);
        let contexts = growing.finish();
        assert!(contexts.has_undecided());
        assert_eq!(contexts.undecided_at, HashMap::from([(0, (0..SITES).collect::<Vec<_>>())]));
    }

    #[test]
    fn crowds_are_known_by_their_indexes() {
        let symbol = |address| crate::program::image::Symbol { address, name: b"f", is_static: false, is_func: true };
        let functions = crate::program::symbols::functions::Functions::new([16, 32].map(symbol).to_vec(), 48);
        let [one, two] = [0, 1].map(|at| functions.id(at).unwrap());
        let mut growing = Growing::default();
        assert_eq!([vec![one], vec![two, one]].map(|crowd| growing.add_crowd(crowd)), [0, 1]);
        let contexts = growing.finish();
        assert_eq!(contexts.crowds(), [vec![one], vec![two, one]]);
        assert!(!contexts.has_undecided());
    }
}
