//! Where the bytes of a file come from.

use super::Result;

/// A file that is read from its start to its end. Only part of the file needs to be in memory.
///
/// The library implements the trait for bytes in memory and, with the feature `std`, for `Stream`. Other crates cannot
/// implement the trait.
pub trait Input: sealed::Sealed {
    /// The bytes that are in memory and not consumed.
    fn window(&self) -> &[u8];

    /// Reads until the window has this many bytes, or until the end of the file.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    fn fill(&mut self, length: usize) -> Result<()>;

    /// Removes bytes from the start of the window.
    fn consume(&mut self, length: usize);
}

/// Keeps other crates from implementing [`Input`], so that the trait may change.
mod sealed {
    /// The types that are an [`Input`](super::Input).
    pub trait Sealed {}
}

impl sealed::Sealed for &[u8] {}

impl Input for &[u8] {
    fn window(&self) -> &[u8] {
        self
    }

    fn fill(&mut self, _length: usize) -> Result<()> {
        Ok(())
    }

    fn consume(&mut self, length: usize) {
        *self = self.get(length..).unwrap_or_default();
    }
}

#[cfg(feature = "std")]
pub(crate) mod stream {
    use std::io::Read;
    use std::vec::Vec;

    use super::{Input, Result};
    use crate::Error;

    /// A file that is read in pieces.
    #[derive(Debug)]
    pub struct Stream<R> {
        reader: R,
        buffer: Vec<u8>,
        /// The index in `buffer` of the first byte that is not consumed.
        start: usize,
        is_at_end: bool,
    }

    impl<R: Read> Stream<R> {
        /// Reads from the current position of the reader.
        pub(crate) fn new(reader: R) -> Stream<R> {
            Stream { reader, buffer: Vec::new(), start: 0, is_at_end: false }
        }

        /// Returns the reader, and forgets what was read and not consumed.
        pub(crate) fn into_reader(self) -> R {
            self.reader
        }
    }

    impl<R: Read> super::sealed::Sealed for Stream<R> {}

    impl<R: Read> Input for Stream<R> {
        fn window(&self) -> &[u8] {
            self.buffer.get(self.start..).unwrap_or_default()
        }

        fn fill(&mut self, length: usize) -> Result<()> {
            let missing = length.saturating_sub(self.window().len());
            if missing == 0 || self.is_at_end {
                return Ok(());
            }
            self.buffer.drain(..self.start.min(self.buffer.len()));
            self.start = 0;
            // The length is not trusted: the buffer grows as bytes arrive.
            let read =
                self.reader.by_ref().take(missing as u64).read_to_end(&mut self.buffer).map_err(Error::reading)?;
            self.is_at_end = read < missing;
            Ok(())
        }

        fn consume(&mut self, length: usize) {
            self.start = self.start.saturating_add(length);
        }
    }
}
