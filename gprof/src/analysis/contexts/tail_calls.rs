//! The tail calls that may have happened, for the bounds of inclusive times.

use super::call_sites::CallSites;
use super::jumps::{FunctionJumps, base, stub};
use crate::symbols::functions::FunctionId;

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
