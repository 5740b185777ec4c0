//! Reads the parts of an ELF file: headers, sections, the symbol table, and the identity, which tells which build of
//! which program the file is.

use std::ops::Range;

use object::read::elf::{CompressionHeader, FileHeader, ProgramHeader, SectionHeader, SectionTable};
use object::read::{CompressedData, CompressedFileRange, CompressionFormat};
use object::{Endianness, elf};

use super::error::{self, ImageError};
use super::machine_code::{Code, Machine};
use super::sections::Sections;

/// A program's links to its separate debug file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DebugLinks<'data> {
    /// The build ID, which the program and its debug file share.
    pub(super) build_id: Option<&'data [u8]>,
    /// The name of the debug file without directories, and its checksum.
    pub(super) link: Option<(&'data [u8], u32)>,
    /// Whether the debug file may be in a bundle beside the program (`prog.dSYM`).
    pub(super) has_bundle: bool,
    /// The file that the debug information of this file shares with other files.
    pub(super) shared: Option<SharedLink<'data>>,
    /// The ID of this file, if `.debug_sup` says that other files share this file.
    pub(super) shared_id: Option<&'data [u8]>,
}

/// A link to debug information that several files share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SharedLink<'data> {
    /// The path of the shared file.
    pub(super) name: &'data [u8],
    /// The ID of the shared file, usually its build ID.
    pub(super) id: &'data [u8],
}

/// Whether a file begins as an ELF file.
pub(super) fn is_elf(data: &[u8]) -> bool {
    data.starts_with(&elf::ELFMAG)
}

/// The word size of an ELF file.
pub(super) fn word(data: &[u8]) -> gmon::Word {
    let is_narrow = data.get(4).is_some_and(|class| elf::FileClass(*class) == elf::ELFCLASS32);
    if is_narrow { gmon::Word::W32 } else { gmon::Word::W64 }
}

/// An ELF file of one word size.
pub(super) struct File<'data, Elf: FileHeader> {
    pub(super) data: &'data [u8],
    pub(super) endian: Endianness,
    pub(super) word: gmon::Word,
    pub(super) header: &'data Elf,
    pub(super) sections: SectionTable<'data, Elf>,
}

