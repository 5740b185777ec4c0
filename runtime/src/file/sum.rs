//! One file for all children of a program: each child adds itself as it ends (`GMON_CHILDREN=sum`).
//!
//! The new sum is written beside the old sum and renamed in one step, so a reader finds either the old or the new
//! sum, complete, and so does the next child after a child was killed. The new file is also the lock: it has the one
//! name that all children use, and is locked. After the rename, a child that waited for the lock finds that the name
//! leads to another file, and starts again. The next child overwrites what a killed child has left under that name.

use core::slice;
use core::sync::atomic::{
    AtomicU8, AtomicU16,
    Ordering::{Relaxed, SeqCst},
};

use gmon::layout::{
    GMONVERSION, GNU_HEADER_SIZE, GNU_MAGIC, GNU_TAG_ARC, GNU_TAG_HISTOGRAM, GNU_VERSION, GmonHdr, RawArc,
};

use super::forms::{self, Bins, Finished, Form, Part};
use super::names;
use super::output::{self, Refusal};
use super::side_file::totals::{self, Totals};
use super::writer::Writer;
use crate::closures::closure_trait;
use crate::objects::Tally;
use crate::os::{Errno, Fd, Status, a_moment, map};
use crate::samples::bins::STRETCH;

closure_trait! {
    /// Adds an arc of a file.
    AddArc(arc: RawArc)
}

/// The suffix of the sum's name while it is written.
const NEW: &[u8] = b".new";

/// The milliseconds that a child waits for others, and the limit of its attempts.
const PATIENCE: u32 = 30_000;

/// A histogram and arcs that are being added up.
struct Sum<'a> {
    header: GmonHdr,
    samples: &'a [AtomicU16],
    carries: &'a [AtomicU16],
    touched: &'a [AtomicU8],
    arcs: Arcs,
    has_carries: bool,
}

/// Arcs sorted by selfpc and frompc.
struct Arcs {
    start: *mut RawArc,
    length: usize,
    capacity: usize,
}

/// Adds a finished profile to the sum, in `form` or in the form that has room for the counts, and the counts outside
/// the program to the sums beside it. The result is the number of bins that did not fit the form.
///
/// # Errors
///
/// What could not be done; the sum is then unchanged.
pub(crate) fn add(profile: &Finished<'_>, form: Option<Form>, outside: Option<&[Tally]>) -> Result<usize, Refusal> {
    let new = lock()?;
    let result = add_locked(new, profile, form, outside);
    if result.is_err() {
        remove_new(new);
    }
    // The unlock is also for processes that were forked in between and have the file open.
    let _ = new.unlock();
    let _ = new.close();
    result
}

/// Removes the locked file, which will not become the sum, and the side file beside it. A child that waits for the lock
/// starts again.
#[inline(never)]
fn remove_new(new: Fd) {
    let path = names::sum_name(&[NEW]);
    if let (Ok(directory), Ok(status)) = (output::directory_of(path), new.status())
        && output::is_named(directory, path, &status)
    {
        // Once the locked file has no name, another child may make both files anew.
        let _ = directory.unlink(names::sum_name(&[names::SIDE, NEW]));
        let _ = directory.unlink(names::sum_name(&[NEW]));
    }
}

fn add_locked(
    new: Fd,
    profile: &Finished<'_>,
    form: Option<Form>,
    outside: Option<&[Tally]>,
) -> Result<usize, Refusal> {
    let path = names::sum_name(&[]);
    let directory = output::directory_of(path)?;
    let old = match directory.open_regular_for_reading(path) {
        Ok(file) => Some(file),
        Err(Errno::ENOENT) => None,
        Err(error) => return Err((b"open", error)),
    };
    let mut totals = Totals::of(outside.unwrap_or(&[]));
    let mut has_side_file = outside.is_some();
    let added = match old {
        Some(file) => {
            let added =
                output::refusal(file.status()).and_then(|status| with_file(profile, file, status.size as usize));
            let _ = file.close();
            has_side_file |= totals.add_file(names::sum_name(&[names::SIDE]));
            added
        }
        None => Sum::of(profile, 0).ok_or((&b"add to"[..], Errno::ENOMEM)),
    };
    let sum = added?;
    let default = if sum.has_carries { Form::Gnu } else { Form::OpenBsd };
    let written = new.truncate().and_then(|()| forms::write(new, &sum.finished(), form.unwrap_or(default)));
    let (written, sampled) = written.map_err(|error| (&b"write"[..], error))?;
    let rename = |from: &[&[u8]], to: &[&[u8]]| {
        let from = names::other_sum_name(from);
        directory.rename(from, names::sum_name(to)).map_err(|error| (&b"rename"[..], error))
    };
    // The side file is written first: a child that is killed in between has not ended, and the next child makes both
    // files fit again.
    if has_side_file {
        totals.set_samples_in_program(sum.ticks());
        let side = output::open_beside(names::sum_name(&[names::SIDE, NEW]))?;
        let mut out = Writer::new(side);
        totals::put(&mut out, written, &totals);
        let done = out.finish();
        let _ = side.close();
        done.map_err(|error| (&b"write"[..], error))?;
        rename(&[names::SIDE, NEW], &[names::SIDE])?;
    }
    rename(&[NEW], &[])?;
    Ok(sampled.clamped)
}

