//! Finds functions that left the stack by a tail call.
//!
//! A function that ends in a tail call has no frame while the function runs that it called last. Two things still know the
//! function: the call instruction before the return address, and mcount, which has counted all functions that were entered
//! with this return address.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;

use gmon::Arc;

use super::jumps::{FunctionJumps, Jump, base, is_same, stub};
use super::tree::Undecided;
use super::ways::{MOST_BETWEEN, Ways};
use crate::image::ProgramCode;
use crate::symbols::functions::{FunctionId, Functions};

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
    /// Returns the functions that the call instruction names. Other functions may have left the stack, but are not known.
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

    /// Returns an arc with the caller that called last: if the called function was entered by a tail call, the address of
    /// the function that ended so. The profile counts such a call for the function that the tail call returns to.
    #[must_use]
    pub fn with_last_caller(&self, arc: &Arc) -> Arc {
        let called = || Some(self.functions[self.functions[self.functions.find(arc.selfpc)?].called_as?].counts_for);
        let gone = called().map(|called| self.gone(arc.frompc, called)).filter(|gone| !gone.is_doubtful);
        let last = gone.and_then(|gone| gone.functions.last().copied());
        Arc::new(last.map_or(arc.frompc, |last| self.functions[last].address), arc.selfpc, arc.count)
    }
}

