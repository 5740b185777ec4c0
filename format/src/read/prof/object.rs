//! Reads the head of an object, and what is at an offset in the object.

use crate::layout::illumos::{OBJECT_HEAD_SIZE, OBJECT_VERSION};
use crate::read::Result;
use crate::read::cursor::Cursor;
use crate::{Part, ReadError};

/// An object that is completely in the known part of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Object<'a> {
    pub(super) object_type: u32,
    bytes: Cursor<'a>,
}

/// An offset that counts from the first byte of an object; 0 at the end of a chain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) value: u64,
    /// The offset of the value in the file.
    pub(super) offset: u64,
}

impl Link {
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Link> {
        Ok(Link { offset: cursor.offset(), value: cursor.u64()? })
    }
}

impl<'a> Object<'a> {
    /// Reads the object at the cursor.
    pub(super) fn read(mut cursor: Cursor<'a>) -> Result<Object<'a>> {
        let mut head = cursor;
        let mut head = head.split(OBJECT_HEAD_SIZE, Part::Object)?;
        let object_type = head.u32()?;
        let version_offset = head.offset();
        let version = head.u32()?;
        if version != OBJECT_VERSION {
            return Err(ReadError::BadVersion { version, offset: version_offset });
        }
        let offset = head.offset();
        let size = head.u64()?;
        if size < OBJECT_HEAD_SIZE {
            return Err(ReadError::TooSmall { part: Part::Object, size, least: OBJECT_HEAD_SIZE, offset });
        }
        Ok(Object { object_type, bytes: cursor.split(size, Part::Object)? })
    }

    /// The offset of the object in the file, where its type is.
    pub(super) fn offset(&self) -> u64 {
        self.bytes.offset()
    }

    pub(super) fn size(&self) -> u64 {
        self.bytes.left()
    }

    /// What follows the head in the fixed part of the object, which has this size with the head.
    pub(super) fn fixed(&self, least: u64) -> Result<Cursor<'a>> {
        let mut bytes = self.bytes;
        if self.size() < least {
            let offset = self.offset().saturating_add(8);
            return Err(ReadError::TooSmall { part: Part::Object, size: self.size(), least, offset });
        }
        let mut fixed = bytes.split(least, Part::Object)?;
        fixed.split(OBJECT_HEAD_SIZE, Part::Object)?;
        Ok(fixed)
    }

    /// The part of the object at an offset.
    pub(super) fn at(&self, link: Link, size: u64, part: Part) -> Result<Cursor<'a>> {
        let mut bytes = self.from(link, part)?;
        if bytes.left() < size {
            let (left, offset) = (bytes.left(), bytes.offset());
            return Err(ReadError::Overrun { part, needed: size, left, offset });
        }
        Ok(bytes.split(size, part)?)
    }

    /// The bytes of the object from an offset on.
    pub(super) fn from(&self, link: Link, part: Part) -> Result<Cursor<'a>> {
        let Link { value, offset } = link;
        if value > self.size() {
            return Err(ReadError::BadOffset { part, value, limit: self.size(), offset });
        }
        let mut bytes = self.bytes;
        bytes.split(value, part)?;
        Ok(bytes)
    }

    /// Moves a cursor from the start of the object to the end.
    pub(super) fn skip(&self, cursor: &mut Cursor<'_>) -> Result<()> {
        cursor.split(self.size(), Part::Object)?;
        Ok(())
    }
}
