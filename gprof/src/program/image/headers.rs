//! Reads less than a whole image: the headers, or the parts from which the functions are known. Most of a typical file
//! is code and data that nothing here uses. The parts that are not read are 0 in memory, and take no memory.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;

use object::Endianness;
use object::elf::{self, FileHeader32, FileHeader64};
use object::read::elf::{FileHeader, SectionHeader, SectionTable};

use super::error::ImageError;
use super::files::{self, Partial};
use super::{format, start_code};

/// The headers of an image, which can be read long before the symbols.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headers {
    /// The size of an address.
    pub word: gmon::Word,
    /// The byte order.
    pub order: gmon::Order,
    /// What the image tells about its profiles.
    pub hints: gmon::Hints,
    /// The value of [`super::Image::code`], if the file has code.
    pub code: Option<Range<u64>>,
    /// The build ID in hexadecimal, if the file has one.
    pub build_id: Option<String>,
}

impl Headers {
    /// Makes the headers of generated code, which has no file.
    pub(crate) fn of_code(code: Range<u64>) -> Headers {
        Headers {
            word: gmon::Word::W64,
            order: gmon::Order::Little,
            hints: gmon::Hints::new(),
            code: Some(code),
            build_id: None,
        }
    }

    /// Reads the headers of an executable or a shared object from its bytes.
    ///
    /// # Errors
    ///
    /// When the bytes are not an image, or are damaged.
    pub fn read(data: &[u8]) -> Result<Headers, ImageError> {
        let file = format::open(data)?;
        Ok(Headers {
            word: file.word(),
            order: file.order(),
            hints: file.hints(),
            code: file.text().map(|text| text.loaded),
            build_id: file.links().build_id.map(hexadecimal),
        })
    }
}

