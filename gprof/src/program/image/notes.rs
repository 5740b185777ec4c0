//! Reads the notes in the segments of an ELF file. Nothing else of the file is read: a program may have many large
//! objects.

use std::io;
use std::ops::Range;
use std::path::Path;

use object::Endianness;
use object::elf::{self, FileHeader32, FileHeader64};
use object::read::elf::{FileHeader, ProgramHeader};

use super::files::{self, Partial};

/// The number of bytes of the header of an ELF file.
const HEADER: u64 = 64;

/// The longest table of segments, and the longest segment of notes, in bytes. A file with longer ones has no note here.
const LONGEST: u64 = 1 << 20;

/// The most segments of notes that are read.
const MOST: usize = 16;

/// Returns the content of each note with this owner and this type.
///
/// # Errors
///
/// When the path names no regular file, or the file cannot be read.
pub(crate) fn notes(path: &Path, owner: &[u8], kind: u32) -> io::Result<Vec<Vec<u8>>> {
    if files::is_no_file(path) {
        // The system's own error says more.
        return path.metadata().and_then(|_| Err(files::not_regular()));
    }
    let mut file = Partial::open(path)?;
    file.load(0..HEADER)?;
    match file.bytes.get(4).map(|class| elf::FileClass(*class)) {
        Some(elf::ELFCLASS32) => in_segments::<FileHeader32<Endianness>>(&mut file, owner, kind),
        _ => in_segments::<FileHeader64<Endianness>>(&mut file, owner, kind),
    }
}

fn in_segments<Elf>(file: &mut Partial, owner: &[u8], kind: u32) -> io::Result<Vec<Vec<u8>>>
where
    Elf: FileHeader<Endian = Endianness>,
{
    let Some(table) = table::<Elf>(&file.bytes).filter(is_short) else { return Ok(Vec::new()) };
    file.load(table)?;
    for range in segments::<Elf>(&file.bytes).unwrap_or_default() {
        file.load(range)?;
    }
    Ok(found::<Elf>(&file.bytes, owner, kind).unwrap_or_default())
}

/// The place of the table of segments.
fn table<Elf: FileHeader<Endian = Endianness>>(bytes: &[u8]) -> Option<Range<u64>> {
    let header = Elf::parse(bytes).ok()?;
    let endian = header.endian().ok()?;
    let start: u64 = header.e_phoff(endian).into();
    let length = u64::from(header.e_phentsize(endian)).checked_mul(u64::from(header.e_phnum(endian)))?;
    Some(start..start.checked_add(length)?)
}

/// The places of the segments of notes.
fn segments<Elf: FileHeader<Endian = Endianness>>(bytes: &[u8]) -> Option<Vec<Range<u64>>> {
    let header = Elf::parse(bytes).ok()?;
    let endian = header.endian().ok()?;
    let segments = header.program_headers(endian, bytes).ok()?.iter();
    let segments = segments.filter(|segment| segment.p_type(endian) == elf::PT_NOTE).take(MOST);
    let range = |segment: &Elf::ProgramHeader| {
        let (start, length) = segment.file_range(endian);
        Some(start..start.checked_add(length)?).filter(is_short)
    };
    Some(segments.filter_map(range).collect())
}

fn is_short(range: &Range<u64>) -> bool {
    range.end - range.start <= LONGEST
}

/// The notes of segments that have been read. A segment that has not been read is 0, which is no note with an owner.
fn found<Elf: FileHeader<Endian = Endianness>>(bytes: &[u8], owner: &[u8], kind: u32) -> Option<Vec<Vec<u8>>> {
    let header = Elf::parse(bytes).ok()?;
    let endian = header.endian().ok()?;
    let mut found = Vec::new();
    for segment in header.program_headers(endian, bytes).ok()?.iter() {
        let (_, length) = segment.file_range(endian);
        let Ok(Some(mut notes)) = segment.notes(endian, bytes) else { continue };
        // Walking over a long segment of zeros would take as long as reading the segment.
        while length <= LONGEST
            && let Ok(Some(note)) = notes.next()
        {
            if note.name_bytes() == owner && note.n_type(endian) == elf::NoteType(kind) {
                found.push(note.desc().to_vec());
            }
        }
    }
    Some(found)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::fs;

    /// An ELF file of 64 bits with the header, two segments of notes, and these notes in the second segment, which has
    /// this length in bytes.
    pub(crate) fn file(notes: &[u8], length: u64) -> Vec<u8> {
        let mut bytes = [b"\x7fELF\x02\x01\x01".as_slice(), &[0; 9]].concat();
        for (value, size) in
            [(2, 2), (62, 2), (1, 4), (0, 8), (64, 8), (0, 8), (0, 4), (64, 2), (56, 2), (2, 2), (0, 2), (0, 2), (0, 2)]
        {
            bytes.extend(&u64::to_le_bytes(value)[..size]);
        }
        for (offset, length) in [(64, 0), (64 + 2 * 56, length)] {
            for (value, size) in [(4, 4), (4, 4), (offset, 8), (0, 8), (0, 8), (length, 8), (length, 8), (4, 8)] {
                bytes.extend(&u64::to_le_bytes(value)[..size]);
            }
        }
        bytes.extend(notes);
        bytes
    }

    /// The bytes of a note.
    pub(crate) fn note(owner: &[u8], kind: u32, content: &[u8]) -> Vec<u8> {
        let mut bytes: Vec<u8> =
            [owner.len() as u32, content.len() as u32, kind].into_iter().flat_map(u32::to_le_bytes).collect();
        for part in [owner, content] {
            bytes.extend(part);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        }
        bytes
    }

    fn read(name: &str, bytes: &[u8]) -> Vec<Vec<u8>> {
        let path = std::env::temp_dir().join(format!("gprof-notes-{}-{name}", std::process::id()));
        fs::write(&path, bytes).unwrap();
        let found = notes(&path, b"gmon\0", 1).unwrap();
        fs::remove_file(path).unwrap();
        found
    }

    #[test]
    fn notes_with_the_owner_and_the_type_are_found() {
        let all = [note(b"GNU\0", 1, &[1]), note(b"gmon\0", 2, &[2]), note(b"gmon\0", 1, &[3, 0, 0, 0])].concat();
        assert_eq!(read("all", &file(&all, all.len() as u64)), [[3, 0, 0, 0]]);
        // The name of the owner has an end.
        assert_eq!(read("name", &file(&note(b"gmon", 1, &[3]), 20)), Vec::<Vec<u8>>::new());
        let system = notes(&std::env::current_exe().unwrap(), b"gmon\0", 1).unwrap();
        assert_eq!(system, Vec::<Vec<u8>>::new());
    }

    #[test]
    fn damaged_files_have_no_notes() {
        let whole = note(b"gmon\0", 1, &[3, 0, 0, 0]);
        for (name, bytes) in [
            ("cut", file(&whole, whole.len() as u64)[..64 + 70].to_vec()),
            ("long", file(&whole, u64::MAX)),
            ("longer", file(&[whole.clone(), vec![0; 1 << 20]].concat(), (1 << 20) + 24)),
            ("text", b"#!/bin/sh\n".to_vec()),
            ("empty", Vec::new()),
        ] {
            assert_eq!(read(name, &bytes), Vec::<Vec<u8>>::new(), "{name}");
        }
    }

    #[test]
    fn other_files_are_refused() {
        assert_eq!(notes(Path::new("/dev/zero"), b"", 1).unwrap_err().to_string(), "not a regular file");
        assert_eq!(notes(Path::new("/nowhere"), b"", 1).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
