//! The scale of a profile: which of its bins a program counter counts in.
//!
//! All systems have the same fraction, with 16 bits behind the point: [(pc - offset) / 2] * scale / 65536 is the number of
//! a 16-bit bin. They differ in which scales there are, and in what the lowest ones mean.

/// `scale` for one bin to two bytes of code; no bin is finer.
pub const ONE_TO_ONE: u32 = 0x10000;

/// The bin of a place that is `distance` bytes behind the lowest one: half of `distance` times `scale`, rounded down once
/// and at the end, as kernels do (4.4BSD's `PC_TO_INDEX`, in bytes, is `(distance * scale >> 16) & ~1`). `scale` is at most
/// [`ONE_TO_ONE`].
#[inline]
pub fn bin(distance: usize, scale: u32) -> usize {
    ((distance as u128 * u128::from(scale)) >> 17) as usize
}

#[cfg(test)]
mod tests {
    use super::{ONE_TO_ONE, bin};

    #[test]
    fn no_product_is_cut() {
        assert_eq!(bin(usize::MAX, ONE_TO_ONE), usize::MAX / 2);
    }
}
