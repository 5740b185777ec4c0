//! Reads the form of 4.2BSD: a header without a version and a rate, the samples, and arcs up to the end of the file.

use alloc::vec::Vec;

use super::Result;
use super::bins;
use super::bsd::{all_arcs, next_arc};
use super::cursor::Cursor;
use super::decode::Decode;
use crate::{Arc, DataModel, OldHeader, Part, ReadError, Record, Unit, Word};

/// The state of the reader.
#[derive(Clone)]
pub(crate) struct OldBsdDecoder {
    header: OldHeader,
    model: DataModel,
    is_behind_samples: bool,
}

impl OldBsdDecoder {
    pub(crate) fn new(header: OldHeader, model: DataModel) -> OldBsdDecoder {
        OldBsdDecoder { header, model, is_behind_samples: false }
    }
}

impl Decode for OldBsdDecoder {
    fn next(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<Record>> {
        if !self.is_behind_samples {
            let start = cursor.offset();
            let header = Header::read(cursor, self.header, self.model.word())?;
            let samples = cursor.split(header.samples_size, Part::Samples)?;
            // The form has no rate: 0 is an unknown one.
            let histogram = bins::histogram(header.lowpc..header.highpc, start, Unit::seconds(0), samples)?;
            self.is_behind_samples = true;
            if histogram.is_some() {
                return Ok(histogram.map(Record::Histogram));
            }
        }
        next_arc(cursor, self.model)
    }

    fn arcs(&mut self, cursor: &mut Cursor<'_>, arcs: &mut Vec<Arc>) {
        if self.is_behind_samples {
            all_arcs(cursor, self.model, arcs);
        }
    }
}

/// The content of a valid header.
pub(crate) struct Header {
    pub(crate) lowpc: u64,
    pub(crate) highpc: u64,
    /// The size of the samples in bytes.
    pub(crate) samples_size: u64,
}

impl Header {
    /// Reads the header. The cursor stops after it.
    pub(crate) fn read(cursor: &mut Cursor<'_>, header: OldHeader, word: Word) -> Result<Header> {
        let (start, size) = (cursor.offset(), header.size(word));
        let mut fields = cursor.split(size, Part::Header)?;
        let (lowpc, highpc) = (fields.word()?, fields.word()?);
        let offset = fields.offset();
        let ncnt = match (word, header) {
            (Word::W64, OldHeader::Wide) => fields.u64()? as i64,
            _ => fields.i32()?.into(),
        };
        if highpc < lowpc {
            return Err(ReadError::BadRange { lowpc, highpc, offset: start });
        }
        let samples_size = u64::try_from(ncnt).ok().and_then(|ncnt| ncnt.checked_sub(size));
        let samples_size = samples_size.ok_or(ReadError::BadSize { ncnt, offset })?;
        Ok(Header { lowpc, highpc, samples_size })
    }
}
