//! The hash of an arc, as mcount's assembly computes it.
//!
//! The hash takes two instructions, because the whole common path of mcount must fit one cache line. For code as
//! compilers lay it out (functions of at least eight bytes, calls of at least five), the hash separates arcs as well
//! as a 64-bit hash. Many functions at the same offset in their pages differ only in bits that a small table ignores;
//! when a search becomes long for this reason, the table makes room for a larger one, which uses more bits.

/// The factor for frompc. Of a hundred random odd numbers, this factor let the fewest arcs share a home, in the
/// static call graphs of SQLite, gprof, cargo and cc1plus and in regular grids of calls and functions. A shorter
/// factor of eight bits does as well except for large grids, where many arcs then share each home.
pub(crate) const FACTOR: i32 = 0x7779_4619;

/// Eight times the number of the arc's home slot, with bits above and below the bits of the table's mask.
#[inline]
pub(crate) fn hash(frompc: usize, selfpc: usize) -> usize {
    (frompc as u32).wrapping_mul(FACTOR as u32).wrapping_add(selfpc as u32) as usize
}

#[cfg(test)]
mod tests {
    use super::hash;

    /// The most arcs that share a home in a table as large as table.rs makes it for that many arcs: an eighth of a
    /// small table is used, half of a large one.
    fn most_at_one_home(arcs: &[(usize, usize)]) -> usize {
        let share = if arcs.len() * 8 <= 1 << 17 { 8 } else { 2 };
        let slots = (arcs.len() * share).next_power_of_two();
        let mut homes = vec![0; slots];
        for (frompc, selfpc) in arcs {
            homes[hash(*frompc, *selfpc) / 8 % slots] += 1;
        }
        homes.into_iter().max().unwrap()
    }

    #[test]
    fn large_grids_have_few_arcs_at_one_home() {
        for caller in [32, 48, 64, 80] {
            for callee in [16, 32, 48] {
                let grid: Vec<_> =
                    (0..250_000).map(|n| (0x40_3015 + n / 500 * caller, 0x42_0009 + n % 500 * callee)).collect();
                let most = most_at_one_home(&grid);
                // Chance alone gives six at the worst of half a million homes.
                assert!(most <= 5, "callers of {caller}, callees of {callee} bytes: {most}");
            }
        }
    }

    #[test]
    fn arcs_that_are_close_together_have_homes_of_their_own() {
        for call in [5, 7, 10, 12, 16, 20] {
            for function in [8, 16, 24, 32, 48, 64, 96, 100, 128] {
                for base in [0x40_1000, 0x5555_5555_4000, 0x7fff_f7dd_5000_usize] {
                    let sites: Vec<_> = (0..10_000).map(|n| (base + n * call, base + n / 3 * function)).collect();
                    let callees: Vec<_> = (0..64).map(|n| (base, base + n * function)).collect();
                    let callers: Vec<_> = (0..5_000).map(|n| (base + n * call, base)).collect();
                    let chain: Vec<_> =
                        (0..5_000).map(|n| (base + n * function + call, base + (n + 1) * function)).collect();
                    let all: Vec<_> =
                        (0..10_000).map(|n| (base + n / 100 * 101 * call, base + n % 100 * function)).collect();
                    for (what, arcs) in
                        [("sites", sites), ("callees", callees), ("callers", callers), ("chain", chain), ("all", all)]
                    {
                        let most = most_at_one_home(&arcs);
                        assert!(most <= 4, "{what}, calls of {call}, functions of {function} bytes: {most}");
                    }
                }
            }
        }
    }
}
