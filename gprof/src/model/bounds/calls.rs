//! Which function may stand above which function on a stack, as far as the profile counts calls.

use gmon::Profile;

use crate::program::symbols::functions::{FunctionId, Functions};

/// The calls that the profile counts.
#[derive(Debug)]
pub(super) struct Calls {
    /// The caller and the called function of each counted call. `None` is a caller outside of all functions.
    pub(super) pairs: Vec<(Option<FunctionId>, FunctionId)>,
    /// For each function, the number of all its calls, also by itself and from outside.
    pub(super) counts: Vec<u64>,
    /// The function `main`, if exactly one function has this name.
    pub(super) main: Option<FunctionId>,
}

impl Calls {
    /// Finds the functions of all arcs, whatever the user selected.
    pub(super) fn new(profile: &Profile, functions: &Functions<'_>) -> Calls {
        let owner = |address| functions.find(address).map(|id| functions[id].counts_for);
        let (mut pairs, mut counts) = (Vec::with_capacity(profile.arcs().len()), vec![0_u64; functions.len()]);
        for arc in profile.arcs().iter().filter(|arc| arc.count != 0) {
            let Some(called) = owner(arc.selfpc) else { continue };
            let count = &mut counts[called.index()];
            *count = count.saturating_add(arc.count);
            // The address is the one after the call, or a little less where the runtime rounds addresses. If a function
            // ends with a call that does not return, the address after the call is in the next function.
            let (after, before) = (owner(arc.frompc), owner(arc.frompc.saturating_sub(1)));
            pairs.push((after, called));
            if before != after {
                pairs.push((before, called));
            }
        }
        let mut mains = functions.ids().filter(|id| functions[*id].name == b"main" && functions.is_whole(*id));
        let main = mains.next().filter(|_| mains.next().is_none());
        Calls { pairs, counts, main }
    }

    /// Returns whether all callers of a function are known. Any code may have called a function without counted calls,
    /// unseen; but of `main` it is known that start-up code calls it.
    pub(super) fn knows_callers_of(&self, id: FunctionId) -> bool {
        self.counts_calls_of(id) || self.main == Some(id)
    }

    /// Returns whether the profile counts the call of `main`, or another call from outside of the program's functions.
    pub(super) fn count_start(&self) -> bool {
        self.main.is_some_and(|main| self.counts_calls_of(main))
            || self.pairs.iter().any(|(caller, _)| caller.is_none())
    }

    /// Returns whether the profile counts calls of a function.
    pub(super) fn counts_calls_of(&self, id: FunctionId) -> bool {
        self.counts[id.index()] != 0
    }
}
