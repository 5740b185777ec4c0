//! Counts what the tests allocate.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static USED: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
    static ALL: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, with a counter for each thread.
struct Counting;

// SAFETY: every call is passed on to `System` as it is; the counters are plain cells that need no allocation.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        USED.with(|used| {
            used.set(used.get().wrapping_add(layout.size()));
            ALL.with(|all| all.set(all.get().wrapping_add(layout.size())));
            PEAK.with(|peak| peak.set(peak.get().max(used.get())));
        });
        // SAFETY: the caller keeps `alloc`'s contract, which is `System`'s too.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        USED.with(|used| used.set(used.get().saturating_sub(layout.size())));
        // SAFETY: as above; the pointer came from `System.alloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The peak of allocated bytes while the function runs.
#[allow(dead_code)] // Not every test needs it.
pub(crate) fn peak<T>(run: impl FnOnce() -> T) -> usize {
    USED.set(0);
    PEAK.set(0);
    drop(run());
    PEAK.get()
}

/// The sum of all allocated bytes while the function runs: a measure of its work.
#[allow(dead_code)] // Not every test needs it.
pub(crate) fn allocated<T>(run: impl FnOnce() -> T) -> usize {
    ALL.set(0);
    drop(run());
    ALL.get()
}
