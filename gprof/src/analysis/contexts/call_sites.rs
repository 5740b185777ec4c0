//! Finds functions that left the stack by a tail call.
//!
//! A function that ends in a tail call has no frame while the function runs that it called last. Two things still know the
//! function: the call instruction before the return address, and mcount, which has counted all functions that were entered
//! with this return address.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;

use gmon::Arc;

use crate::image::ProgramCode;
use crate::symbols::functions::{FunctionId, Functions};

/// The functions between a return address and the function of the next frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gone {
    /// The functions that left the stack, the outermost first.
    pub functions: Vec<FunctionId>,
    /// Whether other functions are possible: more, fewer, or different ones.
    pub is_doubtful: bool,
}

impl Gone {
    fn doubtful(functions: Vec<FunctionId>) -> Gone {
        Gone { functions, is_doubtful: true }
    }
}

/// If more functions were counted at one return address, jumps between these functions are not searched.
const MOST_CANDIDATES: usize = 16;

/// If a function may jump to more functions, its jumps count as unknown.
const MOST_JUMPS: usize = 256;

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
    /// The functions that each function may jump to; `None` if its code is not known.
    jumps: RefCell<HashMap<FunctionId, Option<Vec<FunctionId>>>>,
}

impl<'a, 'data> CallSites<'a, 'data> {
    /// Makes the call sites of a program from the arcs of the profile. The caller's address of an arc is the return address.
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
        let (targets, names, jumps) = (RefCell::default(), OnceCell::new(), RefCell::default());
        CallSites { functions, code, counted, targets, names, jumps }
    }

    /// Makes the call sites of a program whose machine code is in memory.
    #[cfg(any(test, feature = "internals"))]
    #[must_use]
    pub fn in_memory(
        arcs: &[Arc],
        functions: &'a Functions<'data>,
        code: crate::image::Code<'a>,
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
        let Some(target) = self.target(return_address) else { return site.indirect() };
        match self.stub(target) {
            Some(_) if self.is_same(callee, target) => Gone::default(),
            Some(name) => site.through_stub(name),
            None => site.direct(target),
        }
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

    /// The name of the function that a stub jumps to, if the function is a stub.
    fn stub(&self, id: FunctionId) -> Option<&'data [u8]> {
        self.functions[id].name.strip_suffix(b"@plt")
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

    /// Returns an arc with the caller that called last: if the called function was entered by a tail call, the address of
    /// the function that ended so. The profile counts such a call for the function that the tail call returns to.
    #[must_use]
    pub fn with_last_caller(&self, arc: &Arc) -> Arc {
        let called = || Some(self.functions[self.functions[self.functions.find(arc.selfpc)?].called_as?].counts_for);
        let gone = called().map(|called| self.gone(arc.frompc, called)).filter(|gone| !gone.is_doubtful);
        let last = gone.and_then(|gone| gone.functions.last().copied());
        Arc { frompc: last.map_or(arc.frompc, |last| self.functions[last].address), ..*arc }
    }

    /// Whether a frame of `frame` can be a frame of `called`: the frame may be in a label inside the function.
    fn is_same(&self, frame: FunctionId, called: FunctionId) -> bool {
        frame == called || self.functions[frame].called_as.is_some_and(|id| self.functions[id].counts_for == called)
    }

    /// Whether the code of a function has a jump to the beginning of another; `None` if the code is not known.
    fn jumps(&self, from: FunctionId, to: FunctionId) -> Option<bool> {
        let mut known = self.jumps.borrow_mut();
        let targets = known.entry(from).or_insert_with(|| {
            let function = &self.functions[from];
            let targets = self.code.jumps(function.address, function.last)?;
            let find = |target: u64| {
                self.functions.find(target).filter(|id| *id != from && self.functions[*id].address == target)
            };
            let mut targets: Vec<FunctionId> = targets.into_iter().filter_map(find).collect();
            targets.sort_unstable();
            targets.dedup();
            (targets.len() <= MOST_JUMPS).then_some(targets)
        });
        let leads = |id: &FunctionId| {
            let is_stub = self.stub(*id).is_some_and(|name| name == base(self.functions[to].name));
            is_stub || self.is_same(to, self.functions[*id].counts_for)
        };
        targets.as_ref().map(|targets| targets.iter().any(leads))
    }
}

/// A name without the version of the symbol.
fn base(name: &[u8]) -> &[u8] {
    name.split(|byte| *byte == b'@').next().unwrap_or(name)
}

/// A call site with the function of the next frame.
struct Site<'s, 'a, 'data> {
    sites: &'s CallSites<'a, 'data>,
    /// The function of the next frame.
    callee: FunctionId,
    /// The functions that were counted at the return address.
    counted: &'s [(u64, FunctionId, u64)],
}

