//! The kernel's own sampler, which writes samples to a ring of memory for each processor, without a signal.
//!
//! Later threads are sampled as well, whether they call profiled functions or not. The rings are read when sampling
//! stops, when the file is written, before an object is closed, and, before they can be full, after some of the
//! process's CPU time. The signal of a timer of the process asks for that, and goes to a thread that runs, not to a
//! sleeping thread.

use core::cell::Cell;
use core::ffi::c_void;
use core::sync::atomic::{
    AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
};

use super::capacity::Capacity;
use super::mark::{OF_RING, value};
use super::records::{self, Copied, Record, sample_size};
use crate::file::live;
use crate::message::say;
use crate::os::{
    Errno, PERF_ORDER, PERF_PROGRAM_COUNTER, SAMPLING_SIGNAL, SampleMemory, Timer, a_moment, block_signals,
    make_present, map, sample_on, set_blocked_signals,
};
use crate::samples::{self, bins, contexts};
use crate::state::{Inherited, Reset, resets};
use crate::text::Digits;
use crate::unwind::{CopiedStack, Stack};

/// A bound above the number of processors that Linux supports.
const MOST_PROCESSORS: usize = 8192;

/// The most memory of all rings with stacks, in pages: the kernel allocates the memory at the start, and for each child
/// of a fork.
const MOST_PAGES_OF_ALL: usize = 8192;

/// The interval between two reads of the rings while the process counts in its file.
const LIVE_NANOSECONDS: u64 = 100_000_000;

/// One processor's ring.
struct Ring {
    start: AtomicPtr<c_void>,
    length: AtomicUsize,
    /// Whether somebody reads the ring.
    busy: AtomicBool,
    /// Whether the ring was full when it was last read: the kernel reports lost records only with its next record.
    full: AtomicBool,
    /// The node of the program's code that the signal interrupted in whose handler a thread reads the ring; 0 outside
    /// of a handler. Arguments would take stack.
    reader: AtomicU32,
}

/// The array of rings.
static RINGS: Inherited<AtomicPtr<Ring>> =
    Inherited::new("the memory of a list that is empty in the child", AtomicPtr::new(core::ptr::null_mut()));

/// The timer that has the rings read; -1 for none.
static READER: Inherited<AtomicI32> = Inherited::new("set with the child's own rings", AtomicI32::new(-1));
/// The CPU time of the process between two reads of the rings.
static INTERVAL_NANOSECONDS: Inherited<AtomicU64> = Inherited::new("set with the child's own rings", AtomicU64::new(0));

/// The bytes of the stack in each sample; 0 for none.
static STACK: Inherited<AtomicU32> = Inherited::new("set with the child's own rings", AtomicU32::new(0));

/// Whether a copy of a stack ended at a page that nothing had touched.
static HAS_UNTOUCHED: Inherited<AtomicBool> =
    Inherited::new("tells about the functions of the program, which the child has too", AtomicBool::new(false));

/// Whether only the program's own code is sampled, because sampling the kernel requires privileges.
static ONLY_PROGRAM: Inherited<AtomicBool> = Inherited::new("set with the child's own rings", AtomicBool::new(false));

resets! {
    /// The number of rings.
    static NUMBER: Reset<AtomicUsize> = Reset::new();
    /// The samples for which there was no room in the rings.
    static LOST: Reset<AtomicU64> = Reset::new();
    /// The number of times that the kernel paused the rings.
    static THROTTLED: Reset<AtomicU32> = Reset::new();
}

/// Stops the timer that has the rings read.
pub(super) fn stop_reader() {
    let reader = READER.load(SeqCst);
    if reader != -1 {
        let _ = Timer(reader).set(0, 0);
    }
}

/// Starts the kernel's sampling of this thread and its later threads, at `rate` samples per second of CPU time.
///
/// # Errors
///
/// The kernel's errors for the events, their memory, or the timer.
pub(super) fn open(rate: u32) -> Result<(), Errno> {
    let mut capacity = Capacity::of(rate, contexts::are_kept());
    while let Err(error) = open_all(rate, capacity) {
        // This much locked memory may not be allowed.
        let smaller = capacity
            .smaller()
            .or_else(|| capacity.without_stacks())
            .filter(|_| matches!(error, Errno::EPERM | Errno::ENOMEM));
        capacity = smaller.ok_or(error)?;
    }
    STACK.store(capacity.stack(), Relaxed);
    INTERVAL_NANOSECONDS.store(capacity.interval(), Relaxed);
    let timer = Timer::for_process(SAMPLING_SIGNAL, value(OF_RING));
    if timer.is_err() {
        close();
    }
    READER.store(timer?.0, SeqCst);
    Ok(())
}