/// Opens and locks the file that will become the sum.
fn lock() -> Result<Fd, Refusal> {
    let path = names::sum_name(&[NEW]);
    let directory = output::directory_of(path)?;
    let mut left = PATIENCE;
    loop {
        let file = directory.open_for_writing(path, output::mode(), false).map_err(|error| (&b"open"[..], error))?;
        let locked = loop {
            match file.lock() {
                Err(Errno::EAGAIN) if left > 0 => a_moment(),
                other => break other,
            }
            left -= 1;
        };
        let is_new = |status: &Status| output::is_named(directory, path, status);
        let status = locked.and_then(|()| file.status()).map_err(|error| (&b"lock"[..], error));
        // A file that has lost this name in the meantime is the sum, or was the sum and has no name left. What other
        // users may do with that file does not matter.
        let usable = match status {
            Ok(status) if is_new(&status) => output::refusal(Ok(status)).map(|_| true),
            Ok(_) if left == 0 => Err((&b"lock"[..], Errno::EAGAIN)),
            Ok(_) => Ok(false),
            Err(refusal) => Err(refusal),
        };
        match usable {
            Ok(true) => return Ok(file),
            Ok(false) => left -= 1,
            Err(refusal) => {
                let _ = file.close();
                return Err(refusal);
            }
        }
        let _ = file.close();
    }
}

/// Adds up a profile and a file of this length.
fn with_file<'a>(profile: &Finished<'_>, file: Fd, length: usize) -> Result<Sum<'a>, Refusal> {
    const NO_MEMORY: Refusal = (b"add to", Errno::ENOMEM);
    let mut reader = Reader::new(file, length).ok_or(NO_MEMORY)?;
    let mut sum = Sum::of(profile, length / GNU_ARC_SIZE).ok_or(NO_MEMORY)?;
    let mut own = profile.all_arcs().copied().peekable();
    let mut add = |arc: RawArc| {
        while let Some(before) = own.next_if(|own| key(own) < key(&arc)) {
            sum_arc(&mut sum.arcs, before);
        }
        sum_arc(&mut sum.arcs, arc);
    };
    let mut histogram =
        Histogram { header: &sum.header, samples: sum.samples, carries: sum.carries, touched: sum.touched, rate: 0 };
    let is_whole = match reader.peek() {
        Some(GNU_MAGIC) => reader.gnu(&mut histogram, &mut add),
        _ => reader.bsd(&mut histogram, &mut add),
    };
    // A file that this runtime has not written, or with another range or rate, is left alone.
    let what: &[u8] = match histogram.rate {
        0 => b"add to, not a sum of this program",
        _ => b"add to, samples of another rate",
    };
    is_whole.ok_or((what, Errno::EINVAL))?;
    own.for_each(|arc| sum_arc(&mut sum.arcs, arc));
    sum.has_carries = sum.carries_somewhere();
    Ok(sum)
}

/// The smallest size of an arc in a file.
const GNU_ARC_SIZE: usize = 20;

fn key(arc: &RawArc) -> (usize, usize) {
    (arc.raw_selfpc, arc.raw_frompc)
}

/// Adds an arc that is not before the last arc.
fn sum_arc(arcs: &mut Arcs, arc: RawArc) {
    // SAFETY: this number of arcs was written.
    let all = unsafe { slice::from_raw_parts_mut(arcs.start, arcs.length) };
    match all.last_mut() {
        Some(last) if key(last) == key(&arc) => last.raw_count = last.raw_count.saturating_add(arc.raw_count),
        _ if arcs.length < arcs.capacity => {
            // SAFETY: there is room for another arc.
            unsafe { arcs.start.add(arcs.length).write(arc) };
            arcs.length += 1;
        }
        _ => {} // there are no more arcs than the file has room for
    }
}

/// The bins of a sum.
struct Histogram<'a> {
    header: &'a GmonHdr,
    samples: &'a [AtomicU16],
    carries: &'a [AtomicU16],
    touched: &'a [AtomicU8],
    /// The other rate of a file whose histogram cannot be added for this reason; 0 for none.
    rate: i32,
}

