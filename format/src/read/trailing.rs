//! Checks that a file ends where its form says.

use super::Result;
use super::cursor::Cursor;
use crate::{Part, ReadError, Record};

/// The number of bytes after the end so far. They are skipped one piece after the other, so that a file that is far too long
/// takes no memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trailing(u64);

impl Trailing {
    /// Skips the known bytes after the end. An error at the end of the file if there are any.
    pub(super) fn next(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<Record>> {
        let left = cursor.left();
        cursor.split(left, Part::File)?;
        self.0 = self.0.saturating_add(left);
        match self.0 {
            left @ 1.. if !cursor.may_go_on() => {
                Err(ReadError::Trailing { left, offset: cursor.offset().saturating_sub(left) })
            }
            _ => Ok(None),
        }
    }
}
