//! Counts samples in bins.
//!
//! The producer of ticks, which is a signal's handler or the reader of a ring, passes them to [`count`] as (pc,
//! ticks). [`count`] counts in static memory, without a lock and without the C library.

use core::ffi::c_void;
use core::ptr;
use core::slice;
use core::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use super::{outside_text, scale};
use crate::memory::Memory;
use crate::os::PAGE;
use crate::os::linked::sampled;
use crate::state::{Inherited, Reset, Resettable, resets};

/// The scale of the samples; 0 while nothing is counted. The other values are stored before the scale.
static SCALE: Inherited<AtomicU32> = Inherited::new("the child counts in the same buffer", AtomicU32::new(0));
/// The last scale that was not 0.
static LATEST_SCALE: Inherited<AtomicU32> = Inherited::new("the child counts in the same buffer", AtomicU32::new(0));
static SAMPLES: Inherited<AtomicPtr<AtomicU16>> =
    Inherited::new("the child counts in the same buffer", AtomicPtr::new(ptr::null_mut()));
static SAMPLES_SIZE: Inherited<AtomicUsize> =
    Inherited::new("the child counts in the same buffer", AtomicUsize::new(0));
static OFFSET: Inherited<AtomicUsize> = Inherited::new("the child counts in the same buffer", AtomicUsize::new(0));

resets! {
    /// The overflows of bins.
    static CARRIES: Reset<Carries> = Reset::new();
    /// Whether each stretch of the bins has ticks.
    static TOUCHED: Reset<Memory> = Reset::new();
    /// The samples before [`relocate`]; null for none.
    static LEFT_SAMPLES: Reset<AtomicPtr<AtomicU16>> = Reset::new();
    /// Whether the samples are the file itself, in which a bin ends at 65,535.
    static SAMPLES_ARE_FILE: Reset<AtomicBool> = Reset::new();
    /// All ticks, in the bins and outside.
    static TICKS: Reset<AtomicU64> = Reset::new();
}

/// The number of overflows of each bin, as an array parallel to the samples.
struct Carries {
    numbers: Memory,
    /// Whether a bin overflowed its 16 bits.
    are_there: AtomicBool,
}

/// A child clears the numbers, which are zero unless a bin overflowed.
impl Resettable for Carries {
    const VALUE: Carries = Carries { numbers: Memory::none(), are_there: AtomicBool::new(false) };

    #[inline(always)]
    fn reset(&self) {
        let Carries { numbers, are_there } = self;
        if are_there.load(SeqCst) {
            numbers.clear();
        }
        are_there.store(false, SeqCst);
    }

    #[cfg(test)]
    fn change(&self) {
        let Carries { numbers, are_there } = self;
        numbers.change();
        are_there.store(true, SeqCst);
    }

    #[cfg(test)]
    fn is_first(&self) -> bool {
        let Carries { numbers, are_there } = self;
        numbers.is_first() && !are_there.load(SeqCst)
    }
}

/// Sets bins that overflowed to their highest value, in a form that has no room for more. The result is the number of
/// these bins.
pub(crate) fn fill_overflowed() -> usize {
    let (samples, carries) = (SAMPLES.load(Relaxed), carries().unwrap_or(&[]));
    let overflowed = carries.iter().enumerate().filter(|(_, carry)| carry.load(Relaxed) > 0);
    // SAFETY: there are as many samples as carries, and they are never freed.
    overflowed.inspect(|(bin, _)| unsafe { (*samples.add(*bin)).store(u16::MAX, Relaxed) }).count()
}

/// The number of bins in a stretch, which is a page of bins.
pub(crate) const STRETCH: usize = PAGE / size_of::<u16>();

/// Makes the samples the file itself. Call this before the first [`start`].
pub(crate) fn are_file() {
    SAMPLES_ARE_FILE.store(true, Relaxed);
}

/// Prepares a fork child for samples of its own, in which bins may overflow, if the parent counts in a file. Call this
/// before the child counts.
pub(crate) fn leave_file() {
    SAMPLES_ARE_FILE.store(false, Relaxed);
    if !SAMPLES.load(Relaxed).is_null() {
        map_overflows(SAMPLES_SIZE.load(Relaxed));
    }
}

