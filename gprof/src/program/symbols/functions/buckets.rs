//! Narrows the search for an address: programs have a hundred thousand functions, and profiles a million calls.

/// Divides the address range into buckets of equal size, about as many as there are addresses.
#[derive(Debug, Default)]
pub(super) struct Buckets {
    /// The first address.
    first: u64,
    /// The size of a bucket, as a power of two.
    shift: u32,
    /// For each bucket, the number of addresses below it; at the end, the number of all addresses.
    below: Vec<u32>,
}

impl Buckets {
    /// Makes buckets for addresses in ascending order.
    pub(super) fn new(sorted: &[u64]) -> Buckets {
        let (Some(first), Some(last)) = (sorted.first(), sorted.last()) else {
            return Buckets::default();
        };
        let mut shift = 0;
        while (last - first) >> shift > 2 * sorted.len() as u64 {
            shift += 1;
        }
        let mut below = Vec::with_capacity(((last - first) >> shift) as usize + 2);
        for (at, address) in (0..).zip(sorted) {
            let bucket = ((address - first) >> shift) as usize;
            if below.len() <= bucket {
                below.resize(bucket + 1, at);
            }
        }
        below.push(sorted.len() as u32);
        Buckets { first: *first, shift, below }
    }

    /// The number of addresses that are not above an address.
    pub(super) fn count(&self, sorted: &[u64], address: u64) -> usize {
        let Some(bucket) = address.checked_sub(self.first).map(|distance| (distance >> self.shift) as usize) else {
            return 0;
        };
        let (Some(start), Some(end)) = (self.below.get(bucket), self.below.get(bucket.saturating_add(1))) else {
            return sorted.len();
        };
        let (start, end) = (*start as usize, *end as usize);
        start + sorted[start..end].partition_point(|known| *known <= address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_a_search() {
        let mut random = 1_u64;
        for (count, bits) in [(0, 1), (1, 10), (2, 63), (3, 64), (1000, 12), (1000, 40), (5000, 64)] {
            let mut next = || {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                random >> (64 - bits)
            };
            let mut sorted: Vec<u64> = (0..count).map(|_| next()).collect();
            sorted.sort_unstable();
            let buckets = Buckets::new(&sorted);
            let near = sorted.iter().flat_map(|at| [at.wrapping_sub(1), *at, at.wrapping_add(1)]);
            for address in near.chain((0..1000).map(|_| next())).chain([0, 1, u64::MAX - 1, u64::MAX]) {
                let expected = sorted.partition_point(|known| *known <= address);
                assert_eq!(buckets.count(&sorted, address), expected, "{address} of {count} of {bits} bits");
            }
        }
    }
}
