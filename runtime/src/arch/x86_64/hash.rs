//! The hash of an arc, as mcount's assembly computes it.

/// An odd constant whose product spreads addresses that are close together over the high bits of a word (2^64 divided
/// by the golden ratio). A static, because as an immediate operand it would need one register more.
pub(crate) static MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// The hash; an arc's home slot is its low bits.
///
/// Only the high bits of a product depend on all the bits of its factors: the bytes are swapped to have them below.
#[inline]
pub(crate) fn hash(frompc: usize, selfpc: usize) -> usize {
    let mixed = (frompc.rotate_left(32) ^ selfpc) as u64;
    mixed.wrapping_mul(MULTIPLIER).swap_bytes() as usize
}

#[cfg(test)]
mod tests {
    use super::hash;

    /// The most arcs that share a home in a table twice as large as there are arcs.
    fn most_at_one_home(arcs: &[(usize, usize)]) -> usize {
        let mask = (arcs.len() * 2).next_power_of_two() - 1;
        let mut homes = vec![0; mask + 1];
        for (frompc, selfpc) in arcs {
            homes[hash(*frompc, *selfpc) & mask] += 1;
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
                for arcs in [sites, callees, callers] {
                    assert!(most_at_one_home(&arcs) <= 12, "stride {stride}: {}", most_at_one_home(&arcs));
                }
            }
        }
    }
}