impl<'data, Elf> File<'data, Elf>
where
    Elf: FileHeader<Endian = Endianness>,
{
    pub(super) fn new(data: &'data [u8], word: gmon::Word) -> Result<File<'data, Elf>, ImageError> {
        let parse = || {
            let header = Elf::parse(data)?;
            let endian = header.endian()?;
            Ok(File { data, endian, word, header, sections: header.sections(endian, data)? })
        };
        // In a file that was cut short, report that instead of the part that does not fit.
        parse().map_err(|error: object::Error| match error::size_by_header(data) {
            Some(needed) => ImageError::Cut { needed, size: data.len() as u64 },
            None => ImageError::Malformed(error),
        })
    }

    /// The machine code of a section.
    pub(super) fn machine_code(&self, section: &'data Elf::SectionHeader) -> Code<'data> {
        Code {
            machine: match self.header.e_machine(self.endian) {
                elf::EM_386 => Machine::X86,
                elf::EM_X86_64 => Machine::X86_64,
                elf::EM_AARCH64 => Machine::Aarch64,
                _ => Machine::Other,
            },
            start: section.sh_addr(self.endian).into(),
            bytes: section.data(self.endian, self.data).unwrap_or_default(),
        }
    }

    /// The section `.text`, and its addresses.
    pub(super) fn text(&self) -> Option<(&'data Elf::SectionHeader, Range<u64>)> {
        let (_, text) = self.sections.section_by_name(self.endian, b".text")?;
        let start: u64 = text.sh_addr(self.endian).into();
        let size: u64 = text.sh_size(self.endian).into();
        Some((text, start..start.saturating_add(size)))
    }

    pub(super) fn order(&self) -> gmon::Order {
        match self.endian {
            Endianness::Little => gmon::Order::Little,
            Endianness::Big => gmon::Order::Big,
        }
    }

    pub(super) fn debug_sections(&self) -> Sections<'data> {
        let mut sections = self.sections_of(false);
        sections.set_code(self.code());
        sections
    }

    /// The address ranges of code sections.
    fn code(&self) -> Vec<Range<u64>> {
        let range = |section: &Elf::SectionHeader| {
            let (start, size): (u64, u64) = (section.sh_addr(self.endian).into(), section.sh_size(self.endian).into());
            let is_code = section.sh_flags(self.endian).contains(elf::SHF_ALLOC | elf::SHF_EXECINSTR);
            is_code.then_some(start..start.saturating_add(size))
        };
        self.sections.iter().filter_map(range).collect()
    }

    /// The sections of the debug information: those of an image, or those of a file with split units.
    pub(super) fn sections_of(&self, is_split: bool) -> Sections<'data> {
        Sections::new(self.endian, self.word, is_split, self.data.len(), |name| self.stored_section(name))
    }

    /// The links to the separate debug file.
    pub(super) fn links(&self) -> DebugLinks<'data> {
        let build_id = self.sections.iter().find_map(|section| {
            let mut notes = section.notes(self.endian, self.data).ok()??;
            while let Ok(Some(note)) = notes.next() {
                if note.name() == elf::ELF_NOTE_GNU && note.n_type(self.endian) == elf::NT_GNU_BUILD_ID {
                    return Some(note.desc());
                }
            }
            None
        });
        let link = self.section(b".gnu_debuglink").and_then(|(_, bytes)| debug_link(bytes, self.endian));
        let content = |name: &[u8]| self.section(name).map(|(_, bytes)| bytes);
        let by_dwarf_5 = content(b".debug_sup").and_then(|bytes| supplement_link(bytes, self.endian));
        let shared = content(b".gnu_debugaltlink").and_then(alternate_link);
        let shared = shared.or(by_dwarf_5.filter(|(is_shared, _)| !is_shared).map(|(_, link)| link));
        let shared_id = by_dwarf_5.filter(|(is_shared, _)| *is_shared).map(|(_, link)| link.id);
        DebugLinks { build_id, link, has_bundle: false, shared, shared_id }
    }

    /// A section and its content; `None` if the section is absent, damaged or compressed.
    pub(super) fn section(&self, name: &[u8]) -> Option<(&'data Elf::SectionHeader, &'data [u8])> {
        let (_, section) = self.sections.section_by_name(self.endian, name)?;
        Some((section, section.data(self.endian, self.data).ok()?))
    }

    /// A section as it is stored; `None` if the section is absent or damaged.
    fn stored_section(&self, name: &str) -> Option<CompressedData<'data>> {
        let (_, section) = self.sections.section_by_name(self.endian, name.as_bytes())?;
        let Some((header, offset, compressed_size)) = section.compression(self.endian, self.data).ok()? else {
            return section.data(self.endian, self.data).ok().map(CompressedData::none);
        };
        let format = match header.ch_type(self.endian) {
            elf::ELFCOMPRESS_ZLIB => CompressionFormat::Zlib,
            elf::ELFCOMPRESS_ZSTD => CompressionFormat::Zstandard,
            _ => return None,
        };
        let uncompressed_size = header.ch_size(self.endian).into();
        CompressedFileRange { format, offset, compressed_size, uncompressed_size }.data(self.data).ok()
    }
}

/// Parses the content of `.gnu_debuglink`: the name of the debug file, and its checksum.
pub(super) fn debug_link(bytes: &[u8], endian: Endianness) -> Option<(&[u8], u32)> {
    let name = bytes.split(|byte| *byte == 0).next()?;
    let sum = *bytes.get((name.len() + 1).next_multiple_of(4)..)?.first_chunk()?;
    let is_little = endian == Endianness::Little;
    Some((name, if is_little { u32::from_le_bytes(sum) } else { u32::from_be_bytes(sum) }))
}

/// Parses the content of `.gnu_debugaltlink`: the path of the shared file, and its build ID.
fn alternate_link(bytes: &[u8]) -> Option<SharedLink<'_>> {
    let end = bytes.iter().position(|byte| *byte == 0)?;
    let (name, id) = (bytes.get(..end)?, bytes.get(end + 1..)?);
    (!name.is_empty() && !id.is_empty()).then_some(SharedLink { name, id })
}

/// Parses the content of `.debug_sup`, the link of DWARF 5, and whether the section is in the shared file itself.
fn supplement_link(bytes: &[u8], endian: Endianness) -> Option<(bool, SharedLink<'_>)> {
    let (version, rest) = bytes.split_first_chunk()?;
    let version =
        if endian == Endianness::Little { u16::from_le_bytes(*version) } else { u16::from_be_bytes(*version) };
    let (is_shared, rest) = rest.split_first()?;
    let end = rest.iter().position(|byte| *byte == 0)?;
    // The length is a LEB128 number. IDs are shorter than 128 bytes, so it has one byte.
    let (length, id) = rest.get(end + 1..)?.split_first()?;
    let link = SharedLink { name: rest.get(..end)?, id: id.get(..usize::from(*length))? };
    (version == 5 && !link.id.is_empty()).then_some((*is_shared != 0, link))
}

