//! Finds functions that left the stack by a tail call.
//!
//! A function that ends in a tail call has no frame while the function runs that it called last. Two things still know
//! the function: the call instruction before the return address, and mcount, which has counted all functions that were
//! entered with this return address.

#[cfg(test)]
mod tests;

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;

use gmon::Arc;

use super::jumps::{FunctionJumps, Jump, base, is_same, stub};
use super::tree::Undecided;
use super::ways::{MOST_BETWEEN, Ways};
use crate::program::image::ProgramCode;
use crate::program::symbols::functions::{FunctionId, Functions};

/// The functions between a return address and the function of the next frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gone {
    /// The functions that left the stack, the outermost first.
    pub functions: Vec<FunctionId>,
    /// Whether other functions are possible: more, fewer, or different ones.
    pub is_doubtful: bool,
    /// If there is a doubt, so many of the functions, from the outermost on, were called for certain.
    pub certain: usize,
    /// If there is a doubt: what else is possible.
    pub undecided: Undecided,
    /// If the call instruction names no function: the functions that may have jumped to the callee last. Other evidence
    /// than the numbers of calls may tell which of them did.
    pub choices: Vec<FunctionId>,
    /// Whether more functions were counted at the call site than are looked at.
    pub is_crowded: bool,
}

impl Gone {
    /// Returns the functions that the call instruction names. Other functions may have left the stack, but are not
    /// known.
    fn named(functions: Vec<FunctionId>) -> Gone {
        Gone { certain: functions.len(), functions, is_doubtful: true, ..Gone::default() }
    }

    /// Functions that no instruction names.
    fn guessed(functions: Vec<FunctionId>) -> Gone {
        Gone { functions, is_doubtful: true, ..Gone::default() }
    }

    /// Notes that any function that was counted at the call site is possible. `from` is the function that the call
    /// instruction names.
    fn crowded(self, from: Option<FunctionId>) -> Gone {
        Gone { is_crowded: true, undecided: Undecided { from, ..Undecided::default() }, ..self }
    }

    /// Notes which functions are possible, if there is a doubt. `from` is the function that the call instruction names.
    fn on(self, ways: &Ways<'_>, from: Option<FunctionId>) -> Gone {
        let undecided = || Undecided { possible: ways.possible_functions(), from, crowd: None };
        Gone { undecided: if self.is_doubtful { undecided() } else { Undecided::default() }, ..self }
    }
}

/// The call sites of a program.
pub struct CallSites<'a, 'data> {
    functions: &'a Functions<'data>,
    code: ProgramCode<'a>,
    /// The functions that were counted at each return address, with the number of calls, sorted.
    counted: Vec<(u64, FunctionId, u64)>,
    /// The function that the call instruction before each return address calls.
    targets: RefCell<HashMap<u64, Option<FunctionId>>>,
    /// The function of each name without a version; `None` if there are several. Filled when a stub is called.
    names: OnceCell<HashMap<&'data [u8], Option<FunctionId>>>,
    jumps: FunctionJumps<'a, 'data>,
    /// The functions whose addresses each function takes, sorted.
    taken: RefCell<HashMap<FunctionId, Vec<FunctionId>>>,
}

