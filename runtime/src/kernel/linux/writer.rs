//! Writes a file from its beginning, by the page.

use core::cell::UnsafeCell;

use gmon::layout::{GmonHdr, RawArc};

use crate::system::{Errno, Fd};

/// Gathers bytes and writes them by the page, from the beginning of an empty file. After a failure it writes no more.
pub(super) struct Writer {
    file: Fd,
    buffer: &'static mut [u8; 4096],
    used: usize,
    /// Bytes of the file so far, those in the buffer among them.
    written: usize,
    /// Whether the last of them were left out: what is not written is zero, and takes no time and no room.
    ends_in_hole: bool,
    failed: Option<Errno>,
}

/// So many zeros in a row, or more, are left out.
const HOLE: usize = 4096;

/// The page of the one writer. Not on the stack: that may be a thread's smallest, or a signal's.
struct Page(UnsafeCell<[u8; 4096]>);

// SAFETY: `control` lets only one thread write the file.
unsafe impl Sync for Page {}

static PAGE: Page = Page(UnsafeCell::new([0; 4096]));

impl Writer {
    pub(super) fn new(file: Fd) -> Writer {
        // SAFETY: there is one writer at a time, and it is made anew for each file.
        Writer { file, buffer: unsafe { &mut *PAGE.0.get() }, used: 0, written: 0, ends_in_hole: false, failed: None }
    }

    /// Writes bytes.
    pub(super) fn put(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if self.used == self.buffer.len() {
                self.flush();
            }
            if let Some(place) = self.buffer.get_mut(self.used) {
                *place = *byte;
                self.used += 1;
                self.written += 1;
            }
        }
    }

    /// Writes so many zeros. Many of them are left out: the file has a hole there.
    pub(super) fn zeros(&mut self, length: usize) {
        if length >= HOLE {
            self.flush();
            self.written += length;
            self.ends_in_hole = true;
            return;
        }
        for _ in 0..length {
            self.put(&[0]);
        }
    }

    /// Writes 4.4BSD's header, the spare words zero.
    pub(super) fn header(&mut self, header: &GmonHdr) {
        self.put(&header.lpc.to_ne_bytes());
        self.put(&header.hpc.to_ne_bytes());
        for word in [header.ncnt, header.version, header.profrate, header.totarc, 0, 0] {
            self.put(&word.to_ne_bytes());
        }
    }

    /// Writes 4.4BSD's arcs.
    pub(super) fn raw_arcs(&mut self, arcs: &[RawArc]) {
        for arc in arcs {
            self.put(&arc.raw_frompc.to_ne_bytes());
            self.put(&arc.raw_selfpc.to_ne_bytes());
            self.put(&arc.raw_count.to_ne_bytes());
        }
    }

    fn flush(&mut self) {
        if self.used == 0 {
            return;
        }
        if self.failed.is_none() {
            let start = self.written - self.used;
            self.failed = self.file.write_all_at(self.buffer.get(..self.used).unwrap_or(&[]), start).err();
        }
        self.used = 0;
        self.ends_in_hole = false;
    }

    /// Writes no more, as the file cannot be.
    pub(super) fn fail(&mut self, error: Errno) {
        self.failed = Some(error);
    }

    /// Writes what is left; what went wrong before is said here.
    pub(super) fn finish(mut self) -> Result<(), Errno> {
        self.flush();
        match self.failed {
            Some(error) => Err(error),
            None if self.ends_in_hole => self.file.set_length(self.written),
            None => Ok(()),
        }
    }
}
