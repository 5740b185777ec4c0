//! Reads the tree of calling contexts.

use crate::Part;
use crate::decode::Result;
use crate::decode::cursor::Cursor;
use crate::encode::side_file::{Place, unzigzag};
use crate::layout::side_file::{FIRST_RESERVED, PROGRAM};
use crate::side_file::content::{Refused, SideFile};
use crate::side_file::contexts::Node;

pub(super) fn read(side: &mut SideFile, content: &mut Cursor<'_>) -> Result<()> {
    // A node has at least three numbers, each of which ends with a byte below 0x80.
    let ends = content.rest().iter().filter(|byte| **byte < 0x80).count();
    side.contexts.nodes.reserve(ends / 3);
    while content.left() > 0 {
        node(side, content)?;
    }
    Ok(())
}

fn node(side: &mut SideFile, content: &mut Cursor<'_>) -> Result<()> {
    let offset = content.offset();
    let index = side.contexts.nodes.len();
    let distance = content.number()?;
    let parent = match usize::try_from(distance).ok().and_then(|distance| index.checked_sub(distance)) {
        Some(parent) => (distance > 0).then_some(parent),
        None => return Err(Refused(Part::Parent, distance).at(offset)),
    };
    let base = parent.and_then(|parent| side.contexts.nodes.get(parent)).map(Node::place);
    let place = place(content, base.unwrap_or(Place { object: PROGRAM, address: 0 }))?;
    // An object is known if the parent has it; any address of an object is possible.
    if base.is_none_or(|base| base.object != place.object) || place.object >= FIRST_RESERVED {
        side.context_place(place).map_err(|refused| refused.at(offset))?;
    }
    let ticks = content.number()?;
    side.push_context(parent, place, ticks).map_err(|refused| refused.at(offset))?;
    Ok(())
}

/// Reads the place of a node whose parent is at `base`.
fn place(content: &mut Cursor<'_>, base: Place) -> Result<Place> {
    let offset = content.offset();
    let code = content.number()?;
    if code & 1 == 0 {
        return Ok(Place { address: base.address.wrapping_add(unzigzag(code >> 1)), ..base });
    }
    let object = u32::try_from(code >> 1).map_err(|_| Refused(Part::Object, code >> 1).at(offset))?;
    Ok(Place { object, address: content.number()? })
}
