//! Memory that is mapped in advance.

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{
    AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

/// A mapped region from which threads allocate memory in order, without a system call.
pub(crate) struct Reserve {
    /// The address of the first free byte, and the address after the last byte. [`Reserve::replace`] empties the
    /// reserve before it sets both.
    next: AtomicUsize,
    end: AtomicUsize,
}

impl Reserve {
    pub(crate) const fn none() -> Reserve {
        Reserve { next: AtomicUsize::new(0), end: AtomicUsize::new(0) }
    }

    /// Allocates `length` bytes, rounded up to a multiple of `grain`, all zero; null if too few bytes are left.
    /// Async-signal-safe.
    pub(crate) fn take(&self, length: usize, grain: usize) -> *mut c_void {
        let length = length.next_multiple_of(grain);
        let taken = self.next.fetch_update(SeqCst, SeqCst, |next| {
            // The check cannot pass with an old `end`: `replace` sets `next` to the maximum before it changes `end`.
            let behind = next.checked_add(length)?;
            (next != 0 && behind <= self.end.load(SeqCst)).then_some(behind)
        });
        taken.map_or(ptr::null_mut(), ptr::with_exposed_provenance_mut)
    }

    /// Returns whether at least half of `size` bytes is left.
    pub(crate) fn has_half_of(&self, size: usize) -> bool {
        self.end.load(SeqCst).saturating_sub(self.next.load(SeqCst)) >= size / 2
    }

    /// Replaces the region with new memory, and returns the rest of the old region as (address, length).
    pub(crate) fn replace(&self, memory: *mut c_void, length: usize) -> (usize, usize) {
        // Allocations fail until the new region is set.
        let next = self.next.swap(usize::MAX, SeqCst);
        let end = self.end.swap(0, SeqCst);
        self.end.store(memory.addr() + length, SeqCst);
        self.next.store(memory.expose_provenance(), SeqCst);
        (next, end.saturating_sub(next))
    }

    /// Whether [`Reserve::close`] was called.
    pub(crate) fn is_closed(&self) -> bool {
        self.next.load(Relaxed) == usize::MAX
    }

    /// Empties the reserve for good, and returns the rest of the region as (address, length).
    #[allow(dead_code, reason = "not all systems lock memory that nobody has touched")]
    pub(crate) fn close(&self) -> (usize, usize) {
        let rest = self.replace(ptr::null_mut(), 0);
        self.next.store(usize::MAX, SeqCst);
        rest
    }

    /// Returns the latest allocation, the `length` bytes at `memory`, which must be zero. An earlier allocation stays
    /// allocated.
    #[allow(dead_code, reason = "not all systems allocate more than they need")]
    pub(crate) fn give_back(&self, memory: *mut c_void, length: usize) {
        let _ = self.next.compare_exchange(memory.addr() + length, memory.addr(), SeqCst, SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::os::map;

    #[test]
    fn a_reserve_gives_each_piece_once() {
        let size = 1 << 20;
        let reserve = Reserve::none();
        assert!(reserve.take(1, 4096).is_null(), "there is nothing yet");
        let memory = map(size);
        assert_eq!(reserve.replace(memory, size), (0, 0));
        let take = || {
            let pieces = std::iter::from_fn(|| Some(reserve.take(5000, 4096)).filter(|piece| !piece.is_null()));
            pieces.map(<*mut c_void>::addr).collect::<Vec<_>>()
        };
        let taken: Vec<usize> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(take)).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(taken.len(), size / 8192);
        let distinct: HashSet<_> = taken.iter().map(|piece| (piece - memory.addr()) / 8192).collect();
        assert_eq!((distinct.len(), distinct.into_iter().max()), (size / 8192, Some(size / 8192 - 1)));
        let another = map(size);
        assert_eq!(reserve.replace(another, size), (memory.addr() + size, 0));
        assert_eq!(reserve.take(size, 4096), another);
        assert!(reserve.take(1, 4096).is_null() && reserve.take(usize::MAX - 4096, 4096).is_null());
    }
}
