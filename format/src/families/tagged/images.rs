//! Reads the records that list the images that a program loaded.

use crate::decode::Result;
use crate::decode::cursor::Cursor;
use crate::{Error, Image, Part};

/// What a record says of each image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    /// Darwin and NeXT: the slide, and the path.
    Slides,
    /// Darwin: the address of the header, and the path.
    Headers,
    /// NeXT: the address of a header, and the paths of all object files that were linked to that image.
    Files,
}

/// A position in a record that lists images.
#[derive(Clone, Copy, Debug)]
pub(super) struct Images {
    list: List,
    /// The number of states that are left, including the state at the cursor.
    states: u32,
    /// The bytes of the record that are left, from the cursor on.
    left: u64,
    /// Of [`List::Files`]: the number of files of the state at the cursor that were decoded.
    files: u32,
    /// Of [`List::Files`]: the bytes of the paths of these files.
    used: u64,
}

/// What is next in such a record.
pub(super) enum Next {
    /// An image.
    Image(Image),
    /// Of [`List::Files`]: the end of a state.
    State,
    /// The end of the record.
    End,
}

impl Images {
    /// Decodes the number of states at the start of a record of this size.
    pub(super) fn new(cursor: &mut Cursor<'_>, size: u64, list: List) -> Result<Images> {
        let mut images = Images { list, states: 0, left: size, files: 0, used: 0 };
        images.states = take(cursor, &mut images.left, 4)?.u32()?;
        Ok(images)
    }

    /// Decodes what is next.
    pub(super) fn next(&mut self, cursor: &mut Cursor<'_>) -> Result<Next> {
        if self.states != 0 {
            if self.list == List::Files {
                return Ok(self.file(cursor)?.map_or(Next::State, Next::Image));
            }
            self.states = self.states.saturating_sub(1);
            return self.image(cursor).map(Next::Image);
        }
        match self.left {
            0 => Ok(Next::End),
            left => Err(Error::Trailing { left, offset: cursor.offset() }),
        }
    }

    fn image(&mut self, cursor: &mut Cursor<'_>) -> Result<Image> {
        let word = cursor.word_size() as u64;
        let address = take(cursor, &mut self.left, word)?.word()?;
        let path = cursor.string_within(self.left, Part::Path)?;
        self.left = self.left.saturating_sub(path.len() as u64).saturating_sub(1);
        let image = Image::new(path);
        Ok(if self.list == List::Slides { image.with_slide(address) } else { image.with_header(address) })
    }

    /// Decodes the next file of the state at the cursor. `None` after the last one; the cursor is then after the
    /// state.
    fn file(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<Image>> {
        let (mut after, mut left) = (*cursor, self.left);
        let mut head = take(&mut after, &mut left, 8)?;
        let (header, count) = (head.u32()?, head.u32()?);
        let mut offsets = take(&mut after, &mut left, u64::from(count).saturating_mul(4))?;
        let size = u64::from(take(&mut after, &mut left, 4)?.u32()?);
        let strings = take(&mut after, &mut left, size)?;
        if self.files == count {
            let states = self.states.saturating_sub(1);
            *self = Images { states, left, files: 0, used: 0, ..*self };
            *cursor = after;
            return Ok(None);
        }
        offsets.split(u64::from(self.files).saturating_mul(4), Part::Images)?;
        let offset = offsets.offset();
        let value = u64::from(offsets.u32()?);
        let mut string = strings;
        if value >= size {
            return Err(Error::BadOffset { part: Part::Path, value, limit: size, offset });
        }
        string.split(value, Part::Path)?;
        let path = string.string_within(string.left(), Part::Path)?;
        // Paths that share bytes could be much longer together than the file.
        self.used = self.used.saturating_add(path.len() as u64).saturating_add(1);
        if self.used > size {
            return Err(Error::Repeated { part: Part::Path, value, offset });
        }
        self.files = self.files.saturating_add(1);
        Ok(Some(Image::new(path).with_header(u64::from(header))))
    }
}

/// Takes bytes of a record of which `left` bytes are left.
fn take<'a>(cursor: &mut Cursor<'a>, left: &mut u64, size: u64) -> Result<Cursor<'a>> {
    let Some(rest) = left.checked_sub(size) else {
        return Err(Error::Overrun { part: Part::Images, needed: size, left: *left, offset: cursor.offset() });
    };
    let field = cursor.split(size, Part::Images)?;
    *left = rest;
    Ok(field)
}
