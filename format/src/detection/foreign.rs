//! Recognizes files that are sometimes mistaken for profiles of a supported form.

use super::candidates::ORDERS;
use super::file::File;
use crate::decode::cursor::Cursor;
use crate::hints::KnownName;
use crate::layout::side_file::MAGIC;
use crate::{Error, Foreign, Hints, Word};

/// The size of the smallest header: 4.2BSD's two addresses and a size, of 32 bits each.
const SMALLEST_HEADER: u64 = 12;

/// The format of a file that is not a profile.
pub(crate) fn of(start: &[u8]) -> Option<Foreign> {
    by_magic(start).or(is_text(start).then_some(Foreign::Text))
}

/// The error for a file that has no known form.
pub(crate) fn error(file: &impl File, hints: &Hints) -> Error {
    let start = file.start();
    match (of(start), start.first_chunk()) {
        (Some(foreign), _) => Error::Foreign { format: foreign },
        (None, _) if hints.name() == Some(KnownName::KernelProfile) && is_kernel_profile(file) => {
            Error::Foreign { format: Foreign::KernelProfile }
        }
        (None, Some(magic)) if file.length() >= SMALLEST_HEADER => Error::Unknown { magic: *magic },
        (None, _) => Error::TooShort { size: file.length() },
    }
}

/// Whether a file may be Linux's `/proc/profile`: counters of four bytes after the number of code bytes for each, which
/// is a power of two. Many files may be, so the name must say so, too.
fn is_kernel_profile(file: &impl File) -> bool {
    let is_step = |order| Cursor::new(file.start(), Word::W32, order).u32().is_ok_and(u32::is_power_of_two);
    file.length() > 4 && file.length() % 4 == 0 && ORDERS.into_iter().any(is_step)
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
        matches!(cursor.u32(), Ok(0xdeb0_0004 | 0xdeb0_0008)).then_some(Foreign::PcProfile)
    })
}

/// Whether the start of the file is text.
fn is_text(bytes: &[u8]) -> bool {
    bytes.iter().take(512).all(|byte| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r'))
}