impl Histogram<'_> {
    fn add(&self, bin: usize, count: u32) {
        let (Some(low), Some(high)) = (self.samples.get(bin), self.carries.get(bin)) else { return };
        if count > 0 {
            let before = u32::from(high.load(Relaxed)) << 16 | u32::from(low.load(Relaxed));
            let now = before.saturating_add(count);
            low.store(now as u16, Relaxed);
            if now > u32::from(u16::MAX) {
                high.store((now >> 16) as u16, Relaxed);
            }
            if let Some(touched) = self.touched.get(bin / STRETCH) {
                // The mark is 2 if a count needs more than 16 bits.
                let mark = if now > u32::from(u16::MAX) { 2 } else { touched.load(Relaxed).max(1) };
                touched.store(mark, Relaxed);
            }
        }
    }

    /// Whether a histogram of a file can be added.
    fn fits(&mut self, lowpc: usize, highpc: usize, profrate: i32) -> bool {
        let is_range = (lowpc, highpc) == (self.header.lpc, self.header.hpc);
        if is_range && profrate != self.header.profrate {
            self.rate = profrate;
        }
        is_range && profrate == self.header.profrate
    }
}

impl<'a> Sum<'a> {
    /// Copies a profile, with room for `more` arcs. If `more` is 0, the copy has all arcs; otherwise it has no arcs
    /// yet.
    fn of(profile: &Finished<'_>, more: usize) -> Option<Sum<'a>> {
        let bins = profile.bins.samples.len();
        let capacity = profile.arcs_number().checked_add(more)?.max(1);
        let arcs = Arcs { start: map(capacity.checked_mul(size_of::<RawArc>())?).cast(), length: 0, capacity };
        let (samples, carries, touched) =
            (zeros::<AtomicU16>(bins)?, zeros::<AtomicU16>(bins)?, zeros::<AtomicU8>(bins.div_ceil(STRETCH).max(1))?);
        if arcs.start.is_null() {
            return None;
        }
        let mut sum =
            Sum { header: GmonHdr { ..*profile.header }, samples, carries, touched, arcs, has_carries: false };
        let histogram = Histogram { header: &sum.header, samples, carries, touched, rate: 0 };
        let mut bin = 0;
        profile.bins.for_each(&mut |part: Part| match part {
            Part::Zeros(bins) => bin += bins,
            Part::Count(count) => {
                histogram.add(bin, count);
                bin += 1;
            }
        });
        if more == 0 {
            profile.all_arcs().for_each(|arc| sum_arc(&mut sum.arcs, *arc));
        }
        sum.has_carries = sum.carries_somewhere();
        Some(sum)
    }

    fn carries_somewhere(&self) -> bool {
        self.touched.iter().any(|touched| touched.load(SeqCst) == 2)
    }

    /// The sum of the bins.
    fn ticks(&self) -> u64 {
        let mut ticks = 0;
        self.finished().bins.for_each(&mut |part: Part| {
            if let Part::Count(count) = part {
                ticks += u64::from(count);
            }
        });
        ticks
    }

    fn finished(&self) -> Finished<'_> {
        let carries = self.has_carries.then_some(self.carries);
        let bins = Bins { samples: self.samples, carries, touched: Some(self.touched) };
        // SAFETY: this number of arcs was written, and nobody changes them any more.
        let arcs = unsafe { slice::from_raw_parts(self.arcs.start, self.arcs.length) };
        Finished { header: &self.header, bins, arcs: [arcs, &[]] }
    }
}

/// Allocates zeros, which are never freed, because the process is about to end.
fn zeros<'a, T>(number: usize) -> Option<&'a [T]> {
    let memory = map(number.checked_mul(size_of::<T>())?.max(1)).cast::<T>();
    // SAFETY: fresh memory; zeros are valid for the atomic numbers for which this is used.
    (!memory.is_null()).then(|| unsafe { slice::from_raw_parts(memory, number) })
}

/// The size of the buffer for reading.
const READ_SIZE: usize = 1 << 16;

/// Reads a file from its beginning to its end.
struct Reader<'a> {
    file: Fd,
    length: usize,
    buffer: &'a mut [u8],
    /// The part of the file that is in the buffer, and the next position.
    start: usize,
    filled: usize,
    next: usize,
}

