//! Reads the headers of a loaded object from the memory where they are mapped, because the file may be gone.

use crate::closures::closure_trait;
use crate::os::{OwnMemory, PAGE};
use crate::text::Text;

closure_trait! {
    /// Gets program headers.
    EachSegment(segment: Segment)
}

/// The contents of the headers that are needed.
pub(super) struct Headers {
    /// The difference of run-time and link-time addresses.
    pub(super) bias: usize,
    /// The link-time addresses of the code, in multiples of 16: the first, and the first behind the code.
    pub(super) lowpc: usize,
    pub(super) highpc: usize,
    /// The address where the file's first byte is mapped.
    pub(super) base: usize,
    /// The bytes of the build ID, padded with zeros to whole words of four bytes; empty if there is none.
    pub(super) build_id: Text<64>,
}

const SEGMENT_LOAD: u32 = 1;
const SEGMENT_NOTE: u32 = 4;
const EXECUTABLE: u32 = 1;
const NOTE_BUILD_ID: u32 = 3;

/// An upper bound of the number of program headers, and of notes in a segment.
const MOST_SEGMENTS: u16 = 256;
const MOST_NOTES: u32 = 64;
/// The longest build ID that is kept.
const MOST_BUILD_ID: usize = 64;
/// An upper bound of the size of code: its bins can be counted in 32 bits.
const MOST_CODE: usize = 1 << 33;

/// The size of an `Elf64_Phdr`.
const SEGMENT_SIZE: usize = 56;
/// The number of headers that are read at once: few objects have more. The stack may be a signal's.
const AT_ONCE: usize = 14;

/// A part of `Elf64_Phdr`.
struct Segment {
    kind: u32,
    flags: u32,
    offset: usize,
    address: usize,
    size: usize,
}

/// The program headers: their address, the size of a header, and their number.
struct Segments<'a> {
    memory: &'a OwnMemory,
    start: usize,
    size: usize,
    number: u16,
}

impl Segments<'_> {
    /// Passes the headers that can be read to `each`.
    fn for_each(&self, each: &mut dyn EachSegment) {
        let mut left = usize::from(self.number);
        let mut at = self.start;
        while left > 0 && self.size == SEGMENT_SIZE {
            let mut bytes = [0; AT_ONCE * SEGMENT_SIZE];
            let number = left.min(AT_ONCE);
            if !self.memory.fill(at, bytes.get_mut(..number * SEGMENT_SIZE).unwrap_or(&mut [])) {
                return;
            }
            bytes
                .chunks_exact(SEGMENT_SIZE)
                .take(number)
                .filter_map(Segment::of)
                .for_each(|segment| each.call(segment));
            left -= number;
            at = at.wrapping_add(number * SEGMENT_SIZE);
        }
    }
}

impl Segment {
    fn of(bytes: &[u8]) -> Option<Segment> {
        Some(Segment {
            kind: u32_at(bytes, 0)?,
            flags: u32_at(bytes, 4)?,
            offset: word_at(bytes, 8)?,
            address: word_at(bytes, 16)?,
            size: word_at(bytes, 40)?,
        })
    }
}

fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    bytes.get(offset..)?.first_chunk().map(|field| u16::from_ne_bytes(*field))
}

fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    bytes.get(offset..)?.first_chunk().map(|field| u32::from_ne_bytes(*field))
}

fn word_at(bytes: &[u8], offset: usize) -> Option<usize> {
    bytes.get(offset..)?.first_chunk().map(|field| usize::from_ne_bytes(*field))
}

/// Reads the headers of the object whose first byte is mapped at `base`; `None` if that is not an object of this
/// system.
pub(super) fn read(memory: &OwnMemory, base: usize) -> Option<Headers> {
    // struct Elf64_Ehdr.
    let header: [u8; 64] = memory.read(base)?;
    if !header.starts_with(b"\x7fELF\x02") {
        return None;
    }
    let segments = Segments {
        memory,
        start: base.checked_add(word_at(&header, 32)?)?,
        size: usize::from(u16_at(&header, 54)?),
        number: u16_at(&header, 56)?.min(MOST_SEGMENTS),
    };
    read_segments(&segments, None, base)
}

/// Reads the headers of an object with load bias `bias` whose program headers are at `start`, as the dynamic linker
/// says.
pub(super) fn read_listed(memory: &OwnMemory, bias: usize, start: usize, number: u16) -> Option<Headers> {
    let segments = Segments { memory, start, size: SEGMENT_SIZE, number: number.min(MOST_SEGMENTS) };
    read_segments(&segments, Some(bias), 0)
}

