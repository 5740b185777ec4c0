//! Reads the basic-block counts of GNU files: those of version 1, and those of version 0, which have names and lines that
//! no reader uses.

use super::Result;
use super::cursor::Cursor;
use crate::layout::GNU_VERSION;
use crate::{Block, Part};

/// Reads the number of blocks after a tag, and the string that follows the number in version 0.
pub(super) fn count(cursor: &mut Cursor<'_>, version: u32) -> Result<u64> {
    let blocks = u64::from(cursor.split(4, Part::Blocks)?.u32()?);
    let word = cursor.word_size() as u64;
    let mut least = word.saturating_mul(2);
    if version < GNU_VERSION {
        cursor.c_string(Part::Blocks)?;
        // The smallest block has two empty strings and a line.
        least = least.saturating_add(6);
    }
    // A damaged number is an error before the first block.
    let mut all = *cursor;
    all.split(blocks.saturating_mul(least), Part::Blocks)?;
    Ok(blocks)
}

/// Reads a block. In version 0, the count comes first, and the names of a source file and a function and a line follow.
pub(super) fn block(cursor: &mut Cursor<'_>, version: u32) -> Result<Block> {
    let word = cursor.word_size() as u64;
    let mut words = cursor.split(word.saturating_mul(2), Part::Blocks)?;
    let (first, second) = (words.word()?, words.word()?);
    if version == GNU_VERSION {
        return Ok(Block::new(first, second));
    }
    cursor.c_string(Part::Blocks)?;
    cursor.c_string(Part::Blocks)?;
    cursor.split(4, Part::Blocks)?;
    Ok(Block::new(second, first))
}