/// Whether the file has segments, and none of them is the index of unwind tables.
pub(super) fn lacks_unwind_index<Elf>(header: &Elf, endian: Endianness, data: &[u8]) -> bool
where
    Elf: FileHeader<Endian = Endianness>,
{
    let segments = header.program_headers(endian, data).unwrap_or_default();
    !segments.is_empty() && segments.iter().all(|segment| segment.p_type(endian) != elf::PT_GNU_EH_FRAME)
}

/// The range from the lowest loaded byte to the end of the executable segments; `text` if there are no segments.
pub(super) fn code_range<Elf>(header: &Elf, endian: Endianness, data: &[u8], text: &Range<u64>) -> Range<u64>
where
    Elf: FileHeader<Endian = Endianness>,
{
    let mut code = text.clone();
    for segment in header.program_headers(endian, data).unwrap_or_default() {
        if segment.p_type(endian) != elf::PT_LOAD {
            continue;
        }
        let start: u64 = segment.p_vaddr(endian).into();
        let size: u64 = segment.p_memsz(endian).into();
        code.start = code.start.min(start);
        if segment.p_flags(endian).contains(elf::PF_X) {
            code.end = code.end.max(start.saturating_add(size));
        }
    }
    code
}

/// The identity that a list beside a profile has for the program: the build ID in hexadecimal, padded to whole words,
/// or a checksum of the headers. docs/side-file.md describes both. `None` for a file with only debug information, whose
/// headers differ from the program's.
pub(super) fn program_identity<Elf>(file: &File<'_, Elf>, build_id: Option<&[u8]>) -> Option<String>
where
    Elf: FileHeader<Endian = Endianness>,
{
    if let Some(id) = build_id.filter(|id| !id.is_empty() && id.len() <= 64) {
        let digits: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
        return Some(padded_build_id(&digits));
    }
    let segments = file.header.program_headers(file.endian, file.data).unwrap_or_default();
    let loads = || segments.iter().filter(|segment| segment.p_type(file.endian) == elf::PT_LOAD);
    if !loads()
        .any(|segment| segment.p_flags(file.endian).contains(elf::PF_X) && segment.p_filesz(file.endian).into() > 0)
    {
        return None;
    }
    let sizes = |segment: &Elf::ProgramHeader| -> [u64; 3] {
        [segment.p_vaddr(file.endian).into(), segment.p_filesz(file.endian).into(), segment.p_memsz(file.endian).into()]
    };
    let numbers = std::iter::once(file.header.e_entry(file.endian).into()).chain(loads().flat_map(sizes));
    let bytes = numbers.flat_map(u64::to_le_bytes);
    let terms = (0..).zip(bytes).map(|(position, byte)| gmon::layout::mark(position, byte));
    Some(format!("headers:{:016x}", terms.fold(0, u64::wrapping_add)))
}

/// Pads a build ID in hexadecimal with zeros to whole words of four bytes, as the files beside a profile have it.
pub(crate) fn padded_build_id(digits: &str) -> String {
    let width = digits.len().next_multiple_of(8);
    format!("{digits:0<width$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_shared_files() {
        let link = SharedLink { name: b"../x", id: &[0xab, 0, 1] };
        assert_eq!(alternate_link(b"../x\0\xab\0\x01"), Some(link));
        assert_eq!([&b"../x\0"[..], b"\0\xab", b"../x", b""].map(alternate_link), [None; 4]);
    }

    #[test]
    fn links_of_dwarf_5() {
        let link = SharedLink { name: b"x", id: &[0xab, 0] };
        let little = |bytes: &'static [u8]| supplement_link(bytes, Endianness::Little);
        assert_eq!(little(b"\x05\0\0x\0\x02\xab\0"), Some((false, link)));
        assert_eq!(little(b"\x05\0\x01x\0\x02\xab\0"), Some((true, link)));
        assert_eq!(supplement_link(b"\0\x05\0x\0\x02\xab\0", Endianness::Big), Some((false, link)));
        for damaged in
            [&b"\x04\0\0x\0\x02\xab\0"[..], b"\x05\0\0x\0\x03\xab\0", b"\x05\0\0x\0\0", b"\x05\0\0x", b"\x05"]
        {
            assert_eq!(little(damaged), None, "{damaged:?}");
        }
    }
}