/// Opens a ring for each processor. After an error no ring is open.
fn open_all(rate: u32, capacity: Capacity) -> Result<(), Errno> {
    if RINGS.load(SeqCst).is_null() {
        RINGS.store(map(MOST_PROCESSORS * size_of::<Ring>()).cast(), SeqCst);
    }
    let rings = RINGS.load(SeqCst);
    if rings.is_null() {
        return Err(Errno::ENOMEM);
    }
    let nanoseconds = 1_000_000_000 / u64::from(rate.max(1));
    let mut only_program = false;
    let mut processor = 0;
    while processor < MOST_PROCESSORS {
        match sample_on(processor, nanoseconds, only_program, capacity.pages, capacity.stack()) {
            Ok(memory) => {
                let (start, length) = memory.parts();
                // SAFETY: there are at most as many rings as processors, and zeros are a valid ring.
                let ring = unsafe { &*rings.add(NUMBER.load(SeqCst)) };
                ring.start.store(start, SeqCst);
                ring.length.store(length, SeqCst);
                ring.busy.store(false, SeqCst);
                ring.full.store(false, SeqCst);
                let rings = NUMBER.fetch_add(1, SeqCst) + 1;
                if capacity.stack() > 0 && rings.saturating_mul(capacity.pages) > MOST_PAGES_OF_ALL {
                    close();
                    return Err(Errno::ENOMEM);
                }
            }
            // Sampling the kernel requires privileges.
            Err(Errno::EACCES | Errno::EPERM) if processor == 0 && !only_program => {
                only_program = true;
                continue;
            }
            Err(Errno::ENODEV) => {}                                // the processor is offline
            Err(Errno::EINVAL) if NUMBER.load(SeqCst) > 0 => break, // there are no more processors
            Err(error) => {
                close();
                return Err(error);
            }
        }
        processor += 1;
    }
    ONLY_PROGRAM.store(only_program, Relaxed);
    Ok(())
}

fn close() {
    let number = NUMBER.swap(0, SeqCst);
    for index in 0..number {
        // SAFETY: an open ring that nobody reads yet.
        unsafe { (*RINGS.load(SeqCst).add(index)).memory().close() };
    }
}

impl Ring {
    fn memory(&self) -> SampleMemory {
        // SAFETY: stored by `open_all`. The memory stays mapped while the ring is one of the `rings`.
        unsafe { SampleMemory::from_parts(self.start.load(SeqCst), self.length.load(SeqCst)) }
    }

    /// Counts the unread records if `counts`, and discards them otherwise. If somebody else reads the ring, the
    /// function `waits` a little, or returns. `reader` is as for [`count`].
    fn read(&self, waits: bool, counts: bool, reader: u32) {
        const MOMENTS: u32 = 100;
        let mut moments = if waits { MOMENTS } else { 0 };
        while self.busy.swap(true, Acquire) {
            if moments == 0 {
                return;
            }
            moments -= 1;
            a_moment();
        }
        self.reader.store(reader, Relaxed);
        let memory = self.memory();
        let (tail, head) = memory.unread();
        let words = memory.records();
        if head != tail {
            let is_full =
                head.wrapping_sub(tail) + u64::from(sample_size(STACK.load(Relaxed))) >= size_of_val(words) as u64;
            self.full.store(is_full && bins::is_counting(), Relaxed);
        }
        if counts {
            records::for_each(words, tail, head, |record| {
                count(self.memory().records(), record, self.reader.load(Relaxed));
            });
        }
        memory.set_read(head);
        self.busy.store(false, Release);
    }
}

fn for_each_ring(mut each: impl FnMut(&Ring)) {
    let rings = RINGS.load(SeqCst);
    for index in 0..NUMBER.load(SeqCst) {
        // SAFETY: there is this number of rings, and they are never freed.
        each(unsafe { &*rings.add(index) });
    }
}

/// Counts a record of a ring. `reader`: see [`Ring::reader`].
fn count(words: &[AtomicU64], record: Record, reader: u32) {
    match record {
        Record::Sample(pc, _, None) => samples::count_without_stack(pc, 1),
        Record::Sample(pc, thread, Some(Copied { registers, sp, stack, length, wanted })) => {
            let (order, program_counter, is_incomplete) = (PERF_ORDER, PERF_PROGRAM_COUNTER, Cell::new(false));
            let copied = CopiedStack {
                thread,
                words,
                registers,
                order,
                program_counter,
                sp,
                stack,
                length,
                wanted,
                reader,
                is_incomplete,
            };
            samples::count(pc, 1, Stack::Copied(&copied));
            if copied.is_incomplete.get() {
                HAS_UNTOUCHED.store(true, Relaxed);
                // The thread's next sample is whole, if the stack is still there.
                let _ = make_present(sp.wrapping_add(length), wanted - length);
            }
        }
        Record::Name(thread, name) => contexts::name_thread(thread, name),
        // Losses while nothing is counted do not matter.
        _ if !bins::is_counting() => {}
        Record::Lost(number) => {
            LOST.fetch_add(number, Relaxed);
        }
        Record::Throttled => {
            THROTTLED.fetch_add(1, Relaxed);
        }
    }
}

