//! Which functions jump to which.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::program::image::ProgramCode;
use crate::program::symbols::functions::{FunctionId, Functions};

/// If a function may jump to more functions, its jumps count as unknown.
const MOST_JUMPS: usize = 256;

/// What follows the name of a function in the name of its stub.
const STUB: &[u8] = b"@plt";

/// Whether a function jumps to the beginning of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Jump {
    /// The code has no such jump.
    Never,
    /// The code has a jump whose target is not known, or the code is not known.
    Perhaps,
    /// The code has a jump that names the other function.
    Direct,
}

/// The jumps of all functions.
pub(super) struct FunctionJumps<'a, 'data> {
    functions: &'a Functions<'data>,
    code: ProgramCode<'a>,
    /// The jumps of each function that was asked for.
    known: RefCell<HashMap<FunctionId, Targets>>,
}

/// The functions that a function may jump to.
struct Targets {
    direct: Vec<FunctionId>,
    /// Whether any function may be a target.
    may_be_any: bool,
    /// Whether the code is known.
    is_known: bool,
}

impl<'a, 'data> FunctionJumps<'a, 'data> {
    pub(super) fn new(functions: &'a Functions<'data>, code: ProgramCode<'a>) -> FunctionJumps<'a, 'data> {
        FunctionJumps { functions, code, known: RefCell::default() }
    }

    /// Whether a function jumps to the beginning of another, or to its stub.
    pub(super) fn jump(&self, from: FunctionId, to: FunctionId) -> Jump {
        let mut known = self.known.borrow_mut();
        let targets = known.entry(from).or_insert_with(|| self.targets(from));
        let leads = |id: &FunctionId| {
            let is_stub = stub(self.functions, *id).is_some_and(|name| name == base(self.functions[to].name));
            is_stub || is_same(self.functions, to, self.functions[*id].counts_for)
        };
        match targets {
            Targets { direct, .. } if direct.iter().any(leads) => Jump::Direct,
            Targets { may_be_any: true, .. } => Jump::Perhaps,
            Targets { .. } => Jump::Never,
        }
    }

    /// Calls `each` with each function to whose beginning the function `from` jumps directly. Returns whether other
    /// jumps of `from` may lead to any function; `None` if the code is not known.
    pub(super) fn each_direct(&self, from: FunctionId, each: impl FnMut(FunctionId)) -> Option<bool> {
        let mut known = self.known.borrow_mut();
        let targets = known.entry(from).or_insert_with(|| self.targets(from));
        targets.direct.iter().copied().for_each(each);
        targets.is_known.then_some(targets.may_be_any)
    }

    fn targets(&self, from: FunctionId) -> Targets {
        let function = &self.functions[from];
        let Some(jumps) = self.code.jumps(function.address, function.last) else {
            return Targets { direct: Vec::new(), may_be_any: true, is_known: false };
        };
        let find =
            |target: u64| self.functions.find(target).filter(|id| *id != from && self.functions[*id].address == target);
        let mut direct: Vec<FunctionId> = jumps.targets.into_iter().filter_map(find).collect();
        direct.sort_unstable();
        direct.dedup();
        let are_too_many = direct.len() > MOST_JUMPS;
        if are_too_many {
            direct.clear();
        }
        Targets { direct, may_be_any: are_too_many || jumps.has_unknown, is_known: true }
    }
}

/// The name of the function that a stub jumps to, if the function is a stub.
pub(super) fn stub<'data>(functions: &Functions<'data>, id: FunctionId) -> Option<&'data [u8]> {
    functions[id].name.strip_suffix(STUB)
}

/// Whether a frame of `frame` can be a frame of `called`: the frame may be in a label inside the function.
pub(super) fn is_same(functions: &Functions<'_>, frame: FunctionId, called: FunctionId) -> bool {
    frame == called || functions[frame].called_as.is_some_and(|id| functions[id].counts_for == called)
}