/// Maps memory that is touched only when a bin overflows. Without that memory such a bin stays at its highest value.
fn map_overflows(size: usize) {
    map_carries(size);
    TOUCHED.map(stretches(size));
}

/// Maps memory for the overflows of `size` bytes of bins.
pub(crate) fn map_carries(size: usize) {
    CARRIES.numbers.map(size);
}

/// Starts counting.
///
/// # Safety
///
/// `samples` must point to `size` bytes of 16-bit bins that are never freed.
pub(crate) unsafe fn start(samples: *mut c_void, size: usize, offset: usize, scale: u32) {
    if SAMPLES.load(Relaxed).is_null() {
        // If the samples are the file itself, a bin that overflows stays at its highest value.
        if !SAMPLES_ARE_FILE.load(Relaxed) {
            map_overflows(size);
        }
        SAMPLES.store(samples.cast(), Relaxed);
        SAMPLES_SIZE.store(size, Relaxed);
    }
    OFFSET.store(offset, Relaxed);
    LATEST_SCALE.store(scale, Relaxed);
    SCALE.store(scale, SeqCst);
}

/// The number of stretches in `size` bytes of samples.
fn stretches(size: usize) -> usize {
    (size / size_of::<u16>()).div_ceil(STRETCH).max(1)
}

/// The parameters for a kernel that counts samples itself.
#[allow(dead_code, reason = "not all kernels count by themselves")]
pub(crate) struct Area {
    /// The bytes of the samples.
    pub(crate) size: usize,
    pub(crate) offset: usize,
    pub(crate) scale: u32,
}

/// Returns the parameters for a kernel that counts samples itself.
#[allow(dead_code, reason = "not all kernels count by themselves")]
pub(crate) fn area() -> Area {
    Area { size: SAMPLES_SIZE.load(Relaxed), offset: OFFSET.load(Relaxed), scale: LATEST_SCALE.load(Relaxed) }
}

/// Adds ticks that a kernel counted to a bin.
#[allow(dead_code, reason = "not all kernels count by themselves")]
pub(crate) fn count_in(bin: usize, ticks: u16) {
    if bin < SAMPLES_SIZE.load(Relaxed) / size_of::<u16>() {
        TICKS.fetch_add(u64::from(ticks), Relaxed);
        touch(bin);
        add(bin, ticks);
    }
}

/// Whether counting was ever started.
#[allow(dead_code, reason = "only systems whose kernel writes the file ask")]
pub(crate) fn has_started() -> bool {
    !SAMPLES.load(Relaxed).is_null()
}

/// Stops counting.
pub(crate) fn stop() {
    SCALE.store(0, SeqCst);
}

/// Whether ticks are counted.
pub(crate) fn is_counting() -> bool {
    SCALE.load(SeqCst) != 0
}

/// Whether samples at an address have a bin, if there is a bin for each four bytes.
#[inline(never)]
pub(crate) fn covers(pc: usize) -> bool {
    bin(sampled(pc), OFFSET.load(Relaxed), 0x8000, SAMPLES_SIZE.load(Relaxed)).is_some()
}

/// All ticks since the start, in bins and outside.
pub(crate) fn ticks() -> u64 {
    TICKS.load(Relaxed)
}

/// The number of overflows of each bin, as an array parallel to the samples; null if there was no memory.
#[inline]
fn carries_start() -> *mut AtomicU16 {
    CARRIES.numbers.start()
}

/// Whether each stretch of bins has ticks; null if there was no memory. With this array, the end of a large program
/// of which little ran need not look at all bins.
#[inline]
fn touched_start() -> *mut AtomicU8 {
    TOUCHED.start()
}

/// Continues to count in other samples. [`collect_left`] later moves the earlier counts there.
///
/// # Safety
///
/// `samples` must point to as many bins as [`start`] was given; they must never be freed and belong to nobody else.
pub(crate) unsafe fn relocate(samples: *mut c_void) {
    // Stored first: the child of another thread's fork goes back to these samples.
    LEFT_SAMPLES.store(SAMPLES.load(SeqCst), SeqCst);
    SAMPLES.store(samples.cast(), SeqCst);
    collect_left();
}

