//! Reads the invented form.

use crate::decode::bins;
use crate::decode::cursor::Cursor;
use crate::decode::{Decode, Result};
use crate::{Arc, Error, Part, Record, Unit};

/// The first four bytes of a file.
pub(super) const MAGIC: [u8; 4] = *b"othr";

/// The state of the reader.
#[derive(Clone, Default)]
pub(crate) struct OtherDecoder {
    is_behind_samples: bool,
}

impl Decode for OtherDecoder {
    fn next(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<Record>> {
        let word = cursor.word_size() as u64;
        if !self.is_behind_samples {
            let mut header = cursor.split(word.saturating_mul(2).saturating_add(16), Part::Header)?;
            let magic = header.array()?;
            if magic != MAGIC {
                return Err(Error::BadMagic { magic });
            }
            let (version, offset) = (header.u32()?, header.offset());
            if u64::from(version) != word {
                return Err(Error::BadVersion { version, offset: 4 });
            }
            let (range, bins) = (header.word()?..header.word()?, u64::from(header.u32()?));
            let unit = Unit::seconds(header.u32()?);
            let samples = cursor.split(bins.saturating_mul(2), Part::Samples)?;
            self.is_behind_samples = true;
            if let Some(histogram) = bins::histogram(range, offset, unit, samples)? {
                return Ok(Some(Record::Histogram(histogram)));
            }
        }
        let size = word.saturating_mul(2).saturating_add(4);
        cursor.require(size, Part::Arc)?;
        if cursor.left() == 0 {
            return Ok(None);
        }
        let mut arc = cursor.split(size, Part::Arc)?;
        Ok(Some(Record::Arc(Arc::new(arc.word()?, arc.word()?, arc.u32()?.into()))))
    }
}
