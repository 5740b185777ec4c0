//! The scale of a profile, which maps a program counter to a bin.
//!
//! All systems have the same fixed-point fraction with 16 bits: the number of a 16-bit bin is [(pc - offset) / 2] *
//! scale / 65536. The systems differ in the valid scales, and in the meaning of the lowest ones.

/// The `scale` with one bin for two bytes of code, which is the finest.
pub const ONE_TO_ONE: u32 = 0x10000;

/// The bin of an address that is `distance` bytes above the lowest one: half of `distance` times `scale`, rounded
/// down once at the end, as kernels do (4.4BSD's `PC_TO_INDEX`, in bytes, is `(distance * scale >> 16) & ~1`).
/// `scale` is at most [`ONE_TO_ONE`].
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
