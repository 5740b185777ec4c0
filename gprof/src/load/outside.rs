//! What the list beside a profile says of samples and calls outside of all images.

/// What was counted in none of the images: samples, and calls of functions that are in none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutsideImages {
    /// Samples in the kernel.
    pub kernel: u64,
    /// Samples in what the kernel lends to every process.
    pub vdso: u64,
    /// Samples anywhere else.
    pub elsewhere: u64,
    /// Calls.
    pub calls: u64,
}

impl OutsideImages {
    /// Adds what others counted.
    pub fn add(&mut self, other: &OutsideImages) {
        let OutsideImages { kernel, vdso, elsewhere, calls } = self;
        let sums = [(kernel, other.kernel), (vdso, other.vdso), (elsewhere, other.elsewhere), (calls, other.calls)];
        sums.into_iter().for_each(|(sum, more)| *sum = sum.saturating_add(more));
    }
}
