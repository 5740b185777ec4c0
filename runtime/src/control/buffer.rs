//! The buffer of the profile: header, samples and arcs, in memory as in the file.

use core::ffi::c_void;
use core::ptr;

use gmon::layout::{GMONVERSION, GmonHdr, HISTFRACTION, MAXARCS, RawArc};

use crate::objects::program;
use crate::os::{LARGEST_PAGE, clear, map, replace};

/// The granularity of the sampled range. Bins then stand for whole words of code, and the arcs behind the bins are
/// aligned.
const GRAIN: usize = 16;

/// A range of addresses, in multiples of [`GRAIN`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) lowpc: usize,
    pub(crate) highpc: usize,
}

impl Range {
    /// The range from `lowpc`, rounded down, to `highpc`, rounded up; `None` if the range is empty or too large for
    /// the header.
    pub(crate) fn around(lowpc: usize, highpc: usize) -> Option<Range> {
        let range = Range { lowpc: lowpc & !(GRAIN - 1), highpc: highpc.checked_next_multiple_of(GRAIN)? };
        let size = range.highpc.checked_sub(range.lowpc)?;
        let ncnt = size / HISTFRACTION + size_of::<GmonHdr>();
        (size > 0 && i32::try_from(ncnt).is_ok()).then_some(range)
    }

    /// The size of a header and the samples of this range, in bytes.
    pub(crate) fn ncnt(&self) -> usize {
        size_of::<GmonHdr>() + (self.highpc - self.lowpc) / HISTFRACTION
    }

    /// Extends the end of the range so that header and samples are whole pages.
    pub(crate) fn in_whole_pages(self) -> Range {
        let more = self.ncnt().next_multiple_of(LARGEST_PAGE) - self.ncnt();
        Range { highpc: self.highpc + more * HISTFRACTION, ..self }
    }
}

/// A handle of the buffer. The memory is never freed.
#[derive(Clone, Copy)]
pub(crate) struct Buffer {
    start: *mut c_void,
    length: usize,
}

impl Buffer {
    /// Allocates a buffer for samples over `range` and [`MAXARCS`] arcs. The header has the addresses of the
    /// executable file, which are `bias` below the run-time addresses, and no arcs.
    pub(crate) fn allocate(range: Range, bias: usize, profrate: u32) -> Option<Buffer> {
        let length = (MAXARCS * size_of::<RawArc>()).checked_add(range.ncnt())?;
        // SAFETY: fresh memory of that length, page-aligned.
        unsafe { Buffer::place(map(length), length, range, bias, profrate) }
    }

    /// Makes a buffer without room for arcs in `memory`; `None` if `memory` is null.
    ///
    /// # Safety
    ///
    /// The memory must be aligned as a header, all zero and never freed, and at least [`Range::ncnt`] bytes long.
    pub(crate) unsafe fn place(
        memory: *mut c_void,
        length: usize,
        range: Range,
        bias: usize,
        profrate: u32,
    ) -> Option<Buffer> {
        if memory.is_null() {
            return None;
        }
        let header = GmonHdr {
            lpc: range.lowpc.wrapping_sub(bias),
            hpc: range.highpc.wrapping_sub(bias),
            ncnt: range.ncnt() as i32,
            version: GMONVERSION,
            profrate: profrate as i32,
            totarc: 0,
            spare: [0; 2],
        };
        // SAFETY: the caller's promise; the memory is longer than a header.
        unsafe { memory.cast::<GmonHdr>().write(header) };
        Some(Buffer { start: memory, length })
    }

    /// Makes a handle of the buffer from the result of [`Buffer::parts`].
    ///
    /// # Safety
    ///
    /// The parts must be those of a buffer.
    pub(crate) unsafe fn from_parts(start: *mut c_void, length: usize) -> Buffer {
        Buffer { start, length }
    }

    /// The address of the buffer and its size in bytes.
    pub(crate) fn parts(&self) -> (*mut c_void, usize) {
        (self.start, self.length)
    }

    fn header_place(&self) -> *mut GmonHdr {
        self.start.cast()
    }

    /// The header.
    pub(super) fn header(&self) -> GmonHdr {
        // SAFETY: every buffer begins with a header.
        unsafe { *self.header_place() }
    }

    /// The run-time addresses of the samples.
    pub(crate) fn sampled(&self) -> core::ops::Range<usize> {
        let (header, bias) = (self.header(), program::bias());
        header.lpc.wrapping_add(bias)..header.hpc.wrapping_add(bias)
    }

    fn ncnt(&self) -> usize {
        self.header().ncnt as usize
    }

    /// The size of the samples in bytes.
    pub(crate) fn samples_size(&self) -> usize {
        self.ncnt() - size_of::<GmonHdr>()
    }

    /// The address of the arcs, and the number of arcs for which there is room.
    pub(crate) fn room_for_arcs(&self) -> (*mut RawArc, usize) {
        // SAFETY: the header's ncnt is inside the buffer, and a multiple of an arc's alignment: see GRAIN.
        let arcs = unsafe { self.start.byte_add(self.ncnt()).cast() };
        (arcs, (self.length - self.ncnt()) / size_of::<RawArc>())
    }

    /// Stores the number of arcs in the header; `arcs` must not exceed the room for arcs.
    pub(crate) fn set_arcs(&self, arcs: usize) {
        // SAFETY: every buffer begins with a header; only the end of the program writes it.
        unsafe { (*self.header_place()).totarc = (arcs * size_of::<RawArc>()) as i32 };
    }

    /// Clears all samples and drops the arcs. If the buffer is `shared` with another process, the buffer becomes
    /// private at the same address; the result is false if there is no memory for that.
    ///
    /// # Safety
    ///
    /// Nobody else may use the buffer in this process.
    pub(crate) unsafe fn clear(&self, shared: bool) -> bool {
        let first_page = LARGEST_PAGE.min(self.length);
        // SAFETY: the range is inside the buffer, which begins at a page and consists of whole pages if it is shared;
        // by the caller's promise only this process uses it.
        unsafe {
            let header = self.header();
            if shared {
                if !replace(self.start, self.length) {
                    return false;
                }
            } else {
                ptr::write_bytes(self.start.cast::<u8>(), 0, first_page);
                clear(self.start.byte_add(first_page), self.length - first_page);
            }
            self.header_place().write(GmonHdr { totarc: 0, ..header });
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_can_be_made_whole_pages() {
        for size in [16, 4096, 8112, 8128, 100_000] {
            let range = Range::around(0x1000, 0x1000 + size).unwrap();
            let pages = range.in_whole_pages();
            assert!(pages.ncnt().is_multiple_of(LARGEST_PAGE) && pages.ncnt() - range.ncnt() < LARGEST_PAGE);
            assert!(pages.highpc.is_multiple_of(GRAIN) && pages.lowpc == range.lowpc);
        }
    }

    #[test]
    fn a_range_is_rounded_outwards_and_must_not_be_empty() {
        assert_eq!(Range::around(0x1003, 0x2001), Some(Range { lowpc: 0x1000, highpc: 0x2010 }));
        assert_eq!(Range::around(0x1000, 0x1000), None);
        assert_eq!(Range::around(0x2000, 0x1000), None);
        assert_eq!(Range::around(0, usize::MAX), None);
        assert_eq!(Range::around(0, 1 << 33), None, "the header counts its bytes in 31 bits");
    }
}
