//! The hash of an arc, as mcount's assembly computes it.
//!
//! The two constants were chosen by trial among random ones: addresses at even distances, which compilers and linkers
//! like, share homes least.

/// What keeps frompc and selfpc apart when they are added: more than code is long, so that two arcs have one sum only if
/// they are 2 GiB apart. As large as an immediate operand can be.
pub(crate) const FACTOR: i32 = 0x42a9_135d;

/// An odd constant whose product spreads sums that are close together over the high bits of a word. A static, because as an immediate operand it would need one register more.
pub(crate) static MULTIPLIER: u64 = 0xea10_233c_6f77_167b;

/// Drops the low bits of the product, which depend on the low bits of the addresses only. 2^24 slots are left for, and
/// three bits by which the result counts in steps of eight bytes.
pub(crate) const SHIFT: u32 = 37;

/// Eight times the number of an arc's home slot, and bits beyond those that a table's mask has.
#[inline]
pub(crate) fn hash(frompc: usize, selfpc: usize) -> usize {
    let sum = (frompc as u64).wrapping_mul(FACTOR as u64).wrapping_add(selfpc as u64);
    (sum.wrapping_mul(MULTIPLIER) >> SHIFT) as usize
}

#[cfg(test)]
mod tests {
    use super::hash;

    /// The most arcs that share a home in a table twice as large as there are arcs.
    fn most_at_one_home(arcs: &[(usize, usize)]) -> usize {
        let slots = (arcs.len() * 2).next_power_of_two();
        let mut homes = vec![0; slots];
        for (frompc, selfpc) in arcs {
            homes[hash(*frompc, *selfpc) / 8 % slots] += 1;
        }
        homes.into_iter().max().unwrap()
    }

    #[test]
    fn arcs_that_are_close_together_have_homes_of_their_own() {
        for stride in [1, 2, 4, 5, 8, 16, 24, 32, 64, 100, 128, 4096] {
            for base in [0x40_1000, 0x5555_5555_4000, 0x7fff_f7dd_5000_usize] {
                let sites: Vec<_> = (0..10_000).map(|n| (base + n * stride, base + n / 3 * stride)).collect();
                let callees: Vec<_> = (0..64).map(|n| (base, base + n * stride)).collect();
                let callers: Vec<_> = (0..5_000).map(|n| (base + n * stride, base)).collect();
                let all: Vec<_> = (0..10_000).map(|n| (base + n / 100 * stride, base + n % 100 * stride)).collect();
                for arcs in [sites, callees, callers, all] {
                    assert!(most_at_one_home(&arcs) <= 4, "stride {stride}: {}", most_at_one_home(&arcs));
                }
            }
        }
    }
}
