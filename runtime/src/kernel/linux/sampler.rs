//! Counts where the program is, at every expiry of a timer.
//!
//! Each thread has a timer of its own over its own CPU time, so that equal threads get equal shares; where the system
//! refuses those, the process's one timer serves. All of them send SIGPROF, and its handler does the counting: in
//! static memory, without a lock, a call or the C library.

use core::ffi::{c_int, c_void};
use core::ptr;
use core::slice;
use core::sync::atomic::{
    AtomicBool, AtomicI32, AtomicPtr, AtomicU16, AtomicU32, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use super::live;
use crate::arch;
use crate::message::say_error;
use crate::system::{Errno, Period, SignalInfo, Timer, catch_signal, clear, map, set_process_timer};

/// Samples for each second of CPU time.
pub(crate) const PROFRATE: u32 = 100;

/// For the threads' timers, which count nanoseconds; the process's, which counts microseconds; and for standing still.
static THREAD_PERIOD: Period = Period::of(1_000_000_000 / PROFRATE as i64);
static PROCESS_PERIOD: Period = Period::of(1_000_000 / PROFRATE as i64);
static NEVER: Period = Period::of(0);

/// What the handler counts into. `SCALE` 0 says: nothing; the rest is set before it.
static SCALE: AtomicU32 = AtomicU32::new(0);
static SAMPLES: AtomicPtr<AtomicU16> = AtomicPtr::new(ptr::null_mut());
static SAMPLES_SIZE: AtomicUsize = AtomicUsize::new(0);
static OFFSET: AtomicUsize = AtomicUsize::new(0);
/// How often each bin ran over, in an array like that of the samples; null if there was no memory for it.
static CARRIES: AtomicPtr<AtomicU16> = AtomicPtr::new(ptr::null_mut());
static OVERFLOWED: AtomicBool = AtomicBool::new(false);

/// Set once threads cannot have timers of their own and the process's timer runs instead.
static PROCESS_TIMER: AtomicBool = AtomicBool::new(false);
/// Why; 0 if they can.
static REFUSED: AtomicI32 = AtomicI32::new(0);

/// Starts counting, in all threads that have a [`Clock`] and in those to come.
///
/// # Safety
///
/// `samples` must point to `size` bytes of 16-bit bins that are never freed.
pub(crate) unsafe fn start(samples: *mut c_void, size: usize, offset: usize, scale: u32) -> Result<(), Errno> {
    if SAMPLES.load(Relaxed).is_null() {
        // Memory that is touched only when a bin overflows. Without it, and where the samples are the file itself, such a
        // bin stays at its highest value.
        if !live::is_live() {
            CARRIES.store(map(size).cast(), Relaxed);
        }
        SAMPLES.store(samples.cast(), Relaxed);
        SAMPLES_SIZE.store(size, Relaxed);
        catch_signal(on_expiry)?;
    }
    OFFSET.store(offset, Relaxed);
    SCALE.store(scale, SeqCst);
    if PROCESS_TIMER.load(Relaxed) {
        set_process_timer(&PROCESS_PERIOD)?;
    }
    Ok(())
}

/// Stops counting. Timers of threads may go on; what they send is not counted.
pub(crate) fn stop() {
    SCALE.store(0, SeqCst);
    if PROCESS_TIMER.load(Relaxed) {
        let _ = set_process_timer(&NEVER);
    }
}

/// Forgets what bins ran over, and starts the process's timer if it is the one in use: a child has none.
pub(crate) fn after_fork_in_child() {
    let carries = CARRIES.load(Relaxed);
    if OVERFLOWED.swap(false, SeqCst) && !carries.is_null() {
        // SAFETY: all of the memory that `start` mapped, and no other thread is here.
        unsafe { clear(carries.cast(), SAMPLES_SIZE.load(Relaxed)) };
    }
    if PROCESS_TIMER.load(Relaxed) && SCALE.load(Relaxed) != 0 {
        let _ = set_process_timer(&PROCESS_PERIOD);
    }
}

/// Goes on counting in another copy of the samples.
///
/// # Safety
///
/// `samples` must point to as many bins as [`start`] was given, which are never freed.
pub(crate) unsafe fn relocate(samples: *mut c_void) {
    SAMPLES.store(samples.cast(), SeqCst);
}

/// How many bins are at their highest value.
pub(crate) fn full_bins() -> usize {
    let (samples, bins) = (SAMPLES.load(Relaxed), SAMPLES_SIZE.load(Relaxed) / size_of::<u16>());
    // SAFETY: there are as many samples, and they are never freed.
    (0..bins).filter(|bin| unsafe { (*samples.add(*bin)).load(Relaxed) } == u16::MAX).count()
}

/// How often each bin ran over its 16 bits; `None` if none did.
pub(crate) fn carries() -> Option<&'static [AtomicU16]> {
    let bins = SAMPLES_SIZE.load(Relaxed) / size_of::<u16>();
    // SAFETY: a bin is only said to have run over once there are carries; there are as many as bins, and they are never
    // freed.
    OVERFLOWED.load(SeqCst).then(|| unsafe { slice::from_raw_parts(CARRIES.load(Relaxed), bins) })
}