/// Makes the next pages of this thread's stack present, because the kernel copies only pages that are in memory: a
/// function with a large array that nothing has touched yet would hide its callers. May be called below mcount.
pub(super) fn prepare_stack() {
    /// As much as the largest copy.
    const LENGTH: usize = 32 << 10;
    // Each page takes time in each thread, and few programs have such functions.
    if HAS_UNTOUCHED.load(Relaxed) {
        let here = 0_u8;
        // The stack may be smaller. Then `count` makes its pages present.
        let _ = make_present((&raw const here).addr().saturating_sub(LENGTH), LENGTH);
    }
}

/// Counts what is in the rings, except for rings that somebody else reads. Called by the signal's handler, with the
/// context that the signal interrupted.
pub(super) fn read(context: *const c_void) {
    let reader = contexts::node_of(context);
    for_each_ring(|ring| ring.read(false, true, reader));
}

/// Counts what is in the rings.
pub(super) fn read_all() {
    // Otherwise the handler could wait for the code that it interrupted.
    let blocked = block_signals();
    for_each_ring(|ring| ring.read(true, true, 0));
    set_blocked_signals(blocked);
}

/// Discards what is in the rings.
pub(super) fn discard() {
    let blocked = block_signals();
    for_each_ring(|ring| ring.read(true, false, 0));
    set_blocked_signals(blocked);
}

/// Starts the timer that has the rings read. The timer also runs while nothing is counted; otherwise losses from that
/// time would be reported later.
pub(super) fn start() -> Result<(), Errno> {
    let nanoseconds = INTERVAL_NANOSECONDS.load(Relaxed);
    let nanoseconds = if live::is_live() { nanoseconds.min(LIVE_NANOSECONDS) } else { nanoseconds };
    Timer(READER.load(SeqCst)).set(nanoseconds as i64, nanoseconds as i64)
}

/// Whether time in the kernel is not sampled.
pub(super) fn is_blind_to_kernel() -> bool {
    ONLY_PROGRAM.load(Relaxed)
}

/// Reports lost samples; the result is their number.
pub(super) fn report() -> u64 {
    let lost = LOST.swap(0, Relaxed);
    let mut full = false;
    for_each_ring(|ring| full |= ring.full.swap(false, Relaxed));
    if lost > 0 || full {
        let mut count = Digits::new();
        count.push_decimal(lost);
        let more: &[u8] = if full { b" or more" } else { b"" };
        say(&[b"the perf_event ring overflowed: ", count.as_bytes(), more, b" samples are missing"]);
    }
    let throttled = THROTTLED.swap(0, Relaxed);
    if throttled > 0 {
        let mut count = Digits::new();
        count.push_decimal(u64::from(throttled));
        say(&[
            b"the kernel paused the perf_event ring ",
            count.as_bytes(),
            b" times (kernel.perf_event_max_sample_rate): samples are missing",
        ]);
    }
    lost
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU16;

    use super::super::records::tests::MadeUp;
    use super::*;
    use crate::os::PAGE;

    #[test]
    fn a_bin_that_runs_over_through_the_ring_loses_nothing() {
        // No other test of this crate counts samples.
        let samples: &'static [AtomicU16] = Box::leak((0..16).map(|_| AtomicU16::new(0)).collect());
        // SAFETY: memory of this size, never freed.
        unsafe { bins::start(samples.as_ptr().cast_mut().cast(), 32, 0x1000, 0x8000) };
        let mut ring = MadeUp::new(512, 0);
        let mut tail = 0;
        for turn in 0..70_000_u64 {
            ring.sample(0x1008);
            if turn % 100 == 0 {
                ring.sample(0x1010);
                ring.sample(0x5000); // outside
                ring.write(2, &[1, 3]);
                records::for_each(&ring.words, tail, ring.head, |record| count(&ring.words, record, 0));
                tail = ring.head;
            }
        }
        records::for_each(&ring.words, tail, ring.head, |record| count(&ring.words, record, 0));
        let carries = bins::carries().expect("a bin ran over");
        let wide = |bin: usize| (u32::from(carries[bin].load(Relaxed)) << 16) + u32::from(samples[bin].load(Relaxed));
        assert_eq!([wide(2), wide(4), wide(3)], [70_000, 700, 0]);
        assert_eq!(bins::ticks(), 71_400);
        assert_eq!(LOST.load(Relaxed), 2100);
        bins::stop();
        count(&[], Record::Sample(0x1008, 1, None), 0);
        count(&[], Record::Lost(5), 0);
        assert_eq!((wide(2), LOST.load(Relaxed)), (70_000, 2100), "nothing is counted any more");
    }

    #[test]
    fn a_ring_of_the_kernel_is_read() {
        // If the kernel forbids perf events, there is nothing to read.
        let Ok(memory) = sample_on(0, 1_000_000, true, 8, 0) else {
            println!("\nSKIPPED: perf_event_open is forbidden here, no ring to be read");
            return;
        };
        let words = memory.records();
        assert_eq!(size_of_val(words), 8 * PAGE);
        let (tail, head) = memory.unread();
        assert!(tail == 0 && head <= 8 * PAGE as u64);
        memory.set_read(head);
        assert_eq!(memory.unread().0, head);
        // SAFETY: nobody uses it any more.
        unsafe { memory.close() };
    }
}