/// A name without the version of the symbol. The name of a stub stays as it is.
pub(super) fn base(name: &[u8]) -> &[u8] {
    let end = name.iter().position(|byte| *byte == b'@').filter(|_| !name.ends_with(STUB));
    end.map_or(name, |end| &name[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_versions() {
        let names = ["f@@V_1", "f@V_1", "f", "f@plt", "@", ""].map(|name| base(name.as_bytes()));
        assert_eq!(names, [b"f".as_slice(), b"f", b"f", b"f@plt", b"", b""]);
    }

    use crate::program::image::{Code, Machine, Symbol};

    /// Functions of 32 bytes, and jumps: each at an address, to an address. The last function has no code.
    fn with_jumps<T>(
        names: &[&'static str],
        jumps: &[(u64, u64)],
        check: impl Fn(&Functions<'_>, &FunctionJumps<'_, '_>) -> T,
    ) -> T {
        let symbol = |(at, name): (u64, &&'static str)| Symbol {
            address: 0x1000 + 32 * at,
            name: name.as_bytes(),
            is_static: false,
            is_func: !name.starts_with('.'),
        };
        let functions = Functions::new((0..).zip(names).map(symbol).collect(), 0x1000 + 32 * names.len() as u64);
        let mut bytes = vec![0x90; 32 * (names.len() - 1)];
        for (at, to) in jumps {
            let place = (at - 0x1000) as usize;
            bytes[place] = 0xe9;
            bytes[place + 1..place + 5].copy_from_slice(&(to.wrapping_sub(at + 5) as u32).to_le_bytes());
        }
        let code = Code { machine: Machine::X86_64, start: 0x1000, bytes: &bytes };
        check(&functions, &FunctionJumps::new(&functions, ProgramCode::in_memory(code)))
    }

    /// The functions that a function jumps to, and whether it may jump to others.
    fn direct(jumps: &FunctionJumps<'_, '_>, from: FunctionId) -> (Vec<usize>, Option<bool>) {
        let mut found = Vec::new();
        let others = jumps.each_direct(from, |id| found.push(id.index()));
        (found, others)
    }

    #[test]
    fn jumps_lead_to_the_beginnings_of_other_functions() {
        // A jump to a stub, one into the middle of a function, and one to the function itself.
        let jumps = [(0x1004, 0x1020), (0x1044, 0x1064), (0x1050, 0x1040)];
        with_jumps(&["f", "g@plt", "g@@V_1", "h", "last"], &jumps, |functions, jumps| {
            let [f, _, g, h, last] = std::array::from_fn(|at| functions.id(at).unwrap());
            assert_eq!([f, g, last].map(|to| jumps.jump(f, to)), [Jump::Never, Jump::Direct, Jump::Never]);
            assert_eq!([f, g, h].map(|to| jumps.jump(g, to)), [Jump::Never; 3]);
            assert_eq!(jumps.jump(last, f), Jump::Perhaps, "a function whose code is not known");
            assert_eq!(direct(jumps, f), (vec![1], Some(false)));
            assert_eq!([g, h].map(|from| direct(jumps, from)), [(vec![], Some(false)), (vec![], Some(false))]);
            assert_eq!(direct(jumps, last), (vec![], None));
        });
    }

    #[test]
    fn a_function_with_very_many_jumps_may_jump_anywhere() {
        // A function of many jumps, and as many other functions.
        let of = |count: u64| {
            let symbol = |address| Symbol { address, name: b"f", is_static: false, is_func: true };
            let (start, first) = (0x1000, 0x1_0000);
            let symbols = std::iter::once(start).chain((0..count).map(|at| first + 16 * at)).map(symbol);
            let functions = Functions::new(symbols.collect(), first + 16 * count);
            let mut bytes = vec![0x90; (first - start) as usize];
            for at in 0..count {
                let (place, pc) = (5 * at as usize, start + 5 * at);
                let distance = (first + 16 * at - pc - 5) as u32;
                bytes[place] = 0xe9;
                bytes[place + 1..place + 5].copy_from_slice(&distance.to_le_bytes());
            }
            let code = Code { machine: Machine::X86_64, start, bytes: &bytes };
            let jumps = FunctionJumps::new(&functions, ProgramCode::in_memory(code));
            let (found, others) = direct(&jumps, functions.id(0).unwrap());
            (found.len(), others)
        };
        assert_eq!([256, 257].map(of), [(256, Some(false)), (0, Some(true))]);
    }

    #[test]
    fn a_frame_in_a_label_is_a_frame_of_the_function_around_it() {
        with_jumps(&["f", ".label", "g"], &[], |functions, _| {
            let [f, label, g] = std::array::from_fn(|at| functions.id(at).unwrap());
            let is = |frame, called| is_same(functions, frame, called);
            assert!(is(label, f) && is(f, f) && is(label, label));
            assert!(!is(f, label) && !is(g, f) && !is(label, g));
        });
    }
}