impl<'a, 'data> CallSites<'a, 'data> {
    /// Makes the call sites of a program from the arcs of the profile. The caller's address of an arc is the return
    /// address.
    pub(crate) fn new(arcs: &[Arc], functions: &'a Functions<'data>, code: ProgramCode<'a>) -> CallSites<'a, 'data> {
        let counted = arcs.iter().filter(|arc| arc.count != 0).filter_map(|arc| {
            let called = functions[functions.find(arc.selfpc)?].called_as?;
            Some((arc.frompc, functions[called].counts_for, arc.count))
        });
        let mut counted: Vec<(u64, FunctionId, u64)> = counted.collect();
        counted.sort_unstable();
        counted.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 = kept.2.saturating_add(next.2);
            }
            same
        });
        let jumps = FunctionJumps::new(functions, code.clone());
        let (targets, names) = (RefCell::default(), OnceCell::new());
        CallSites { functions, code, counted, targets, names, jumps, taken: RefCell::default() }
    }

    /// Makes the call sites of a program whose machine code is in memory.
    #[cfg(any(test, feature = "internals"))]
    #[must_use]
    pub fn in_memory(
        arcs: &[Arc],
        functions: &'a Functions<'data>,
        code: crate::program::image::Code<'a>,
    ) -> CallSites<'a, 'data> {
        CallSites::new(arcs, functions, ProgramCode::in_memory(code))
    }

    /// Returns whether an address on the stack may be a return address. Otherwise it is where a signal interrupted the
    /// function, or the address to which a signal handler returns.
    #[must_use]
    pub fn is_return_address(&self, address: u64) -> bool {
        self.code.follows_call(address) != Some(false)
    }

    /// Returns the functions that left the stack between a return address and the function of the next frame.
    #[must_use]
    pub fn gone(&self, return_address: u64, callee: FunctionId) -> Gone {
        let first = self.counted.partition_point(|counted| counted.0 < return_address);
        let end = self.counted.partition_point(|counted| counted.0 <= return_address);
        let site = Site { sites: self, callee, counted: &self.counted[first..end] };
        let target = self.target(return_address);
        if site.is_crowded() {
            return site.undecided(target);
        }
        let Some(target) = target else { return site.indirect() };
        match stub(self.functions, target) {
            Some(_) if is_same(self.functions, callee, target) => Gone::default(),
            Some(name) => site.through_stub(name),
            None => site.direct(target),
        }
    }

    /// Returns all functions that were counted, with their return addresses and calls, sorted.
    pub(super) fn counted(&self) -> &[(u64, FunctionId, u64)] {
        &self.counted
    }

    pub(super) fn functions(&self) -> &'a Functions<'data> {
        self.functions
    }

    pub(super) fn jumps(&self) -> &FunctionJumps<'a, 'data> {
        &self.jumps
    }

    /// Returns the functions that were counted at a return address.
    pub(super) fn counted_at(&self, return_address: u64) -> impl Iterator<Item = FunctionId> {
        let first = self.counted.partition_point(|counted| counted.0 < return_address);
        self.counted[first..].iter().take_while(move |counted| counted.0 == return_address).map(|counted| counted.1)
    }

    /// Returns whether the code of a function takes the address of another.
    pub(super) fn takes_address(&self, by: FunctionId, of: FunctionId) -> bool {
        let find = || {
            let function = &self.functions[by];
            let addresses = self.code.loaded_addresses(function.address, function.last).unwrap_or_default();
            let of_function = |address: u64| {
                let id = self.functions.find(address).filter(|id| self.functions[*id].address == address)?;
                Some(self.functions[id].counts_for)
            };
            let mut taken: Vec<FunctionId> = addresses.into_iter().filter_map(of_function).collect();
            taken.sort_unstable();
            taken.dedup();
            taken
        };
        self.taken.borrow_mut().entry(by).or_insert_with(find).binary_search(&of).is_ok()
    }

    /// The function that the instruction before a return address calls directly.
    fn target(&self, return_address: u64) -> Option<FunctionId> {
        let find = || {
            let target = self.code.direct_call(return_address)?;
            let id = self.functions.find(target)?;
            (self.functions[id].address == target).then(|| self.functions[id].counts_for)
        };
        *self.targets.borrow_mut().entry(return_address).or_insert_with(find)
    }

    /// The only function with a name.
    fn named(&self, name: &[u8]) -> Option<FunctionId> {
        let names = self.names.get_or_init(|| {
            let mut names = HashMap::new();
            for id in self.functions.ids() {
                let known = names.entry(base(self.functions[id].name)).or_insert(Some(id));
                *known = known.filter(|known| *known == id);
            }
            names
        });
        names.get(name).copied().flatten().map(|id| self.functions[id].counts_for)
    }

    /// Returns an arc with the caller that called last: if the called function was entered by a tail call, the address
    /// of the function that ended so. The profile counts such a call for the function that the tail call returns to.
    #[must_use]
    pub fn with_last_caller(&self, arc: &Arc) -> Arc {
        let called = || Some(self.functions[self.functions[self.functions.find(arc.selfpc)?].called_as?].counts_for);
        let gone = called().map(|called| self.gone(arc.frompc, called)).filter(|gone| !gone.is_doubtful);
        let last = gone.and_then(|gone| gone.functions.last().copied());
        Arc::new(last.map_or(arc.frompc, |last| self.functions[last].address), arc.selfpc, arc.count)
    }
}

