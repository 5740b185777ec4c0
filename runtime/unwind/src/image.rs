//! A loaded object in memory: its code and its unwind tables, by its program headers.

use core::ops::Range;

use super::memory::{Memory, copy};

const SEGMENT_LOAD: u32 = 1;
const SEGMENT_INDEX: u32 = 0x6474_e550;
const SEGMENT_NOTE: u32 = 4;
const EXECUTABLE: u32 = 1;
/// The type and the name of the note with the build ID.
const BUILD_ID: usize = 3 | (u32::from_le_bytes(*b"GNU\0") as usize) << 32;
/// An upper bound of the number of notes in a segment.
const MOST_NOTES: usize = 64;
/// The size of an `Elf64_Phdr`.
const SEGMENT_SIZE: usize = 56;
/// An upper bound of the number of program headers.
const MOST_SEGMENTS: usize = 256;
/// The first bytes of a file of this class.
const MAGIC: usize = usize::from_le_bytes(*b"\x7fELF\x02\0\0\0");
const MAGIC_BYTES: usize = 0xff_ffff_ffff;

/// The program headers of an object.
#[derive(Clone, Copy)]
pub struct Image {
    /// The load bias.
    pub bias: usize,
    /// The address of the program headers.
    pub segments: usize,
    /// The number of program headers.
    pub number: usize,
}

/// The addresses of what walks need of an object.
pub struct Parts {
    /// The code.
    pub code: Range<usize>,
    /// The address of `.eh_frame_hdr`, and the segment with it and with `.eh_frame`; `None` if there is none that can
    /// be read.
    pub tables: Option<(usize, Range<usize>)>,
}

/// A part of `Elf64_Phdr`, at run-time addresses.
struct Segment {
    kind: u32,
    flags: u32,
    start: usize,
    end: usize,
}

impl Image {
    /// The object whose first byte is at `base`, which is its load bias, as nearly all linkers write objects.
    #[must_use]
    pub fn at(memory: &impl Memory, base: usize) -> Option<Image> {
        let word = |offset| memory.read(base.checked_add(offset)?);
        if word(0)? & MAGIC_BYTES != MAGIC {
            return None;
        }
        // The size of a program header, and the number of program headers, are 16 bits each.
        let (offset, numbers) = (word(32)?, word(54)?);
        let image =
            Image { bias: base, segments: base.checked_add(offset)?, number: numbers >> 16 & usize::from(u16::MAX) };
        (numbers & usize::from(u16::MAX) == SEGMENT_SIZE).then_some(image)
    }

    /// Where the parts of the object are. The result is `None` if the object has no code or if its headers cannot be
    /// read. `is_loaded` says that no part of the object can be missing, so no page of its tables is touched.
    #[must_use]
    #[inline(never)]
    pub fn parts(self, memory: &impl Memory, is_loaded: bool) -> Option<Parts> {
        let (mut start, mut end, mut header) = (usize::MAX, 0, None);
        for index in 0..self.number.min(MOST_SEGMENTS) {
            let segment = self.segment(memory, index)?;
            if segment.kind == SEGMENT_INDEX {
                header = Some(segment.start);
            } else if segment.kind == SEGMENT_LOAD && segment.flags & EXECUTABLE != 0 {
                (start, end) = (start.min(segment.start), end.max(segment.end));
            }
        }
        if start >= end {
            return None;
        }
        let section =
            |header| self.section(memory, header, is_loaded).map(|segment| (header, segment.start..segment.end));
        Some(Parts { code: start..end, tables: header.and_then(section) })
    }

    /// The loaded segment with an address, if the segment can be read.
    fn section(self, memory: &impl Memory, address: usize, is_loaded: bool) -> Option<Segment> {
        let mut all = (0..self.number.min(MOST_SEGMENTS)).map_while(|index| self.segment(memory, index));
        let found =
            all.find(|segment| segment.kind == SEGMENT_LOAD && (segment.start..segment.end).contains(&address))?;
        if !is_loaded {
            memory.read(found.start)?;
            memory.read(found.end.checked_sub(size_of::<usize>())?)?;
        }
        Some(found)
    }

    /// Stores the bytes of the build ID in `room`, which has zeros. The result is their number, padded to whole words
    /// of four bytes; 0 if there is none, or no room.
    pub fn build_id(self, memory: &impl Memory, room: &mut [u8]) -> usize {
        let all = (0..self.number.min(MOST_SEGMENTS)).map_while(|index| self.segment(memory, index));
        let mut notes = all.filter(|segment| segment.kind == SEGMENT_NOTE);
        notes.find_map(|notes| build_id_among(memory, notes.start, notes.end, room)).unwrap_or(0)
    }

    fn segment(self, memory: &impl Memory, index: usize) -> Option<Segment> {
        let at = self.segments.checked_add(index * SEGMENT_SIZE)?;
        let word = |offset| memory.read(at.checked_add(offset)?);
        let (kind, address, size) = (word(0)?, word(16)?, word(32)?);
        let start = self.bias.wrapping_add(address);
        Some(Segment { kind: kind as u32, flags: (kind >> 32) as u32, start, end: start.checked_add(size)? })
    }
}

