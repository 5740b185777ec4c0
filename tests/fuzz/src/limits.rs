//! Measures the memory and the work of a check.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// The number of basic blocks of the program that ran so far. The compiler inserts a call of a function before each
/// basic block of a fuzz target, and that function counts here (`tests/fuzz/targets/steps.c`). A program that was
/// compiled without these calls counts nothing.
#[allow(non_upper_case_globals, reason = "C code has the same name")]
#[unsafe(no_mangle)]
pub static gmon_fuzz_steps: AtomicU64 = AtomicU64::new(0);

/// What one thread has allocated.
#[derive(Clone, Copy)]
struct Allocated {
    /// The number of bytes that are allocated now. The number is negative if the thread frees what other threads
    /// allocated.
    live: i64,
    /// The largest `live` since the last reset.
    peak: i64,
    /// The number of all bytes that were ever allocated.
    total: u64,
}

thread_local! {
    // Each thread counts its own allocations: other tests, and the threads that run tests, allocate at any time.
    static ALLOCATED: Cell<Allocated> = const { Cell::new(Allocated { live: 0, peak: 0, total: 0 }) };
}

/// The system's allocator with counters. A vector that grows is allocated anew, copied and freed, so both copies count.
struct Counting;

// SAFETY: every call is passed on to `System` as it is, and the counters need no allocation.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.with(|counts| {
            let Allocated { live, peak, total } = counts.get();
            let live = live + layout.size() as i64;
            counts.set(Allocated { live, peak: peak.max(live), total: total + layout.size() as u64 });
        });
        // SAFETY: the caller keeps `alloc`'s contract, which is `System`'s too.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        ALLOCATED.with(|counts| {
            let before = counts.get();
            counts.set(Allocated { live: before.live - layout.size() as i64, ..before });
        });
        // SAFETY: as above; the pointer came from `System.alloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The number of allocated bytes that count as one step: library functions that fill or copy memory have no steps of
/// their own.
const BYTES_OF_STEP: u64 = 16;

/// The number of basic blocks that count as one step. Without optimization, a check runs up to 20 times as many basic
/// blocks.
const BLOCKS_OF_STEP: u64 = if cfg!(feature = "unoptimized") { 20 } else { 1 };

/// What a check may use for an input of some length: a multiple of the length plus a constant.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of memory in use at once, for each byte of the input.
    pub bytes_per_byte: u64,
    /// Bytes of memory in use at once that are always allowed.
    pub bytes: u64,
    /// Steps for each byte of the input. A step is a basic block that ran, or 16 bytes that were allocated.
    pub steps_per_byte: u64,
    /// Steps that are always allowed.
    pub steps: u64,
}

impl Limits {
    /// Runs a function for an input of this length, and returns its result. Memory that other threads allocate does not
    /// count.
    ///
    /// # Panics
    ///
    /// If the function exceeds a limit.
    pub fn hold<T>(self, length: usize, run: impl FnOnce() -> T) -> T {
        let before = ALLOCATED.get();
        ALLOCATED.set(Allocated { peak: before.live, ..before });
        let blocks = || gmon_fuzz_steps.load(Relaxed) / BLOCKS_OF_STEP;
        let steps = || blocks().wrapping_add(ALLOCATED.get().total / BYTES_OF_STEP);
        let start = steps();
        let result = run();
        let steps = steps().wrapping_sub(start);
        let bytes = (ALLOCATED.get().peak - before.live) as u64;
        let length = length as u64;
        let (most_bytes, most_steps) =
            (self.bytes_per_byte * length + self.bytes, self.steps_per_byte * length + self.steps);
        assert!(bytes <= most_bytes, "{bytes} bytes of memory for an input of {length}: more than {most_bytes}");
        assert!(steps <= most_steps, "{steps} steps for an input of {length}: more than {most_steps}");
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { bytes_per_byte: 8, bytes: 1 << 20, steps_per_byte: 10, steps: 1_000_000 };

    #[test]
    fn what_exceeds_a_limit_fails() {
        let is_held = |length, run: fn()| std::panic::catch_unwind(|| LIMITS.hold(length, run)).is_ok();
        assert!(is_held(1 << 20, || drop(vec![1_u8; 8 << 20])));
        assert!(!is_held(1 << 10, || drop(vec![1_u8; 8 << 20])), "too much memory");
        assert!(!is_held(1 << 10, || (0..100).for_each(|_| drop(vec![1_u8; 1 << 19]))), "too many bytes are allocated");
        assert!(!is_held(1 << 10, || _ = gmon_fuzz_steps.fetch_add(2_000_000, Relaxed)), "too many basic blocks");
    }
}
