//! Reads an object of a PROF file: the head, what is at an offset in the object, and the chains of its records.

use super::layout::{CALL_GRAPH_SIZE, FUNCTION_SIZE, MODULE_SIZE, MODULES_SIZE, OBJECT_HEAD_SIZE, OBJECT_VERSION};
use crate::decode::Result;
use crate::decode::cursor::Cursor;
use crate::{Arc, Error, Image, Part};

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
            return Err(Error::BadVersion { version, offset: version_offset });
        }
        let offset = head.offset();
        let size = head.u64()?;
        if size < OBJECT_HEAD_SIZE {
            return Err(Error::TooSmall { part: Part::Object, size, least: OBJECT_HEAD_SIZE, offset });
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
            return Err(Error::TooSmall { part: Part::Object, size: self.size(), least, offset });
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
            return Err(Error::Overrun { part, needed: size, left, offset });
        }
        Ok(bytes.split(size, part)?)
    }

    /// The bytes of the object from an offset on.
    pub(super) fn from(&self, link: Link, part: Part) -> Result<Cursor<'a>> {
        let Link { value, offset } = link;
        if value > self.size() {
            return Err(Error::BadOffset { part, value, limit: self.size(), offset });
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

/// A position in an object of calls. A chain links one record of each callee. From each of these records starts
/// another chain, of the callers of that callee.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calls {
    /// The next record in the chain of callers.
    caller: Link,
    /// The first record of the next callee.
    callee: Link,
    /// The bytes of the object that are left for more records. If a record needs more, the chains are a cycle or share
    /// records.
    room: u64,
}

impl Calls {
    pub(super) fn new(object: &Object<'_>) -> Result<Calls> {
        let callee = Link::read(&mut object.fixed(CALL_GRAPH_SIZE)?)?;
        Ok(Calls { caller: Link { value: 0, ..callee }, callee, room: object.size().saturating_sub(CALL_GRAPH_SIZE) })
    }

    /// Decodes the next record; `None` after the last one.
    pub(super) fn next(&mut self, object: &Object<'_>) -> Result<Option<Arc>> {
        let starts_callee = self.caller.value == 0;
        let link = if starts_callee { self.callee } else { self.caller };
        if link.value == 0 {
            return Ok(None);
        }
        let mut record = object.at(link, FUNCTION_SIZE, Part::Arc)?;
        use_room(&mut self.room, FUNCTION_SIZE, link, Part::Arc)?;
        let next_callee = Link::read(&mut record)?;
        if starts_callee {
            self.callee = next_callee;
        }
        self.caller = Link::read(&mut record)?;
        Ok(Some(Arc::new(record.u64()?, record.u64()?, record.u64()?)))
    }
}

/// A position in an object of modules.
#[derive(Clone, Copy, Debug)]
pub(super) struct Modules {
    /// The next record.
    module: Link,
    /// The bytes of the object that are left for more records and paths. If a record or a path needs more, the chain is
    /// a cycle, or paths share bytes and could be much longer together than the file.
    room: u64,
}

impl Modules {
    pub(super) fn new(object: &Object<'_>) -> Result<Modules> {
        let module = Link::read(&mut object.fixed(MODULES_SIZE)?)?;
        Ok(Modules { module, room: object.size().saturating_sub(MODULES_SIZE) })
    }

    /// Decodes the next record; `None` after the last one.
    pub(super) fn next(&mut self, object: &Object<'_>) -> Result<Option<Image>> {
        if self.module.value == 0 {
            return Ok(None);
        }
        let mut record = object.at(self.module, MODULE_SIZE, Part::Module)?;
        use_room(&mut self.room, MODULE_SIZE, self.module, Part::Module)?;
        self.module = Link::read(&mut record)?;
        let path_link = Link::read(&mut record)?;
        let offset = record.offset();
        let (lowpc, highpc) = (record.u64()?, record.u64()?);
        if highpc < lowpc {
            return Err(Error::BadRange { lowpc, highpc, offset });
        }
        let mut bytes = object.from(path_link, Part::Path)?;
        let path = bytes.string_within(bytes.left(), Part::Path)?;
        use_room(&mut self.room, (path.len() as u64).saturating_add(1), path_link, Part::Path)?;
        Ok(Some(Image::new(path).with_range(lowpc..highpc)))
    }
}

/// Reduces the room that is left in an object.
fn use_room(room: &mut u64, size: u64, link: Link, part: Part) -> Result<()> {
    let Link { value, offset } = link;
    *room = room.checked_sub(size).ok_or(Error::Repeated { part, value, offset })?;
    Ok(())
}