/// Continues to count in the samples before [`relocate`]. Called in the child of a fork.
pub(crate) fn restore() {
    let left = LEFT_SAMPLES.swap(ptr::null_mut(), SeqCst);
    if !left.is_null() {
        SAMPLES.store(left, SeqCst);
    }
}

/// Moves the counts from the samples before [`relocate`]. A handler in another thread may have counted there after
/// the change.
pub(crate) fn collect_left() {
    let (left, bins) = (LEFT_SAMPLES.load(SeqCst), SAMPLES_SIZE.load(Relaxed) / size_of::<u16>());
    let is_touched = |bin: &usize| {
        let touched = touched().and_then(|touched| touched.get(bin / STRETCH));
        touched.is_none_or(|touched| touched.load(Relaxed) != 0)
    };
    for bin in (0..bins).filter(|bin| !left.is_null() && is_touched(bin)) {
        // SAFETY: there are as many bins, and they are never freed.
        let ticks = unsafe { (*left.add(bin)).swap(0, SeqCst) };
        if ticks > 0 {
            add(bin, ticks);
        }
    }
}

/// The number of bins at their highest value.
pub(crate) fn full_bins() -> usize {
    let (samples, bins) = (SAMPLES.load(Relaxed), SAMPLES_SIZE.load(Relaxed) / size_of::<u16>());
    // SAFETY: there are as many samples, and they are never freed.
    (0..bins).filter(|bin| unsafe { (*samples.add(*bin)).load(Relaxed) } == u16::MAX).count()
}

/// The number of overflows of each bin; `None` if no bin overflowed.
pub(crate) fn carries() -> Option<&'static [AtomicU16]> {
    let bins = SAMPLES_SIZE.load(Relaxed) / size_of::<u16>();
    // SAFETY: `are_there` is only set if there are carries; there are as many carries as bins, and they are
    // never freed.
    CARRIES.are_there.load(SeqCst).then(|| unsafe { slice::from_raw_parts(carries_start(), bins) })
}

/// Whether each [`STRETCH`] of bins may contain counts; `None` if that is not known.
pub(crate) fn touched() -> Option<&'static [AtomicU8]> {
    let touched = touched_start();
    // SAFETY: there is one byte for each stretch, and they are never freed.
    (!touched.is_null()).then(|| unsafe { slice::from_raw_parts(touched, stretches(SAMPLES_SIZE.load(Relaxed))) })
}

/// The bin of a pc: [(pc - offset) / 2] * scale / 65536, as kernels compute it; `None` outside the samples.
#[inline]
fn bin(pc: usize, offset: usize, scale: u32, samples_size: usize) -> Option<usize> {
    let bin = scale::bin(pc.checked_sub(offset)?, scale);
    (bin < samples_size / size_of::<u16>()).then_some(bin)
}

/// Counts ticks at a run-time pc; the result is the number that was counted. Called in signal handlers.
pub(crate) fn count(pc: usize, ticks: u32) -> u32 {
    // A handler first says that it walks a stack. With this order, whoever stops counting and then sees no walk gets no
    // more ticks.
    count_at(SCALE.load(SeqCst), pc, ticks)
}

/// As [`count`], for ticks that belong to a time when ticks were counted, even if that time is over.
pub(crate) fn count_late(pc: usize, ticks: u32) -> u32 {
    count_at(LATEST_SCALE.load(Relaxed), pc, ticks)
}

fn count_at(scale: u32, pc: usize, ticks: u32) -> u32 {
    if scale == 0 || ticks == 0 {
        return 0;
    }
    TICKS.fetch_add(u64::from(ticks), Relaxed);
    outside_text::count_if_counting_calls(pc, ticks);
    let Some(bin) = bin(sampled(pc), OFFSET.load(Relaxed), scale, SAMPLES_SIZE.load(Relaxed)) else {
        outside_text::count(pc, ticks);
        return ticks;
    };
    // A single signal with more ticks than a bin can hold (11 minutes) is cut.
    let ticks = ticks.min(u32::from(u16::MAX)) as u16;
    touch(bin);
    add(bin, ticks);
    u32::from(ticks)
}

/// Marks the stretch of a bin as touched.
#[inline(always)]
fn touch(bin: usize) {
    let touched = touched_start();
    if !touched.is_null() {
        // SAFETY: every bin is in one of the stretches; the bytes are never freed.
        unsafe { (*touched.add(bin / STRETCH)).store(1, Relaxed) };
    }
}

