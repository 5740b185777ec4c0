//! The kernel's sampling: one rate, and counters of 16 bits.

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

/// The source of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sampler {
    /// The kernel, by `profil(2)`.
    Profil,
}

impl Sampler {
    /// Returns the sampler that a value of `GMON_SAMPLER` names.
    pub(crate) fn named(name: &[u8]) -> Option<Sampler> {
        (name == b"profil").then_some(Sampler::Profil)
    }
}

/// The user's settings of the sampler. They have no effect: the kernel has one sampler with one rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wish {
    pub(crate) rate: Option<u32>,
    pub(crate) wall: bool,
    pub(crate) sampler: Option<Sampler>,
}

/// The highest rate that the user can ask for, in samples per second.
pub(crate) const HIGHEST_RATE: u32 = 10_000;

/// The timer of a thread. OpenBSD needs no such timers, because the kernel samples all threads.
pub(crate) struct Clock;

impl Clock {
    pub(crate) fn reset(&self) {}
    pub(crate) fn attach(&self, _thread: i32) {}
    pub(crate) fn run(&self, _on: bool) {}
    pub(crate) fn settle(&self, _is_last: bool) {}
}

/// The CPU time of the process when sampling last started, in nanoseconds, plus 1; 0 while sampling is stopped.
static STARTED: AtomicU64 = AtomicU64::new(0);
/// The CPU time of all earlier periods of sampling, in nanoseconds.
static SAMPLED: AtomicU64 = AtomicU64::new(0);

/// Makes the system call, and records the CPU time during which the kernel samples.
///
/// # Safety
///
/// The same as for [`os::profil`].
pub(super) unsafe fn profil(
    buffer: *mut c_void,
    length: usize,
    samples_size: usize,
    offset: usize,
    scale: u32,
    directory: i32,
) -> Result<(), Errno> {
    // SAFETY: the caller guarantees the requirements of `os::profil`.
    unsafe { os::profil(buffer, length, samples_size, offset, scale, directory) }?;
    if scale == 0 {
        bins::stop();
    } else {
        // `samples::bins` tells other modules which addresses are the program's. The kernel counts in the bins, so the runtime keeps
        // no record of overflows.
        bins::are_file();
        // SAFETY: the caller guarantees that the samples follow the header.
        unsafe { bins::start(buffer.byte_add(size_of::<GmonHdr>()), samples_size, offset, scale) };
    }
    let now = process_time().unwrap_or(0);
    let started = STARTED.swap(if scale == 0 { 0 } else { now + 1 }, SeqCst);
    if started != 0 {
        SAMPLED.fetch_add((now + 1).saturating_sub(started), Relaxed);
    }
    Ok(())
}

/// Returns the number of samples per second.
pub(crate) fn profrate() -> u32 {
    u32::try_from(clock_rates().profiling).unwrap_or(0)
}

/// Reports how many samples are missing because counters wrapped. The kernel sets a counter to 0 after 65,535 and does not report the
/// wrap. Only the sum of all counters shows the loss, compared with the CPU time.
pub(crate) fn report() {
    const SECOND: u128 = 1_000_000_000;
    const ROUND: u64 = 1 << 16;
    let Some((start, _)) = buffer() else { return };
    let header: *const GmonHdr = start.cast();
    // SAFETY: the buffer starts with a header, followed by the samples. Buffers are never freed.
    let (samples, size, rate) = unsafe {
        let header = &*header;
        (start.byte_add(size_of::<GmonHdr>()).cast::<AtomicU16>(), header.ncnt as usize, header.profrate)
    };
    let bins = size.saturating_sub(size_of::<GmonHdr>()) / size_of::<u16>();
    // SAFETY: all bins are inside the buffer.
    let counted: u64 = (0..bins).map(|bin| u64::from(unsafe { (*samples.add(bin)).load(Relaxed) })).sum();
    let due = u128::from(SAMPLED.load(Relaxed)) * rate.max(0) as u128 / SECOND;
    let missing = (due as u64).saturating_sub(counted);
    // A counter that wrapped has lost 65,536 samples. A smaller difference is due to ticks outside the program's text, or to late ticks.
    if missing >= ROUND - ROUND / 64 {
        let why = b" samples are missing: the kernel's counters have 16 bits and became 0 after 65,535";
        say_count(b"", (missing + ROUND / 2) / ROUND * ROUND, why);
    }
}

/// Resets the CPU time in the child of a fork. The kernel goes on sampling in the child if it sampled the parent.
pub(crate) fn after_fork_in_child() {
    SAMPLED.store(0, Relaxed);
    let _ = STARTED.fetch_update(SeqCst, SeqCst, |started| (started != 0).then_some(1));
}

/// Does nothing, because the kernel has only one sampler.
pub(crate) fn choose(_wish: &Wish) {}

/// Does nothing: the system call in [`profil`] starts and stops sampling.
pub(crate) fn start() -> Result<(), Errno> {
    Ok(())
}

/// See [`start`].
pub(crate) fn stop() {}

/// Does nothing: the kernel counts in the buffer.
pub(crate) fn collect() {}

/// See [`collect`].
pub(crate) fn settle_for_good() {}

/// See [`collect`].
pub(crate) fn discard() {}

/// Returns the signals that the kernel blocks when the program blocks `signals`: the same signals, because the runtime needs none.
pub(crate) fn to_be_blocked(signals: SignalSet) -> SignalSet {
    signals
}
