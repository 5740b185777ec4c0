//! Recognizes files that are sometimes mistaken for profiles of a supported form.

use super::candidates::ORDERS;
use crate::layout::side_file::MAGIC;
use crate::read::cursor::Cursor;
use crate::{Error, Foreign, Part, Result, Word};

/// The size of the smallest header: 4.2BSD's two addresses and a size, of 32 bits each.
const SMALLEST_HEADER: usize = 12;

/// Recognizes a file that is neither a GNU nor a 4.4BSD profile.
pub(super) fn name(bytes: &[u8]) -> Error {
    if let Some(foreign) = by_magic(bytes) {
        return Error::Foreign(foreign);
    }
    if is_text(bytes) {
        return Error::Foreign(Foreign::Text);
    }
    match bytes.first_chunk() {
        Some(_) if is_old_bsd(bytes) => Error::Foreign(Foreign::OldBsd),
        Some(magic) if bytes.len() >= SMALLEST_HEADER => Error::Unknown { magic: *magic },
        _ => Error::TooShort { size: bytes.len() as u64 },
    }
}

fn by_magic(bytes: &[u8]) -> Option<Foreign> {
    if bytes.starts_with(b"\x7fELF") {
        return Some(Foreign::Elf);
    }
    if bytes.starts_with(&MAGIC) {
        return Some(Foreign::SideFile);
    }
    ORDERS.into_iter().find_map(|order| {
        let mut cursor = Cursor::new(bytes, Word::W32, order);
        match (cursor.u32().ok()?, cursor.u32()) {
            (0xbeef_babe | 0xbeef_babf, _) => Some(Foreign::Darwin),
            (0x5052_4f46, _) => Some(Foreign::IllumosProf),
            (0xdeb0_0004 | 0xdeb0_0008, _) => Some(Foreign::PcProfile),
            (0xffff_ffff, Ok(1 | 2)) => Some(Foreign::RtldProfile),
            _ => None,
        }
    })
}

/// Whether the start of the file is text.
fn is_text(bytes: &[u8]) -> bool {
    bytes.iter().take(512).all(|byte| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r'))
}

/// Whether the whole file fits the header of 4.2BSD, which has no magic: addresses, the size of header and 16-bit
/// samples, and arcs between addresses of that range.
fn is_old_bsd(bytes: &[u8]) -> bool {
    // A 64-bit header has 24 bytes in memory, but some tools write it without the padding at its end.
    let headers = [(Word::W32, 12), (Word::W64, 20), (Word::W64, 24)];
    ORDERS.into_iter().any(|order| {
        headers
            .into_iter()
            .any(|(word, header)| fits_old_bsd(Cursor::new(bytes, word, order), word, header) == Ok(true))
    })
}

fn fits_old_bsd(mut cursor: Cursor<'_>, word: Word, header: u64) -> Result<bool> {
    let mut fields = cursor.split(header, Part::Header)?;
    let (lowpc, highpc) = (fields.word()?, fields.word()?);
    let ncnt = u64::try_from(fields.i32()?).unwrap_or(0);
    let samples = ncnt.saturating_sub(header);
    let span = highpc.saturating_sub(lowpc);
    let bins = samples / 2;
    // A bin is never smaller than half a byte of code, and bins above 4096 bytes would be useless.
    let density_fits = bins <= span.saturating_mul(2) && span <= bins.saturating_mul(4096);
    if bins == 0 || span == 0 || !samples.is_multiple_of(2) || !density_fits {
        return Ok(false);
    }
    cursor.split(samples, Part::Samples)?;
    if !cursor.left().is_multiple_of(word.arc_size()) {
        return Ok(false);
    }
    while cursor.left() != 0 {
        let (frompc, selfpc, _count) = (cursor.word()?, cursor.word()?, cursor.word()?);
        if frompc > highpc || !(lowpc..highpc).contains(&selfpc) {
            return Ok(false);
        }
    }
    Ok(true)
}
