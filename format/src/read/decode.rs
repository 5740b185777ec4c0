//! What all decoders do: they decode records, one after the other.

use alloc::vec::Vec;

use super::Result;
use super::cursor::Cursor;
use crate::{Arc, Record};

/// The decoder of one form.
///
/// A decoder has a small state, consumes from the cursor, and never looks back. After [`ReadError::Truncated`], the
/// caller may read more of the file and call a copy of the decoder again at the same place.
pub(crate) trait Decode: Clone {
    /// Decodes the next record at the cursor; `None` at the end of the file. If the file may go on after the known bytes,
    /// `None` also means that the decoder needs more of the file: the caller consumes what is before the cursor, and calls
    /// again. A decoder that skips bytes without a record returns `None` where [`Cursor::must_stop`] says so.
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
