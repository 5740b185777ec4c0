//! Iterates over the records of a file with the decoder of one form, in memory for one record.

use super::cursor::{Cursor, LOOKAHEAD};
use super::input::Input;
use super::{Decode, Result};
use crate::{Encoding, Error, Record};

/// The number of bytes that are read at once.
const PIECE: usize = 1 << 16;

/// Iterates over the records of a file. After an error, the iteration ends.
#[derive(Clone)]
pub(crate) struct Walk<I, D> {
    input: I,
    decoder: D,
    encoding: Encoding,
    /// The offset in the file of the input's window.
    offset: u64,
    has_ended: bool,
    /// The number of bytes that are read at once.
    piece: usize,
    /// The offset in the file of the record that was begun last.
    record: u64,
}

impl<I, D> Walk<I, D> {
    /// Starts at the start of a file. The decoder must be that of the encoding.
    pub(crate) fn new(input: I, decoder: D, encoding: Encoding) -> Walk<I, D> {
        Walk { input, decoder, encoding, offset: 0, has_ended: false, piece: PIECE, record: 0 }
    }

    /// The same walk, with pieces of another size.
    #[cfg(feature = "std")]
    pub(crate) fn in_pieces(self, piece: usize) -> Walk<I, D> {
        Walk { piece: piece.max(1), ..self }
    }

    /// The input. Its window starts at the next record.
    pub(crate) fn into_input(self) -> I {
        self.input
    }

    /// The offset in the file of the next record.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// The encoding of the file.
    pub(crate) fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The offset of the record that was begun last, of a form with several histograms.
    pub(crate) fn record(&self) -> u64 {
        self.record
    }
}

impl<I: Input, D: Decode> Walk<I, D> {
    /// Whether each name of a unit so far is printable text that is padded with NULs in the file. [`crate::Dimension`]
    /// does not have the bytes after the first NUL.
    pub(crate) fn has_usual_names(&self) -> bool {
        self.decoder.has_usual_names()
    }

    fn decode(&mut self) -> Result<Option<Record>> {
        if self.input.window().len() < LOOKAHEAD.min(self.piece) {
            self.input.fill(self.piece)?;
        }
        let mut may_go_on = true;
        loop {
            let cursor = Cursor::new(self.input.window(), self.encoding.word(), self.encoding.order);
            let mut cursor = cursor.starting_at(self.offset).going_on(may_go_on);
            let mut decoder = self.decoder.clone();
            match decoder.next(&mut cursor) {
                Err(Error::Truncated { needed, offset, .. }) if may_go_on => {
                    let before = offset.saturating_sub(self.offset);
                    may_go_on = self.grow(before.saturating_add(needed))?;
                }
                Err(error) => return Err(error),
                Ok(record) => {
                    let consumed = cursor.offset().saturating_sub(self.offset);
                    self.offset = cursor.offset();
                    self.record = self.record.max(cursor.record());
                    self.decoder = decoder;
                    self.input.consume(usize::try_from(consumed).unwrap_or(usize::MAX));
                    if record.is_some() || !may_go_on {
                        return Ok(record);
                    }
                    may_go_on = self.grow(0)?;
                }
            }
        }
    }

    /// Reads until the window has this many bytes or more. Returns `false` at the end of the file. The window at least
    /// doubles: what is decoded again from the start of the window is then no more work than the window.
    fn grow(&mut self, wanted: u64) -> Result<bool> {
        let length = self.input.window().len();
        let least = length.saturating_add(length.max(self.piece));
        self.input.fill(usize::try_from(wanted).unwrap_or(usize::MAX).max(least))?;
        Ok(self.input.window().len() != length)
    }
}

impl<I: Input, D: Decode> Iterator for Walk<I, D> {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Result<Record>> {
        if self.has_ended {
            return None;
        }
        let record = self.decode();
        self.has_ended = !matches!(record, Ok(Some(_)));
        record.transpose()
    }
}
