//! The memory for the outermost frames of deep stacks, which is mapped when the first deep stack is remembered.

use core::ptr::null_mut;
use core::slice;
use core::sync::atomic::{
    AtomicPtr,
    Ordering::{Acquire, Relaxed, SeqCst},
};

use gmon_unwind::{OuterEnd, OuterEnds};

use crate::os::{map, unmap};

/// Room for `N` stacks, a power of two.
pub(super) struct KeptEnds<const N: usize> {
    /// `N` values, which stay mapped; null before the first stack.
    values: AtomicPtr<OuterEnd>,
}

impl<const N: usize> KeptEnds<N> {
    /// Nothing is remembered.
    pub(super) const fn new() -> KeptEnds<N> {
        KeptEnds { values: AtomicPtr::new(null_mut()) }
    }
}

impl<const N: usize> OuterEnds for KeptEnds<N> {
    #[inline]
    fn list(&self) -> Option<&[OuterEnd]> {
        let values = self.values.load(Acquire);
        // SAFETY: so many values, which stay mapped. Zeros are valid values.
        (!values.is_null()).then(|| unsafe { slice::from_raw_parts(values, N) })
    }

    /// Async-signal-safe.
    fn list_or_new(&self) -> Option<&[OuterEnd]> {
        if self.values.load(Relaxed).is_null() {
            let memory = map(N * size_of::<OuterEnd>());
            let taken = self.values.compare_exchange(null_mut(), memory.cast(), SeqCst, SeqCst);
            if taken.is_err() && !memory.is_null() {
                // SAFETY: mapped above, and nobody else knows the memory.
                unsafe { unmap(memory, N * size_of::<OuterEnd>()) };
            }
        }
        self.list()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_room_is_made_once() {
        let ends = KeptEnds::<4>::new();
        assert!(ends.list().is_none());
        let lists = std::thread::scope(|scope| {
            let threads = [(); 4].map(|()| scope.spawn(|| ends.list_or_new().unwrap().as_ptr().addr()));
            threads.map(|thread| thread.join().unwrap())
        });
        let list = ends.list().unwrap();
        assert_eq!((lists, list.len()), ([list.as_ptr().addr(); 4], 4));
    }
}
