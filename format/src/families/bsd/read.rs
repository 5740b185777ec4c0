//! Reads the forms of 4.4BSD and its descendants: a header, the samples, and arcs up to the end of the file.

use alloc::vec::Vec;

use crate::decode::arcs::{all_arcs, next_arc};
use crate::decode::bins::{self, check_range};
use crate::decode::cursor::Cursor;
use crate::decode::{Decode, Result, refuse_narrow_long};
use crate::layout::GMONVERSION;
use crate::older_rust::is_multiple;
use crate::{Arc, DataModel, Encoding, Error, Form, Histogram, Order, Part, Record, Unit, Word};

/// Whether some system writes files with the encoding. Of the systems with a `long` of 32 bits beside 64-bit addresses,
/// there is only Windows, which has little-endian files of 4.4BSD's form.
pub(super) fn exists(encoding: Encoding) -> bool {
    !encoding.has_narrow_long() || (encoding.form, encoding.order) == (Form::Bsd, Order::Little)
}

/// The state of the reader.
#[derive(Clone)]
pub(crate) struct BsdDecoder {
    form: Form,
    model: DataModel,
    /// What follows the samples; `None` before them.
    arcs: Option<ArcsSize>,
}

/// The size of the arcs.
#[derive(Clone)]
struct ArcsSize {
    /// `totarc` of OpenBSD's header, and its offset. 0 if the size is unknown: OpenBSD's kernel writes the size, and
    /// `kgmon` leaves 0.
    totarc: i32,
    totarc_offset: u64,
    /// The offset of the first arc.
    start: u64,
}

impl BsdDecoder {
    pub(crate) fn new(encoding: Encoding) -> Result<BsdDecoder> {
        let Encoding { form, model, .. } = encoding;
        if !exists(encoding) {
            refuse_narrow_long(encoding)?;
        }
        Ok(BsdDecoder { form, model, arcs: None })
    }
}

impl Decode for BsdDecoder {
    fn next(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<Record>> {
        if self.arcs.is_none() {
            let (histogram, arcs) = samples(cursor, self.form, self.model)?;
            self.arcs = Some(arcs);
            if let Some(histogram) = histogram {
                return Ok(Some(Record::Histogram(histogram)));
            }
        }
        let arc_size = self.model.word().arc_size();
        cursor.require(arc_size, Part::Arc)?;
        if cursor.left() < arc_size {
            self.arcs.iter().try_for_each(|arcs| arcs.check(cursor))?;
        }
        next_arc(cursor, self.model)
    }

    fn arcs(&mut self, cursor: &mut Cursor<'_>, arcs: &mut Vec<Arc>) {
        if self.arcs.is_some() {
            all_arcs(cursor, self.model, arcs);
        }
    }
}

impl ArcsSize {
    /// Checks the size when less than an arc is left.
    fn check(&self, cursor: &Cursor<'_>) -> Result<()> {
        let bytes = cursor.offset().saturating_add(cursor.left()).saturating_sub(self.start);
        if self.totarc == 0 || u64::try_from(self.totarc) == Ok(bytes) {
            return Ok(());
        }
        Err(Error::BadArcSize { totarc: self.totarc, left: bytes, offset: self.totarc_offset })
    }
}

/// The content of a valid header.
pub(crate) struct Header {
    pub(crate) lowpc: u64,
    pub(crate) highpc: u64,
    pub(crate) profrate: u32,
    /// The size of the samples in bytes.
    pub(crate) samples_size: u64,
    /// `totarc`, `histcounter_type`, or uninitialized memory.
    pub(crate) spare: i32,
    /// The offset of `spare`.
    spare_offset: u64,
    /// One of the other two spare words is not 0: the writer did not clear the header.
    pub(crate) has_other_spare: bool,
}

impl Header {
    /// Reads the header. The cursor stops after it.
    pub(crate) fn read(cursor: &mut Cursor<'_>, word: Word) -> Result<Header> {
        let size = word.header_size();
        let start = cursor.offset();
        let mut header = cursor.split(size, Part::Header)?;
        let (lowpc, highpc) = (header.word()?, header.word()?);
        let ncnt_offset = header.offset();
        let ncnt = header.i32()?;
        let version_offset = header.offset();
        let version = header.i32()?;
        if version != GMONVERSION {
            return Err(Error::BadVersion { version: version as u32, offset: version_offset });
        }
        let profrate = header.u32()?;
        let spare_offset = header.offset();
        let spare = header.i32()?;
        let has_other_spare = (header.u32()?, header.u32()?) != (0, 0);
        if highpc < lowpc {
            return Err(Error::BadRange { lowpc, highpc, offset: start });
        }
        let samples_size = u64::try_from(ncnt).ok().and_then(|ncnt| ncnt.checked_sub(size));
        let samples_size = samples_size.ok_or(Error::BadSize { ncnt: ncnt.into(), offset: ncnt_offset })?;
        Ok(Header { lowpc, highpc, profrate, samples_size, spare, spare_offset, has_other_spare })
    }
}

/// Reads header and samples. There is no histogram if there are no samples.
fn samples(cursor: &mut Cursor<'_>, form: Form, model: DataModel) -> Result<(Option<Histogram>, ArcsSize)> {
    let start = cursor.offset();
    let header = Header::read(cursor, model.word())?;
    let Header { lowpc, highpc, profrate, samples_size: size, .. } = header;
    let samples = cursor.split(size, Part::Samples)?;
    let counter = form.counter();
    let width = counter.width.size() as u64;
    if !is_multiple(size, width) {
        return Err(Error::PartialBin { size, width, offset: samples.offset() });
    }
    check_range(lowpc, highpc, size.checked_div(width).unwrap_or(0), start)?;
    let totarc = if form == Form::OpenBsd { header.spare } else { 0 };
    let arcs = ArcsSize { totarc, totarc_offset: header.spare_offset, start: cursor.offset() };
    let bins = bins::read(samples.rest(), counter, samples.order());
    Ok((Histogram::new(lowpc..highpc, Unit::seconds(profrate), bins).ok(), arcs))
}
