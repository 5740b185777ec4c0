//! Iterates over the records of a file.

use crate::decode::Result;
use crate::decode::input::Input;
use crate::decode::walk::Walk;
use crate::families::Decoder;
use crate::{Encoding, Record};

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
/// # Ok::<(), gmon::Error>(())
/// ```
#[derive(Clone)]
pub struct Records<I> {
    walk: Walk<I, Decoder>,
}

impl<'a> Records<&'a [u8]> {
    /// Iterates over the records of a file in memory.
    ///
    /// # Errors
    ///
    /// When no system has such files: NeXT's form with 64-bit addresses, or a form with a `long` of 32 bits beside
    /// 64-bit addresses that is not 4.4BSD's little-endian form.
    pub fn new(bytes: &'a [u8], encoding: Encoding) -> Result<Records<&'a [u8]>> {
        Ok(Records { walk: Walk::new(bytes, Decoder::new(encoding)?, encoding) })
    }

    /// Returns the bytes after the records that were returned.
    #[must_use]
    pub fn into_inner(self) -> &'a [u8] {
        self.walk.into_input()
    }
}

#[cfg(feature = "std")]
impl<R: std::io::Read> Records<crate::Stream<R>> {
    /// Iterates over the records of a file that is read in pieces, from the current position of `reader`.
    ///
    /// # Errors
    ///
    /// When no system has such files: NeXT's form with 64-bit addresses, or a form with a `long` of 32 bits beside
    /// 64-bit addresses that is not 4.4BSD's little-endian form.
    pub fn from_reader(reader: R, encoding: Encoding) -> Result<Records<crate::Stream<R>>> {
        Ok(Records { walk: Walk::new(crate::Stream::new(reader), Decoder::new(encoding)?, encoding) })
    }

    /// Returns the reader. The reader is in general beyond [`Records::offset`], because it was read in large pieces.
    #[must_use]
    pub fn into_inner(self) -> R {
        self.walk.into_input().into_reader()
    }

    /// Does the same with pieces of another size, for tests: so a small file has many pieces.
    ///
    /// # Errors
    ///
    /// As for [`Records::from_reader`].
    #[doc(hidden)]
    pub fn from_reader_in_pieces(reader: R, encoding: Encoding, piece: usize) -> Result<Records<crate::Stream<R>>> {
        Ok(Records { walk: Records::from_reader(reader, encoding)?.walk.in_pieces(piece) })
    }
}

impl<I: Input> Records<I> {
    /// The offset in the file of the next record.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.walk.offset()
    }

    /// The encoding of the file.
    #[must_use]
    pub fn encoding(&self) -> Encoding {
        self.walk.encoding()
    }

    /// The offset of the record that was begun last, of a form with several histograms.
    pub(crate) fn record(&self) -> u64 {
        self.walk.record()
    }
}

impl<I: Input> Iterator for Records<I> {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Result<Record>> {
        self.walk.next()
    }
}

impl<I: Input> core::iter::FusedIterator for Records<I> {}

impl<I: core::fmt::Debug> core::fmt::Debug for Records<I> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Records")
            .field("encoding", &self.walk.encoding())
            .field("offset", &self.walk.offset())
            .finish_non_exhaustive()
    }
}