/// Stores the build ID among the notes from `start` to `end`: see [`Image::build_id`].
fn build_id_among(memory: &impl Memory, start: usize, end: usize, room: &mut [u8]) -> Option<usize> {
    let mut at = start;
    for _ in 0..MOST_NOTES {
        // The sizes of the name and of the contents, and the type; then both, each padded to whole words of four bytes.
        let sizes = memory.read(at)?;
        let (name, length) = (sizes & 0xffff_ffff, sizes >> 32);
        let contents = at.checked_add(12)?.checked_add(name.checked_next_multiple_of(4)?)?;
        if memory.read(at.checked_add(8)?)? == BUILD_ID {
            let padded = length.next_multiple_of(4);
            copy(memory, contents, room.get_mut(..padded)?.get_mut(..length)?)?;
            return Some(padded);
        }
        at = contents.checked_add(length.checked_next_multiple_of(4)?)?;
        if at >= end {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::tests::Made;
    use super::*;

    const BASE: usize = 0x10_0000;
    const HEADERS: usize = 64;
    const READABLE: u32 = 4;
    const STACK: u32 = 0x6474_e551;

    /// An object with program headers: their kind, flags, offset, and size.
    fn object(segments: &[(u32, u32, usize, usize)]) -> Made {
        let mut memory = Made::default();
        memory.words(BASE, &[0; 64]);
        memory.write(BASE, b"\x7fELF\x02\x01\x01\0");
        memory.words(BASE + 32, &[HEADERS]);
        memory.write(BASE + 54, &[56, 0, segments.len() as u8, 0, 0xff, 0xff]);
        for (index, (kind, flags, address, size)) in segments.iter().enumerate() {
            let kind = *kind as usize | (*flags as usize) << 32;
            memory.words(BASE + HEADERS + 56 * index, &[kind, 0, *address, 0, *size, 0, 0]);
        }
        memory
    }

    fn parts(memory: &Made) -> Option<Parts> {
        Image::at(memory, BASE)?.parts(memory, false)
    }

    const TABLES: (u32, u32, usize, usize) = (SEGMENT_INDEX, READABLE, 0x4020, 0x10);
    const SEGMENTS: [(u32, u32, usize, usize); 6] = [
        (SEGMENT_LOAD, READABLE, 0, 0x500),
        (STACK, READABLE | EXECUTABLE, 0, 0x9000),
        (SEGMENT_LOAD, READABLE | EXECUTABLE, 0x1000, 0x800),
        (SEGMENT_LOAD, READABLE | EXECUTABLE, 0x2000, 0x900),
        TABLES,
        (SEGMENT_LOAD, READABLE, 0x4000, 0x100),
    ];

    #[test]
    fn the_code_and_the_tables_are_in_loaded_segments() {
        let mut memory = object(&SEGMENTS);
        let code = BASE + 0x1000..BASE + 0x2900;
        let found = parts(&memory).unwrap();
        assert_eq!((found.code, found.tables), (code.clone(), None), "the tables cannot be read");
        memory.words(BASE + 0x4000, &[0]);
        assert_eq!(parts(&memory).unwrap().tables, None, "the end of the tables cannot be read");
        memory.words(BASE + 0x40f8, &[0]);
        let found = parts(&memory).unwrap();
        assert_eq!((found.code, found.tables), (code, Some((BASE + 0x4020, BASE + 0x4000..BASE + 0x4100))));
        let without = parts(&object(&SEGMENTS[..4])).unwrap();
        assert_eq!((without.code, without.tables), (BASE + 0x1000..BASE + 0x2900, None));
        assert!(parts(&object(&SEGMENTS[..2])).is_none(), "no code");
        let mut other = object(&SEGMENTS);
        other.write(BASE + 4, &[1]);
        assert!(parts(&other).is_none(), "another class");
        let mut other = object(&SEGMENTS);
        other.write(BASE + 54, &[32]);
        assert!(parts(&other).is_none(), "headers of another size");
    }

    /// A note with a name of four bytes.
    fn note(kind: u32, name: [u8; 4], contents: &[u8]) -> Vec<u8> {
        let sizes = [4, contents.len() as u32, kind].map(u32::to_le_bytes).concat();
        let padding = vec![0xee; contents.len().next_multiple_of(4) - contents.len()];
        [&sizes, &name[..], contents, &padding].concat()
    }

    #[test]
    fn the_build_id_is_found_among_the_notes() {
        let gnu = *b"GNU\0";
        let id: Vec<u8> = (1..=21).collect();
        let others = [note(1, gnu, &[7; 16]), note(3, *b"XYZ\0", &[8; 5])].concat();
        let notes = [&others[..], &note(3, gnu, &id)].concat();
        let found = |notes: &[u8], room: usize| {
            let at = |address, size| (SEGMENT_NOTE, READABLE, address, size);
            let segments = [SEGMENTS[0], at(0x300, others.len()), at(0x404, notes.len())];
            let mut memory = object(&segments);
            // What follows the notes can be read too.
            memory.write(BASE + 0x300, &[&others[..], &[0; 32]].concat());
            memory.write(BASE + 0x404, &[notes, &[0; 32]].concat());
            memory.write(BASE + 0x400, &[0; 4]);
            let mut room = vec![0; room];
            let length = Image::at(&memory, BASE).unwrap().build_id(&memory, &mut room);
            room.truncate(length);
            room
        };
        let expected = [&id[..], &[0; 3]].concat();
        assert_eq!(found(&notes, 64), expected);
        assert_eq!(found(&note(3, gnu, &id), 24), expected);
        assert_eq!(found(&notes, 23), [], "no room");
        assert_eq!(found(&[&others[..], &note(2, gnu, &id)].concat(), 64), [], "no build ID");
    }
}