impl Site<'_, '_, '_> {
    /// The counted functions other than the callee, with their calls.
    fn others(&self) -> Vec<(FunctionId, u64)> {
        let others = self.counted.iter().filter(|(_, id, _)| !self.sites.is_same(self.callee, *id));
        others.map(|(_, id, calls)| (*id, *calls)).collect()
    }

    /// A call of a known function.
    fn direct(&self, target: FunctionId) -> Gone {
        let is_direct = self.sites.is_same(self.callee, target);
        let mut between: Vec<FunctionId> = self.others().into_iter().map(|(id, _)| id).collect();
        between.retain(|id| *id != target);
        let first = if is_direct { Vec::new() } else { vec![target] };
        if between.len() > MOST_CANDIDATES {
            return Gone::doubtful(first);
        }
        if is_direct {
            // Another function may have been called, and may have called this one again.
            let ways = Ways::new(self.sites, self.callee, self.callee, &between);
            return Gone { functions: first, is_doubtful: ways.between() != 0 };
        }
        let ways = Ways::new(self.sites, target, self.callee, &between);
        match ways.shortest() {
            Some((path, is_only)) => Gone { functions: path, is_doubtful: !is_only },
            // The target jumps to an address that is not known, or to a function that was not counted.
            None => Gone::doubtful(first),
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
        // A function without a counter. A name may stand for several functions, so only a jump proves that it is this one.
        match self.sites.named(name).filter(|target| self.sites.jumps(*target, self.callee) == Some(true)) {
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
        if others.len() > MOST_CANDIDATES {
            return Gone::doubtful(Vec::new());
        }
        let candidates: Vec<FunctionId> = others.iter().map(|(id, _)| *id).collect();
        let ways = Ways::new(self.sites, self.callee, self.callee, &candidates);
        let last: Vec<&(FunctionId, u64)> =
            others.iter().enumerate().filter(|(at, _)| ways.leads(*at)).map(|(_, other)| other).collect();
        let Some((way, _)) = last.iter().max_by_key(|(id, calls)| (*calls, std::cmp::Reverse(*id))) else {
            return Gone::default();
        };
        // The callee may have been called directly. If it was entered more often than the others, it was.
        let most: u64 = last.iter().fold(0, |sum, (_, calls)| sum.saturating_add(*calls));
        let calls =
            self.counted.iter().find(|(_, id, _)| self.sites.is_same(self.callee, *id)).map(|counted| counted.2);
        let is_direct = calls.is_some_and(|calls| calls > most);
        Gone::doubtful(if is_direct { Vec::new() } else { vec![*way] })
    }
}

/// The jumps between a few functions: from one function, through others, to the function of the next frame.
struct Ways<'f> {
    from: FunctionId,
    between: &'f [FunctionId],
    /// For each function the functions that it may jump to, as bits. First come the functions between, then the callee, then
    /// the function that the way begins with.
    jumps: Vec<u32>,
}

impl<'f> Ways<'f> {
    fn new(sites: &CallSites<'_, '_>, from: FunctionId, callee: FunctionId, between: &'f [FunctionId]) -> Ways<'f> {
        let all: Vec<FunctionId> = between.iter().copied().chain([callee, from]).collect();
        // Code that is not known may jump anywhere.
        let bits = |id: &FunctionId| {
            let leads = |to: &FunctionId| sites.jumps(*id, *to) != Some(false);
            all.iter().enumerate().fold(0, |bits, (at, to)| bits | u32::from(leads(to)) << at)
        };
        let jumps = all.iter().map(bits).collect();
        Ways { from, between, jumps }
    }

    fn callee(&self) -> usize {
        self.between.len()
    }

    /// Whether a function between may jump to the callee.
    fn leads(&self, at: usize) -> bool {
        self.jumps[at] >> self.callee() & 1 != 0
    }

    /// The functions between that some way to the callee goes through, as bits.
    fn between(&self) -> u32 {
        let close = |mut bits: u32, more: &dyn Fn(u32) -> u32| loop {
            let next = bits | more(bits);
            if next == bits {
                return bits;
            }
            bits = next;
        };
        let is_in = |at: usize, bits: u32| bits >> at & 1 != 0;
        let after =
            |bits: u32| (0..self.jumps.len()).filter(|at| is_in(*at, bits)).fold(0, |all, at| all | self.jumps[at]);
        let before =
            |bits: u32| (0..self.jumps.len()).filter(|at| self.jumps[*at] & bits != 0).fold(0, |all, at| all | 1 << at);
        let reached = close(1 << (self.callee() + 1), &after);
        let leading = close(1 << self.callee(), &before);
        reached & leading & ((1 << self.callee()) - 1)
    }

    /// The shortest way, without the callee, and whether every way goes through these functions once, and through no others.
    fn shortest(&self) -> Option<(Vec<FunctionId>, bool)> {
        // Breadth first: each function with the place of the one before in this list.
        let mut reached = vec![(self.callee() + 1, usize::MAX)];
        let mut at = 0;
        while !self.leads(reached.get(at)?.0) {
            let jumps = self.jumps[reached[at].0];
            for next in (0..self.between.len()).filter(|next| jumps >> next & 1 != 0) {
                if reached.iter().all(|(known, _)| *known != next) {
                    reached.push((next, at));
                }
            }
            at += 1;
        }
        let mut way = Vec::new();
        let (mut after, mut jumps_back) = (1 << self.callee(), self.jumps[self.callee()]);
        let mut is_straight = true;
        while let Some((place, before)) = reached.get(at).copied() {
            way.push(self.between.get(place).copied().unwrap_or(self.from));
            // A later function that jumps here may have done so, and may have come back.
            is_straight &= jumps_back >> place & 1 == 0;
            after |= 1 << place;
            jumps_back |= self.jumps[place];
            at = before;
        }
        way.reverse();
        let through = after & ((1 << self.callee()) - 1);
        Some((way, is_straight && through == self.between()))
    }
}
