//! The kernel's sampling, which has one rate and counts in 16 bits.

use core::ffi::c_void;
use core::sync::atomic::{
    AtomicU16, AtomicU64,
    Ordering::{Relaxed, SeqCst},
};

use gmon::layout::GmonHdr;

use crate::kernel::buffer::buffer;
use crate::message::say_count;
use crate::os::{self, Errno, SignalSet, clock_rates, process_time};
use crate::samples::bins;

/// What produces samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sampler {
    /// The kernel, by `profil(2)`.
    Profil,
}

impl Sampler {
    /// The sampler of that name, as `GMON_SAMPLER` has it.
    pub(crate) fn named(name: &[u8]) -> Option<Sampler> {
        (name == b"profil").then_some(Sampler::Profil)
    }
}

/// What the user wishes. The kernel has one way to sample, so no wish changes anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wish {
    pub(crate) rate: Option<u32>,
    pub(crate) wall: bool,
    pub(crate) sampler: Option<Sampler>,
}

/// The most samples each second that may be asked for.
pub(crate) const HIGHEST_RATE: u32 = 10_000;

/// What a system keeps of each thread: nothing here, where the kernel samples all threads.
pub(crate) struct Clock;

impl Clock {
    pub(crate) fn reset(&self) {}
    pub(crate) fn attach(&self, _thread: i32) {}
    pub(crate) fn run(&self, _on: bool) {}
    pub(crate) fn settle(&self, _is_last: bool) {}
}

/// The CPU time of the process when sampling was last started, plus one; 0 while there is no sampling.
static STARTED: AtomicU64 = AtomicU64::new(0);
/// The CPU time with sampling before, in nanoseconds.
static SAMPLED: AtomicU64 = AtomicU64::new(0);

/// The system call, and the account of the CPU time in which the kernel samples.
///
/// # Safety
///
/// As for [`os::profil`].
pub(super) unsafe fn profil(
    buffer: *mut c_void,
    length: usize,
    samples_size: usize,
    offset: usize,
    scale: u32,
    directory: i32,
) -> Result<(), Errno> {
    // SAFETY: the caller's promise.
    unsafe { os::profil(buffer, length, samples_size, offset, scale, directory) }?;
    if scale == 0 {
        bins::stop();
    } else {
        // The bins say which addresses are the program's. The kernel counts in them, so there are no overflows to keep.
        bins::are_file();
        // SAFETY: the samples are behind the header, by the caller's promise.
        unsafe { bins::start(buffer.byte_add(size_of::<GmonHdr>()), samples_size, offset, scale) };
    }
    let now = process_time().unwrap_or(0);
    let started = STARTED.swap(if scale == 0 { 0 } else { now + 1 }, SeqCst);
    if started != 0 {
        SAMPLED.fetch_add((now + 1).saturating_sub(started), Relaxed);
    }
    Ok(())
}

/// Samples in each second.
pub(crate) fn profrate() -> u32 {
    u32::try_from(clock_rates().profiling).unwrap_or(0)
}

/// Says how many samples are missing, if counters ran over. The kernel sets a counter to zero after 65,535 and tells nobody: only the
/// total of all counters shows the loss, beside the CPU time.
pub(crate) fn report() {
    const SECOND: u128 = 1_000_000_000;
    const ROUND: u64 = 1 << 16;
    let Some((start, _)) = buffer() else { return };
    let header: *const GmonHdr = start.cast();
    // SAFETY: the buffer begins with a header, and has the samples behind it. They are never freed.
    let (samples, size, rate) = unsafe {
        let header = &*header;
        (start.byte_add(size_of::<GmonHdr>()).cast::<AtomicU16>(), header.ncnt as usize, header.profrate)
    };
    let bins = size.saturating_sub(size_of::<GmonHdr>()) / size_of::<u16>();
    // SAFETY: as above.
    let counted: u64 = (0..bins).map(|bin| u64::from(unsafe { (*samples.add(bin)).load(Relaxed) })).sum();
    let due = u128::from(SAMPLED.load(Relaxed)) * rate.max(0) as u128 / SECOND;
    let missing = (due as u64).saturating_sub(counted);
    // A counter that ran over has lost a whole round. Less is the ticks of code outside the program, or lateness.
    if missing >= ROUND - ROUND / 64 {
        let why = b" samples are missing: the kernel's counters have 16 bits and became 0 after 65,535";
        say_count(b"", (missing + ROUND / 2) / ROUND * ROUND, why);
    }
}

/// The child of a fork has used no CPU time. The kernel samples the child as it sampled the parent.
pub(crate) fn after_fork_in_child() {
    SAMPLED.store(0, Relaxed);
    let _ = STARTED.fetch_update(SeqCst, SeqCst, |started| (started != 0).then_some(1));
}

/// The kernel has one way to sample.
pub(crate) fn choose(_wish: &Wish) {}

/// The kernel's own call starts and stops sampling: see [`profil`].
pub(crate) fn start() -> Result<(), Errno> {
    Ok(())
}

/// See [`start`].
pub(crate) fn stop() {}

/// The kernel counts in the buffer itself.
pub(crate) fn collect() {}

/// See [`collect`].
pub(crate) fn settle_for_good() {}

/// See [`collect`].
pub(crate) fn discard() {}

/// The signals that the kernel blocks where a thread blocks these: the same.
pub(crate) fn to_be_blocked(signals: SignalSet) -> SignalSet {
    signals
}
