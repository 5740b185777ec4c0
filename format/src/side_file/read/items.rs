//! Reads the items in the parts of a side file.

use crate::Part;
use crate::decode::Result;
use crate::decode::cursor::Cursor;
use crate::encode::side_file::{Call, CutReason, Place, unzigzag};
use crate::layout::side_file::{IS_CLOSED, IS_GENERATED, IS_PROGRAM, IS_VDSO};
use crate::side_file::content::{Refused, SideFile};
use crate::side_file::counts::{During, Thread};
use crate::side_file::object::{Identity, Kind, Mapping, Object};

pub(super) fn properties(side: &mut SideFile, content: &mut Cursor<'_>) -> Result<()> {
    while content.left() > 0 {
        let offset = content.offset();
        side.push_property(content.string()?.into()).map_err(|refused| refused.at(offset))?;
    }
    Ok(())
}

pub(super) fn objects(side: &mut SideFile, content: &mut Cursor<'_>) -> Result<()> {
    while content.left() > 0 {
        let offset = content.offset();
        let number = small(content, Part::ObjectNumber)?;
        let kind = kind(content)?;
        let is_closed = kind.1;
        let generation = small(content, Part::Code)?;
        let lowpc = content.number()?;
        let highpc = end_of(content, lowpc)?;
        let identity = identity(content)?;
        let path = content.string()?.to_vec();
        let object = Object { kind: kind.0, is_closed, generation, code: lowpc..highpc, identity, path };
        side.push_object(number, object).map_err(|refused| refused.at(offset))?;
    }
    Ok(())
}

/// Reads the flags of an object: its kind, and whether it is closed.
fn kind(content: &mut Cursor<'_>) -> Result<(Kind, bool)> {
    let offset = content.offset();
    let flags = content.number()?;
    let kind = match flags & (IS_PROGRAM | IS_VDSO | IS_GENERATED) {
        0 => Kind::Shared,
        IS_PROGRAM => Kind::Program,
        IS_VDSO => Kind::Vdso,
        IS_GENERATED => Kind::Generated,
        _ => return Err(Refused(Part::ObjectFlags, flags).at(offset)),
    };
    Ok((kind, flags & IS_CLOSED != 0))
}

fn identity(content: &mut Cursor<'_>) -> Result<Identity> {
    let offset = content.offset();
    match content.number()? {
        0 => Ok(Identity::Unknown),
        1 => Ok(Identity::BuildId(content.string()?.to_vec())),
        2 => Ok(Identity::Headers(content.number()?)),
        kind => Err(Refused(Part::IdentityKind, kind).at(offset)),
    }
}

pub(super) fn functions(side: &mut SideFile, content: &mut Cursor<'_>) -> Result<()> {
    let object = small(content, Part::Object)?;
    while content.left() > 0 {
        let offset = content.offset();
        side.push_function(object, content.string()?).map_err(|refused| refused.at(offset))?;
    }
    Ok(())
}

pub(super) fn threads(side: &mut SideFile, content: &mut Cursor<'_>) -> Result<()> {
    while content.left() > 0 {
        let (number, threads) = (content.number()?, content.number()?);
        let (ticks, calls) = (content.number()?, content.number()?);
        let name = content.string()?.to_vec();
        side.add_thread(Thread { number, name, threads, ticks, calls });
    }
    Ok(())
}

pub(super) fn mappings(side: &mut SideFile, content: &mut Cursor<'_>) -> Result<()> {
    while content.left() > 0 {
        let offset = content.offset();
        let start = content.number()?;
        let end = end_of(content, start)?;
        let bias = content.number()?;
        let object = small(content, Part::Object)?;
        side.push_mapping(Mapping::new(start..end, bias, object)).map_err(|refused| refused.at(offset))?;
    }
    Ok(())
}

pub(super) fn samples(side: &mut SideFile, during: During, content: &mut Cursor<'_>) -> Result<()> {
    let offset = content.offset();
    let thread = thread(content)?;
    let object = small(content, Part::Object)?;
    let bin_size = content.number()?;
    let thread = side.begin_samples(thread, object, bin_size).map_err(|refused| refused.at(offset))?;
    let mut next = Some(0_u64);
    while content.left() > 0 {
        let offset = content.offset();
        let gap = content.number()?;
        let index = next.and_then(|next| next.checked_add(gap)).ok_or(Refused(Part::Bin, gap).at(offset))?;
        let ticks = content.number()?;
        side.push_samples(during, (thread, object, bin_size), index, ticks).map_err(|refused| refused.at(offset))?;
        next = index.checked_add(1);
    }
    Ok(())
}

pub(super) fn calls(side: &mut SideFile, content: &mut Cursor<'_>) -> Result<()> {
    let offset = content.offset();
    let thread = thread(content)?;
    let thread = side.thread(thread).map_err(|refused| refused.at(offset))?;
    let (mut caller, mut callee) = (0, 0);
    while content.left() > 0 {
        let offset = content.offset();
        let call = Call {
            caller: place_near(content, &mut caller)?,
            callee: place_near(content, &mut callee)?,
            count: content.number()?,
        };
        side.push_call(thread, call).map_err(|refused| refused.at(offset))?;
    }
    Ok(())
}

/// Reads an object, and an address as the difference to another, which the address replaces.
pub(super) fn place_near(content: &mut Cursor<'_>, near: &mut u64) -> Result<Place> {
    let object = small(content, Part::Object)?;
    *near = near.wrapping_add(unzigzag(content.number()?));
    Ok(Place { object, address: *near })
}

pub(super) fn cuts(side: &mut SideFile, content: &mut Cursor<'_>) -> Result<()> {
    while content.left() > 0 {
        let offset = content.offset();
        let reason = CutReason::from_code(small(content, Part::Code)?);
        let ticks = content.number()?;
        side.push_cut(reason, ticks).map_err(|refused| refused.at(offset))?;
    }
    Ok(())
}

/// Reads the index of a thread, or `None` for all threads.
fn thread(content: &mut Cursor<'_>) -> Result<Option<usize>> {
    let thread = content.number()?;
    Ok(thread.checked_sub(1).map(|thread| usize::try_from(thread).unwrap_or(usize::MAX)))
}

/// Reads a number of 32 bits.
fn small(content: &mut Cursor<'_>, field: Part) -> Result<u32> {
    let offset = content.offset();
    let number = content.number()?;
    u32::try_from(number).map_err(|_| Refused(field, number).at(offset))
}

/// Reads the size of a range that starts at an address, and returns the end of the range.
fn end_of(content: &mut Cursor<'_>, start: u64) -> Result<u64> {
    let offset = content.offset();
    let size = content.number()?;
    start.checked_add(size).ok_or(Refused(Part::Size, size).at(offset))
}
