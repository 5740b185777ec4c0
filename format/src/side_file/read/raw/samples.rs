//! Finds the samples that are not in the profile.
//!
//! The profile has the ticks of the addresses of its bins. A live file has no part with the other ticks: they are
//! those of the nodes with other addresses, and a sum of ticks that are in no node.

use alloc::vec::Vec;
use core::ops::Range;

use crate::decode::Result;
use crate::encode::side_file::Place;
use crate::layout::side_file::{CUT, ELSEWHERE, KERNEL, MARKED, PROGRAM, SETTLED, THREAD};
use crate::side_file::content::{Added, SideFile};
use crate::side_file::counts::During;

/// The bytes of code for each bin.
const BIN: u64 = 4;

/// The ticks that are not in the profile.
#[derive(Default)]
pub(super) struct Outside {
    /// The addresses of the profile's bins; `None` if they are not known. Then no ticks are found.
    bins: Option<Range<u64>>,
    /// The ticks of an object in a bin.
    samples: Vec<(u32, u64, u64)>,
    /// The ticks in no node.
    unwalked: u64,
    /// The offset in the file of the part that says all this.
    offset: u64,
}

impl Outside {
    /// Sets the addresses of the profile's bins, and the ticks that are neither in these nor in a node. The file has
    /// both at this offset.
    pub(super) fn set(&mut self, bins: Range<u64>, unwalked: u64, offset: u64) {
        self.offset = offset;
        self.bins = Some(bins);
        self.unwalked = unwalked;
    }

    /// Adds the ticks of a node, if they are not in the profile.
    pub(super) fn add(&mut self, address: u64, place: Place, ticks: u64) {
        let Some(bins) = &self.bins else { return };
        let is_in_profile = address & SETTLED == 0 && bins.contains(&(address & !MARKED));
        if ticks == 0 || is_in_profile {
            return;
        }
        self.samples.push(match place.object {
            KERNEL => (KERNEL, 0, ticks),
            PROGRAM | CUT | THREAD => (ELSEWHERE, 0, ticks),
            object => (object, place.address / BIN, ticks),
        });
    }

    /// Adds the samples to the file.
    pub(super) fn finish(mut self, side: &mut SideFile) -> Result<()> {
        if self.unwalked > 0 {
            self.samples.push((ELSEWHERE, 0, self.unwalked));
        }
        self.samples.sort_unstable();
        let offset = self.offset;
        self.push(side).map_err(|refused| refused.at(offset))
    }

    fn push(&self, side: &mut SideFile) -> Added<()> {
        let is_same = |one: &(u32, u64, u64), other: &(u32, u64, u64)| (one.0, one.1) == (other.0, other.1);
        for group in self.samples.chunk_by(is_same) {
            let Some((object, bin, _)) = group.first() else { continue };
            let ticks = group.iter().fold(0, |sum: u64, (_, _, ticks)| sum.saturating_add(*ticks));
            let size = if *object == KERNEL { 1 } else { BIN };
            let thread = side.begin_samples(None, *object, size)?;
            side.push_samples(During::Run, (thread, *object, size), *bin, ticks)?;
        }
        Ok(())
    }
}
