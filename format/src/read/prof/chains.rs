//! Follows the chains of records in an object.

use super::object::{Link, Object};
use crate::layout::illumos::{CALL_GRAPH_SIZE, FUNCTION_SIZE, MODULE_SIZE, MODULES_SIZE};
use crate::read::Result;
use crate::{Arc, Image, Part, ReadError};

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
    /// The bytes of the object that are left for more records and paths. If a record or a path needs more, the chain is a
    /// cycle, or paths share bytes and could be much longer together than the file.
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
            return Err(ReadError::BadRange { lowpc, highpc, offset });
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
    *room = room.checked_sub(size).ok_or(ReadError::Repeated { part, value, offset })?;
    Ok(())
}