/// Reads the program headers of an object with load bias `bias`; if the bias is not known, the first byte is at
/// `base`.
#[inline(never)]
fn read_segments(segments: &Segments<'_>, bias: Option<usize>, base: usize) -> Option<Headers> {
    let (mut place, mut lowpc, mut highpc) = (None, usize::MAX, 0);
    let mut build_id = Text::new();
    let mut push_notes = |bias: usize, segment: &Segment| {
        if segment.kind == SEGMENT_NOTE && build_id.as_bytes().is_empty() {
            let _ = push_build_id(segments.memory, bias.wrapping_add(segment.address), segment.size, &mut build_id);
        }
    };
    // Notes are mostly in loaded segments behind the first; other notes are read once the bias is known.
    let mut are_notes_left = false;
    segments.for_each(&mut |segment: Segment| {
        if segment.kind == SEGMENT_LOAD {
            // The file's first byte is in the first segment.
            place = place.or_else(|| {
                let bias = bias.unwrap_or(base.wrapping_sub(segment.address.wrapping_sub(segment.offset)));
                Some((bias, bias.wrapping_add(segment.address).wrapping_sub(segment.offset) & !(PAGE - 1)))
            });
            if segment.flags & EXECUTABLE != 0 {
                lowpc = lowpc.min(segment.address);
                highpc = highpc.max(segment.address.saturating_add(segment.size));
            }
        } else if let Some((bias, _)) = place {
            push_notes(bias, &segment);
        } else {
            are_notes_left |= segment.kind == SEGMENT_NOTE;
        }
    });
    if let Some((bias, _)) = place.filter(|_| are_notes_left) {
        segments.for_each(&mut |segment: Segment| push_notes(bias, &segment));
    }
    let ((bias, base), lowpc, highpc) = (place?, lowpc & !15, highpc.checked_next_multiple_of(16)?);
    if highpc.checked_sub(lowpc)? > MOST_CODE {
        return None;
    }
    Some(Headers { bias, lowpc, highpc, base, build_id })
}

