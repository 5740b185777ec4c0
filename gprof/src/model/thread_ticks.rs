//! The stacks and the calls of each thread.

use std::collections::HashMap;

use super::contexts::build::{self, InlinedAt};
use super::contexts::measured::{self, PartTicks, StackSelection};
use super::contexts::tree::Contexts;
use super::graph::arcs;
use super::input::StackInput;
use crate::program::image::address_space::Images;
use crate::program::symbols::functions::{FunctionId, Functions};
use crate::program::symbols::inlines::InlinedCode;
use crate::sources::stacks::{Stacks, Thread};

/// A caller and a called function; `None` is code outside of all functions.
pub(super) type Ends = (Option<FunctionId>, Option<FunctionId>);

/// A tree of contexts, with the names of the inlined functions in it.
pub(super) type NamedContexts<'data> = (Contexts, Vec<&'data [u8]>);

/// What the stacks and the counters say of a thread, or of no thread.
pub(super) struct ThreadTicks<'data> {
    pub(super) thread: Option<&'data Thread>,
    pub(super) ticks: PartTicks,
    /// The calls of the thread.
    pub(super) calls: HashMap<Ends, u64>,
}

impl<'data> StackInput<'data> {
    /// Returns the threads with their stacks, and at the end the stacks of no thread. The list is empty if the runs did
    /// not count by thread.
    fn threads(&self) -> Vec<(Option<&'data Thread>, Stacks)> {
        let threads = self.stacks.threads();
        if threads.is_empty() {
            return Vec::new();
        }
        threads.iter().map(Some).chain([None]).zip(self.stacks.by_thread()).collect()
    }

    /// Returns the tree of calling contexts of each thread, and the names of inlined functions in it, as
    /// [`StackInput::contexts`] does for all threads.
    pub(super) fn contexts_by_thread(
        &self,
        functions: &Functions<'_>,
        images: Option<&'data Images<'data>>,
    ) -> Vec<(Option<&'data Thread>, NamedContexts<'data>)> {
        let (code, sites) = (images.map(InlinedCode::new), self.sites(functions));
        let inlined_at = code.as_ref().map(|code| |address: u64| code.at(address));
        let inlined_at = inlined_at.as_ref().map(|find| find as &InlinedAt<'_, 'data>);
        let contexts = |stacks: &Stacks| build::with_inlined(stacks, functions, &sites, inlined_at);
        self.threads().into_iter().map(|(thread, stacks)| (thread, contexts(&stacks))).collect()
    }

    /// Returns the ticks and the calls of each thread.
    pub(super) fn ticks_by_thread(
        &self,
        functions: &Functions<'_>,
        selection: StackSelection<'_>,
    ) -> Vec<ThreadTicks<'data>> {
        let sites = self.sites(functions);
        let of = |(thread, stacks): (Option<&'data Thread>, Stacks)| {
            let mut calls: HashMap<Ends, u64> = HashMap::new();
            for arc in thread.iter().flat_map(|thread| &thread.calls) {
                let sum = calls.entry(arcs::ends(&sites.with_last_caller(arc), functions)).or_default();
                *sum = sum.saturating_add(arc.count);
            }
            let contexts = build::contexts(&stacks, functions, &sites);
            ThreadTicks { thread, ticks: measured::part(contexts, functions, selection), calls }
        };
        self.threads().into_iter().map(of).collect()
    }
}
