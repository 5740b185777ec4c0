//! How large a ring is, how much of the stack its samples have, and how often the rings are read.

use super::records::sample_size;
use crate::os::PAGE;

/// What a ring has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Capacity {
    /// Samples per second of one processor.
    rate: u32,
    /// Whether samples have stacks, if there is enough room.
    has_stacks: bool,
    /// The pages of the ring, a power of two.
    pub(super) pages: usize,
}

/// The most bytes of the stack that a sample has, so that a ring holds the samples of a longer time at low rates. The
/// size of a record has 16 bits.
const MOST_STACK: u32 = 32 << 10;
/// The fewest bytes of the stack that are worth their copy.
const LEAST_STACK: u32 = 512;
/// With stacks, a ring has room for the samples of this part of a second of one processor. The kernel checks the timer
/// by which the ring is read at its own tick, of up to 10 ms, and only in a thread that runs.
const PART_OF_SECOND: u32 = 16;
/// Without stacks, a ring has room for the samples of so many seconds.
const SECONDS: u32 = 4;
/// The rings are read after this part of the time in which one ring can become full.
const PART_OF_FULL: u64 = 4;

/// The smallest ring. Also with pages that are up to sixteen times as large, this ring and the page before it are a
/// whole number of pages.
const LEAST_PAGES: usize = 16;
/// The largest ring without stacks: the usual limit of locked memory per processor for all users.
const MOST_PAGES: usize = 128;
/// The largest rings with stacks, at up to 500 samples a second and at higher rates. Privileged users may have them,
/// and others as far as their limit of locked memory allows.
const MOST_PAGES_WITH_STACKS: usize = 256;
const MOST_PAGES_AT_HIGH_RATES: usize = 2048;
/// The rate for [`MOST_PAGES_WITH_STACKS`].
const MEDIUM_RATE: usize = 500;

impl Capacity {
    /// The best capacity for `rate` samples per second.
    pub(super) fn of(rate: u32, has_stacks: bool) -> Capacity {
        let rate = rate.max(1);
        let pages = if has_stacks {
            let pages = (rate as usize * MOST_PAGES_WITH_STACKS / MEDIUM_RATE).next_power_of_two();
            pages.clamp(MOST_PAGES_WITH_STACKS, MOST_PAGES_AT_HIGH_RATES)
        } else {
            let size = rate * SECONDS * sample_size(0);
            (size as usize).div_ceil(PAGE).next_power_of_two().clamp(LEAST_PAGES, MOST_PAGES)
        };
        Capacity { rate, has_stacks, pages }
    }

    /// The capacity of a ring of half the size; `None` if there is no smaller ring.
    pub(super) fn smaller(self) -> Option<Capacity> {
        (self.pages > LEAST_PAGES).then_some(Capacity { pages: self.pages / 2, ..self })
    }

    /// The best capacity without stacks, if the samples have stacks: many processors may have no memory for the stacks
    /// of all.
    pub(super) fn without_stacks(self) -> Option<Capacity> {
        (self.stack() > 0).then(|| Capacity::of(self.rate, false))
    }

    /// The bytes of the stack in each sample; 0 for none. There are fewer at a higher rate and in a smaller ring,
    /// because a lost sample is worse than a stack that is cut.
    pub(super) fn stack(self) -> u32 {
        const WORD: u32 = size_of::<u64>() as u32;
        let room = self.bytes() / least_samples(self.rate).max(1);
        let stack = room.saturating_sub(sample_size(WORD) - WORD).min(MOST_STACK) / WORD * WORD;
        if self.has_stacks && stack >= LEAST_STACK { stack } else { 0 }
    }

    /// The CPU time of the process between two reads of the rings, in nanoseconds. In this time, all processors
    /// together cannot make more samples than a quarter of one ring.
    pub(super) fn interval(self) -> u64 {
        let samples = self.bytes() / sample_size(self.stack()).max(1);
        u64::from(samples) * 1_000_000_000 / u64::from(self.rate.max(1)) / PART_OF_FULL
    }

    fn bytes(self) -> u32 {
        (self.pages * PAGE) as u32
    }
}

/// The samples for which a ring must have room.
fn least_samples(rate: u32) -> u32 {
    rate.div_ceil(PART_OF_SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATES: [u32; 8] = [1, 100, 250, 500, 1000, 2000, 4000, 10_000];

    #[test]
    fn samples_have_less_of_the_stack_at_higher_rates_and_in_smaller_rings() {
        let best = RATES.map(|rate| Capacity::of(rate, true));
        assert_eq!(best.map(|best| best.pages), [256, 256, 256, 256, 512, 1024, 2048, 2048]);
        // Kilobytes, with the registers.
        let kilobytes = |capacity: Capacity| capacity.stack().next_multiple_of(512) as f64 / 1024.0;
        assert_eq!(best.map(kilobytes), [32.0, 32.0, 32.0, 32.0, 32.0, 32.0, 32.0, 13.0]);
        let of = |pages| RATES.map(|rate| kilobytes(Capacity { rate, has_stacks: true, pages }));
        assert_eq!(of(128), [32.0, 32.0, 32.0, 16.0, 8.0, 4.0, 2.0, 1.0]);
        assert_eq!(of(LEAST_PAGES), [32.0, 9.0, 4.0, 2.0, 1.0, 0.0, 0.0, 0.0]);
        let sizes = std::iter::successors(Some(best[7]), |capacity| capacity.smaller());
        assert_eq!(sizes.map(|size| size.pages).collect::<Vec<_>>(), [2048, 1024, 512, 256, 128, 64, 32, 16]);
    }

    #[test]
    fn a_ring_is_read_several_times_before_it_is_full() {
        for rate in 1..=10_000 {
            for mut capacity in [true, false].map(|has_stacks| Capacity::of(rate, has_stacks)) {
                loop {
                    let full = u64::from(capacity.bytes() / sample_size(capacity.stack())) * 1_000_000_000;
                    assert!(capacity.interval() * u64::from(rate) * 4 <= full, "{capacity:?}");
                    let least = if capacity.stack() > 0 { 15_000_000 } else { 50_000_000 };
                    assert!(capacity.interval() >= least, "{capacity:?}: {}", capacity.interval());
                    assert!(capacity.stack().is_multiple_of(8) && sample_size(capacity.stack()) < 65_535);
                    match capacity.smaller() {
                        Some(smaller) => capacity = smaller,
                        None => break,
                    }
                }
            }
        }
    }

    #[test]
    fn a_ring_that_has_no_room_for_stacks_is_tried_without_stacks_once() {
        for rate in RATES {
            let least = Capacity { rate, has_stacks: true, pages: LEAST_PAGES };
            let without = least.without_stacks();
            assert_eq!(without, (rate < 2000).then(|| Capacity::of(rate, false)));
            assert_eq!(without.and_then(Capacity::without_stacks), None);
        }
    }

    #[test]
    fn samples_without_stacks_need_little_memory() {
        for capacity in RATES.map(|rate| Capacity::of(rate, false)) {
            assert_eq!(capacity.stack(), 0);
            assert!(capacity.pages <= 128, "{capacity:?}");
        }
        assert_eq!(Capacity::of(100, false).pages, 16);
    }
}
