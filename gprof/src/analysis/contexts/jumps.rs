//! Which functions jump to which.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::image::ProgramCode;
use crate::symbols::functions::{FunctionId, Functions};

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
}