/// Adds ticks to a bin.
#[inline]
fn add(bin: usize, ticks: u16) {
    // SAFETY: `bin` is an index into the samples; they are never freed.
    let place = unsafe { &*SAMPLES.load(Relaxed).add(bin) };
    let carries = carries_start();
    if carries.is_null() {
        // No reader ever sees a smaller count than before.
        let add = |count: u16| Some(count.saturating_add(ticks));
        let _ = place.fetch_update(Relaxed, Relaxed, add);
    } else if place.fetch_add(ticks, Relaxed).checked_add(ticks).is_none() {
        // SAFETY: there are as many carries as samples.
        unsafe { carry(carries, bin) };
    }
}

/// Counts an overflow of a bin that a kernel counts in, if there is memory for that.
///
/// # Safety
///
/// The bin must be one of those for which [`map_carries`] was called.
#[allow(dead_code, reason = "not all kernels count by themselves")]
pub(crate) unsafe fn count_overflow(bin: usize) {
    let carries = carries_start();
    if !carries.is_null() {
        // SAFETY: the caller's promise.
        unsafe { carry(carries, bin) };
    }
}

/// Counts an overflow of a bin.
///
/// # Safety
///
/// There must be a carry for the bin.
#[inline(always)]
unsafe fn carry(carries: *mut AtomicU16, bin: usize) {
    // SAFETY: the caller's promise; carries are never freed.
    unsafe { (*carries.add(bin)).fetch_add(1, Relaxed) };
    CARRIES.are_there.store(true, SeqCst);
}

#[cfg(test)]
mod tests {
    use super::super::is_alone;
    use super::*;
    use crate::os::map;

    #[test]
    fn a_bin_is_two_bytes_of_code_at_scale_65536_and_four_at_half_of_it() {
        for pc in 0..64 {
            assert_eq!(bin(0x1000 + pc, 0x1000, 0x10000, 64), Some(pc / 2).filter(|bin| *bin < 32));
            assert_eq!(bin(0x1000 + pc, 0x1000, 0x8000, 32), Some(pc / 4));
        }
    }

    #[test]
    fn what_is_outside_has_no_bin() {
        assert_eq!(bin(0xfff, 0x1000, 0x8000, 32), None);
        assert_eq!(bin(0x1040, 0x1000, 0x8000, 32), None);
        assert_eq!(bin(usize::MAX, 0, 0x10000, 32), None, "no product wraps back into the buffer");
        assert_eq!(bin(0x1000, 0x1000, 0x8000, 1), None, "an odd size does not lend half a bin");
    }

    /// The text, with a bin for each four bytes.
    const TEXT: usize = 0x40_0000;
    const BINS: usize = 2 * STRETCH + 100;
    const SIZE: usize = BINS * size_of::<u16>();

