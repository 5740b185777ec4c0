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

#[cfg(test)]
mod tests {
    use super::*;

    /// A section with a CIE, and behind it an FDE with this content behind the distance of the CIE.
    fn section(common: &[u8], function: &[u8]) -> Vec<u8> {
        let length = |length: usize| (length as u32).to_le_bytes();
        let distance = length(4 + 4 + common.len() + 4);
        [&length(4 + common.len())[..], &[0; 4], common, &length(4 + function.len()), &distance, function].concat()
    }

    struct Read {
        range: [usize; 2],
        return_address: u64,
        is_signal: bool,
        program: u8,
    }

    /// Reads a function. The programs of the CIE and of the FDE have one byte each, which must be the same.
    fn read(common: &[u8], function: &[u8]) -> Option<Read> {
        let bytes = section(common, function);
        let section = Section { address: 0x1000, bytes: &bytes };
        let entry = Entry::read(section, 8 + common.len())?;
        let (mut programs, common) = ([entry.program, entry.common.program], &entry.common);
        let [program, other] = programs.each_mut().map(Cursor::u8);
        assert_eq!((program, common.code_alignment, common.data_alignment), (other, 1, -8));
        assert!(programs.iter().all(Cursor::is_at_end));
        let range = [entry.start, entry.length];
        Some(Read { range, return_address: common.return_address, is_signal: common.is_signal, program: program? })
    }

    const START: [u8; 4] = [0x11, 0x22, 0x33, 0];
    const LENGTH: [u8; 4] = [0x40, 0, 0, 0];
    const RANGE: [usize; 2] = [0x33_2211, 0x40];

    #[test]
    fn the_augmentation_says_what_entries_have() {
        // The letters and their data.
        for (letters, data, is_signal) in [
            (&b"zR"[..], &[0x03][..], false),
            (b"zLR", &[0x1b, 0x03], false),
            (b"zPLR", &[0x03, 1, 2, 3, 4, 0x1b, 0x03], false),
            (b"zPR", &[OMITTED, 0x03], false),
            (b"zRS", &[0x03], true),
            (b"zRBG", &[0x03], false),
            (b"zR", &[0x03, 7, 7], false),
        ] {
            let common = [&[1], letters, &[0, 1, 0x78, 16, data.len() as u8], data, &[0x55]].concat();
            let function = [&START[..], &LENGTH, &[3, 9, 9, 9, 0x55]].concat();
            let read = read(&common, &function).unwrap();
            assert_eq!((read.range, read.return_address, read.is_signal, read.program), (RANGE, 16, is_signal, 0x55));
        }
        for letters in [&b"zRX"[..], b"R", b"eh", b"zPPR"] {
            let common = [&[1], letters, &[0, 1, 0x78, 16, 1, 0x03, 0x55]].concat();
            assert!(read(&common, &[&START[..], &LENGTH, &[0, 0x55]].concat()).is_none(), "{letters:?}");
        }
    }

    #[test]
    fn versions_differ_in_the_number_of_the_return_address() {
        let function = [&0x33_2211_usize.to_le_bytes()[..], &0x40_usize.to_le_bytes(), &[0x55]].concat();
        for (version, number, expected) in [(1, &[0x90][..], 0x90), (3, &[0x90, 1], 0x90), (3, &[16], 16)] {
            let common = [&[version, 0, 1, 0x78], number, &[0x55]].concat();
            let read = read(&common, &function).unwrap();
            assert_eq!((read.range, read.return_address, read.program), (RANGE, expected, 0x55), "{version}");
        }
        for version in [0, 2, 4] {
            assert!(read(&[version, 0, 1, 0x78, 16, 0x55], &function).is_none(), "{version}");
        }
    }
}
