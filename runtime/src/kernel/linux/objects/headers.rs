//! The headers of a loaded object, read from the memory that they are mapped to: the file may be gone.

use crate::system::OwnMemory;
use crate::text::Text;

/// What they say, as far as it is needed.
pub(super) struct Headers {
    /// What must be taken from a run-time address to get the link-time one.
    pub(super) bias: usize,
    /// The link-time addresses of its code, in whole sixteens of bytes: the first, and that behind the last.
    pub(super) lowpc: usize,
    pub(super) highpc: usize,
    /// The build id in hexadecimal; empty if there is none.
    pub(super) build_id: Text<128>,
}

const SEGMENT_LOAD: u32 = 1;
const SEGMENT_NOTE: u32 = 4;
const EXECUTABLE: u32 = 1;
const NOTE_BUILD_ID: u32 = 3;

/// More program headers, and more notes of one segment, than any object has.
const MOST_SEGMENTS: u16 = 256;
const MOST_NOTES: u32 = 64;
/// The longest build id that is told.
const MOST_BUILD_ID: usize = 64;
/// More code than a number of 32 bits can count bins for.
const MOST_CODE: usize = 1 << 33;

/// `Elf64_Phdr`, in part.
struct Segment {
    kind: u32,
    flags: u32,
    offset: usize,
    address: usize,
    size: usize,
}

/// Where the program headers are: an address, the size of one, and how many.
struct Segments<'a> {
    memory: &'a OwnMemory,
    start: usize,
    size: usize,
    number: u16,
}

impl Segments<'_> {
    /// Those that can be read.
    fn each(&self) -> impl Iterator<Item = Segment> {
        (0..usize::from(self.number)).filter_map(|index| {
            let bytes: [u8; 56] = self.memory.read(self.start.checked_add(index * self.size)?)?;
            Some(Segment {
                kind: u32_at(&bytes, 0)?,
                flags: u32_at(&bytes, 4)?,
                offset: word_at(&bytes, 8)?,
                address: word_at(&bytes, 16)?,
                size: word_at(&bytes, 40)?,
            })
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

/// Reads the headers of the object whose first byte is mapped to `base`; `None` if that is no object of this system.
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
    let (mut bias, mut lowpc, mut highpc) = (None, usize::MAX, 0);
    for segment in segments.each().filter(|segment| segment.kind == SEGMENT_LOAD) {
        // The file's first byte is in the first segment.
        bias = bias.or(Some(base.wrapping_sub(segment.address.wrapping_sub(segment.offset))));
        if segment.flags & EXECUTABLE != 0 {
            lowpc = lowpc.min(segment.address);
            highpc = highpc.max(segment.address.checked_add(segment.size)?);
        }
    }
    let (bias, lowpc, highpc) = (bias?, lowpc & !15, highpc.checked_next_multiple_of(16)?);
    if highpc.checked_sub(lowpc)? > MOST_CODE {
        return None;
    }
    let mut build_id = Text::new();
    for segment in segments.each().filter(|segment| segment.kind == SEGMENT_NOTE) {
        let start = bias.wrapping_add(segment.address);
        if push_build_id(memory, start, segment.size, &mut build_id).is_some() {
            break;
        }
    }
    Some(Headers { bias, lowpc, highpc, build_id })
}

/// Appends the build id if it is one of these notes; `None` if it is not.
fn push_build_id(memory: &OwnMemory, start: usize, size: usize, build_id: &mut Text<128>) -> Option<()> {
    let end = start.checked_add(size)?;
    let mut at = start;
    for _ in 0..MOST_NOTES {
        // The size of the name, that of what is noted, the kind; then both, each filled up to whole words of four bytes.
        let head: [u8; 16] = memory.read(at)?;
        let (name, length) = (u32_at(&head, 0)? as usize, u32_at(&head, 4)? as usize);
        let noted = at.checked_add(12)?.checked_add(name.checked_next_multiple_of(4)?)?;
        if u32_at(&head, 8)? == NOTE_BUILD_ID && head.ends_with(b"GNU\0") && length <= MOST_BUILD_ID {
            for offset in (0..length).step_by(4) {
                let bytes: [u8; 4] = memory.read(noted.checked_add(offset)?)?;
                for byte in bytes.iter().take(length - offset) {
                    build_id.push_hexadecimal(u64::from(*byte), 2);
                }
            }
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
        assert!(headers.build_id.as_bytes().iter().all(u8::is_ascii_hexdigit));
        assert!(read(&memory, base + 1).is_none());
        assert!(read(&memory, 16).is_none(), "nothing is mapped there");
        memory.close();
    }
}