    /// Samples, behind which are as many bins of something else as a wrong size could reach.
    fn samples() -> &'static [AtomicU16] {
        // SAFETY: fresh memory, which is never freed.
        let all: &[AtomicU16] = unsafe { slice::from_raw_parts(map(4 * SIZE).cast(), 4 * BINS) };
        all[BINS..].iter().for_each(|other| other.store(u16::MAX, Relaxed));
        all
    }

    fn start_in(samples: &'static [AtomicU16]) {
        // SAFETY: there are that many bins.
        unsafe { start(samples.as_ptr().cast_mut().cast(), SIZE, TEXT, 0x8000) };
    }

    fn values(samples: &[AtomicU16]) -> Vec<(usize, u16)> {
        assert!(samples[BINS..].iter().all(|other| other.load(Relaxed) == u16::MAX));
        let values = samples[..BINS].iter().map(|bin| bin.load(Relaxed)).enumerate();
        values.filter(|(_, value)| *value > 0).collect()
    }

    fn touched_stretches() -> Vec<u8> {
        touched().unwrap().iter().map(|touched| touched.load(Relaxed)).collect()
    }

    const LAST: usize = 2 * STRETCH + 5;

    fn pc(bin: usize) -> usize {
        TEXT + 4 * bin + 3
    }

    #[test]
    fn ticks_are_counted_while_they_are_wanted() {
        if !is_alone("samples::bins::tests::ticks_are_counted_while_they_are_wanted") {
            return;
        }
        assert!(!has_started() && touched().is_none() && !covers(TEXT));
        collect_left();
        let samples = samples();
        start_in(samples);
        assert!(has_started() && is_counting());
        assert_eq!((area().size, area().offset, area().scale), (SIZE, TEXT, 0x8000));
        assert!(covers(TEXT) && covers(TEXT + 4 * BINS - 1) && !covers(TEXT - 1) && !covers(TEXT + 4 * BINS));
        assert_eq!([count(pc(1), 3), count(pc(LAST), 4), count(pc(STRETCH), 0)], [3, 4, 0]);
        assert_eq!((values(samples), ticks(), touched_stretches()), (vec![(1, 3), (LAST, 4)], 7, vec![1, 0, 1]));
        count_in(2, 5);
        count_in(BINS, 6);
        count_in(BINS + 1, 6);
        assert_eq!((values(samples), ticks()), (vec![(1, 3), (2, 5), (LAST, 4)], 12));
        stop();
        assert!(!is_counting());
        assert_eq!([count(pc(1), 3), count_late(pc(1), 2)], [0, 2]);
        assert_eq!((values(samples), ticks()), (vec![(1, 5), (2, 5), (LAST, 4)], 14));
        collect_left();
        assert_eq!(values(samples).len(), 3, "there are no other samples");
    }

    #[test]
    fn bins_overflow_and_fill() {
        if !is_alone("samples::bins::tests::bins_overflow_and_fill") {
            return;
        }
        let samples = samples();
        start_in(samples);
        count(pc(7), 40_000);
        count(pc(LAST), 1000);
        assert!(carries().is_none() && full_bins() == 0 && fill_overflowed() == 0);
        count(pc(7), 40_000);
        let carried: Vec<_> = carries().unwrap().iter().map(|carry| carry.load(Relaxed)).collect();
        assert_eq!((carried.len(), carried[7], carried.iter().sum::<u16>()), (BINS, 1, 1));
        assert_eq!(values(samples), [(7, 14_464), (LAST, 1000)]);
        assert_eq!([full_bins(), fill_overflowed(), full_bins()], [0, 1, 1]);
        assert_eq!(values(samples), [(7, u16::MAX), (LAST, 1000)]);
        // Samples of their own.
        leave_file();
        assert!(carries().unwrap().iter().all(|carry| carry.load(Relaxed) == 0));
    }

    #[test]
    fn bins_of_a_file_do_not_overflow() {
        if !is_alone("samples::bins::tests::bins_of_a_file_do_not_overflow") {
            return;
        }
        are_file();
        leave_file();
        are_file();
        let samples = samples();
        start_in(samples);
        assert!(touched().is_none());
        (0..2).for_each(|_| assert_eq!(count(pc(7), 40_000), 40_000));
        assert_eq!(values(samples), [(7, u16::MAX)]);
        assert!(carries().is_none() && full_bins() == 1);
        leave_file();
        count(pc(9), 1);
        assert_eq!(touched_stretches(), [1, 0, 0], "a child counts for itself");
    }

    #[test]
    fn counts_move_to_other_samples() {
        if !is_alone("samples::bins::tests::counts_move_to_other_samples") {
            return;
        }
        let [samples, other] = [samples(), samples()];
        start_in(samples);
        count(pc(1), 3);
        count(pc(LAST), 4);
        // A count in a stretch that nobody has touched does not occur.
        samples[STRETCH + 50].store(9, Relaxed);
        // SAFETY: as many bins.
        unsafe { relocate(other.as_ptr().cast_mut().cast()) };
        assert_eq!((values(samples), values(other)), (vec![(STRETCH + 50, 9)], vec![(1, 3), (LAST, 4)]));
        samples[2].store(6, Relaxed);
        collect_left();
        count(pc(1), 1);
        assert_eq!((values(samples).len(), values(other)), (1, vec![(1, 4), (2, 6), (LAST, 4)]));
        restore();
        count(pc(1), 5);
        assert_eq!((values(samples)[0], values(other)[0]), ((1, 5), (1, 4)));
        restore();
        count(pc(1), 5);
        assert_eq!(values(samples)[0], (1, 10));
    }
}