/// Formats a build ID in hexadecimal.
pub(super) fn hexadecimal(id: &[u8]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Sections that this crate does not read, by the first part of their names, as in `.text.cold`. The first is read if
/// calls in machine code are searched for. `.eh_frame` is not in this list: a symbol table may contain no function,
/// and then only that section lists the functions.
const UNREAD: [&[u8]; 4] = [b".text", b".rodata", b".data", b".gcc_except_table"];

/// The prefix that BOLT adds to the names of sections that it replaces.
const OLD: &[u8] = b".bolt.org";

/// Smaller sections are read together with what is around them.
const SMALL: u64 = 1 << 16;

/// The maximum number of sections; a file with more is read as a whole.
const MOST: usize = 4096;

/// The number of bytes from which the format of an image is known.
const START: u64 = 8;

/// The number of bytes that are read of a file that is not an image: enough to recognize a profile, which its length
/// also identifies.
const UNKNOWN: u64 = 1 << 24;

/// Reads a program or a shared object. Reads the machine code of an ELF file only `with_code`, except the code at the
/// entry, and only the beginning of a file that is not an image.
///
/// # Errors
///
/// When the path names no regular file, the file cannot be read, or there is no memory for a file of its length.
pub fn read(path: &Path, with_code: bool) -> io::Result<Vec<u8>> {
    read_open(path, with_code).map(|(bytes, _)| bytes)
}

/// Reads a program or a shared object as [`read`] does. Also gives the open file if parts of the file are not in
/// memory.
///
/// # Errors
///
/// As [`read`].
pub(crate) fn read_open(path: &Path, with_code: bool) -> io::Result<(Vec<u8>, Option<File>)> {
    if files::is_no_file(path) {
        return Ok((files::regular(path)?, None));
    }
    let start = files::beginning(path, START)?;
    if !start.starts_with(&elf::ELFMAG) {
        let is_image = format::begins_as_foreign(&start);
        return Ok((if is_image { files::regular(path)? } else { files::beginning(path, UNKNOWN)? }, None));
    }
    let mut file = Partial::open(path)?;
    file.load(0..SMALL)?;
    let holes = match file.bytes.get(4).map(|class| elf::FileClass(*class)) {
        Some(elf::ELFCLASS32) => holes::<FileHeader32<Endianness>>(&mut file, with_code)?,
        _ => holes::<FileHeader64<Endianness>>(&mut file, with_code)?,
    };
    let is_whole = holes.is_empty();
    let mut start = SMALL;
    for hole in holes {
        file.load(start..hole.start)?;
        start = start.max(hole.end);
    }
    file.load(start..u64::MAX)?;
    let Partial { file, bytes } = file;
    Ok((bytes, (!is_whole).then_some(file)))
}

/// The parts of a file that need not be read, in ascending order; empty if the file is not as expected.
fn holes<Elf: FileHeader<Endian = Endianness>>(file: &mut Partial, with_code: bool) -> io::Result<Vec<Range<u64>>> {
    let Some((table, names)) = tables::<Elf>(&file.bytes) else {
        return Ok(Vec::new());
    };
    file.load(table)?;
    if let Some(names) = names(&file.bytes) {
        file.load(names)?;
    }
    Ok(unread::<Elf>(&file.bytes, with_code).unwrap_or_default())
}

/// The position of the section table, and a function that finds the section names once the table is read.
#[expect(clippy::type_complexity, reason = "a range, and a function that returns a range")]
fn tables<Elf: FileHeader<Endian = Endianness>>(
    bytes: &[u8],
) -> Option<(Range<u64>, impl FnOnce(&[u8]) -> Option<Range<u64>> + use<Elf>)> {
    let header = Elf::parse(bytes).ok()?;
    let endian = header.endian().ok()?;
    let start: u64 = header.e_shoff(endian).into();
    let length = u64::from(header.e_shentsize(endian)).checked_mul(u64::from(header.e_shnum(endian)))?;
    let names = move |bytes: &[u8]| {
        let header = Elf::parse(bytes).ok()?;
        let sections = header.section_headers(endian, bytes).ok()?;
        let names = sections.get(usize::from(header.e_shstrndx(endian).0))?;
        range::<Elf>(endian, names)
    };
    Some((start..start.checked_add(length)?, names))
}

/// The large parts of a file that contain only sections that nothing reads.
fn unread<Elf: FileHeader<Endian = Endianness>>(bytes: &[u8], with_code: bool) -> Option<Vec<Range<u64>>> {
    let header = Elf::parse(bytes).ok()?;
    let endian = header.endian().ok()?;
    let sections: SectionTable<'_, Elf> = header.sections(endian, bytes).ok()?;
    if sections.len() > MOST {
        return None;
    }
    let is_unread = |section: &Elf::SectionHeader| {
        let name = sections.section_name(endian, section).unwrap_or_default();
        let name = name.strip_prefix(OLD).unwrap_or(name);
        let begins = |known: &[u8]| name.strip_prefix(known).is_some_and(|rest| matches!(rest, [] | [b'.', ..]));
        let at = UNREAD.iter().position(|known| begins(known));
        at.is_some_and(|at| !with_code || at != 0)
    };
    let entry: u64 = header.e_entry(endian).into();
    // The position of the code at the entry, which tells where `main` is.
    let mut start_code = 0..0;
    let mut holes: Vec<Range<u64>> = Vec::new();
    let mut needed: Vec<Range<u64>> = Vec::new();
    for section in sections.iter() {
        let Some(range) = range::<Elf>(endian, section) else { continue };
        let offset = entry.wrapping_sub(section.sh_addr(endian).into());
        if section.sh_flags(endian).contains(elf::SHF_EXECINSTR) && offset < range.end - range.start {
            let start = range.start + offset;
            start_code = start..range.end.min(start.saturating_add(start_code::LONGEST_WITH_JUMP));
        }
        if is_unread(section) && range.end - range.start >= SMALL { holes.push(range) } else { needed.push(range) }
    }
    let table: u64 = header.e_shoff(endian).into();
    needed.push(table..table.saturating_add(bytes.len() as u64));
    let programs: u64 = header.e_phoff(endian).into();
    needed.push(programs..programs.saturating_add(u64::from(header.e_phnum(endian)) * 64));
    let meets = |one: &Range<u64>, other: &Range<u64>| one.start < other.end && other.start < one.end;
    holes.retain(|hole| !needed.iter().any(|range| meets(hole, range)));
    holes.sort_unstable_by_key(|hole| hole.start);
    let around = |hole: Range<u64>| {
        let parts = if meets(&hole, &start_code) {
            [hole.start..start_code.start, start_code.end..hole.end]
        } else {
            [hole, 0..0]
        };
        parts.into_iter().filter(|part| !part.is_empty())
    };
    Some(holes.into_iter().flat_map(around).collect())
}

/// The position of a section in the file, if it is there.
fn range<Elf: FileHeader<Endian = Endianness>>(endian: Endianness, section: &Elf::SectionHeader) -> Option<Range<u64>> {
    let (start, length) = section.file_range(endian)?;
    Some(start..start.checked_add(length)?)
}

/// Whether a file begins as an image of a supported format.
pub(crate) fn begins_as_image(path: &Path) -> bool {
    files::beginning(path, START)
        .is_ok_and(|start| start.starts_with(&elf::ELFMAG) || format::begins_as_foreign(&start))
}
