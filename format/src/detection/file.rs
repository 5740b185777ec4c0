//! A file whose encoding is to be found: it may be read several times.

use core::ops::Range;

use crate::Encoding;
use crate::decode::input::Input;
use crate::decode::walk::Walk;
use crate::decode::{Decode, Result};

/// The number of bytes at the start of a file that decide about its form.
#[cfg(feature = "std")]
const START: u64 = 1 << 12;

/// A file that can be read again.
pub(crate) trait File {
    /// How the file is read.
    type Input<'a>: Input
    where
        Self: 'a;

    /// The bytes at the start of the file: all of a short file.
    fn start(&self) -> &[u8];

    /// The length of the file in bytes.
    fn length(&self) -> u64;

    /// The file from its start.
    fn input(&mut self) -> Result<Self::Input<'_>>;

    /// The records of the file in one encoding, which is that of the decoder.
    fn records<D: Decode>(&mut self, decoder: D, encoding: Encoding) -> Result<Walk<Self::Input<'_>, D>> {
        Ok(Walk::new(self.input()?, decoder, encoding))
    }

    /// Shows the bytes at these offsets to `see`, as far as the file has them, until `see` returns false. All pieces
    /// but the last one have a multiple of eight bytes.
    fn scan(&mut self, offsets: Range<u64>, see: impl FnMut(&[u8]) -> bool) -> Result<()>;
}

/// A file in memory.
pub(crate) struct InMemory<'b>(pub(crate) &'b [u8]);

impl<'b> File for InMemory<'b> {
    type Input<'a>
        = &'b [u8]
    where
        Self: 'a;

    fn start(&self) -> &[u8] {
        self.0
    }

    fn length(&self) -> u64 {
        self.0.len() as u64
    }

    fn input(&mut self) -> Result<&'b [u8]> {
        Ok(self.0)
    }

    fn scan(&mut self, offsets: Range<u64>, mut see: impl FnMut(&[u8]) -> bool) -> Result<()> {
        let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(self.0.len());
        see(self.0.get(at(offsets.start)..at(offsets.end)).unwrap_or_default());
        Ok(())
    }
}

#[cfg(feature = "std")]
pub(crate) mod in_pieces {
    use core::ops::Range;
    use std::io::{Read, Seek, SeekFrom};
    use std::vec::Vec;

    use super::{File, START};
    use crate::Error;
    use crate::decode::Result;
    use crate::decode::input::stream::Stream;

    /// The size of a piece of a scan in bytes.
    const PIECE: u64 = 1 << 16;

    /// A file that is read in pieces.
    pub(crate) struct InPieces<R> {
        reader: R,
        start: Vec<u8>,
        length: u64,
    }

    impl<R: Read + Seek> InPieces<R> {
        pub(crate) fn new(mut reader: R) -> Result<InPieces<R>> {
            let length = reader.seek(SeekFrom::End(0)).map_err(Error::reading)?;
            reader.rewind().map_err(Error::reading)?;
            let mut start = Vec::new();
            reader.by_ref().take(START).read_to_end(&mut start).map_err(Error::reading)?;
            Ok(InPieces { reader, start, length })
        }

        /// Goes to the start of the file, for whoever reads the file next.
        pub(crate) fn rewind(&mut self) -> Result<()> {
            self.reader.rewind().map_err(Error::reading)
        }
    }

    impl<R: Read + Seek> File for InPieces<R> {
        type Input<'a>
            = Stream<&'a mut R>
        where
            R: 'a;

        fn start(&self) -> &[u8] {
            &self.start
        }

        fn length(&self) -> u64 {
            self.length
        }

        fn input(&mut self) -> Result<Stream<&mut R>> {
            self.reader.rewind().map_err(Error::reading)?;
            Ok(Stream::new(&mut self.reader))
        }

        fn scan(&mut self, offsets: Range<u64>, mut see: impl FnMut(&[u8]) -> bool) -> Result<()> {
            let mut left = offsets.end.saturating_sub(offsets.start);
            let mut piece = Vec::new();
            self.reader.seek(SeekFrom::Start(offsets.start)).map_err(Error::reading)?;
            while left != 0 {
                piece.clear();
                let read =
                    self.reader.by_ref().take(left.min(PIECE)).read_to_end(&mut piece).map_err(Error::reading)?;
                if read == 0 || !see(&piece) {
                    break;
                }
                left = left.saturating_sub(read as u64);
            }
            Ok(())
        }
    }
}
