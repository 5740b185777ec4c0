//! The tail calls that may have happened, for the bounds of inclusive times.

use super::call_sites::CallSites;
use super::jumps::{FunctionJumps, base, stub};
use crate::program::symbols::functions::FunctionId;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::image::{Code, Machine, Symbol};
    use crate::program::symbols::functions::Functions;
    use gmon::Arc;

    /// The tail calls of a program: `main` calls all functions behind the second one at one site. `f` jumps to the stub
    /// of `g`, and `h` jumps through a register. The last function has no code.
    fn found(others: usize) -> (Vec<(usize, usize)>, usize, usize) {
        let names = ["main", "g@plt", "f", "g@@V_1", "h"].into_iter().chain(std::iter::repeat_n("other", others));
        let symbol = |(at, name): (u64, &'static str)| Symbol {
            address: 0x1000 + 16 * at,
            name: name.as_bytes(),
            is_static: false,
            is_func: true,
        };
        let count = 5 + others as u64;
        let functions = Functions::new((0..).zip(names).map(symbol).collect(), 0x1000 + 16 * count);
        let mut bytes = vec![0x90; 16 * (count as usize - 1)];
        bytes[0x22..0x27].copy_from_slice(&[0xe9, 0xe9, 0xff, 0xff, 0xff]);
        bytes[0x42..0x44].copy_from_slice(&[0xff, 0xe0]);
        let arcs: Vec<Arc> = (2..count).map(|at| Arc::new(0x1010, 0x1000 + 16 * at, 1)).collect();
        let code = Code { machine: Machine::X86_64, start: 0x1000, bytes: &bytes };
        let TailCalls { pairs, functions, unknown } = CallSites::in_memory(&arcs, &functions, code).tail_calls();
        (pairs.into_iter().map(|(from, to)| (from.index(), to.index())).collect(), functions, unknown)
    }

    #[test]
    fn functions_may_have_jumped_to_what_was_counted_at_the_same_site() {
        // Any code may jump through a register. The code of the last function is not known.
        let expected = vec![(2, 3), (4, 2), (4, 3), (4, 5), (4, 6)];
        assert_eq!(found(2), (expected, 2, 1));
    }

    #[test]
    fn very_many_functions_at_a_site_are_looked_at_as_a_whole() {
        // With the three functions that have names, 32 functions and one more.
        assert_eq!(found(29).0.len(), 1 + 31);
        assert_eq!(found(30).0, [(2, 3), (4, 0)]);
    }
}