/// At most this many counted functions of a site are the callee, the function that the callee is a label of, or the
/// target.
const MOST_ENDS: usize = 3;

/// A call site with the function of the next frame.
struct Site<'s, 'a, 'data> {
    sites: &'s CallSites<'a, 'data>,
    /// The function of the next frame.
    callee: FunctionId,
    /// The functions that were counted at the return address.
    counted: &'s [(u64, FunctionId, u64)],
}

impl Site<'_, '_, '_> {
    /// Whether there are certainly too many functions between. A dispatcher calls thousands of functions at one site,
    /// and looking at all of them once for each would take a time in proportion to the square of their number.
    fn is_crowded(&self) -> bool {
        self.counted.len() > MOST_BETWEEN + MOST_ENDS
    }

    /// The answer where there are too many functions between: only the function that the instruction names.
    fn undecided(&self, target: Option<FunctionId>) -> Gone {
        let is_counted = |id: &FunctionId| self.counted.binary_search_by_key(id, |counted| counted.1).is_ok();
        let called = |target| match stub(self.sites.functions, target) {
            Some(name) => self.sites.named(name).filter(is_counted),
            None => Some(target),
        };
        let Some(called) = target.and_then(called) else { return Gone::named(Vec::new()).crowded(None) };
        match is_same(self.sites.functions, self.callee, called) {
            true => Gone::named(Vec::new()).crowded(Some(self.callee)),
            false => Gone::named(vec![called]).crowded(Some(called)),
        }
    }

    /// The counted functions other than the callee, with their calls.
    fn others(&self) -> Vec<(FunctionId, u64)> {
        let others = self.counted.iter().filter(|(_, id, _)| !is_same(self.sites.functions, self.callee, *id));
        others.map(|(_, id, calls)| (*id, *calls)).collect()
    }

    /// The ways from a function to the callee.
    fn ways<'f>(&self, from: FunctionId, between: &'f [FunctionId]) -> Ways<'f> {
        Ways::new(from, between, self.callee, |from, to| self.sites.jumps.jump(from, to))
    }

    /// A call of a known function.
    fn direct(&self, target: FunctionId) -> Gone {
        let is_direct = is_same(self.sites.functions, self.callee, target);
        let mut between: Vec<FunctionId> = self.others().into_iter().map(|(id, _)| id).collect();
        between.retain(|id| *id != target);
        let first = if is_direct { Vec::new() } else { vec![target] };
        if between.len() > MOST_BETWEEN {
            return Gone::named(first).crowded(Some(if is_direct { self.callee } else { target }));
        }
        if is_direct {
            // Another function may have been called, and may have called this one again. All functions between were
            // entered from this one, some perhaps by jumps that are not known.
            let ways = self.ways(self.callee, &between);
            return Gone { is_doubtful: ways.any_may_lead(), ..Gone::default() }.on(&ways, Some(self.callee));
        }
        let ways = self.ways(target, &between);
        match ways.shortest() {
            // A jump that is not known, but has led to a counted function, may have led to the callee too. So may a
            // jump through a register in a function between.
            Some((path, is_only)) => {
                let is_doubtful = !(is_only && ways.reaches_all());
                Gone { functions: path, is_doubtful, certain: 1, ..Gone::default() }.on(&ways, Some(target))
            }
            // The target jumps to an address that is not known, or to a function that was not counted.
            None => Gone::named(first).on(&ways, Some(target)),
        }
    }

    /// A call through a stub, which leads to a function of this name in some object.
    fn through_stub(&self, name: &[u8]) -> Gone {
        let is_named = |id: FunctionId| base(self.sites.functions[id].name) == name;
        if is_named(self.callee) {
            return self.direct(self.callee);
        }
        if let Some((target, _)) = self.others().into_iter().find(|(id, _)| is_named(*id)) {
            return self.direct(target);
        }
        // The function has no counter. Several functions may have the name, so only a jump proves which function the
        // caller calls.
        match self.sites.named(name).filter(|target| self.sites.jumps.jump(*target, self.callee) == Jump::Direct) {
            Some(target) => self.direct(target),
            None => self.indirect(),
        }
    }

    /// A call of a function that the instruction does not name.
    fn indirect(&self) -> Gone {
        let others = self.others();
        if others.is_empty() {
            return Gone::default();
        }
        if others.len() > MOST_BETWEEN {
            return Gone::guessed(Vec::new()).crowded(None);
        }
        let candidates: Vec<FunctionId> = others.iter().map(|(id, _)| *id).collect();
        let ways = self.ways(self.callee, &candidates);
        let last: Vec<&(FunctionId, u64)> =
            others.iter().enumerate().filter(|(at, _)| ways.leads(*at)).map(|(_, other)| other).collect();
        let Some((way, _)) = last.iter().max_by_key(|(id, calls)| (*calls, std::cmp::Reverse(*id))) else {
            // A jump whose target is not known is no evidence that a function between called the callee.
            return Gone { is_doubtful: ways.any_may_lead(), ..Gone::default() }.on(&ways, None);
        };
        // The callee may have been called directly. If it was entered more often than the others, it was.
        let most: u64 = last.iter().fold(0, |sum, (_, calls)| sum.saturating_add(*calls));
        let calls = self
            .counted
            .iter()
            .find(|(_, id, _)| is_same(self.sites.functions, self.callee, *id))
            .map(|counted| counted.2);
        let is_direct = calls.is_some_and(|calls| calls > most);
        let choices = last.iter().map(|(id, _)| *id).collect();
        let gone = Gone::guessed(if is_direct { Vec::new() } else { vec![*way] });
        Gone { choices, ..gone.on(&ways, None) }
    }
}

