//! Samples and calls outside all images, from the files beside a profile.

/// The number of samples outside all images, and of calls of functions outside all images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutsideImages {
    /// Samples in the kernel.
    pub kernel: u64,
    /// Samples in the vDSO, the code that the kernel maps into every process.
    pub vdso: u64,
    /// Samples at any other address.
    pub elsewhere: u64,
    /// Calls of functions outside all images.
    pub calls: u64,
}

impl OutsideImages {
    /// Adds the numbers of another run.
    pub fn add(&mut self, other: &OutsideImages) {
        let OutsideImages { kernel, vdso, elsewhere, calls } = self;
        let sums = [(kernel, other.kernel), (vdso, other.vdso), (elsewhere, other.elsewhere), (calls, other.calls)];
        sums.into_iter().for_each(|(sum, more)| *sum = sum.saturating_add(more));
    }
}
