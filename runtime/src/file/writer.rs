//! Writes a file from its start, in pages.

use core::cell::UnsafeCell;

use core::convert::Infallible;

use gmon::encode::side_file;
use gmon::encode::{Arc, BsdHeader, GnuHistogram, Sink, bsd_header, gnu_histogram};
use gmon::layout::side_file::{REQUIRED, Tag};
use gmon::layout::{GNU_SECONDS, GmonHdr, RawArc, mark};

use crate::os::{Errno, Fd};
use crate::state::Inherited;

/// Gathers bytes and writes them in pages, from the start of an empty file. After a failure nothing more is written.
pub(crate) struct Writer {
    file: Fd,
    buffer: &'static mut [u8; 4096],
    used: usize,
    /// The bytes of the file so far, with the bytes in the buffer.
    written: usize,
    /// The sum of the marks of its bytes.
    sum: u64,
    /// Whether the last bytes are a hole, which takes no time and no room.
    ends_in_hole: bool,
    failed: Option<Errno>,
}

/// The description of a written file: its length, and the sum of its bytes' [`mark`]s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) length: usize,
    pub(crate) sum: u64,
}

/// A run of at least this number of zeros becomes a hole.
const HOLE: usize = 4096;

/// The buffer of the one writer. A static, because the stack may be a thread's smallest, or a signal's.
struct Page(UnsafeCell<[u8; 4096]>);

// SAFETY: `control` lets only one thread write the file.
unsafe impl Sync for Page {}

static PAGE: Inherited<Page> = Inherited::new("made anew for each use", Page(UnsafeCell::new([0; 4096])));

/// Describes the first `length` bytes of a file, which must be open for reading.
pub(crate) fn read_back(file: Fd, length: usize) -> Result<Written, Errno> {
    // SAFETY: there is one writer at a time, and it does not write now.
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

    /// Writes from an offset of a file on. The result of [`Writer::finish`] then has no sum.
    pub(super) fn at(file: Fd, offset: usize) -> Writer {
        Writer { written: offset, ..Writer::new(file) }
    }

    /// The number of bytes so far, with those before the offset of [`Writer::at`].
    pub(super) fn position(&self) -> usize {
        self.written
    }

    /// Writes `bytes`.
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

    /// Writes a part of a side file: its header, the content, and the padding. The header gets the length of the
    /// content when the content is written, so a content may have any length.
    pub(crate) fn part(&mut self, tag: Tag, content: impl FnOnce(&mut Writer)) {
        self.part_with(0, tag, content);
    }

    /// Writes a part that readers must know, as [`Writer::part`] does.
    #[allow(dead_code, reason = "not all systems count calls on demand")]
    pub(crate) fn required_part(&mut self, tag: Tag, content: impl FnOnce(&mut Writer)) {
        self.part_with(REQUIRED, tag, content);
    }

    fn part_with(&mut self, flags: u32, tag: Tag, content: impl FnOnce(&mut Writer)) {
        side_file::part(self, tag, flags, 0);
        let start = self.written;
        content(self);
        self.end_part(start);
    }

    /// Writes the length of a content into the header before it, which ends at `start`, and the padding behind it.
    #[inline(never)]
    fn end_part(&mut self, start: usize) {
        let length = (self.written - start) as u64;
        side_file::padding(self, length);
        let (bytes, at) = (length.to_ne_bytes(), start - size_of::<u64>());
        // The header had zeros there, whose marks are 0.
        let marks = (at as u64..).zip(bytes).map(|(position, byte)| mark(position, byte));
        self.sum = marks.fold(self.sum, u64::wrapping_add);
        let in_buffer = at.checked_sub(self.written - self.used);
        if let Some(place) = in_buffer.and_then(|from| self.buffer.get_mut(from..)?.first_chunk_mut()) {
            *place = bytes;
            return;
        }
        self.flush();
        if self.failed.is_none() {
            self.failed = self.file.write_all_at(&bytes, at).err();
        }
    }

    /// Writes the end of a side file.
    pub(super) fn put_end(&mut self) {
        let sum = self.sum;
        side_file::end(self, sum);
    }

    /// Writes zeros; many of them become a hole.
    #[inline(never)]
    pub(crate) fn zeros(&mut self, length: usize) {
        if length >= HOLE {
            self.flush();
            self.written += length;
            self.ends_in_hole = true;
            return;
        }
        static SOME: Inherited<[u8; 64]> = Inherited::new("never changes", [0; 64]);
        let mut left = length;
        while let Some(some) = SOME.get(..left.min(SOME.len())).filter(|some| !some.is_empty()) {
            self.put(some);
            left -= some.len();
        }
    }

    /// Writes 4.4BSD's header with this first spare word.
    pub(crate) fn bsd_header(&mut self, header: &GmonHdr, ncnt: i32, spare: i32) {
        let (lowpc, highpc) = (header.lpc as u64, header.hpc as u64);
        let header = BsdHeader { lowpc, highpc, ncnt, profrate: header.profrate as u32, spare };
        let Ok(()) = bsd_header(self, &header);
    }

    /// Writes the start of a histogram in GNU's form, with the range and the rate of `header`.
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

    /// Writes nothing more, because the file cannot be written.
    pub(crate) fn fail(&mut self, error: Errno) {
        self.failed = Some(error);
    }

    /// Writes the rest of the buffer and returns the first error.
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
}

/// Converts an arc of the buffer for the encoders.
pub(crate) fn encoded(arc: &RawArc) -> Arc {
    Arc::new(arc.raw_frompc as u64, arc.raw_selfpc as u64, arc.raw_count as u64)
}