/// The bin of a pc: [(pc - offset) / 2] * scale / 65536 as kernels compute it; `None` outside the samples.
#[inline]
fn bin(pc: usize, offset: usize, scale: u32, samples_size: usize) -> Option<usize> {
    let distance = pc.checked_sub(offset)?;
    let byte = ((distance as u128 * u128::from(scale)) >> 16) as usize & !1;
    (byte < samples_size & !1).then_some(byte / size_of::<u16>())
}

/// The handler of SIGPROF.
unsafe extern "C" fn on_expiry(_signal: c_int, info: *const SignalInfo, context: *const c_void) {
    let scale = SCALE.load(Relaxed);
    if scale == 0 {
        return;
    }
    // SAFETY: the kernel calls the handler as it was installed, with SA_SIGINFO: both pointers are good.
    let (pc, info) = unsafe { (arch::interrupted_pc(context), &*info) };
    if PROCESS_TIMER.load(Relaxed) && info.is_from_timer() {
        return; // a thread that got a timer of its own before there were no more; the process's counts for it as well
    }
    let Some(bin) = bin(pc, OFFSET.load(Relaxed), scale, SAMPLES_SIZE.load(Relaxed)) else { return };
    // More expiries than a bin can hold at once (11 minutes without a delivery) are beyond what is kept.
    let ticks = info.expiries().min(u32::from(u16::MAX)) as u16;
    // SAFETY: `bin` is an index into the samples; they are never freed.
    let place = unsafe { &*SAMPLES.load(Relaxed).add(bin) };
    let carries = CARRIES.load(Relaxed);
    if carries.is_null() {
        // At no moment is less than what was counted there.
        let add = |count: u16| Some(count.saturating_add(ticks));
        let _ = place.fetch_update(Relaxed, Relaxed, add);
    } else if place.fetch_add(ticks, Relaxed).checked_add(ticks).is_none() {
        // SAFETY: there are as many carries as samples, and they are never freed.
        unsafe { (*carries.add(bin)).fetch_add(1, Relaxed) };
        OVERFLOWED.store(true, SeqCst);
    }
}

/// One thread's timer.
pub(crate) struct Clock(AtomicI32);

impl Clock {
    const NONE: i32 = -1;

    /// No timer yet.
    pub(crate) fn reset(&self) {
        self.0.store(Clock::NONE, Relaxed);
    }

    /// Gives this thread a timer in place of the one that the clock had: that was of a thread which is gone. Below
    /// mcount.
    pub(crate) fn attach(&self) {
        let old = self.0.swap(Clock::NONE, Relaxed);
        if old != Clock::NONE {
            Timer(old).delete();
        }
        if PROCESS_TIMER.load(Relaxed) {
            return;
        }
        match Timer::for_this_thread().and_then(|timer| timer.set(&THREAD_PERIOD).map(|()| timer)) {
            Ok(timer) => self.0.store(timer.0, Relaxed),
            Err(error) => fall_back(error),
        }
    }

    /// Lets the thread's timer run, or not.
    pub(crate) fn run(&self, on: bool) {
        let timer = self.0.load(Relaxed);
        if timer != Clock::NONE {
            // A timer that cannot be set is one whose thread is gone.
            let _ = Timer(timer).set(if on { &THREAD_PERIOD } else { &NEVER });
        }
    }
}

/// Starts the process's timer because a thread could not have its own. From then on what threads' own timers send is not
/// counted. Below mcount: what happened is said later, by
/// [`report`].
#[cold]
fn fall_back(error: Errno) {
    REFUSED.store(error.0, Relaxed);
    if !PROCESS_TIMER.swap(true, SeqCst) && SCALE.load(Relaxed) != 0 {
        let _ = set_process_timer(&PROCESS_PERIOD);
    }
}

/// Says it if threads could not have timers of their own.
pub(crate) fn report() {
    let error = REFUSED.swap(0, Relaxed);
    if error != 0 {
        say_error(&[b"no timer for each thread, used the process's one: shares of threads are rough"], Errno(error));
    }
}

#[cfg(test)]
mod tests {
    use super::bin;

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
}
