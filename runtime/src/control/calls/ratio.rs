//! Arithmetic of estimates, with numbers of 64 and 128 bits.

/// A quotient of two numbers, in units of 2^-20. Code for the division of numbers of 128 bits would be large.
#[derive(Clone, Copy)]
pub(super) struct Ratio(pub(super) u64);

impl Ratio {
    pub(super) const FRACTION: u32 = 20;
    pub(super) const ONE: u64 = 1 << Ratio::FRACTION;

    pub(super) fn of(number: u64, by: u64) -> Ratio {
        let by = by.max(1);
        let (whole, rest) = (number / by, number % by);
        // Numbers that are too large for the fraction have none that matters.
        let shift = Ratio::FRACTION.min(rest.leading_zeros());
        let fraction = ((rest << shift) / by) << (Ratio::FRACTION - shift);
        Ratio(whole.saturating_mul(1 << Ratio::FRACTION).saturating_add(fraction))
    }

    /// The number so many times.
    pub(super) fn times(self, number: u64) -> u64 {
        let product = (u128::from(number) * u128::from(self.0)) >> Ratio::FRACTION;
        u64::try_from(product).unwrap_or(u64::MAX)
    }

    /// The number so many times, and so many times again.
    pub(super) fn squared_times(self, number: u128) -> u128 {
        let square = u128::from(self.0) * u128::from(self.0);
        // The numbers are large enough to lose their last bits.
        let lost = (128 - square.leading_zeros()).saturating_sub(number.leading_zeros());
        let from_square = lost.min(2 * Ratio::FRACTION);
        let product = (square >> from_square).saturating_mul(number);
        product >> (2 * Ratio::FRACTION - from_square)
    }
}

/// Divides a number by one that is not 0. Of the result, 32 bits or more are exact.
pub(super) fn divide(number: u128, by: u64) -> u128 {
    let shift = 64_u32.saturating_sub(number.leading_zeros());
    u128::from((number >> shift) as u64 / by.max(1)) << shift
}
