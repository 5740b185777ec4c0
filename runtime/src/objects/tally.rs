//! A count at one place.

use core::num::NonZeroUsize;

/// Samples at a [`super::place`], or calls that lead there from another place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Tally {
    /// One more than the place of the caller; `None` for samples.
    caller: Option<NonZeroUsize>,
    /// The place of the samples, or of the called function.
    pub(crate) place: usize,
    /// The number of samples or calls.
    pub(crate) count: u64,
}

impl Tally {
    /// Makes a count of samples.
    pub(crate) fn samples(place: usize, count: u64) -> Tally {
        Tally { caller: None, place, count }
    }

    /// Makes a count of calls. No place is the highest address, see [`super::NOWHERE`].
    pub(crate) fn calls(from: usize, place: usize, count: u64) -> Tally {
        Tally { caller: NonZeroUsize::new(from.wrapping_add(1)), place, count }
    }

    /// The place of the caller; `None` for samples.
    pub(crate) fn caller(&self) -> Option<usize> {
        self.caller.map(|caller| caller.get() - 1)
    }

    /// Whether this is a count of samples.
    pub(crate) fn is_samples(&self) -> bool {
        self.caller.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::super::NOWHERE;
    use super::*;

    #[test]
    fn samples_and_calls_from_anywhere_are_told_apart() {
        assert_eq!(size_of::<Tally>(), 24);
        assert!(Tally::samples(7, 1).is_samples() && Tally::samples(7, 1).caller().is_none());
        for from in [0, 1, NOWHERE, usize::MAX - 1] {
            let calls = Tally::calls(from, 7, 1);
            assert!(!calls.is_samples() && calls.caller() == Some(from));
        }
    }
}
