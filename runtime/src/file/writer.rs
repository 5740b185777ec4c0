//! Writes a file from its beginning, by the page.

use core::cell::UnsafeCell;

use core::convert::Infallible;

use gmon::encode::{Arc, BsdHeader, GnuHistogram, Sink, bsd_header, gnu_histogram};
use gmon::layout::{GNU_SECONDS, GmonHdr, RawArc, mark};

use crate::os::{Errno, Fd};

/// Gathers bytes and writes them by the page, from the beginning of an empty file. After a failure it writes no more.
pub(crate) struct Writer {
    file: Fd,
    buffer: &'static mut [u8; 4096],
    used: usize,
    /// Bytes of the file so far, those in the buffer among them.
    written: usize,
    /// The sum of the marks of its bytes.
    sum: u64,
    /// Whether the last of them were left out: what is not written is zero, and takes no time and no room.
    ends_in_hole: bool,
    failed: Option<Errno>,
}

/// A file that was written: its bytes, and the sum of their [`mark`]s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) length: usize,
    pub(crate) sum: u64,
}

/// So many zeros in a row, or more, are left out.
const HOLE: usize = 4096;

/// The page of the one writer. Not on the stack: that may be a thread's smallest, or a signal's.
struct Page(UnsafeCell<[u8; 4096]>);

// SAFETY: `control` lets only one thread write the file.
unsafe impl Sync for Page {}

static PAGE: Page = Page(UnsafeCell::new([0; 4096]));

/// What is in the first so many bytes of a file, which must have been opened for reading.
pub(crate) fn read_back(file: Fd, length: usize) -> Result<Written, Errno> {
    // SAFETY: there is one writer at a time, and it is not at work now.
    let page = unsafe { &mut *PAGE.0.get() };
    let (mut read, mut sum) = (0, 0_u64);
    while read < length {
        let left = (length - read).min(page.len());
        match file.read_at(page.get_mut(..left).unwrap_or_default(), read) {
            Ok(0) => return Err(Errno::EINVAL),
            Ok(bytes) => {
                let marks = (read as u64..).zip(page.iter().take(bytes)).map(|(position, byte)| mark(position, *byte));
                sum = marks.fold(sum, u64::wrapping_add);
                read += bytes;
            }
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Written { length: read, sum })
}

impl Writer {
    pub(crate) fn new(file: Fd) -> Writer {
        // SAFETY: there is one writer at a time, and it is made anew for each file.
        let buffer = unsafe { &mut *PAGE.0.get() };
        Writer { file, buffer, used: 0, written: 0, sum: 0, ends_in_hole: false, failed: None }
    }

    /// Writes bytes.
    #[inline(never)]
    pub(crate) fn put(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if self.used == self.buffer.len() {
                self.flush();
            }
            if let Some(place) = self.buffer.get_mut(self.used) {
                *place = *byte;
                self.sum = self.sum.wrapping_add(mark(self.written as u64, *byte));
                self.used += 1;
                self.written += 1;
            }
        }
    }

    /// Writes so many zeros. Many of them are left out: the file has a hole there.
    #[inline(never)]
    pub(crate) fn zeros(&mut self, length: usize) {
        if length >= HOLE {
            self.flush();
            self.written += length;
            self.ends_in_hole = true;
            return;
        }
        static SOME: [u8; 64] = [0; 64];
        let mut left = length;
        while let Some(some) = SOME.get(..left.min(SOME.len())).filter(|some| !some.is_empty()) {
            self.put(some);
            left -= some.len();
        }
    }

    /// Writes 4.4BSD's header with that first spare word.
    pub(crate) fn bsd_header(&mut self, header: &GmonHdr, ncnt: i32, spare: i32) {
        let (lowpc, highpc) = (header.lpc as u64, header.hpc as u64);
        let header = BsdHeader { lowpc, highpc, ncnt, profrate: header.profrate as u32, spare };
        let Ok(()) = bsd_header(self, &header);
    }

    /// Writes what stands before the bins of a histogram of GNU's form: the range and the rate are those of `header`.
    pub(crate) fn gnu_histogram(&mut self, header: &GmonHdr, bins: usize) {
        let histogram = GnuHistogram {
            lowpc: header.lpc as u64,
            highpc: header.hpc as u64,
            bins: bins as u32,
            profrate: header.profrate as u32,
            dimension: &GNU_SECONDS,
            abbrev: b's',
        };
        let Ok(()) = gnu_histogram(self, &histogram);
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
    pub(crate) fn fail(&mut self, error: Errno) {
        self.failed = Some(error);
    }

    /// Writes what is left; what went wrong before is said here.
    pub(crate) fn finish(mut self) -> Result<Written, Errno> {
        self.flush();
        if let Some(error) = self.failed {
            return Err(error);
        }
        if self.ends_in_hole {
            self.file.set_length(self.written)?;
        }
        Ok(Written { length: self.written, sum: self.sum })
    }
}

impl Sink for Writer {
    type Error = Infallible;

    fn bytes(&mut self, bytes: &[u8]) {
        self.put(bytes);
    }

    fn u32(&mut self, value: u32) {
        self.put(&value.to_ne_bytes());
    }

    fn word(&mut self, value: u64) -> Result<(), Infallible> {
        self.put(&(value as usize).to_ne_bytes());
        Ok(())
    }
}

/// An arc of the buffer as the encoders have it.
pub(crate) fn encoded(arc: &RawArc) -> Arc {
    Arc { frompc: arc.raw_frompc as u64, selfpc: arc.raw_selfpc as u64, count: arc.raw_count as u64 }
}
