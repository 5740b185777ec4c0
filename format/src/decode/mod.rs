//! What the decoders of all families share: the contract of a decoder, and its building blocks.

pub(crate) mod arcs;
pub(crate) mod bins;
pub(crate) mod cursor;
pub(crate) mod input;
pub(crate) mod walk;

use alloc::vec::Vec;

use crate::{Arc, Encoding, Error, Part, Record};
use cursor::Cursor;

/// The result of the readers.
pub(crate) type Result<T> = core::result::Result<T, Error>;

/// The decoder of one form.
///
/// A decoder has a small state, consumes from the cursor, and never looks back. After [`Error::Truncated`], the
/// caller may read more of the file and call a copy of the decoder again at the same place.
pub(crate) trait Decode: Clone {
    /// Decodes the next record at the cursor; `None` at the end of the file. If the file may go on after the known
    /// bytes, `None` also means that the decoder needs more of the file: the caller consumes what is before the cursor,
    /// and calls again. A decoder that skips many bytes without a record must return `None` when [`Cursor::must_stop`]
    /// is true, so that the caller can read on.
    fn next(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<Record>>;

    /// Decodes all arcs that come next, because there may be millions in a row. A decoder without a fast way to do this
    /// decodes none.
    fn arcs(&mut self, _cursor: &mut Cursor<'_>, _arcs: &mut Vec<Arc>) {}

    /// The number of lists of basic blocks that were decoded or begun.
    fn block_lists(&self) -> usize {
        0
    }

    /// Whether each name of a unit so far is printable text that is padded with NULs.
    fn has_usual_names(&self) -> bool {
        true
    }

    /// Skips the arcs that come next, and returns their number.
    fn skip_arcs(&mut self, _cursor: &mut Cursor<'_>) -> usize {
        0
    }
}

/// An error for a form with a C `long` if the encoding has a `long` of 32 bits beside 64-bit addresses, as only Windows
/// has. Windows writes none of these forms, except for 4.4BSD's.
pub(crate) fn refuse_narrow_long(encoding: Encoding) -> Result<()> {
    if encoding.has_narrow_long() { Err(Error::NoNarrowLong { encoding }) } else { Ok(()) }
}

/// The number of bytes after the end so far. They are skipped one piece after the other, so that a file that is far too
/// long takes no memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trailing(u64);

impl Trailing {
    /// Skips the known bytes after the end. An error at the end of the file if there are any.
    pub(crate) fn next(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<Record>> {
        let left = cursor.left();
        cursor.split(left, Part::File)?;
        self.0 = self.0.saturating_add(left);
        match self.0 {
            left @ 1.. if !cursor.may_go_on() => {
                Err(Error::Trailing { left, offset: cursor.offset().saturating_sub(left) })
            }
            _ => Ok(None),
        }
    }
}

/// The number of images that each file may have.
const IMAGES_ALWAYS: u64 = 256;
/// The number of bytes of the file for each further image. An image needs more memory than its shortest record has
/// bytes; records of real images are longer, because they have paths of real files.
const IMAGE_BYTES: u64 = 40;

/// The number of images so far, which is limited.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ImageCount(u64);

impl ImageCount {
    /// Counts an image. `offset` is the number of bytes of the file up to the end of the image, or more.
    pub(crate) fn count(&mut self, offset: u64) -> Result<()> {
        self.0 = self.0.saturating_add(1);
        if self.0 > IMAGES_ALWAYS && self.0.saturating_mul(IMAGE_BYTES) > offset {
            return Err(Error::TooManyImages { images: self.0, offset });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_few_images_or_bytes_for_each() {
        let mut images = ImageCount::default();
        assert!((0..IMAGES_ALWAYS).all(|_| images.count(0).is_ok()));
        assert!(images.count((IMAGES_ALWAYS + 1) * IMAGE_BYTES).is_ok());
        assert!(images.count((IMAGES_ALWAYS + 2) * IMAGE_BYTES - 1).is_err());
    }
}
