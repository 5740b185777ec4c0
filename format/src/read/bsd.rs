//! Reads the forms of 4.4BSD and its descendants: a header, the samples, and arcs up to the end of the file.

use alloc::vec::Vec;

use super::bins::{self, check_range};
use super::cursor::Cursor;
use crate::layout::GMONVERSION;
use crate::{Arc, Dimension, Error, Form, Histogram, Order, Part, Profile, Result, Word};

pub(super) fn read(bytes: &[u8], form: Form, word: Word, order: Order) -> Result<Profile> {
    let mut cursor = Cursor::new(bytes, word, order);
    let header = Header::read(&mut cursor, word)?;
    let samples = cursor.split(header.samples_size, Part::Samples)?;
    let histograms: Vec<_> = histogram(&header, samples, form)?.into_iter().collect();
    if form == Form::OpenBsd {
        check_totarc(&header, cursor.left(), word)?;
    }
    let mut arcs = arcs(cursor, word)?;
    if form == Form::Bsd && word == Word::W64 && order == Order::Little {
        drop_padding(&mut arcs, &header, &histograms);
    }
    Ok(Profile { histograms, arcs, blocks: Vec::new() })
}

/// The content of a valid header.
pub(crate) struct Header {
    lowpc: u64,
    highpc: u64,
    profrate: u32,
    /// The size of the samples in bytes.
    pub(crate) samples_size: u64,
    /// `totarc`, `histcounter_type`, or uninitialized memory.
    pub(crate) spare: i32,
    /// The offset of `spare`.
    spare_offset: u64,
}

impl Header {
    /// Reads the header. The cursor stops after it.
    pub(crate) fn read(cursor: &mut Cursor<'_>, word: Word) -> Result<Header> {
        let size = word.header_size();
        let mut header = cursor.split(size, Part::Header)?;
        let (lowpc, highpc) = (header.word()?, header.word()?);
        let ncnt_offset = header.offset();
        let ncnt = header.i32()?;
        let version_offset = header.offset();
        let version = header.i32()?;
        if version != GMONVERSION {
            return Err(Error::BadVersion { version: version.cast_unsigned(), offset: version_offset });
        }
        // The other two spare words are uninitialized in many files.
        let profrate = header.u32()?;
        let spare_offset = header.offset();
        let spare = header.i32()?;
        if highpc < lowpc {
            return Err(Error::BadRange { lowpc, highpc, offset: 0 });
        }
        let samples_size = u64::try_from(ncnt).ok().and_then(|ncnt| ncnt.checked_sub(size));
        let samples_size = samples_size.ok_or(Error::BadSize { ncnt, offset: ncnt_offset })?;
        if samples_size > cursor.left() {
            let (needed, left, offset) = (samples_size, cursor.left(), cursor.offset());
            return Err(Error::Truncated { part: Part::Samples, needed, left, offset });
        }
        Ok(Header { lowpc, highpc, profrate, samples_size, spare, spare_offset })
    }
}

fn histogram(header: &Header, samples: Cursor<'_>, form: Form) -> Result<Option<Histogram>> {
    let Header { lowpc, highpc, profrate, samples_size: size, .. } = *header;
    let counter = form.counter();
    let width = counter.width.size() as u64;
    if !size.is_multiple_of(width) {
        return Err(Error::PartialBin { size, width, offset: samples.offset() });
    }
    check_range(lowpc, highpc, size.checked_div(width).unwrap_or(0), 0)?;
    if size == 0 {
        return Ok(None);
    }
    let bins = bins::read(samples.rest(), counter, samples.order());
    let (dimension, abbrev, signed) = (Dimension::SECONDS, b's', counter.signed);
    Ok(Some(Histogram { lowpc, highpc, profrate, dimension, abbrev, signed, bins }))
}

/// OpenBSD's kernel writes the number of bytes of arcs that `totarc` says. `kgmon` leaves 0 there and still writes
/// arcs.
fn check_totarc(header: &Header, left: u64, word: Word) -> Result<()> {
    let totarc = header.spare;
    let right = u64::try_from(totarc).is_ok_and(|bytes| bytes == left && bytes.is_multiple_of(word.arc_size()));
    if totarc == 0 || right {
        return Ok(());
    }
    Err(Error::BadArcSize { totarc, left, offset: header.spare_offset })
}

fn arcs(mut cursor: Cursor<'_>, word: Word) -> Result<Vec<Arc>> {
    let size = word.arc_size();
    let count = cursor.left().checked_div(size).unwrap_or(0);
    let mut arcs = Vec::with_capacity(usize::try_from(count).unwrap_or(0));
    while cursor.left() >= size {
        arcs.push(Arc { frompc: cursor.word()?, selfpc: cursor.word()?, count: cursor.word()? });
    }
    match cursor.left() {
        0 => Ok(arcs),
        left => Err(Error::PartialArc { left, size, offset: cursor.offset() }),
    }
}

/// More calls than any machine counts in a second: a counted call takes more than two cycles.
const MOST_CALLS_A_SECOND: u128 = 2_000_000_000;

/// Where C's `long` has 32 bits and a pointer has 64, as on Windows, an arc ends with four uninitialized bytes. All
/// arcs then have the same value in the upper half of what looks like a 64-bit count. Equal upper halves count as
/// uninitialized unless the program ran long enough for so many calls.
fn drop_padding(arcs: &mut [Arc], header: &Header, histograms: &[Histogram]) {
    let upper = |arc: &Arc| arc.count >> 32;
    let Some(padding) = arcs.first().map(upper) else { return };
    // Clearing an upper half of 0 changes nothing.
    if !arcs.iter().all(|arc| upper(arc) == padding) {
        return;
    }
    // Uninitialized stack memory is often a part of an address.
    let is_of_address = padding == header.lowpc >> 32;
    let calls: u128 = arcs.iter().map(|arc| u128::from(arc.count)).sum();
    let ticks: u128 = histograms.iter().flat_map(|histogram| &histogram.bins).map(|ticks| u128::from(*ticks)).sum();
    let most = ticks.saturating_mul(MOST_CALLS_A_SECOND).checked_div(u128::from(header.profrate)).unwrap_or(0);
    if is_of_address || calls > most {
        for arc in arcs {
            arc.count &= 0xffff_ffff;
        }
    }
}
