//! Iterates over the records of a file.

use super::Result;
use super::cursor::{Cursor, LOOKAHEAD};
use super::decode::Decode as _;
use super::decoder::Decoder;
use super::input::Input;
use crate::{Encoding, ReadError, Record};

/// The number of bytes that are read at once.
const PIECE: usize = 1 << 16;

/// Iterates over the records of a file. Memory is needed for one record only. A histogram is one record, and so are an
/// object of a PROF file, the functions of a `mon.out` file, and a list of basic-block counts.
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
    /// The number of bytes that are read at once.
    piece: usize,
    /// The offset in the file of the record that was begun last.
    record: u64,
}

impl<'a> Records<&'a [u8]> {
    /// Iterates over the records of a file in memory.
    ///
    /// # Errors
    ///
    /// When no system has such files: NeXT's form with 64-bit addresses, or a form with a `long` of 32 bits beside 64-bit
    /// addresses that is not 4.4BSD's little-endian form.
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
    /// When no system has such files: NeXT's form with 64-bit addresses, or a form with a `long` of 32 bits beside 64-bit
    /// addresses that is not 4.4BSD's little-endian form.
    pub fn from_reader(reader: R, encoding: Encoding) -> Result<Records<super::input::stream::Stream<R>>> {
        Records::of(super::input::stream::Stream::new(reader), encoding)
    }

    /// Returns the reader. The reader is in general beyond [`Records::offset`], because it was read in large pieces.
    #[must_use]
    pub fn into_inner(self) -> R {
        self.input.into_reader()
    }

    /// Does the same with pieces of another size, for tests: so a small file has many pieces.
    ///
    /// # Errors
    ///
    /// As for [`Records::from_reader`].
    #[doc(hidden)]
    pub fn from_reader_in_pieces(
        reader: R,
        encoding: Encoding,
        piece: usize,
    ) -> Result<Records<super::input::stream::Stream<R>>> {
        Ok(Records { piece: piece.max(1), ..Records::from_reader(reader, encoding)? })
    }
}

impl<I: Input> Records<I> {
    pub(crate) fn of(input: I, encoding: Encoding) -> Result<Records<I>> {
        Ok(Records {
            input,
            decoder: Decoder::new(encoding)?,
            encoding,
            offset: 0,
            has_ended: false,
            piece: PIECE,
            record: 0,
        })
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

    /// The offset of the record that was begun last, of a form with several histograms.
    pub(crate) fn record(&self) -> u64 {
        self.record
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
                Err(ReadError::Truncated { needed, offset, .. }) if may_go_on => {
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
