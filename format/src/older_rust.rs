//! Functions that the standard library has since Rust 1.87 and 1.88, for builds with Rust 1.85.

/// Returns all whole arrays of `N` bytes.
pub(crate) fn arrays<const N: usize>(bytes: &[u8]) -> impl ExactSizeIterator<Item = [u8; N]> + Clone {
    bytes.chunks_exact(N).map(|chunk| chunk.try_into().unwrap_or([0; N]))
}

/// Returns whether a number is a multiple of another one. Only 0 is a multiple of 0.
pub(crate) fn is_multiple(number: u64, of: u64) -> bool {
    number.checked_rem(of).map_or(number == 0, |rest| rest == 0)
}

#[cfg(test)]
mod tests {
    use super::is_multiple;

    #[test]
    fn only_zero_is_a_multiple_of_zero() {
        assert!(is_multiple(0, 0) && is_multiple(0, 3) && is_multiple(6, 3));
        assert!(!is_multiple(1, 0) && !is_multiple(7, 3));
    }
}
