//! The memory of this process, read only where a page is known to be readable.

use core::cell::Cell;
use core::ops::Range;

use gmon_unwind::Memory;

/// The size of the pages that are asked for: the smallest that the architectures have. A system with larger pages is
/// asked a few more times.
const PAGE: usize = 4096;
/// The number of pages that are remembered. A walk goes through a stack once, from low to high addresses.
const REMEMBERED: usize = 8;

/// The memory of this process.
///
/// A page is asked for once while it is remembered. Memory that another thread unmaps after the question ends the
/// process; a stack that is being walked is in use, so only a wrong pointer leads to other memory.
pub(super) struct Pages<F> {
    ask: F,
    /// Memory that needs no question: the part of the own stack that is known to be mapped.
    known: Range<usize>,
    /// The addresses of readable pages, each at the place that its number has; 0 if the place is free.
    readable: [Cell<usize>; REMEMBERED],
}

impl<F: Fn(usize) -> bool> Pages<F> {
    /// Memory where `ask` says whether the page with an address is readable. The addresses of `known` are not asked
    /// for.
    ///
    /// # Safety
    ///
    /// The pages for which `ask` returns true, and all of `known`, must stay readable as long as the value lives.
    pub(super) unsafe fn new(ask: F, known: Range<usize>) -> Pages<F> {
        Pages { ask, known, readable: [const { Cell::new(0) }; REMEMBERED] }
    }

    fn is_readable(&self, address: usize) -> bool {
        let page = address & !(PAGE - 1);
        let Some(place) = self.readable.get(address / PAGE % REMEMBERED) else {
            return false;
        };
        if page == 0 {
            return false;
        }
        if place.get() == page {
            return true;
        }
        let is_readable = (self.ask)(page);
        if is_readable {
            place.set(page);
        }
        is_readable
    }
}

impl<F: Fn(usize) -> bool> Memory for Pages<F> {
    fn read(&self, address: usize) -> Option<usize> {
        let last = address.checked_add(size_of::<usize>() - 1)?;
        let is_known = self.known.start <= address && last < self.known.end;
        if !(is_known || self.is_readable(address) && self.is_readable(last)) {
            return None;
        }
        // SAFETY: the kernel said that the pages are readable, and the creator of this value promised that they stay
        // so. The thread's own stack does not change during the walk; others' words are plain integers here.
        Some(unsafe { core::ptr::with_exposed_provenance::<usize>(address).read_unaligned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_page_is_asked_for_once_and_words_across_pages_need_both() {
        let memory = [0x5a_u8; 4 * PAGE];
        let start = memory.as_ptr().expose_provenance().next_multiple_of(PAGE);
        let asked = Cell::new(0);
        let ask = |page| {
            asked.set(asked.get() + 1);
            page == start
        };
        // SAFETY: the page is on this function's stack.
        let pages = unsafe { Pages::new(ask, 0..0) };
        assert_eq!(pages.read(start), Some(0x5a5a_5a5a_5a5a_5a5a));
        assert_eq!(pages.read(start + PAGE - 8), Some(0x5a5a_5a5a_5a5a_5a5a));
        assert_eq!(asked.get(), 1);
        assert_eq!(pages.read(start + PAGE - 7), None);
        assert_eq!(pages.read(start - 1), None);
        assert_eq!([pages.read(0), pages.read(usize::MAX), pages.read(usize::MAX - 7)], [None; 3]);
        // SAFETY: as above.
        let pages = unsafe { Pages::new(|_| false, start..start + 16) };
        assert!(pages.read(start + 8).is_some() && pages.read(start + 9).is_none() && pages.read(start - 1).is_none());
    }
}
