//! Memory and files in which a process counts, for the modules that own them.

mod open_file;
mod rows;

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{
    AtomicPtr, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

pub(crate) use open_file::OpenFile;
pub(crate) use rows::{Row, Rows, ThreadRow};

use crate::os::{clear, map};
use crate::state::Resettable;

/// Memory that is zero at first and never freed; the memory may be missing.
pub(crate) struct Memory {
    start: AtomicPtr<c_void>,
    length: AtomicUsize,
}

impl Memory {
    pub(crate) const fn none() -> Memory {
        Memory { start: AtomicPtr::new(ptr::null_mut()), length: AtomicUsize::new(0) }
    }

    /// Maps `length` bytes. If mapping fails, the memory is missing.
    pub(crate) fn map(&self, length: usize) {
        self.length.store(length, SeqCst);
        self.start.store(map(length), SeqCst);
    }

    /// The address of the memory; null if it is missing.
    #[inline]
    pub(crate) fn start<T>(&self) -> *mut T {
        self.start.load(Relaxed).cast()
    }

    /// Clears the memory. Nobody may use the memory at the same time.
    pub(crate) fn clear(&self) {
        let start = self.start.load(SeqCst);
        if !start.is_null() {
            // SAFETY: all of the memory that `map` got; the child of a fork has no other thread.
            unsafe { clear(start, self.length.load(SeqCst)) };
        }
    }
}

/// A child clears the memory, which stays mapped.
impl Resettable for Memory {
    const VALUE: Memory = Memory::none();

    #[inline(always)]
    fn reset(&self) {
        self.clear();
    }

    #[cfg(test)]
    fn change(&self) {
        const LENGTH: usize = 100_000;
        self.map(LENGTH);
        // SAFETY: fresh memory of that length.
        unsafe { ptr::write_bytes(self.start::<u8>(), 7, LENGTH) };
    }

    #[cfg(test)]
    fn is_first(&self) -> bool {
        let (start, length) = (self.start::<u8>(), self.length.load(Relaxed));
        // SAFETY: all of the memory, which stays mapped.
        start.is_null() || unsafe { core::slice::from_raw_parts(start, length) }.iter().all(|byte| *byte == 0)
    }
}