/// Appends the build ID if one of these notes has it; `None` otherwise.
fn push_build_id(memory: &OwnMemory, start: usize, size: usize, build_id: &mut Text<64>) -> Option<()> {
    let end = start.checked_add(size)?;
    let mut at = start;
    for _ in 0..MOST_NOTES {
        // The size of the name, the size of the contents, the kind; then both, each padded to whole words of four
        // bytes.
        let head: [u8; 16] = memory.read(at)?;
        let (name, length) = (u32_at(&head, 0)? as usize, u32_at(&head, 4)? as usize);
        let noted = at.checked_add(12)?.checked_add(name.checked_next_multiple_of(4)?)?;
        if u32_at(&head, 8)? == NOTE_BUILD_ID && head.ends_with(b"GNU\0") && length <= MOST_BUILD_ID {
            // One read, unless the memory behind the note is not mapped.
            let piece: Option<[u8; MOST_BUILD_ID]> = memory.read(noted);
            for offset in 0..length {
                let byte = match piece.as_ref().and_then(|piece| piece.get(offset)) {
                    Some(byte) => *byte,
                    None => memory.read::<1>(noted.checked_add(offset)?)?[0],
                };
                build_id.push(&[byte]);
            }
            (length..length.next_multiple_of(4)).for_each(|_| build_id.push(&[0]));
            return Some(());
        }
        at = noted.checked_add(length.checked_next_multiple_of(4)?)?;
        if at >= end {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" {
        static __ehdr_start: u8;
    }

    #[test]
    fn this_program_is_an_object_with_code_and_a_bias() {
        let memory = OwnMemory::open().unwrap();
        let base = (&raw const __ehdr_start).addr();
        let headers = read(&memory, base).unwrap();
        let here = this_program_is_an_object_with_code_and_a_bias as fn() as usize - headers.bias;
        assert!(headers.lowpc <= here && here < headers.highpc);
        assert!(headers.build_id.as_bytes().len().is_multiple_of(4));
        assert!(read(&memory, base + 1).is_none());
        assert!(read(&memory, 16).is_none(), "nothing is mapped there");
        memory.close();
    }

    /// A program header: kind, flags, offset, address, and size.
    type Header = (u32, u32, usize, usize, usize);

    /// The program's first byte is at link-time address `LINKED`.
    const LINKED: usize = 0x40_0000;
    const NOTES: usize = 0x1800;

    /// Maps an object with program headers, and notes at `NOTES`. An odd number of pages is before the object.
    fn object(headers: &[Header], notes: &[u8]) -> usize {
        let map = |length| crate::os::map(length).addr();
        let at = map(0x8000);
        let base = at + if at & 0x1000 == 0 { 0x1000 } else { 0 };
        let write = |offset: usize, bytes: &[u8]| {
            // SAFETY: fresh memory, which is never freed.
            unsafe { std::slice::from_raw_parts_mut((base + offset) as *mut u8, bytes.len()) }.copy_from_slice(bytes);
        };
        write(0, b"\x7fELF\x02");
        write(32, &64_usize.to_ne_bytes());
        write(54, &56_u16.to_ne_bytes());
        write(56, &(headers.len() as u16).to_ne_bytes());
        for (index, (kind, flags, offset, address, size)) in headers.iter().enumerate() {
            let (kind, words) = ([*kind, *flags].map(u32::to_ne_bytes).concat(), [*offset, *address, 0, 0, *size, 0]);
            write(64 + 56 * index, &[&kind[..], &words.map(usize::to_ne_bytes).concat()].concat());
        }
        write(NOTES, notes);
        base
    }

    fn note(kind: u32, name: [u8; 4], contents: &[u8]) -> Vec<u8> {
        let sizes = [4, contents.len() as u32, kind].map(u32::to_ne_bytes).concat();
        let padding = vec![0xee; contents.len().next_multiple_of(4) - contents.len()];
        [&sizes, &name[..], contents, &padding].concat()
    }

    fn found(headers: &[Header], notes: &[u8]) -> Option<(usize, [usize; 2], Vec<u8>)> {
        let memory = OwnMemory::open().unwrap();
        let base = object(headers, notes);
        let found = read(&memory, base);
        let listed = read_listed(&memory, base.wrapping_sub(LINKED), base + 64, headers.len() as u16);
        memory.close();
        let all = [found, listed].map(|found| {
            found.map(|found| {
                assert_eq!(found.base, base);
                (found.bias, [found.lowpc, found.highpc], found.build_id.as_bytes().to_vec())
            })
        });
        assert_eq!(all[0], all[1]);
        let [found, _] = all;
        found.inspect(|(bias, ..)| assert_eq!(*bias, base.wrapping_sub(LINKED)))
    }

    const FIRST: Header = (SEGMENT_LOAD, 4, 0, LINKED, 0x800);
    const CODE: Header = (SEGMENT_LOAD, 5, 0x1008, LINKED + 0x1008, 0x411);
    const DATA: Header = (SEGMENT_LOAD, 6, 0x3000, LINKED + 0x9000, 0x1000);
    const STACK: Header = (0x6474_e551, 7, 0, 0, 0x10_0000);

    fn notes_at(offset: usize, size: usize) -> Header {
        (SEGMENT_NOTE, 4, 0, LINKED + NOTES + offset, size)
    }

    #[test]
    fn the_code_is_in_executable_segments() {
        let range = |headers: &[Header]| found(headers, &[]).map(|(_, range, _)| range);
        let code = [LINKED + 0x1000, LINKED + 0x1420];
        assert_eq!(range(&[FIRST, CODE, DATA, STACK]), Some(code));
        // The first segment need not begin with the file.
        let first = (SEGMENT_LOAD, 4, 0x40, LINKED + 0x40, 0x800);
        assert_eq!(range(&[STACK, first, DATA, CODE]), Some(code));
        // More headers than are read at once.
        let others = vec![STACK; 2 * AT_ONCE];
        let more = (SEGMENT_LOAD, 5, 0x2000, LINKED + 0x2000, 0x10);
        assert_eq!(range(&[&[FIRST, CODE], &others[..], &[more]].concat()), Some([code[0], LINKED + 0x2010]));
        let huge = |size| range(&[FIRST, (SEGMENT_LOAD, 5, 0x1000, LINKED + 0x1000, size)]);
        assert!(huge(MOST_CODE).is_some() && huge(MOST_CODE + 1).is_none());
        assert_eq!([range(&[FIRST, DATA]), range(&[STACK]), range(&[])], [None, None, None]);
    }

    #[test]
    fn the_build_id_is_found_among_notes() {
        let gnu = *b"GNU\0";
        let id: Vec<u8> = (1..=21).collect();
        let expected = [&id[..], &[0; 3]].concat();
        let others =
            [note(1, gnu, &[7; 16]), note(NOTE_BUILD_ID, *b"XYZ\0", &[8; 5]), note(NOTE_BUILD_ID, gnu, &[9; 65])]
                .concat();
        let notes = [&others[..], &note(NOTE_BUILD_ID, gnu, &id)].concat();
        let build_id = |headers: &[Header], notes: &[u8]| found(headers, notes).map(|(.., build_id)| build_id);
        let whole = notes_at(0, notes.len());
        for headers in [&[FIRST, CODE, whole][..], &[whole, FIRST, CODE], &[STACK, whole, FIRST, CODE, STACK]] {
            assert_eq!(build_id(headers, &notes), Some(expected.clone()));
        }
        // The end of the notes comes before the one with the build ID.
        let part = notes_at(0, others.len());
        assert_eq!(build_id(&[FIRST, CODE, part], &notes), Some(vec![]));
        let second = notes_at(others.len(), notes.len() - others.len());
        assert_eq!(build_id(&[FIRST, part, CODE, second, second, STACK], &notes), Some(expected));
        let longest = note(NOTE_BUILD_ID, gnu, &[6; MOST_BUILD_ID]);
        assert_eq!(build_id(&[FIRST, CODE, notes_at(0, longest.len())], &longest), Some(vec![6; MOST_BUILD_ID]));
    }
}