/// A site at which more functions were counted is looked at as a whole.
const MOST_AT_SITE: usize = 32;

/// The tail calls that may have happened.
#[derive(Debug, Default)]
pub struct TailCalls {
    /// Pairs of functions: the first one may have jumped to the second one. If very many functions were counted at a
    /// call site, the second function of each pair is the function with the call site, which calls all these
    /// functions.
    pub pairs: Vec<(FunctionId, FunctionId)>,
    /// The number of functions that may have jumped to others.
    pub functions: usize,
    /// The number of called functions whose code is not known, or of a machine whose jumps are not known.
    pub unknown: usize,
}

impl CallSites<'_, '_> {
    /// Finds the tail calls that may have happened: jumps from a function to another that was counted at the same
    /// return address.
    #[must_use]
    pub fn tail_calls(&self) -> TailCalls {
        let (mut pairs, mut unknown) = (Vec::new(), Vec::new());
        for site in self.counted().chunk_by(|one, next| one.0 == next.0) {
            let return_address = site.first().map_or(0, |counted| counted.0);
            let is_here = |id: &FunctionId| site.binary_search_by_key(id, |counted| counted.1).is_ok();
            for (_, from, _) in site {
                let jumps: &FunctionJumps<'_, '_> = self.jumps();
                let known = jumps.each_direct(*from, |target| {
                    let functions = self.functions();
                    let called = match stub(functions, target) {
                        Some(name) => site.iter().map(|counted| counted.1).find(|id| base(functions[*id].name) == name),
                        None => Some(functions[target].counts_for),
                    };
                    let called = called.map(|id| functions[id].called_as.map_or(id, |id| functions[id].counts_for));
                    pairs.extend(called.filter(is_here).map(|called| (*from, called)));
                });
                match known {
                    None => unknown.push(*from),
                    Some(false) => {}
                    Some(true) if site.len() <= MOST_AT_SITE => pairs.extend(site.iter().map(|to| (*from, to.1))),
                    Some(true) => {
                        let caller = self.functions().find(return_address.wrapping_sub(1));
                        pairs.extend(caller.map(|caller| (*from, self.functions()[caller].counts_for)));
                    }
                }
            }
        }
        pairs.retain(|(from, to)| from != to);
        pairs.sort_unstable();
        pairs.dedup();
        unknown.sort_unstable();
        unknown.dedup();
        let functions = pairs.chunk_by(|one, next| one.0 == next.0).count();
        TailCalls { pairs, functions, unknown: unknown.len() }
    }
}
