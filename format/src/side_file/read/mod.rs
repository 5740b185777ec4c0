//! Reads side files.

mod contexts;
mod estimates;
mod items;
mod raw;
mod selections;

use super::content::{Checksum, Refused, SideFile};
use super::counts::During;
use crate::decode::Result;
use crate::decode::cursor::Cursor;
use crate::encode::side_file::padding_size;
use crate::layout::side_file::{
    BIG, CALLS, CONTEXTS, COUNTED_SAMPLES, CUTS, END, ESTIMATES, FILLER, FUNCTIONS, HEADER_SIZE, LITTLE, LIVE, MAGIC,
    MAJOR, MAPPINGS, OBJECTS, PART_HEADER_SIZE, PROPERTIES, RAW_MAPPINGS, RAW_NODES, RAW_SUMS, RAW_THREADS, REQUIRED,
    SAMPLES, SELECTIONS, THREADS, Tag,
};
use crate::{Error, Order, Part, Word};
use raw::Raw;

impl SideFile {
    /// Reads a side file.
    ///
    /// The file of a program that still runs, or was killed, need not be whole: reading ends at the first part that
    /// is not.
    ///
    /// # Errors
    ///
    /// When the file is not a whole, valid side file: a wrong magic or version, a wrong checksum, sizes that exceed
    /// the file, references to objects, threads or nodes that are not there, sums that exceed 64 bits, or a part that
    /// this version does not know and that a reader must know.
    pub fn parse(bytes: &[u8]) -> Result<SideFile> {
        let mut cursor = Cursor::new(bytes, Word::W64, Order::Little);
        let mut side = header(&mut cursor)?;
        let mut raw = Raw::default();
        while let Some((tag, mut content)) = next(&mut cursor, bytes, side.is_live)? {
            let content = &mut content;
            match tag {
                PROPERTIES => items::properties(&mut side, content)?,
                OBJECTS => items::objects(&mut side, content)?,
                FUNCTIONS => items::functions(&mut side, content)?,
                THREADS => items::threads(&mut side, content)?,
                MAPPINGS => items::mappings(&mut side, content)?,
                SAMPLES => items::samples(&mut side, During::Run, content)?,
                COUNTED_SAMPLES => items::samples(&mut side, During::Intervals, content)?,
                SELECTIONS => selections::read(&mut side, content)?,
                ESTIMATES => estimates::read(&mut side, content)?,
                CALLS => items::calls(&mut side, content)?,
                CUTS => items::cuts(&mut side, content)?,
                CONTEXTS => contexts::read(&mut side, content)?,
                RAW_NODES => raw.nodes.add(content)?,
                RAW_SUMS => raw.add_sums(&mut side, content)?,
                RAW_MAPPINGS => raw.add_mappings(content)?,
                RAW_THREADS => raw.threads.add(&mut side, content)?,
                END => break,
                _ => {}
            }
        }
        raw.finish(&mut side)?;
        Ok(side)
    }
}

/// Reads the header, and sets the byte order of the numbers that follow.
fn header(cursor: &mut Cursor<'_>) -> Result<SideFile> {
    let mut header = cursor.split(HEADER_SIZE as u64, Part::Header)?;
    let magic = header.array()?;
    if magic != MAGIC {
        return Err(Error::NotASideFile { magic });
    }
    let offset = header.offset();
    let [major, _, word, order] = header.array()?;
    if major != MAJOR {
        return Err(Error::BadVersion { version: major.into(), offset });
    }
    let bad = |field, value: u8, at| Refused(field, value.into()).at(offset.saturating_add(at));
    let word = match word {
        4 => Word::W32,
        8 => Word::W64,
        _ => return Err(bad(Part::WordSize, word, 2)),
    };
    let order = match order {
        LITTLE => Order::Little,
        BIG => Order::Big,
        _ => return Err(bad(Part::ByteOrder, order, 3)),
    };
    header.set_order(order);
    cursor.set_order(order);
    let mut side = SideFile::new(word);
    side.set_order(order);
    side.set_live(header.u32()? & LIVE != 0);
    side.set_profile(Some(Checksum { length: header.u64()?, sum: header.u64()? }));
    Ok(side)
}

/// The tag and the content of the next part; `None` at the end of what a live file has so far.
fn next<'a>(cursor: &mut Cursor<'a>, bytes: &[u8], is_live: bool) -> Result<Option<(Tag, Cursor<'a>)>> {
    let offset = cursor.offset();
    if cursor.left() == 0 && !is_live {
        return Err(Error::NoEnd { offset });
    }
    match part(cursor) {
        // The file was made longer, and nothing is in the new room yet.
        Ok(([0, 0, 0, 0], _, _)) if is_live => Ok(None),
        Ok((END, _, mut content)) => {
            end(&mut content, bytes.get(..usize::try_from(offset).unwrap_or(0)).unwrap_or_default())?;
            match cursor.left() {
                0 => Ok(Some((END, content))),
                left => Err(Error::BehindEnd { left, offset: cursor.offset() }),
            }
        }
        Ok((tag, flags, content)) => {
            if kind(tag) == Part::Other && tag != FILLER && flags & REQUIRED != 0 {
                return Err(Error::UnknownPart { tag, offset });
            }
            Ok(Some((tag, content)))
        }
        Err(_) if is_live => Ok(None),
        Err(error) => Err(error),
    }
}

/// The tag, the flags and the content of the next part.
fn part<'a>(cursor: &mut Cursor<'a>) -> Result<(Tag, u32, Cursor<'a>)> {
    let mut header = cursor.split(PART_HEADER_SIZE as u64, Part::PartHeader)?;
    let tag = header.array()?;
    let (flags, length) = (header.u32()?, header.u64()?);
    let part = kind(tag);
    let content = cursor.split(length, part)?;
    cursor.split(padding_size(length) as u64, part)?;
    Ok((tag, flags, content))
}

/// Checks the content of the end. `before` are all bytes before that part.
fn end(content: &mut Cursor<'_>, before: &[u8]) -> Result<()> {
    let offset = content.offset();
    let (found, computed) = (content.u64()?, Checksum::of(before).sum);
    if found == computed { Ok(()) } else { Err(Error::BadChecksum { computed, found, offset }) }
}

/// The part with a tag, for errors.
fn kind(tag: Tag) -> Part {
    match tag {
        PROPERTIES => Part::Properties,
        OBJECTS => Part::Objects,
        FUNCTIONS => Part::GeneratedFunctions,
        THREADS | RAW_THREADS => Part::Threads,
        MAPPINGS | RAW_MAPPINGS => Part::Mappings,
        SAMPLES | COUNTED_SAMPLES => Part::Samples,
        SELECTIONS => Part::Selections,
        ESTIMATES => Part::Estimates,
        CALLS => Part::Calls,
        CUTS | RAW_SUMS => Part::Cuts,
        CONTEXTS | RAW_NODES => Part::Contexts,
        END => Part::End,
        _ => Part::Other,
    }
}
