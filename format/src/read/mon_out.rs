//! Reads `mon.out`, the profile of `cc -p`: the number of calls of each function, then samples to the end of the file.

use core::ops::Range;

use super::Result;
use super::bins;
use super::cursor::Cursor;
use super::decode::Decode;
use crate::{Arc, Part, ReadError, Record, Unit};

/// The state of the reader. The records are an arc without a known caller for each function that was called, then the
/// histogram.
#[derive(Clone, Default)]
pub(crate) enum MonOutDecoder {
    /// At the header.
    #[default]
    Start,
    /// At a function, or after the last one.
    Functions { range: Range<u64>, left: u64 },
    /// After the samples.
    End,
}

impl Decode for MonOutDecoder {
    fn next(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<Record>> {
        if let MonOutDecoder::Start = self {
            let (range, left) = header(cursor)?;
            *self = MonOutDecoder::Functions { range, left };
        }
        let MonOutDecoder::Functions { range, left } = self else { return Ok(None) };
        while *left != 0 {
            let function = function(cursor, range)?;
            *left = left.saturating_sub(1);
            if let Some(arc) = function {
                return Ok(Some(Record::Arc(arc)));
            }
        }
        let samples = cursor.split_to_end(Part::Samples)?;
        // The form has no rate: 0 is an unknown one.
        let histogram = bins::histogram(range.clone(), 0, Unit::seconds(0), samples)?;
        *self = MonOutDecoder::End;
        Ok(histogram.map(Record::Histogram))
    }
}

/// Reads the header: the address range, and the number of functions.
pub(crate) fn header(cursor: &mut Cursor<'_>) -> Result<(Range<u64>, u64)> {
    let start = cursor.offset();
    let word = cursor.word_size() as u64;
    let mut header = cursor.split(word.saturating_mul(3), Part::Header)?;
    let (lowpc, highpc, functions) = (header.word()?, header.word()?, header.word()?);
    if highpc < lowpc {
        return Err(ReadError::BadRange { lowpc, highpc, offset: start });
    }
    // A damaged number is an error before the first function.
    let mut all = *cursor;
    all.split(functions.saturating_mul(word.saturating_mul(2)), Part::Functions)?;
    Ok((lowpc..highpc, functions))
}

/// Reads a function and the number of its calls. `None` for an entry that no function used.
fn function(cursor: &mut Cursor<'_>, range: &Range<u64>) -> Result<Option<Arc>> {
    let size = cursor.word_size().saturating_mul(2);
    let mut entry = cursor.split(size as u64, Part::Functions)?;
    let offset = entry.offset();
    let (address, count) = (entry.word()?, entry.word()?);
    match address {
        0 => Ok(None),
        selfpc if range.contains(&selfpc) => Ok(Some(Arc::new(0, selfpc, count))),
        _ => Err(ReadError::OutsideRange { address, range: range.clone(), offset }),
    }
}
