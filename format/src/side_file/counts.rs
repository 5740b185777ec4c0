//! The counts of a side file.

use alloc::vec::Vec;
use core::ops::Range;

use crate::encode::side_file::Call;

/// When samples were taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum During {
    /// At any time of the run.
    Run,
    /// While calls were counted on demand.
    Intervals,
}

/// Samples in one object, or outside of all objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Samples {
    pub(super) thread: Option<u32>,
    pub(super) object: u32,
    pub(super) bin_size: u64,
    /// The indexes of bins with their ticks, in ascending order.
    pub(super) bins: Vec<(u64, u64)>,
}

impl Samples {
    /// The index of the thread whose samples these are; `None` for the samples of all threads.
    #[must_use]
    pub fn thread(&self) -> Option<usize> {
        self.thread.map(|thread| thread as usize)
    }

    /// The number of the object, [`KERNEL`](crate::side_file::KERNEL), or
    /// [`ELSEWHERE`](crate::side_file::ELSEWHERE).
    #[must_use]
    pub fn object(&self) -> u32 {
        self.object
    }

    /// The number of bytes of code for each bin. A bin starts at a multiple of this number.
    #[must_use]
    pub fn bin_size(&self) -> u64 {
        self.bin_size
    }

    /// The bins that are not 0: their addresses and their ticks.
    pub fn bins(&self) -> impl Iterator<Item = (Range<u64>, u64)> {
        self.bins.iter().map(|(index, ticks)| {
            let start = index.saturating_mul(self.bin_size);
            (start..start.saturating_add(self.bin_size), *ticks)
        })
    }

    /// The sum of the ticks.
    #[must_use]
    pub fn total(&self) -> u64 {
        // The sum of all samples of a file fits.
        self.bins.iter().fold(0, |sum, (_, ticks)| sum.saturating_add(*ticks))
    }
}

/// Calls from place to place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calls {
    pub(super) thread: Option<u32>,
    pub(super) calls: Vec<Call>,
}

impl Calls {
    /// The index of the thread whose calls these are; `None` for the calls of all threads.
    #[must_use]
    pub fn thread(&self) -> Option<usize> {
        self.thread.map(|thread| thread as usize)
    }

    /// The calls. The same pair of places may occur more than once: the counts add up.
    #[must_use]
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }
}

/// A thread, or several threads of one name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Thread {
    /// The system's number; 0 for several threads.
    pub number: u64,
    /// The name.
    pub name: Vec<u8>,
    /// The number of threads that the counts are of.
    pub threads: u64,
    /// The ticks.
    pub ticks: u64,
    /// The calls.
    pub calls: u64,
}

impl Thread {
    /// Makes one thread without counts.
    #[must_use]
    pub fn new(number: u64, name: &[u8]) -> Thread {
        Thread { number, name: name.to_vec(), threads: 1, ..Thread::default() }
    }
}