/// At most this many counted functions of a site are the callee, the function that the callee is a label of, or the target.
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
    /// Whether there are certainly too many functions between. A dispatcher calls thousands of functions at one site, and
    /// looking at all of them once for each would take a time in proportion to the square of their number.
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
            // Another function may have been called, and may have called this one again. All functions between were entered
            // from this one, some perhaps by jumps that are not known.
            let ways = self.ways(self.callee, &between);
            return Gone { is_doubtful: ways.any_may_lead(), ..Gone::default() }.on(&ways, Some(self.callee));
        }
        let ways = self.ways(target, &between);
        match ways.shortest() {
            // A jump that is not known, but has led to a counted function, may have led to the callee too. So may a jump
            // through a register in a function between.
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
        // A function without a counter. A name may stand for several functions, so only a jump proves that it is this one.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::{Code, Machine, Symbol};

    const NAMES: [(u64, &str); 5] =
        [(0x1000, "main"), (0x1020, "sort@plt"), (0x1040, "sort@@V_1"), (0x1060, "sort_r@@V_2"), (0x1080, "other@plt")];

    /// `main` calls the stubs of `sort` and `other`, and `sort` jumps to `sort_r`.
    fn with_sites<T>(arcs: &[Arc], check: impl Fn(&Functions<'_>, &CallSites<'_, '_>) -> T) -> T {
        let symbol = |(address, name): (u64, &'static str)| Symbol {
            address,
            name: name.as_bytes(),
            is_static: false,
            is_func: true,
        };
        let functions = Functions::new(NAMES.map(symbol).to_vec(), 0x10a0);
        let mut bytes = vec![0x90; 0xa0];
        bytes[0x0b..0x10].copy_from_slice(&[0xe8, 0x10, 0, 0, 0]);
        bytes[0x13..0x18].copy_from_slice(&[0xe8, 0x68, 0, 0, 0]);
        bytes[0x43..0x48].copy_from_slice(&[0xe9, 0x18, 0, 0, 0]);
        let code = Code { machine: Machine::X86_64, start: 0x1000, bytes: &bytes };
        check(&functions, &CallSites::in_memory(arcs, &functions, code))
    }

    #[test]
    fn a_function_of_a_library_that_ends_in_a_tail_call() {
        with_sites(&[], |functions, sites| {
            let id = |address| functions.find(address).unwrap();
            // Neither function has a counter, but the stub has the name, and the jump is in the code.
            let sort = Gone { functions: vec![id(0x1040)], certain: 1, ..Gone::default() };
            assert_eq!(sites.gone(0x1010, id(0x1060)), sort);
            assert_eq!(sites.gone(0x1010, id(0x1040)), Gone::default());
            assert_eq!(sites.gone(0x1010, id(0x1020)), Gone::default(), "in the stub");
            // Nothing tells what the stub `other` leads to.
            assert_eq!(sites.gone(0x1018, id(0x1060)), Gone::default());
        });
    }

    #[test]
    fn calls_count_for_the_function_that_made_them() {
        let arc = |selfpc| Arc::new(0x1010, selfpc, 3);
        let arcs = [arc(0x1044), arc(0x1064)];
        with_sites(&arcs, |_, sites| {
            let callers = arcs.map(|arc| sites.with_last_caller(&arc).frompc);
            assert_eq!(callers, [0x1010, 0x1040]);
        });
    }

    /// A loop that calls many functions through a pointer. A step that takes time in proportion to the square of the
    /// functions would not end.
    #[test]
    fn many_functions_at_one_site_take_linear_time() {
        const FUNCTIONS: u64 = 1 << 17;
        let symbol = |at| Symbol { address: 0x1000 + at * 16, name: b"f", is_static: false, is_func: true };
        let functions = Functions::new((0..FUNCTIONS).map(symbol).collect(), 0x1000 + FUNCTIONS * 16);
        let arc = |at| Arc::new(0x1008, 0x1004 + at * 16, 1);
        let arcs: Vec<Arc> = (0..FUNCTIONS).map(arc).collect();
        // call *%rax; call 0x1020
        let bytes = [[0x90; 6].as_slice(), &[0xff, 0xd0], &[0xe8, 0x13, 0, 0, 0]].concat();
        let code = Code { machine: Machine::X86_64, start: 0x1000, bytes: &bytes };
        let sites = CallSites::in_memory(&arcs, &functions, code);
        for arc in &arcs {
            assert_eq!(sites.with_last_caller(arc).frompc, arc.frompc);
            let called = functions.find(arc.selfpc).unwrap();
            assert_eq!(sites.gone(arc.frompc, called), Gone::guessed(Vec::new()).crowded(None));
        }
        // The instruction before this address names a function, which is known in any case.
        let arcs: Vec<Arc> = arcs.iter().map(|arc| Arc::new(0x100d, arc.selfpc, arc.count)).collect();
        let sites = CallSites::in_memory(&arcs, &functions, code);
        let [target, other] = [0x1020, 0x1040].map(|address| functions.find(address).unwrap());
        assert_eq!(sites.gone(0x100d, other), Gone::named(vec![target]).crowded(Some(target)));
        assert_eq!(sites.gone(0x100d, target), Gone::named(Vec::new()).crowded(Some(target)));
    }

    #[test]
    fn nothing_left_the_stack_before_a_stub() {
        // `sort` was entered from this site, too: through its stub.
        with_sites(&[Arc::new(0x1010, 0x1044, 1)], |functions, sites| {
            let stub = functions.find(0x1020).unwrap();
            assert_eq!(sites.gone(0x1010, stub), Gone::default());
        });
    }

    #[test]
    fn functions_are_counted_at_their_own_sites() {
        let arcs = [(0x1010, 0x1044), (0x1014, 0x1060), (0x1014, 0x1044), (0x1018, 0x1060)];
        let arcs = arcs.map(|(return_address, called)| Arc::new(return_address, called, 1));
        with_sites(&arcs, |functions, sites| {
            let counted = |return_address| sites.counted_at(return_address).collect::<Vec<_>>();
            let [sort, sort_r] = [0x1040, 0x1060].map(|address| functions.find(address).unwrap());
            assert_eq!(
                [0x1010, 0x1012, 0x1014, 0x1018].map(counted),
                [vec![sort], vec![], vec![sort, sort_r], vec![sort_r]]
            );
        });
    }

    #[test]
    fn a_function_takes_the_addresses_at_which_functions_begin() {
        let symbol = |address| Symbol { address, name: b"f", is_static: false, is_func: true };
        let functions = Functions::new([0x1000, 0x1020, 0x1040].map(symbol).to_vec(), 0x1060);
        let mut bytes = vec![0x90; 0x60];
        // lea 0x1020(%rip), %rax; lea 0x1044(%rip), %rax
        bytes[..7].copy_from_slice(&[0x48, 0x8d, 0x05, 0x19, 0, 0, 0]);
        bytes[7..14].copy_from_slice(&[0x48, 0x8d, 0x05, 0x36, 0, 0, 0]);
        let code = Code { machine: Machine::X86_64, start: 0x1000, bytes: &bytes };
        let sites = CallSites::in_memory(&[], &functions, code);
        let all: Vec<FunctionId> = functions.ids().collect();
        let taken = |by| all.iter().filter(|of| sites.takes_address(by, **of)).copied().collect::<Vec<_>>();
        assert_eq!([taken(all[0]), taken(all[1])], [vec![all[1]], vec![]]);
    }

    /// A program whose first function has a call at its end, with these bytes. The functions begin 16 bytes apart.
    /// Calls `check` with the call sites if the functions at these places were entered from the call.
    fn with_site<T>(
        symbols: &[(&'static [u8], bool)],
        call: &[u8],
        entered: impl IntoIterator<Item = usize>,
        check: impl FnOnce(&dyn Fn(usize) -> FunctionId, &dyn Fn(usize) -> Gone) -> T,
    ) -> T {
        let symbol = |(at, (name, is_func)): (usize, &(&'static [u8], bool))| Symbol {
            address: 0x1000 + 16 * at as u64,
            name,
            is_static: false,
            is_func: *is_func,
        };
        let end = 0x1000 + 16 * symbols.len() as u64;
        let mut functions = Functions::new(symbols.iter().enumerate().map(symbol).collect(), end);
        functions.merge_parts(|function| function.name == b"label");
        let mut bytes = vec![0x90; 16 * symbols.len()];
        bytes[16 - call.len()..16].copy_from_slice(call);
        let arcs: Vec<Arc> = entered.into_iter().map(|at| Arc::new(0x1010, 0x1000 + 16 * at as u64, 1)).collect();
        let code = Code { machine: Machine::X86_64, start: 0x1000, bytes: &bytes };
        let sites = CallSites::in_memory(&arcs, &functions, code);
        let id = |at: usize| functions.id(at).unwrap();
        check(&id, &|callee| sites.gone(0x1010, id(callee)))
    }

    #[test]
    fn sixteen_functions_between_are_not_too_many() {
        // The callee is the label at place 3, with a part at place 4. Calls of the function at place 2 may be calls of
        // the label. The call instruction names the function at place 1.
        let mut symbols =
            vec![(&b"main"[..], true), (b"target", true), (b"f", true), (b"label", false), (b"label", true)];
        symbols.extend([(&b"between"[..], true); 17]);
        for (between, is_crowded) in [(16, false), (17, true)] {
            with_site(&symbols, &[0xe8, 0, 0, 0, 0], (1..3).chain(4..5 + between), |id, gone| {
                let Gone { functions, is_crowded: found, .. } = gone(3);
                assert_eq!((functions, found), (vec![id(1)], is_crowded), "{between}");
            });
            with_site(&symbols, &[0xff, 0xd0], 4..5 + between, |_, gone| {
                assert_eq!(gone(3).is_crowded, is_crowded, "{between} and a pointer");
            });
        }
    }

    #[test]
    fn a_stub_at_a_crowded_site_names_a_function_if_there_is_one_of_this_name() {
        let symbols = |other| {
            let mut symbols = vec![(&b"main"[..], true), (b"f@plt", true), (b"f@@V_1", true), (other, true)];
            symbols.extend([(&b"between"[..], true); 18]);
            symbols
        };
        let call = [0xe8, 0, 0, 0, 0];
        with_site(&symbols(b"g"), &call, 2..22, |id, gone| {
            assert_eq!(gone(21), Gone::named(vec![id(2)]).crowded(Some(id(2))));
            assert_eq!(gone(21).undecided, Undecided { from: Some(id(2)), ..Undecided::default() });
        });
        with_site(&symbols(b"f@V_2"), &call, 2..22, |_, gone| {
            assert_eq!(gone(21), Gone::named(Vec::new()).crowded(None));
        });
    }

    #[test]
    fn a_function_that_no_jump_leads_to_leaves_a_doubt() {
        // main: call f; f: jmp g. A function that f does not lead to was entered with the same return address.
        let symbols = [(0x1000, "main"), (0x1020, "f"), (0x1040, "g"), (0x1060, "h")];
        let symbol = |(address, name): (u64, &'static str)| Symbol {
            address,
            name: name.as_bytes(),
            is_static: false,
            is_func: true,
        };
        let functions = Functions::new(symbols.map(symbol).to_vec(), 0x1080);
        let mut bytes = vec![0x90; 0x80];
        bytes[0x0b..0x10].copy_from_slice(&[0xe8, 0x10, 0, 0, 0]);
        bytes[0x2b..0x30].copy_from_slice(&[0xe9, 0x10, 0, 0, 0]);
        let code = Code { machine: Machine::X86_64, start: 0x1000, bytes: &bytes };
        let is_doubtful = |entered: &[u64]| {
            let arcs: Vec<Arc> = entered.iter().map(|called| Arc::new(0x1010, *called, 1)).collect();
            let sites = CallSites::in_memory(&arcs, &functions, code);
            let [f, g] = [0x1020, 0x1040].map(|address| functions.find(address).unwrap());
            let gone = sites.gone(0x1010, g);
            assert_eq!(gone.functions, [f]);
            gone.is_doubtful
        };
        assert!(!is_doubtful(&[0x1020, 0x1040]) && is_doubtful(&[0x1020, 0x1040, 0x1060]));
    }
}