impl Reader<'_> {
    fn new<'a>(file: Fd, length: usize) -> Option<Reader<'a>> {
        let memory = map(READ_SIZE).cast::<u8>();
        if memory.is_null() {
            return None;
        }
        // SAFETY: fresh memory of that size, which is never freed.
        let buffer = unsafe { slice::from_raw_parts_mut(memory, READ_SIZE) };
        Some(Reader { file, length, buffer, start: 0, filled: 0, next: 0 })
    }

    fn is_at_end(&self) -> bool {
        self.next == self.length
    }

    /// The next bytes; `None` if there are fewer.
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let bytes = self.peek()?;
        self.next += N;
        Some(bytes)
    }

    fn peek<const N: usize>(&mut self) -> Option<[u8; N]> {
        if self.length.checked_sub(self.next)? < N {
            return None;
        }
        if self.next < self.start || self.next + N > self.start + self.filled {
            self.fill(N)?;
        }
        self.buffer.get(self.next - self.start..)?.first_chunk().copied()
    }

    /// Reads at least `number` of the next bytes into the buffer; `None` if there are fewer.
    #[inline(never)]
    fn fill(&mut self, number: usize) -> Option<()> {
        (self.start, self.filled) = (self.next, 0);
        while self.filled < number {
            match self.file.read_at(self.buffer.get_mut(self.filled..)?, self.start + self.filled) {
                Ok(0) => return None,
                Ok(read) => self.filled += read,
                Err(Errno::EINTR) => {}
                Err(_) => return None,
            }
        }
        Some(())
    }

    fn word(&mut self) -> Option<usize> {
        self.take().map(usize::from_ne_bytes)
    }

    fn number(&mut self) -> Option<i32> {
        self.take().map(i32::from_ne_bytes)
    }

    /// Adds `number` bins of 16 bits, or of 32 bits if they are wide.
    fn bins(&mut self, histogram: &Histogram<'_>, number: usize, is_wide: bool) -> Option<()> {
        if number != histogram.samples.len() {
            return None;
        }
        let shift = 1 + u32::from(is_wide);
        let end = self.next.checked_add(number << shift).filter(|end| *end <= self.length)?;
        let mut bin = 0;
        while bin < number {
            if self.next >= self.start + self.filled {
                // The file has holes where nothing was ever counted.
                let data = self.file.next_data(self.next).unwrap_or(end).max(self.next).min(end);
                let skipped = (data - self.next) >> shift;
                bin += skipped;
                self.next += skipped << shift;
                if bin >= number {
                    break;
                }
            }
            let count =
                if is_wide { u32::from_ne_bytes(self.take()?) } else { u32::from(u16::from_ne_bytes(self.take()?)) };
            histogram.add(bin, count);
            bin += 1;
        }
        Some(())
    }

    /// Reads GNU's form.
    fn gnu(&mut self, histogram: &mut Histogram<'_>, add: &mut dyn AddArc) -> Option<()> {
        let header: [u8; GNU_HEADER_SIZE] = self.take()?;
        if *header.get(4..)?.first_chunk()? != GNU_VERSION.to_ne_bytes() {
            return None;
        }
        while !self.is_at_end() {
            match self.take::<1>()? {
                [GNU_TAG_HISTOGRAM] => {
                    let (lowpc, highpc) = (self.word()?, self.word()?);
                    let (number, profrate) = (self.number()?, self.number()?);
                    let _dimension: [u8; 16] = self.take()?;
                    if !histogram.fits(lowpc, highpc, profrate) {
                        return None;
                    }
                    self.bins(histogram, usize::try_from(number).ok()?, false)?;
                }
                [GNU_TAG_ARC] => {
                    let (raw_frompc, raw_selfpc) = (self.word()?, self.word()?);
                    let count = u32::from_ne_bytes(self.take()?);
                    add.call(RawArc { raw_frompc, raw_selfpc, raw_count: count as isize });
                }
                _ => return None,
            }
        }
        Some(())
    }

    /// Reads the other forms.
    fn bsd(&mut self, histogram: &mut Histogram<'_>, add: &mut dyn AddArc) -> Option<()> {
        let (lowpc, highpc) = (self.word()?, self.word()?);
        let (ncnt, version, profrate) = (self.number()?, self.number()?, self.number()?);
        let _spare: [u8; 12] = self.take()?;
        let bytes = usize::try_from(ncnt).ok()?.checked_sub(size_of::<GmonHdr>())?;
        if version != GMONVERSION || !histogram.fits(lowpc, highpc, profrate) {
            return None;
        }
        let is_wide = bytes >> 2 == histogram.samples.len();
        self.bins(histogram, bytes >> (1 + u32::from(is_wide)), is_wide)?;
        while !self.is_at_end() {
            let (raw_frompc, raw_selfpc) = (self.word()?, self.word()?);
            add.call(RawArc { raw_frompc, raw_selfpc, raw_count: self.word()? as isize });
        }
        Some(())
    }
}
