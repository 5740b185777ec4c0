//! The entries of `.eh_frame`: the description of a function (FDE) and what many functions have in common (CIE).

use super::bytes::{Cursor, OMITTED, Section};

/// A function's entry, with what it takes from its CIE.
pub(super) struct Entry<'a> {
    /// The address of the function and the length of its code.
    pub(super) start: usize,
    pub(super) length: usize,
    /// The function's instructions.
    pub(super) program: Cursor<'a>,
    pub(super) common: Common<'a>,
}

/// What functions have in common.
pub(super) struct Common<'a> {
    pub(super) code_alignment: usize,
    pub(super) data_alignment: i64,
    /// The number of the return address's column.
    pub(super) return_address: u64,
    /// How the addresses of functions are encoded.
    pub(super) encoding: u8,
    /// Whether the functions return to the code that a signal interrupted.
    pub(super) is_signal: bool,
    /// Whether entries have augmentation data.
    has_data: bool,
    /// The instructions that all these functions begin with.
    pub(super) program: Cursor<'a>,
}

/// The length that announces a 64-bit entry. No compiler writes such entries, and readers disagree about their form.
const LONG: u32 = u32::MAX;
const VERSIONS: [u8; 2] = [1, 3];

/// The content of the entry at an offset.
fn content(section: Section<'_>, offset: usize) -> Option<Cursor<'_>> {
    let mut cursor = section.at(offset);
    let length = cursor.u32().filter(|length| *length != 0 && *length != LONG)?;
    cursor.split(length as usize)
}

impl<'a> Entry<'a> {
    /// The FDE at an offset of the section.
    #[inline(never)]
    pub(super) fn read(section: Section<'a>, offset: usize) -> Option<Entry<'a>> {
        let mut cursor = content(section, offset)?;
        let here = cursor.address().wrapping_sub(section.address);
        let distance = cursor.u32().filter(|distance| *distance != 0)?;
        let common = Common::read(section, here.checked_sub(distance as usize)?)?;
        let start = cursor.pointer(common.encoding, 0)?;
        let length = cursor.number(common.encoding)?;
        if common.has_data {
            let length = cursor.uleb()?;
            cursor.skip(usize::try_from(length).ok()?)?;
        }
        Some(Entry { start, length, program: cursor, common })
    }
}

impl<'a> Common<'a> {
    /// The CIE at an offset of the section.
    fn read(section: Section<'a>, offset: usize) -> Option<Common<'a>> {
        let mut cursor = content(section, offset)?;
        if cursor.u32()? != 0 {
            return None;
        }
        let version = cursor.u8().filter(|version| VERSIONS.contains(version))?;
        let mut letters = cursor;
        while cursor.u8()? != 0 {}
        let code_alignment = usize::try_from(cursor.uleb()?).ok()?;
        let data_alignment = cursor.sleb()?;
        let return_address = if version == 1 { cursor.u8()?.into() } else { cursor.uleb()? };
        let mut common = Common {
            code_alignment,
            data_alignment,
            return_address,
            encoding: 0,
            is_signal: false,
            has_data: false,
            program: cursor,
        };
        match letters.u8()? {
            0 => {}
            b'z' => common.augment(letters)?,
            _ => return None,
        }
        Some(common)
    }

    /// Reads the augmentation data, whose parts the letters name.
    fn augment(&mut self, mut letters: Cursor<'a>) -> Option<()> {
        let length = self.program.uleb()?;
        let mut data = self.program.split(usize::try_from(length).ok()?)?;
        self.has_data = true;
        loop {
            match letters.u8()? {
                0 => return Some(()),
                b'R' => self.encoding = data.u8()?,
                b'L' => data.skip(1)?,
                b'P' => {
                    let encoding = data.u8()?;
                    if encoding != OMITTED {
                        data.number(encoding)?;
                    }
                }
                b'S' => self.is_signal = true,
                // B and G: which key signs return addresses, and that the stack has memory tags.
                b'B' | b'G' => {}
                _ => return None,
            }
        }
    }
}
