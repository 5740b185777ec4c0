//! Iterates over the records of a file.

use super::Result;
use super::cursor::Cursor;
use super::decode::Decode as _;
use super::decoder::Decoder;
use super::input::Input;
use crate::{Encoding, ReadError, Record};

/// The number of bytes that are in memory if the file has them: more than any record but the large ones.
const LOOKAHEAD: usize = 256;
/// The number of bytes that are read at once.
const PIECE: usize = 1 << 16;

/// Iterates over the records of a file. Memory is needed for one record only; a histogram is one record, and so is an
/// object of a PROF file.
///
/// After an error, the iteration ends.
///
/// ```
/// use gmon::{DataModel, Encoding, Form, Order, Record, Records};
///
/// let file = b"gmon\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x04\x10\0\0\x08\x10\0\0\x0c\0\0\0";
/// let encoding = Encoding::new(Form::Gnu, DataModel::Ilp32, Order::Little);
/// let mut calls = 0;
/// for record in Records::new(file, encoding)? {
///     if let Record::Arc(arc) = record? {
///         calls += arc.count;
///     }
/// }
/// assert_eq!(calls, 12);
/// # Ok::<(), gmon::ReadError>(())
/// ```
#[derive(Clone)]
pub struct Records<I> {
    input: I,
    decoder: Decoder,
    encoding: Encoding,
    /// The offset in the file of the input's window.
    offset: u64,
    has_ended: bool,
}

impl<'a> Records<&'a [u8]> {
    /// Iterates over the records of a file in memory.
    ///
    /// # Errors
    ///
    /// When the encoding has NeXT's form and 64-bit addresses, which that form does not have.
    pub fn new(bytes: &'a [u8], encoding: Encoding) -> Result<Records<&'a [u8]>> {
        Records::of(bytes, encoding)
    }

    /// Returns the bytes after the records that were returned.
    #[must_use]
    pub fn into_inner(self) -> &'a [u8] {
        self.input
    }
}

#[cfg(feature = "std")]
impl<R: std::io::Read> Records<super::input::stream::Stream<R>> {
    /// Iterates over the records of a file that is read in pieces, from the current position of `reader`.
    ///
    /// # Errors
    ///
    /// When the encoding has NeXT's form and 64-bit addresses, which that form does not have.
    pub fn from_reader(reader: R, encoding: Encoding) -> Result<Records<super::input::stream::Stream<R>>> {
        Records::of(super::input::stream::Stream::new(reader), encoding)
    }

    /// Returns the reader. The reader is in general beyond [`Records::offset`], because it was read in large pieces.
    #[must_use]
    pub fn into_inner(self) -> R {
        self.input.into_reader()
    }
}

impl<I: Input> Records<I> {
    pub(crate) fn of(input: I, encoding: Encoding) -> Result<Records<I>> {
        Ok(Records { input, decoder: Decoder::new(encoding)?, encoding, offset: 0, has_ended: false })
    }

    /// The offset in the file of the next record.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The encoding of the file.
    #[must_use]
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Whether each name of a unit so far is printable text that is padded with NULs in the file. [`crate::Dimension`] does
    /// not have the bytes after the first NUL.
    pub(crate) fn has_usual_names(&self) -> bool {
        self.decoder.has_usual_names()
    }

    fn decode(&mut self) -> Result<Option<Record>> {
        if self.input.window().len() < LOOKAHEAD {
            self.input.fill(PIECE)?;
        }
        let mut may_go_on = true;
        loop {
            let window = self.input.window();
            let length = window.len();
            let cursor = Cursor::new(window, self.encoding.word(), self.encoding.order);
            let mut cursor = cursor.starting_at(self.offset).going_on(may_go_on);
            let mut decoder = self.decoder.clone();
            match decoder.next(&mut cursor) {
                Err(ReadError::Truncated { needed, offset, .. }) if may_go_on => {
                    let before = offset.saturating_sub(self.offset);
                    let wanted = usize::try_from(before.saturating_add(needed)).unwrap_or(usize::MAX);
                    self.input.fill(wanted)?;
                    may_go_on = self.input.window().len() != length;
                }
                Err(error) => return Err(error),
                Ok(record) => {
                    let consumed = cursor.offset().saturating_sub(self.offset);
                    self.offset = cursor.offset();
                    self.decoder = decoder;
                    self.input.consume(usize::try_from(consumed).unwrap_or(usize::MAX));
                    // Without a record, the decoder may have stopped only where the window ends.
                    if record.is_none() {
                        self.input.fill(PIECE)?;
                    }
                    if record.is_some() || self.input.window().is_empty() {
                        return Ok(record);
                    }
                }
            }
        }
    }
}

impl<I: Input> Iterator for Records<I> {
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

impl<I: Input> core::iter::FusedIterator for Records<I> {}

impl<I: core::fmt::Debug> core::fmt::Debug for Records<I> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Records")
            .field("encoding", &self.encoding)
            .field("offset", &self.offset)
            .finish_non_exhaustive()
    }
}
